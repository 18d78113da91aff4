//! Ends by accident: panics in odd places, kills at odd times. Nothing hangs, and nothing is lost
//! in silence.

use crate::common::workers::on_workers;
use evenkeel_actor::{
    Actor, ActorFailure, ActorRef, AskError, Builder, Child, Context, ExitReason, Handled, ReplyTo,
    Restart, Supervisor, System, spawn,
};
use std::panic::panic_any;
use std::sync::{Arc, Mutex};

type Failures = Arc<Mutex<Vec<ActorFailure>>>;

fn noting() -> (System, Failures) {
    let failures = Failures::default();
    let (system, noted) = (System::new(), failures.clone());
    system.on_failure(move |failure| noted.lock().unwrap().push(failure.clone()));
    (system, failures)
}

fn words(failures: &Failures) -> Vec<String> {
    failures.lock().unwrap().iter().map(|failure| failure.reason.to_string()).collect()
}

/// The place of the panic.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Nowhere,
    Started,
    StartFails,
    Handle,
    AfterAwait,
    HandleWithValue,
    HandleWithBadPayload,
    Stopped,
    Drop,
    HandleAndDrop,
    StoppedAndDrop,
    Message,
}

struct Fragile(Place);

struct BadPayload;

impl Drop for BadPayload {
    fn drop(&mut self) {
        panic!("in a payload");
    }
}

struct Bomb(bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 {
            panic!("in a message");
        }
    }
}

enum Message {
    Go,
    Wait,
    Stop,
    Hold(#[allow(dead_code)] Bomb),
    Reply(ReplyTo<u32>),
}

impl Actor for Fragile {
    type Message = Message;

    async fn started(&mut self, _context: &mut Context<Self>) -> Handled {
        match self.0 {
            Place::Started => panic!("in started"),
            Place::StartFails => Err(std::io::Error::other("no port"))?,
            _ => Ok(()),
        }
    }

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        match (message, self.0) {
            (Message::Reply(reply), _) => reply.send(1),
            (Message::Stop, _) => context.stop(),
            (Message::Wait, _) => std::future::pending().await,
            (Message::Hold(_), _) => {}
            (_, Place::Handle | Place::HandleAndDrop) => panic!("in {}", "handle"),
            (_, Place::AfterAwait) => {
                evenkeel::yield_now().await;
                panic!("after an await");
            }
            (_, Place::HandleWithValue) => panic_any(7_u64),
            (_, Place::HandleWithBadPayload) => panic_any(BadPayload),
            _ => {}
        }
        Ok(())
    }

    async fn stopped(&mut self, _reason: &ExitReason, _context: &mut Context<Self>) {
        if matches!(self.0, Place::Stopped | Place::StoppedAndDrop) {
            panic!("in stopped");
        }
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        if matches!(self.0, Place::Drop | Place::HandleAndDrop | Place::StoppedAndDrop) {
            panic!("in drop");
        }
    }
}

async fn go(actor: &ActorRef<Message>, place: Place) {
    let bomb = Bomb(place == Place::Message);
    for message in [Message::Go, Message::Stop, Message::Hold(bomb), Message::Go] {
        if let Err(unsent) = actor.send(message).await {
            // The returned message is ours to defuse.
            let mut message = unsent.into_message();
            if let Message::Hold(bomb) = &mut message {
                bomb.0 = false;
            }
        }
    }
}

fn expected(place: Place) -> Vec<&'static str> {
    match place {
        Place::Nowhere => vec![],
        Place::Started => vec!["panicked: in started"],
        Place::StartFails => vec!["failed: no port"],
        Place::Handle | Place::HandleAndDrop => vec!["panicked: in handle"],
        Place::AfterAwait => vec!["panicked: after an await"],
        Place::HandleWithValue | Place::HandleWithBadPayload => {
            vec!["panicked: something that is no text"]
        }
        Place::Stopped | Place::StoppedAndDrop => vec!["panicked: in stopped"],
        Place::Drop => vec!["panicked: in drop"],
        Place::Message => vec!["panicked: in a message"],
    }
}

