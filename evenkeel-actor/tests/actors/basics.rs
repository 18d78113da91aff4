//! Sending, asking, bounds and ends of actors.

use crate::common::held::held;
use crate::common::workers::on_workers;
use evenkeel::sync::Semaphore;
use evenkeel_actor::{
    Actor, ActorRef, AnyActor, AskError, Builder, Context, DropNewest, DropOldest, Fail, Handled,
    Overflow, Recipient, ReplyTo, SendError, SpawnError, SupervisorRef, System, WeakActorRef,
    spawn,
};
use std::cell::Cell;
use std::hash::Hash;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Records numbers; a message can hold it up.
struct Log {
    notes: Arc<Mutex<Vec<u32>>>,
}

enum Message {
    Note(u32),
    /// Waits for a permit.
    Hold(Arc<Semaphore>),
    Sum(ReplyTo<u32>),
    Forget(#[allow(dead_code)] ReplyTo<u32>),
    /// Returns a reference whose senders wait for room.
    Own(ReplyTo<ActorRef<Message>>),
    /// Sends itself again.
    Again(ActorRef<Message, DropOldest>),
    Panic,
    Stop,
}

impl Actor for Log {
    type Message = Message;

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        match message {
            Message::Note(n) => self.notes.lock().unwrap().push(n),
            Message::Hold(gate) => gate.take().await,
            Message::Sum(reply) => reply.send(self.notes.lock().unwrap().iter().sum()),
            Message::Forget(_) => {}
            Message::Own(reply) => reply.send(context.actor_ref()),
            Message::Again(to) => _ = to.try_send(Message::Again(to.clone())),
            Message::Panic => panic!("on purpose"),
            Message::Stop => context.stop(),
        }
        Ok(())
    }
}

fn log<P: Overflow>(builder: Builder<P>) -> (ActorRef<Message, P>, Arc<Mutex<Vec<u32>>>) {
    let notes = Arc::new(Mutex::new(Vec::new()));
    (builder.spawn(Log { notes: notes.clone() }).unwrap(), notes)
}

async fn until_stopped<P: Overflow>(actor: &ActorRef<Message, P>) {
    while !actor.is_stopped() {
        evenkeel::yield_now().await;
    }
}

#[test]
fn messages_of_one_sender_are_handled_in_order_through_slots_queue_and_batch() {
    for workers in [1, 2] {
        on_workers(workers, async {
            let (actor, notes) = log(Builder::new().capacity(7));
            for n in 0..10_000 {
                actor.send(Message::Note(n)).await.unwrap();
            }
            let sum = actor.ask(Message::Sum).await.unwrap();
            assert_eq!(sum, (0..10_000).sum());
            assert!(notes.lock().unwrap().iter().copied().eq(0..10_000));
        });
    }
}

#[test]
fn senders_that_wait_for_room_are_served_in_order_and_lose_nothing() {
    for workers in [1, 2, 4] {
        on_workers(workers, async {
            let (actor, notes) = log(Builder::new().capacity(2));
            let senders: Vec<_> = (0..8)
                .map(|sender| {
                    let actor = actor.clone();
                    evenkeel::spawn(async move {
                        for n in 0..500 {
                            actor.send(Message::Note(sender * 1_000 + n)).await.unwrap();
                        }
                    })
                })
                .collect();
            for sender in senders {
                sender.await.unwrap();
            }
            actor.ask(Message::Sum).await.unwrap();
            let notes = notes.lock().unwrap();
            assert_eq!(notes.len(), 4_000);
            for sender in 0..8 {
                let of_one = notes.iter().filter(|&&note| note / 1_000 == sender);
                assert!(of_one.map(|note| note % 1_000).eq(0..500));
            }
        });
    }
}

