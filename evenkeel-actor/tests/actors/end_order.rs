//! The order in which an end is announced: futures of `stopped` come last, whenever they were
//! requested.

use crate::common::until::until;
use crate::common::workers::on_workers;
use evenkeel_actor::{
    Actor, ActorRef, AnyActor, Builder, Child, Context, Event, ExitReason, Handled, Restart,
    Stopped, Supervisor, System, spawn,
};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{self, Poll, Waker};
use std::time::Duration;

/// Checks whether an actor's end is known; keeps the future, if not.
#[derive(Clone, Default)]
struct Look(Arc<Mutex<(Option<AnyActor>, Vec<Stopped>)>>);

impl Look {
    /// Called when the mailbox is closed, but the end is not announced yet.
    fn look(&self) {
        let mut state = self.0.lock().unwrap();
        let actor = state.0.as_ref().expect("it has its actor before that ends");
        assert!(actor.is_stopped());
        let mut stopped = actor.stopped();
        let context = &mut task::Context::from_waker(Waker::noop());
        match Pin::new(&mut stopped).poll(context) {
            Poll::Pending => state.1.push(stopped),
            Poll::Ready(reason) => {
                panic!("it is told too early that the actor has ended: {reason}")
            }
        }
    }

    /// The results of the kept futures, after the end.
    async fn ends(&self) -> Vec<ExitReason> {
        let kept = std::mem::take(&mut self.0.lock().unwrap().1);
        let mut ends = Vec::new();
        for stopped in kept {
            ends.push(stopped.await);
        }
        ends
    }
}

/// Checks on drop.
struct Left(Look);

impl Drop for Left {
    fn drop(&mut self) {
        self.0.look();
    }
}

enum Message {
    Fail,
    Hold(#[allow(dead_code)] Left),
}

struct Fails;

impl Actor for Fails {
    type Message = Message;

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        match message {
            Message::Fail => Err(std::io::Error::other("it was told to"))?,
            Message::Hold(_) => panic!("it has failed before"),
        }
    }
}

#[test]
fn a_waiter_that_comes_as_the_observer_is_told_hears_of_the_end_afterwards() {
    for workers in [1, 2] {
        on_workers(workers, async {
            let (system, look) = (System::new(), Look::default());
            let looks = look.clone();
            // A panic in an observer would be caught, so its findings are kept.
            let found = Arc::new(Mutex::new(Vec::new()));
            let finds = found.clone();
            system.on_failure(move |failure| {
                looks.look();
                finds.lock().unwrap().push(failure.reason.to_string());
            });
            let actor = evenkeel_actor::Builder::new().system(system).spawn(Fails).unwrap();
            look.0.lock().unwrap().0 = Some(actor.any());
            actor.send(Message::Fail).await.unwrap();
            assert!(matches!(actor.stopped().await, ExitReason::Failed(_)));
            assert_eq!(*found.lock().unwrap(), ["failed: it was told to"]);
            assert!(matches!(look.ends().await[..], [ExitReason::Failed(_)]));
            // The end remains known.
            assert!(matches!(actor.stopped().await, ExitReason::Failed(_)));
        });
    }
}

#[test]
fn a_waiter_that_comes_as_a_message_is_dropped_hears_of_the_end_afterwards() {
    on_workers(1, async {
        let look = Look::default();
        let actor = spawn(Fails);
        look.0.lock().unwrap().0 = Some(actor.any());
        for _ in 0..3 {
            actor.send(Message::Hold(Left(look.clone()))).await.unwrap();
        }
        // The actor has not run since it was spawned, and does not before its abort.
        actor.kill();
        assert!(matches!(actor.stopped().await, ExitReason::Killed));
        let ends = look.ends().await;
        assert_eq!(ends.len(), 3);
        assert!(ends.iter().all(|reason| matches!(reason, ExitReason::Killed)), "{ends:?}");
    });
}

/// Records the actors that it learns the end of.
struct Watches(Arc<Mutex<Vec<&'static str>>>);

impl Actor for Watches {
    type Message = AnyActor;

    async fn handle(&mut self, actor: AnyActor, context: &mut Context<Self>) -> Handled {
        context.watch(&actor);
        Ok(())
    }

    async fn event(&mut self, _event: Event, _context: &mut Context<Self>) -> Handled {
        self.0.lock().unwrap().push("watcher");
        Ok(())
    }
}

/// On one worker, tasks run in the order in which they became ready.
#[test]
fn watchers_are_told_before_waiters_whichever_came_first() {
    on_workers(1, async {
        let order = Arc::new(Mutex::new(Vec::new()));
        let actor: ActorRef<Message> = spawn(Fails);
        let (whom, noted) = (actor.any(), order.clone());
        let waits = Arc::new(AtomicBool::new(false));
        let is_about_to = waits.clone();
        let waiting = evenkeel::spawn(async move {
            let stopped = whom.stopped();
            // No other task runs before it waits.
            is_about_to.store(true, Ordering::SeqCst);
            stopped.await;
            noted.lock().unwrap().push("future");
        });
        until(|| waits.load(Ordering::SeqCst)).await;
        let watcher = spawn(Watches(order.clone()));
        watcher.send(actor.any()).await.unwrap();
        until(|| watcher.depth() == 0).await;
        actor.kill();
        waiting.await.unwrap();
        until(|| order.lock().unwrap().len() == 2).await;
        assert_eq!(*order.lock().unwrap(), ["watcher", "future"]);
    });
}

/// Notes the system in which it is dropped.
struct Notes(Arc<Mutex<Vec<System>>>);

impl Drop for Notes {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(System::current());
    }
}

impl Actor for Notes {
    type Message = Notes;

    async fn started(&mut self, context: &mut Context<Self>) -> Handled {
        context.send_after(Duration::from_secs(3_600), Self(self.0.clone()));
        Ok(())
    }

    async fn handle(&mut self, _: Notes, _: &mut Context<Self>) -> Handled {
        std::future::pending().await
    }
}

#[test]
fn what_a_killed_actor_leaves_is_dropped_inside_of_its_system() {
    for supervised in [false, true] {
        on_workers(1, async move {
            let (system, noted) = (System::new(), Arc::<Mutex<Vec<_>>>::default());
            let notes = noted.clone();
            let (actor, tree) = if supervised {
                let mut tree = Supervisor::one_for_one().system(system);
                let child = Child::new("child", move || Notes(notes.clone()));
                let child = tree.child(child.restart(Restart::Temporary));
                (child, Some(tree.spawn()))
            } else {
                (Builder::new().system(system).spawn(Notes(notes)).unwrap(), None)
            };
            actor.send(Notes(noted.clone())).await.unwrap();
            until(|| actor.depth() == 0).await;
            actor.send(Notes(noted.clone())).await.unwrap();
            actor.kill();
            actor.stopped().await;
            drop(tree);
            // The actor, its timer's message, the one that it handles and the one behind that.
            assert_eq!(*noted.lock().unwrap(), [system; 4], "{supervised}");
        });
    }
}