const PLACES: [Place; 12] = [
    Place::Nowhere,
    Place::Started,
    Place::StartFails,
    Place::Handle,
    Place::AfterAwait,
    Place::HandleWithValue,
    Place::HandleWithBadPayload,
    Place::Stopped,
    Place::Drop,
    Place::HandleAndDrop,
    Place::StoppedAndDrop,
    Place::Message,
];

#[test]
fn a_panic_anywhere_ends_the_actor_and_is_told_once() {
    for workers in [1, 2] {
        for place in PLACES {
            on_workers(workers, async move {
                let (system, failures) = noting();
                let actor = Builder::new().system(system).spawn(Fragile(place)).unwrap();
                // Requested before the end: a later request may be answered before the observer is
                // called.
                let stopped = actor.stopped();
                go(&actor, place).await;
                let reason = stopped.await;
                let told = words(&failures);
                if place != Place::Message {
                    assert_eq!(told, expected(place), "{place:?}");
                } else {
                    assert!(told.is_empty() || told == expected(place), "{told:?}");
                }
                let fails = !matches!(place, Place::Nowhere | Place::Message);
                assert_eq!(reason.is_failure(), fails, "{place:?}: {reason}");
                assert!(failures.lock().unwrap().iter().all(|failure| {
                    !failure.supervised
                        && failure.actor.id == actor.id()
                        && failure.actor.name.is_none()
                        && failure.actor.spawn_site.file().ends_with("ends.rs")
                        && failure.actor.type_name.ends_with("Fragile")
                }));
                assert_eq!(actor.ask(Message::Reply).await, Err(AskError::Stopped));
            });
        }
    }
}

#[test]
fn a_supervised_actor_survives_a_panic_anywhere() {
    for workers in [1, 2] {
        for place in PLACES {
            on_workers(workers, async move {
                let (system, failures) = noting();
                let mut tree = Supervisor::one_for_one().system(system);
                let mut first = true;
                let actor = tree.child(
                    Child::new("fragile", move || {
                        // The first fails, and the later ones do not.
                        Fragile(if std::mem::take(&mut first) { place } else { Place::Nowhere })
                    })
                    .restart(Restart::Permanent),
                );
                let tree = tree.spawn();
                go(&actor, Place::Nowhere).await;
                assert_eq!(actor.ask(Message::Reply).await, Ok(1));
                if place != Place::Message {
                    assert_eq!(words(&failures), expected(place), "{place:?}");
                }
                assert!(failures.lock().unwrap().iter().all(|failure| failure.supervised));
                assert!(!actor.is_stopped());
                tree.stop();
                assert!(tree.stopped().await.is_normal());
            });
        }
    }
}

#[test]
fn a_panic_in_the_drop_of_one_that_is_killed_is_told() {
    for workers in [1, 2] {
        on_workers(workers, async {
            let (system, failures) = noting();
            let actor = Builder::new().system(system).spawn(Fragile(Place::Drop)).unwrap();
            actor.send(Message::Wait).await.unwrap();
            while actor.depth() > 0 {
                evenkeel::yield_now().await;
            }
            actor.send(Message::Hold(Bomb(true))).await.unwrap();
            actor.send(Message::Hold(Bomb(true))).await.unwrap();
            actor.send(Message::Go).await.unwrap();
            let stopped = actor.stopped();
            actor.kill();
            assert_eq!(stopped.await.to_string(), "panicked: in drop");
            let mut told = words(&failures);
            told.sort();
            let message = "panicked: in a message";
            assert_eq!(told, [message, message, "panicked: in drop"]);
            assert_eq!(system.dead_letters(), 3);
        });
    }
}

#[test]
fn one_that_is_killed_before_it_starts_never_starts() {
    struct Never(Arc<Mutex<bool>>);
    impl Actor for Never {
        type Message = ();
        async fn started(&mut self, _context: &mut Context<Self>) -> Handled {
            *self.0.lock().unwrap() = true;
            Ok(())
        }
        async fn handle(&mut self, _message: (), _context: &mut Context<Self>) -> Handled {
            Ok(())
        }
    }
    on_workers(1, async {
        let started = Arc::new(Mutex::new(false));
        let actor = spawn(Never(started.clone()));
        actor.try_send(()).unwrap();
        actor.kill();
        assert!(matches!(actor.stopped().await, ExitReason::Killed));
        assert!(!*started.lock().unwrap());
        assert_eq!(Arc::strong_count(&started), 1);
        // An actor that is told to stop first is started, and stops.
        let actor = spawn(Never(started.clone()));
        actor.stop_now();
        assert!(actor.stopped().await.is_normal());
        assert!(*started.lock().unwrap());
    });
}

