//! Actors that end when their last reference is dropped: only after they have handled all messages,
//! and even while their wakers remain.

use crate::common::workers::on_workers;
use evenkeel::task::{Task, current, park};
use evenkeel_actor::{Actor, ActorRef, Context, ExitReason, Handled, spawn};
use std::any::Any;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

/// The actor looks for timers that rang, finds none, and finds itself without references: the
/// message came in between.
#[test]
fn a_message_that_comes_with_the_last_reference_is_handled_while_a_timer_rings_for_nothing() {
    struct Rings(Arc<AtomicU32>);
    impl Actor for Rings {
        type Message = bool;
        async fn handle(&mut self, rings: bool, context: &mut Context<Self>) -> Handled {
            if rings {
                let timer = context.send_after(Duration::ZERO, false);
                context.cancel(timer);
            }
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }
    on_workers(1, async {
        for round in 0..2_000 {
            let handled = Arc::new(AtomicU32::new(0));
            let actor = spawn(Rings(handled.clone()));
            let stopped = actor.stopped();
            let begun = handled.clone();
            let last = std::thread::spawn(move || {
                actor.try_send(true).unwrap();
                while begun.load(Ordering::Relaxed) == 0 {
                    std::thread::yield_now();
                }
                (0..round % 64).for_each(|_| std::hint::spin_loop());
                actor.try_send(false).unwrap();
            });
            assert!(matches!(stopped.await, ExitReason::Unreferenced), "round {round}");
            last.join().unwrap();
            assert_eq!(handled.load(Ordering::Relaxed), 2, "round {round}");
        }
    });
}

/// Leaves a waker outside, like a channel or a lock when the other side has taken the waker and is
/// about to use it.
struct Leaves(Arc<Mutex<Option<(Waker, Task)>>>);

impl Actor for Leaves {
    type Message = ();
    async fn handle(&mut self, (): (), _: &mut Context<Self>) -> Handled {
        let place = self.0.clone();
        poll_fn(|task| {
            *place.lock().unwrap() = Some((task.waker().clone(), current()));
            Poll::Ready(())
        })
        .await;
        Ok(())
    }
}

/// Drops the last reference to a parked actor, then calls `then` with its waker.
fn ends_before(then: fn(Waker, Task)) {
    on_workers(1, async move {
        let place = Arc::new(Mutex::new(None));
        let actor = spawn(Leaves(place.clone()));
        let stopped = actor.stopped();
        actor.send(()).await.unwrap();
        // Its worker is also ours: when it has left its waker and yields, it is parked.
        while place.lock().unwrap().is_none() {
            evenkeel::yield_now().await;
        }
        let (waker, task) = place.lock().unwrap().take().unwrap();
        drop(actor);
        then(waker, task);
        assert!(matches!(stopped.await, ExitReason::Unreferenced));
    });
}

#[test]
fn a_waker_that_is_dropped_or_used_after_the_last_reference_keeps_no_actor() {
    ends_before(|waker, task| {
        drop(task);
        drop(waker);
    });
    ends_before(|waker, task| {
        drop(task);
        waker.wake();
    });
    ends_before(|waker, task| {
        drop(waker);
        drop(task);
    });
}

#[test]
fn a_waker_that_is_kept_for_good_keeps_no_actor() {
    static KEPT: Mutex<Vec<(Waker, Task)>> = Mutex::new(Vec::new());
    ends_before(|waker, task| KEPT.lock().unwrap().push((waker, task)));
    let kept = std::mem::take(&mut *KEPT.lock().unwrap());
    // The memory is still there.
    kept.into_iter().for_each(|(waker, task)| {
        task.unpark();
        waker.wake();
    });
}

/// As in an actor with an `AtomicWaker` or a `FuturesUnordered`.
#[test]
fn an_actor_ends_whose_own_state_has_a_waker() {
    struct Keeps(Option<Waker>);
    impl Actor for Keeps {
        type Message = ();
        async fn handle(&mut self, (): (), _: &mut Context<Self>) -> Handled {
            self.0 = Some(poll_fn(|task| Poll::Ready(task.waker().clone())).await);
            Ok(())
        }
    }
    for workers in [1, 2] {
        on_workers(workers, async {
            let actor = spawn(Keeps(None));
            let stopped = actor.stopped();
            actor.send(()).await.unwrap();
            drop(actor);
            assert!(matches!(stopped.await, ExitReason::Unreferenced));
        });
    }
}

/// The actor is woken during its own polls, with uncommitted changes of the count, and consumes
/// tokens meanwhile.
#[test]
fn references_that_an_actor_makes_and_drops_itself_are_all_counted() {
    struct Makes(Arc<Mutex<Option<Vec<ActorRef<usize>>>>>);
    impl Actor for Makes {
        type Message = usize;
        async fn handle(&mut self, amount: usize, context: &mut Context<Self>) -> Handled {
            let mut made: Vec<_> = (0..amount).map(|_| context.actor_ref()).collect();
            (0..3).for_each(|_| current().unpark());
            evenkeel::yield_now().await;
            park().await;
            made.truncate(amount / 2);
            current().unpark();
            evenkeel::yield_now().await;
            park().await;
            *self.0.lock().unwrap() = Some(made);
            Ok(())
        }
    }
    for workers in [1, 2] {
        on_workers(workers, async {
            for amount in [0, 1, 2, 31, 32, 33, 64, 65, 66, 300] {
                let place = Arc::new(Mutex::new(None));
                let actor = spawn(Makes(place.clone()));
                let stopped = actor.stopped();
                actor.send(amount).await.unwrap();
                let mut made = loop {
                    let taken = place.lock().unwrap().take();
                    if let Some(made) = taken {
                        break made;
                    }
                    evenkeel::yield_now().await;
                };
                assert_eq!(made.len(), amount / 2);
                drop(actor);
                let last = made.pop();
                drop(made);
                if let Some(last) = last {
                    (0..10).for_each(|_| drop(last.clone()));
                    last.send(0).await.unwrap();
                }
                assert!(matches!(stopped.await, ExitReason::Unreferenced), "{amount}");
            }
        });
    }
}

#[test]
fn actors_that_refer_to_each_other_end_if_one_of_the_references_is_weak() {
    struct Other(Box<dyn Any + Send>);
    struct Keeps(Option<Box<dyn Any + Send>>);
    impl Actor for Keeps {
        type Message = Other;
        async fn handle(&mut self, other: Other, _: &mut Context<Self>) -> Handled {
            self.0 = Some(other.0);
            Ok(())
        }
    }
    for workers in [1, 2] {
        on_workers(workers, async {
            let (one, two) = (spawn(Keeps(None)), spawn(Keeps(None)));
            let (first, second) = (one.stopped(), two.stopped());
            one.try_send(Other(Box::new(two.clone()))).unwrap();
            two.try_send(Other(Box::new(one.downgrade()))).unwrap();
            let weak = one.downgrade();
            assert_eq!((weak.id(), weak.upgrade().as_ref()), (one.id(), Some(&one)));
            drop((one, two));
            assert!(matches!(first.await, ExitReason::Unreferenced));
            assert!(matches!(second.await, ExitReason::Unreferenced));
            assert!(weak.clone().upgrade().is_none());
        });
    }
}

#[test]
fn an_actor_that_a_weak_reference_finds_as_it_ends_handles_the_message() {
    struct Counts(Arc<AtomicU32>);
    impl Actor for Counts {
        type Message = ();
        async fn handle(&mut self, (): (), _: &mut Context<Self>) -> Handled {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }
    on_workers(1, async {
        for round in 0..2_000 {
            let handled = Arc::new(AtomicU32::new(0));
            let actor = spawn(Counts(handled.clone()));
            let (weak, stopped) = (actor.downgrade(), actor.stopped());
            let finds = std::thread::spawn(move || {
                (0..round % 64).for_each(|_| std::hint::spin_loop());
                weak.upgrade().map_or(0, |actor| {
                    actor.try_send(()).unwrap();
                    1
                })
            });
            drop(actor);
            assert!(matches!(stopped.await, ExitReason::Unreferenced), "round {round}");
            assert_eq!(handled.load(Ordering::Relaxed), finds.join().unwrap(), "round {round}");
        }
    });
}
