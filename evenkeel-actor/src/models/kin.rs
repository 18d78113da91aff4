//! Ends that race with watches, with links and with waits for them.

use super::{Meeting, at_once, join, spawn_in, until};
use crate::{Actor, ActorRef, AnyActor, Context, Event, ExitReason, Handled, System};
use evenkeel::Handle;
use evenkeel::internal::check;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

enum Message {
    Watch(AnyActor),
    Unwatch(AnyActor),
    Link(AnyActor),
    /// Does these when the other actor of the meeting does its own.
    Meet(Meeting, Vec<Message>),
    End,
}

/// Counts the events that it gets.
#[derive(Default)]
struct Tells(Arc<AtomicUsize>);

impl Actor for Tells {
    type Message = Message;

    async fn started(&mut self, context: &mut Context<Self>) -> Handled {
        context.trap_exits(true);
        Ok(())
    }

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        let does = match message {
            Message::Meet(meeting, does) => {
                meeting.meet().await;
                does
            }
            other => vec![other],
        };
        for message in does {
            match message {
                Message::Watch(actor) => context.watch(&actor),
                Message::Unwatch(actor) => context.unwatch(&actor),
                Message::Link(actor) => context.link(&actor),
                Message::End => context.stop(),
                Message::Meet(..) => unreachable!("one meets once"),
            }
        }
        Ok(())
    }

    async fn event(&mut self, _event: Event, _context: &mut Context<Self>) -> Handled {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Ends an actor, and has another one do something at the same time.
fn meet(handle: &Handle, ends: &ActorRef<Message>, other: &ActorRef<Message>, does: Vec<Message>) {
    let meeting = Meeting::default();
    let post = |to: ActorRef<Message>, does: Vec<Message>| {
        let meets = Message::Meet(meeting.clone(), does);
        Box::pin(async move { to.send(meets).await.expect("it has not stopped") })
    };
    at_once(handle, [post(ends.clone(), vec![Message::End]), post(other.clone(), does)]);
}

/// Ends an actor while another one watches or links it. The other is then told exactly once.
fn told_once(handle: &Handle, by: fn(AnyActor) -> Message) {
    let (system, told) = (System::new(), Arc::<AtomicUsize>::default());
    let ends = spawn_in(handle, system, Tells::default());
    let tells = spawn_in(handle, system, Tells(told.clone()));
    meet(handle, &ends, &tells, vec![by(ends.any())]);
    join(handle.spawn(async move {
        until(|| told.load(Ordering::Relaxed) > 0).await;
        tells.stop();
        assert!(matches!(tells.stopped().await, ExitReason::Normal));
        assert_eq!(told.load(Ordering::Relaxed), 1);
    }));
}

#[test]
fn shuttle_a_watch_that_meets_an_end_is_told_once() {
    check(2, |handle| told_once(handle, Message::Watch));
}

#[test]
fn shuttle_a_link_that_meets_an_end_is_told_once() {
    check(2, |handle| told_once(handle, Message::Link));
}

/// Each actor links the other once, and one ends. An actor that links again after it has been told
/// is told once more.
#[test]
fn shuttle_links_from_both_sides_that_meet_an_end_are_told() {
    check(2, |handle| {
        let (system, told) = (System::new(), Arc::<AtomicUsize>::default());
        let ends = spawn_in(handle, system, Tells::default());
        let tells = spawn_in(handle, system, Tells(told.clone()));
        let (one, other) = (ends.clone(), tells.any());
        join(handle.spawn(async move {
            one.send(Message::Link(other)).await.expect("it has not stopped");
        }));
        meet(handle, &ends, &tells, vec![Message::Link(ends.any())]);
        join(handle.spawn(async move {
            until(|| told.load(Ordering::Relaxed) > 0).await;
            tells.stop();
            assert!(matches!(tells.stopped().await, ExitReason::Normal));
            assert!((1..=2).contains(&told.load(Ordering::Relaxed)));
        }));
    });
}

/// Of a watch that is taken back, at most one end is told.
#[test]
fn shuttle_an_unwatch_that_meets_an_end_is_told_once_at_most() {
    check(2, |handle| {
        let (system, told) = (System::new(), Arc::<AtomicUsize>::default());
        let ends = spawn_in(handle, system, Tells::default());
        let tells = spawn_in(handle, system, Tells(told.clone()));
        let whom = ends.any();
        let does = vec![Message::Watch(whom.clone()), Message::Unwatch(whom)];
        meet(handle, &ends, &tells, does);
        join(handle.spawn(async move {
            ends.stopped().await;
            tells.stop();
            assert!(matches!(tells.stopped().await, ExitReason::Normal));
            assert!(told.load(Ordering::Relaxed) <= 1);
        }));
    });
}

/// Fails: the observer is told of it before all callers that wait.
struct Fails;

impl Actor for Fails {
    type Message = ();

    async fn handle(&mut self, (): (), _context: &mut Context<Self>) -> Handled {
        Err(std::io::Error::other("it was told to"))?
    }
}

#[test]
fn shuttle_a_waiter_for_an_end_hears_of_it_after_the_observer() {
    check(2, |handle| {
        let (system, told) = (System::new(), Arc::<AtomicUsize>::default());
        let noted = told.clone();
        system.on_failure(move |_| {
            // Other tasks run meanwhile.
            shuttle::thread::yield_now();
            noted.fetch_add(1, Ordering::Relaxed);
        });
        let fails = spawn_in(handle, system, Fails);
        let waits = |actor: ActorRef<()>, told: Arc<AtomicUsize>| async move {
            assert!(matches!(actor.stopped().await, ExitReason::Failed(_)));
            assert_eq!(told.load(Ordering::Relaxed), 1);
        };
        let (one, other) = (waits(fails.clone(), told.clone()), waits(fails.clone(), told));
        at_once(
            handle,
            [
                Box::pin(one),
                Box::pin(async move { fails.send(()).await.expect("it has not stopped") }),
                Box::pin(other),
            ],
        );
    });
}

/// Waits for messages, and has nothing to do with other actors.
struct Idles;

impl Actor for Idles {
    type Message = ();

    async fn handle(&mut self, (): (), _context: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

/// Two futures wait, and a third comes, while the actor ends for a reason that `ends` gives it.
fn waits_for_a_quiet_end(handle: &Handle, ends: fn(ActorRef<()>)) {
    let system = System::new();
    let actor = spawn_in(handle, system, Idles);
    // They keep no reference.
    let (one, other) = (actor.stopped(), actor.stopped());
    let waits = move |stopped: crate::Stopped| async move {
        let reason = stopped.await;
        assert!(matches!(reason, ExitReason::Normal | ExitReason::Unreferenced));
        assert_eq!(system.metrics().ended, 1, "it is counted first");
    };
    let comes = actor.clone();
    at_once(
        handle,
        [
            Box::pin(waits(one)),
            Box::pin(async move { ends(actor) }),
            Box::pin(async move {
                let late = comes.stopped();
                drop(comes);
                waits(late).await;
            }),
            Box::pin(waits(other)),
        ],
    );
}

#[test]
fn shuttle_waiters_for_a_quiet_end_hear_of_it_once_it_is_counted() {
    check(2, |handle| waits_for_a_quiet_end(handle, drop));
    check(2, |handle| waits_for_a_quiet_end(handle, |actor| actor.stop()));
}