#[test]
fn one_that_is_told_to_stop_before_it_has_a_supervisor_does_not_start() {
    on_workers(2, async {
        let (system, _) = noting();
        let mut tree = Supervisor::one_for_one().system(system);
        let child = Child::new("a", || Fragile(Place::Nowhere)).restart(Restart::Transient);
        let actor = tree.child(child);
        actor.stop();
        // The supervisor has seen that.
        for _ in 0..10 {
            evenkeel::yield_now().await;
        }
        let tree = tree.spawn();
        assert!(actor.stopped().await.is_normal());
        tree.stop();
        tree.stopped().await;
    });
}

#[test]
fn stop_stop_now_and_kill_differ_in_what_is_handled() {
    struct Log(Arc<Mutex<Vec<u32>>>);
    impl Actor for Log {
        type Message = u32;
        async fn handle(&mut self, n: u32, _context: &mut Context<Self>) -> Handled {
            evenkeel::yield_now().await;
            self.0.lock().unwrap().push(n);
            Ok(())
        }
        async fn stopped(&mut self, reason: &ExitReason, _context: &mut Context<Self>) {
            assert!(reason.is_normal());
            self.0.lock().unwrap().push(100);
        }
    }
    type End = fn(&ActorRef<u32>);
    let ends: [(End, &[u32], u64); 5] = [
        (|actor| actor.stop(), &[0, 1, 2, 100], 0),
        (|actor| actor.stop_now(), &[0, 100], 2),
        (
            |actor| {
                actor.stop();
                actor.stop_now();
            },
            &[0, 100],
            2,
        ),
        (
            |actor| {
                actor.stop_now();
                actor.stop();
            },
            &[0, 100],
            2,
        ),
        // If an actor is killed, the message that it is handling is no dead letter.
        (|actor| actor.kill(), &[], 2),
    ];
    for (end, handled, dead) in ends {
        on_workers(1, async move {
            let (system, _) = noting();
            let log = Arc::new(Mutex::new(Vec::new()));
            let actor = Builder::new().system(system).spawn(Log(log.clone())).unwrap();
            for n in 0..3 {
                actor.try_send(n).unwrap();
            }
            // The first message is being handled.
            while actor.depth() == 3 {
                evenkeel::yield_now().await;
            }
            end(&actor);
            actor.stopped().await;
            assert_eq!(*log.lock().unwrap(), handled);
            assert_eq!(system.dead_letters(), dead);
        });
    }
}

#[test]
fn an_observer_that_panics_does_no_harm() {
    on_workers(1, async {
        let system = System::new();
        system.on_failure(|_| panic!("in the observer"));
        let actor = Builder::new().system(system).spawn(Fragile(Place::Handle)).unwrap();
        actor.send(Message::Go).await.unwrap();
        assert!(actor.stopped().await.is_failure());
    });
}

#[test]
fn a_reply_to_one_that_has_given_up_is_given_back() {
    struct Slow(Arc<Mutex<Vec<Result<(), u32>>>>);
    impl Actor for Slow {
        type Message = (Arc<evenkeel::sync::Semaphore>, ReplyTo<u32>);
        async fn handle(&mut self, message: Self::Message, _: &mut Context<Self>) -> Handled {
            message.0.take().await;
            self.0.lock().unwrap().push(message.1.try_send(7));
            Ok(())
        }
    }
    on_workers(2, async {
        let results = Arc::new(Mutex::new(Vec::new()));
        let gate = Arc::new(evenkeel::sync::Semaphore::new(0));
        let slow = spawn(Slow(results.clone()));
        let ask = slow.ask(|reply| (gate.clone(), reply));
        let limit = std::time::Duration::from_millis(1);
        assert_eq!(ask.timeout(limit).await, Err(AskError::Elapsed));
        gate.add_permits(1);
        slow.stop();
        slow.stopped().await;
        assert_eq!(*results.lock().unwrap(), [Err(7)]);
    });
}