#[test]
fn a_full_mailbox_does_as_its_policy_says() {
    on_workers(1, async {
        let system = System::new();
        let (wait, _) = log(Builder::new().system(system).capacity(2));
        let gate = held(&wait, Message::Hold).await;
        wait.try_send(Message::Note(1)).unwrap();
        wait.try_send(Message::Note(2)).unwrap();
        assert!(matches!(wait.try_send(Message::Note(3)), Err(SendError::Full(Message::Note(3)))));
        gate.add_permits(1);

        let (fail, _) = log(Builder::new().system(system).capacity(1).overflow::<Fail>());
        let gate = held(&fail, Message::Hold).await;
        fail.send(Message::Note(1)).await.unwrap();
        assert!(fail.send(Message::Note(2)).await.unwrap_err().is_full());
        assert_eq!(fail.ask(Message::Sum).await, Err(AskError::Full));
        gate.add_permits(1);
        assert_eq!(system.dead_letters(), 0);

        let (newest, notes) =
            log(Builder::new().system(system).capacity(2).overflow::<DropNewest>());
        let gate = held(&newest, Message::Hold).await;
        for n in 1..=5 {
            newest.try_send(Message::Note(n)).unwrap();
        }
        assert_eq!(system.dead_letters(), 3);
        gate.add_permits(1);
        while notes.lock().unwrap().len() < 2 {
            evenkeel::yield_now().await;
        }
        assert_eq!(*notes.lock().unwrap(), [1, 2]);

        let (oldest, notes) =
            log(Builder::new().system(system).capacity(2).overflow::<DropOldest>());
        let gate = held(&oldest, Message::Hold).await;
        for n in 1..=5 {
            oldest.try_send(Message::Note(n)).unwrap();
        }
        assert_eq!(system.dead_letters(), 6);
        gate.add_permits(1);
        while notes.lock().unwrap().len() < 2 {
            evenkeel::yield_now().await;
        }
        assert_eq!(*notes.lock().unwrap(), [4, 5]);
    });
}

#[test]
fn a_send_that_is_given_up_gives_its_place_to_the_next() {
    on_workers(1, async {
        let (actor, notes) = log(Builder::new().capacity(1));
        let gate = held(&actor, Message::Hold).await;
        actor.send(Message::Note(1)).await.unwrap();
        let mut first = Box::pin(actor.send(Message::Note(2)));
        assert!(futures::poll!(&mut first).is_pending());
        let mut second = Box::pin(actor.send(Message::Note(3)));
        assert!(futures::poll!(&mut second).is_pending());
        drop(first);
        gate.add_permits(1);
        second.await.unwrap();
        actor.ask(Message::Sum).await.unwrap();
        assert_eq!(*notes.lock().unwrap(), [1, 3]);
    });
}

#[test]
fn asks_that_get_no_answer_say_why() {
    on_workers(2, async {
        let (actor, _) = log(Builder::new());
        assert_eq!(actor.ask(Message::Forget).await, Err(AskError::NoReply));
        let gate = held(&actor, Message::Hold).await;
        let late = actor.ask(Message::Sum).timeout(Duration::from_millis(1)).await;
        assert_eq!(late, Err(AskError::Elapsed));
        gate.add_permits(1);
        actor.send(Message::Stop).await.unwrap();
        until_stopped(&actor).await;
        assert_eq!(actor.ask(Message::Sum).await, Err(AskError::Stopped));
        assert!(matches!(
            actor.send(Message::Note(1)).await,
            Err(SendError::Stopped(Message::Note(1)))
        ));
    });
}

#[test]
fn a_drain_handles_what_is_there_and_takes_nothing_more() {
    on_workers(1, async {
        let (actor, notes) = log(Builder::new().capacity(4));
        let gate = held(&actor, Message::Hold).await;
        for n in 1..=4 {
            actor.try_send(Message::Note(n)).unwrap();
        }
        let waiting = evenkeel::spawn({
            let actor = actor.clone();
            async move { actor.send(Message::Note(5)).await.is_err() }
        });
        evenkeel::yield_now().await;
        actor.stop();
        gate.add_permits(1);
        until_stopped(&actor).await;
        let refused = waiting.await.unwrap();
        let notes = notes.lock().unwrap();
        assert_eq!(*notes, if refused { vec![1, 2, 3, 4] } else { vec![1, 2, 3, 4, 5] });
    });
}

#[test]
fn what_a_stopped_killed_or_failed_actor_leaves_is_counted() {
    on_workers(1, async {
        for end in [Message::Stop, Message::Panic] {
            let system = System::new();
            let (actor, _) = log(Builder::new().system(system));
            let gate = held(&actor, Message::Hold).await;
            actor.try_send(end).unwrap();
            for n in 0..9 {
                actor.try_send(Message::Note(n)).unwrap();
            }
            gate.add_permits(1);
            until_stopped(&actor).await;
            assert_eq!(system.dead_letters(), 9);
        }
        let system = System::new();
        let (actor, _) = log(Builder::new().system(system));
        let _gate = held(&actor, Message::Hold).await;
        for n in 0..9 {
            actor.try_send(Message::Note(n)).unwrap();
        }
        actor.kill();
        until_stopped(&actor).await;
        assert_eq!(system.dead_letters(), 9);
        // A waiting actor can be killed too.
        let (actor, _) = log(Builder::new());
        actor.ask(Message::Sum).await.unwrap();
        actor.kill();
        until_stopped(&actor).await;
    });
}

