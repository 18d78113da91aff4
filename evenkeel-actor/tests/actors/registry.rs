//! Names of actors.

use crate::common::workers::on_workers;
use evenkeel::fork_join;
use evenkeel_actor::{
    Actor, ActorRef, Builder, Context, DropOldest, Handled, LookUpError, RegisterError, ReplyTo,
    System,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

enum Message {
    Get(ReplyTo<u32>),
    Stop,
}

struct Number(u32);

impl Actor for Number {
    type Message = Message;

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        match message {
            Message::Get(reply) => reply.send(self.0),
            Message::Stop => context.stop(),
        }
        Ok(())
    }
}

fn number(system: System, number: u32) -> ActorRef<Message> {
    Builder::new().system(system).spawn(Number(number)).unwrap()
}

#[test]
fn an_actor_is_found_by_its_name_until_it_ends() {
    on_workers(2, async {
        let system = System::new();
        let actor = number(system, 7);
        let id = actor.id();
        system.register("seven", &actor).unwrap();
        system.register("seven again", &actor).unwrap();
        assert_eq!(system.names(), [("seven".into(), id), ("seven again".into(), id)]);
        assert_eq!(system.find("seven").unwrap().id(), id);
        drop(actor);
        // The name keeps the actor alive.
        let found: ActorRef<Message> = system.look_up("seven").unwrap();
        assert_eq!(found.ask(Message::Get).await, Ok(7));
        found.send(Message::Stop).await.unwrap();
        while !found.is_stopped() {
            evenkeel::yield_now().await;
        }
        // The registry learns of its end after its mailbox is closed.
        while !system.names().is_empty() {
            evenkeel::yield_now().await;
        }
        let unknown = LookUpError::Unknown { name: "seven".into() };
        assert_eq!(system.look_up::<Message>("seven").unwrap_err(), unknown);
        assert!(unknown.to_string().contains("\"seven\""));
        system.register("seven", &number(system, 77)).unwrap();
    });
}

#[test]
fn the_end_of_an_actor_frees_the_names_that_it_still_has_and_no_others() {
    on_workers(1, async {
        let system = System::new();
        let (ended, other) = (number(system, 1), number(system, 2));
        for name in ["a", "b", "c"] {
            system.register(name, &ended).unwrap();
        }
        system.register("d", &other).unwrap();
        assert_eq!(system.unregister("b"), Some(ended.id()));
        system.register("b", &other).unwrap();
        ended.kill();
        while system.find("a").is_some() {
            evenkeel::yield_now().await;
        }
        assert_eq!(system.names(), [("b".into(), other.id()), ("d".into(), other.id())]);
    });
}

#[test]
fn a_name_belongs_to_one() {
    on_workers(1, async {
        let system = System::new();
        let (first, second) = (number(system, 1), number(system, 2));
        system.register("name", &first).unwrap();
        let taken = system.register("name", &second).unwrap_err();
        assert_eq!(taken, RegisterError::Taken { name: "name".into(), holder: first.id() });
        assert!(taken.to_string().contains(&first.id().to_string()));
        assert_eq!(system.unregister("name"), Some(first.id()));
        assert_eq!(system.unregister("name"), None);
        system.register("name", &second).unwrap();
        assert!(!first.is_stopped());
        // Systems share nothing, not even actors.
        let other = System::new();
        let foreign = other.register("name", &first).unwrap_err();
        assert_eq!(foreign, RegisterError::OtherSystem { id: first.id() });
        assert!(foreign.to_string().contains("another system"));
        other.register("name", &number(other, 1)).unwrap();
    });
}

#[test]
fn one_that_has_stopped_gets_no_name() {
    on_workers(1, async {
        let system = System::new();
        let actor = number(system, 1);
        actor.stop();
        while !actor.is_stopped() {
            evenkeel::yield_now().await;
        }
        let stopped = RegisterError::Stopped { id: actor.id() };
        assert_eq!(system.register("late", &actor), Err(stopped));
        assert!(system.names().is_empty());
    });
}