#[test]
fn an_actor_without_references_handles_what_it_has_and_stops() {
    for workers in [1, 2] {
        on_workers(workers, async {
            for round in 0..200_u32 {
                let (actor, notes) = log(Builder::new());
                if round % 2 == 0 {
                    actor.ask(Message::Sum).await.unwrap();
                }
                actor.try_send(Message::Note(1)).unwrap();
                drop(actor);
                while Arc::strong_count(&notes) > 1 {
                    evenkeel::yield_now().await;
                }
                assert_eq!(*notes.lock().unwrap(), [1]);
            }
        });
    }
}

#[test]
fn a_runtime_that_ends_ends_its_actors() {
    let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
    let notes = runtime.block_on(async {
        let (actor, notes) = log(Builder::new());
        actor.ask(Message::Sum).await.unwrap();
        std::mem::forget(actor);
        notes
    });
    drop(runtime);
    assert_eq!(Arc::strong_count(&notes), 1);
}

#[test]
fn wrong_capacities_are_refused() {
    on_workers(1, async {
        let notes = Arc::default();
        let none = Builder::new().capacity(0).spawn(Log { notes: Arc::clone(&notes) });
        assert_eq!(none.unwrap_err(), SpawnError::ZeroCapacity);
        let many = Builder::new().capacity(usize::MAX).spawn(Log { notes });
        assert!(matches!(many, Err(SpawnError::TooLarge { .. })));
    });
}

#[test]
fn an_actor_that_never_waits_lets_others_have_their_turn() {
    struct Spinner;
    impl Actor for Spinner {
        type Message = ();

        async fn handle(&mut self, _message: (), context: &mut Context<Self>) -> Handled {
            let _ = context.actor_ref().try_send(());
            Ok(())
        }
    }
    on_workers(1, async {
        let spinner = spawn(Spinner);
        spinner.try_send(()).unwrap();
        for _ in 0..100 {
            evenkeel::yield_now().await;
        }
        spinner.kill();
    });
}

#[test]
fn messages_that_drop_the_oldest_do_not_pass_a_sender_that_waits_for_ever() {
    on_workers(1, async {
        let (actor, _) = log(Builder::new().capacity(1).overflow::<DropOldest>());
        let waits = actor.ask(Message::Own).await.unwrap();
        let first = held(&actor, Message::Hold).await;
        actor.try_send(Message::Again(actor.clone())).unwrap();
        let sender = evenkeel::spawn(async move { waits.send(Message::Note(1)).await.is_ok() });
        evenkeel::yield_now().await;
        first.add_permits(1);
        assert!(sender.await.unwrap());
        actor.kill();
        until_stopped(&actor).await;
    });
}

/// The sender waits by a reference of the actor's own, which knows no policy.
#[test]
fn what_drops_the_oldest_message_drops_no_new_one_where_a_sender_waits() {
    on_workers(1, async {
        let (actor, notes) = log(Builder::new().capacity(1).overflow::<DropOldest>());
        let waits = actor.ask(Message::Own).await.unwrap();
        let first = held(&actor, Message::Hold).await;
        let second = Arc::new(Semaphore::new(0));
        actor.try_send(Message::Hold(second.clone())).unwrap();
        let sender = evenkeel::spawn(async move { waits.send(Message::Note(1)).await.is_ok() });
        evenkeel::yield_now().await;
        first.add_permits(1);
        while actor.depth() > 0 {
            evenkeel::yield_now().await;
        }
        actor.try_send(Message::Note(2)).unwrap();
        assert_eq!(actor.depth(), 1);
        second.add_permits(1);
        assert!(sender.await.unwrap());
        while notes.lock().unwrap().len() < 2 {
            evenkeel::yield_now().await;
        }
        assert_eq!(*notes.lock().unwrap(), [2, 1]);
    });
}

#[test]
fn references_may_be_keys_and_used_after_a_panic_whatever_their_messages() {
    fn is_a_key<T: Eq + Hash>() {}
    fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}
    is_a_key::<ActorRef<Cell<u32>, Fail>>();
    is_a_key::<AnyActor>();
    is_a_key::<SupervisorRef>();
    is_unwind_safe::<ActorRef<Cell<u32>>>();
    is_unwind_safe::<WeakActorRef<Cell<u32>>>();
    is_unwind_safe::<Recipient<Cell<u32>>>();
    is_unwind_safe::<AnyActor>();
    is_unwind_safe::<SupervisorRef>();
}