#[test]
fn a_look_up_with_another_type_says_which_it_is() {
    on_workers(1, async {
        let system = System::new();
        let builder = Builder::new().system(system).capacity(1).overflow::<DropOldest>();
        let actor = builder.spawn(Number(1)).unwrap();
        system.register("latest", &actor).unwrap();
        let wrong = system.look_up::<String>("latest").unwrap_err();
        let LookUpError::Mismatch { id, message, .. } = wrong else { panic!("{wrong}") };
        assert_eq!((id, message), (actor.id(), std::any::type_name::<Message>()));
        let wrong = system.look_up::<Message>("latest").unwrap_err();
        assert!(wrong.to_string().contains("DropOldest"), "{wrong}");
        assert_eq!(system.look_up_with::<Message, DropOldest>("latest").unwrap(), actor);
    });
}

#[test]
fn a_waiter_for_a_name_gets_it_and_a_wait_that_is_given_up_leaves_nothing() {
    for workers in [1, 2] {
        on_workers(workers, async {
            let system = System::new();
            let waiting: Vec<_> = (0..4)
                .map(|_| evenkeel::spawn(async move { system.wait_for::<Message>("late").await }))
                .collect();
            let wrong = evenkeel::spawn(async move { system.wait_for::<u8>("late").await });
            let mut given_up = Box::pin(system.wait_for::<Message>("late"));
            assert!(futures::poll!(&mut given_up).is_pending());
            drop(given_up);
            evenkeel::yield_now().await;
            let actor = number(system, 3);
            system.register("later", &number(system, 4)).unwrap();
            system.register("late", &actor).unwrap();
            for waiting in waiting {
                assert_eq!(waiting.await.unwrap().unwrap(), actor);
            }
            assert!(matches!(wrong.await.unwrap(), Err(LookUpError::Mismatch { .. })));
        });
    }
    let runtime =
        evenkeel::Builder::new().workers(1).reliefs(0).start_paused(true).build().unwrap();
    runtime.block_on(async {
        let wait = System::new().wait_for::<Message>("never");
        assert!(evenkeel::time::timeout(Duration::from_secs(60), wait).await.is_err());
    });
}

#[test]
fn no_name_outlives_an_actor_that_ends_while_it_is_registered() {
    on_workers(2, async {
        let system = System::new();
        for _ in 0..500 {
            let actor = number(system, 0);
            let killer = evenkeel::spawn({
                let actor = actor.clone();
                async move { actor.kill() }
            });
            let _ = system.register("brief", &actor);
            killer.await.unwrap();
            while !system.names().is_empty() || !actor.is_stopped() {
                evenkeel::yield_now().await;
            }
        }
    });
}

/// Waits in a handler, and lets its worker run other work meanwhile.
struct Patient(Sender<()>, Arc<AtomicBool>);

impl Actor for Patient {
    type Message = ();

    async fn handle(&mut self, (): (), context: &mut Context<Self>) -> Handled {
        self.0.send(()).unwrap();
        while !self.1.load(Ordering::Acquire) {
            fork_join::yield_now();
        }
        assert_eq!(System::current(), context.system());
        Ok(())
    }
}

#[test]
fn other_work_on_top_of_a_handler_is_not_in_the_system_of_its_actor() {
    let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
    let (begins, begun) = channel();
    let is_over = Arc::new(AtomicBool::new(false));
    let patient = runtime.block_on(async {
        let patient = Patient(begins, is_over.clone());
        Builder::new().system(System::new()).spawn(patient).unwrap()
    });
    patient.try_send(()).unwrap();
    begun.recv().unwrap();
    // The only worker runs its part on top of the handler.
    let seen = runtime.handle().broadcast(|_| System::current());
    is_over.store(true, Ordering::Release);
    assert_eq!(seen, [System::current()]);
    patient.stop();
    assert!(runtime.block_on(patient.stopped()).is_normal());
}
