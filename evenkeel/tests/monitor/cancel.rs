//! The fate of holds and signals when futures around monitors are dropped, forgotten, or polled
//! spuriously: each rule of the documentation, polled by hand.

use super::free::{hold, is_free, waiter};
use crate::common::op::{F, G};
use crate::common::polling::Hand;
use crate::common::watchdog::watchdog;
use evenkeel::sync::monitor::{
    Accepted, Clause, Condition, End, Held, Monitor, call, lock_all, try_lock_all,
};
use evenkeel::time::sleep;
use evenkeel::{Builder, spawn};
use futures::channel::oneshot;
use futures::stream::{FuturesUnordered, StreamExt};
use std::future::{pending, ready};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

type Plain = Monitor<u32, Condition<u32>>;

#[test]
fn g1_entry_dropped_before_its_first_poll() {
    let monitor = Plain::default();
    drop(monitor.enter());
    drop(lock_all((&monitor, &Plain::default())));
    assert!(is_free(&monitor));
}

#[test]
fn g1_entry_dropped_in_the_queue() {
    let monitor = Plain::default();
    let held = hold(&monitor);
    let first = Hand::waiting(monitor.enter());
    let second = Hand::waiting(monitor.enter());
    let third = Hand::waiting(monitor.enter());
    drop(second);
    drop(first);
    drop(held);
    assert_eq!(third.wakes(), 1);
    drop(third.ready());
    assert!(is_free(&monitor));
}

#[test]
fn g1_entry_dropped_with_its_hold() {
    let monitor = Plain::default();
    let held = hold(&monitor);
    let first = Hand::waiting(monitor.enter());
    let second = Hand::waiting(monitor.enter());
    drop(held);
    assert_eq!((first.wakes(), second.wakes()), (1, 0));
    drop(first);
    assert_eq!(second.wakes(), 1);
    drop(second.ready());
    assert!(is_free(&monitor));
}

/// The waiter is at each place of the set, with and without a grant there.
#[test]
fn g1_bulk_entry_dropped_half_way() {
    for missing in 0..4 {
        for given in [false, true] {
            let monitors: [Plain; 4] = Default::default();
            let held = hold(&monitors[missing]);
            let bulk = Hand::waiting(lock_all(monitors.each_ref()));
            let next = Hand::waiting(lock_all(monitors.each_ref()));
            for (index, monitor) in monitors.iter().enumerate() {
                assert_eq!(is_free(monitor), index > missing);
            }
            if given {
                drop(held);
                drop(bulk);
            } else {
                drop(bulk);
                drop(held);
            }
            let mut next = next;
            assert!(next.wakes() > 0);
            drop(next.poll().expect("all of them are free"));
            assert!(monitors.iter().all(is_free));
        }
    }
}

/// The end is dropped before an accept, after one, and with its own grant.
#[test]
fn g1_end_dropped() {
    let monitor = Plain::default();
    let accept = |held| Hand::new(Held::accept(held, [Clause::new(End)]));
    let held = hold(&monitor);
    drop(Hand::waiting(monitor.end()));
    let mut acceptor = accept(held);
    assert!(acceptor.poll().is_none(), "its caller is gone");
    let end = Hand::waiting(monitor.end());
    let (held, accepted) = acceptor.poll().expect("the end has come");
    assert_eq!(accepted, Accepted::Call(0));
    let entrant = Hand::waiting(monitor.enter());
    drop(end);
    drop(held);
    let held = entrant.ready();
    let end = Hand::waiting(monitor.end());
    let (held, accepted) = accept(held).ready();
    assert_eq!(accepted, Accepted::Call(0));
    let entrant = Hand::waiting(monitor.enter());
    drop(held);
    assert_eq!((end.wakes(), entrant.wakes()), (1, 0));
    drop(end);
    drop(entrant.ready());
    assert!(is_free(&monitor));
}

/// The entry has a name: its acceptor learns that the call broke off.
#[test]
fn g1_entry_dropped_with_a_hold_that_was_accepted() {
    let monitor = Plain::default();
    let held = hold(&monitor);
    let entrant = Hand::waiting(monitor.enter_as(F));
    let waits = Hand::waiting(Held::accept(held, [Clause::new(F)]));
    drop(entrant);
    check_accepted(waits, Accepted::Broken(0));
    assert!(is_free(&monitor));
}

#[test]
fn g3_wait_dropped_before_its_first_poll() {
    let monitor = Plain::default();
    drop(monitor.conditions().wait_with(hold(&monitor), 1));
    let mut held = hold(&monitor);
    assert!(!monitor.conditions().signal(&mut held));
}

#[test]
fn g3_wait_dropped_in_the_queue() {
    let monitor = Plain::default();
    let first = waiter(&monitor, 1);
    let second = waiter(&monitor, 2);
    drop(first);
    let mut held = hold(&monitor);
    assert_eq!(monitor.conditions().front(&held), Some(2));
    assert!(monitor.conditions().signal(&mut held));
    assert!(!monitor.conditions().signal(&mut held));
    drop(held);
    drop(second.ready());
    assert!(is_free(&monitor));
}

/// The next waiter takes the place of the dropped one among the signalled.
#[test]
fn g4_wait_dropped_once_it_is_signalled() {
    let monitor = Plain::default();
    let other = Condition::new();
    let first = waiter(&monitor, 1);
    let second = waiter(&monitor, 2);
    let third = Hand::waiting(other.wait(hold(&monitor)));
    let mut held = hold(&monitor);
    assert!(monitor.conditions().signal(&mut held));
    assert!(other.signal(&mut held));
    drop(first);
    assert!(monitor.conditions().is_empty(&held), "the signal has gone on");
    drop(held);
    assert_eq!((second.wakes(), third.wakes()), (1, 0));
    drop(second.ready());
    assert_eq!(third.wakes(), 1);
    drop(third.ready());
    assert!(is_free(&monitor));
}

#[test]
fn g4_wait_dropped_with_its_hold() {
    let monitor = Plain::default();
    let first = waiter(&monitor, 1);
    let second = waiter(&monitor, 2);
    let mut held = hold(&monitor);
    let entrant = Hand::waiting(monitor.enter());
    assert!(monitor.conditions().signal(&mut held));
    drop(held);
    assert_eq!(first.wakes(), 1);
    drop(first);
    assert_eq!((second.wakes(), entrant.wakes()), (1, 0), "the signal goes on, and no task barges");
    drop(second.ready());
    drop(entrant.ready());
    assert!(is_free(&monitor));
}

/// Without another waiter the signal is lost, and the hold goes on.
#[test]
fn g4_the_last_wait_dropped() {
    for granted in [false, true] {
        let monitor = Plain::default();
        let only = waiter(&monitor, 1);
        let mut held = hold(&monitor);
        let entrant = Hand::waiting(monitor.enter());
        assert!(monitor.conditions().signal(&mut held));
        if granted {
            drop(held);
            drop(only);
        } else {
            drop(only);
            drop(held);
        }
        drop(entrant.ready());
        assert!(is_free(&monitor));
    }
}

/// The same with a set: the whole of it goes on.
#[test]
fn g4_wait_in_a_set_dropped() {
    for granted in [false, true] {
        let (one, two) = (Plain::default(), Plain::default());
        let condition = Condition::new();
        let set = (&one, &two);
        let hold_both = || Hand::new(lock_all(set)).ready();
        let first = Hand::waiting(condition.wait(hold_both()));
        let second = Hand::waiting(condition.wait(hold_both()));
        let mut held = hold_both();
        let barger = Hand::waiting(two.enter());
        assert!(condition.signal(&mut held));
        if granted {
            drop(held);
            drop(first);
        } else {
            drop(first);
            drop(held);
        }
        assert_eq!(barger.wakes(), 0);
        drop(second.ready());
        drop(barger.ready());
        assert!(is_free(&one) && is_free(&two));
    }
}

/// A signalled wait does not time out.
#[test]
fn g4_wait_until_that_is_signalled_first() {
    let monitor = Plain::default();
    let (end, ended) = oneshot::channel::<()>();
    let until = async { _ = ended.await };
    let mut wait = Hand::waiting(monitor.conditions().wait_until(hold(&monitor), 1, until));
    let mut held = hold(&monitor);
    assert!(monitor.conditions().signal(&mut held));
    drop(end);
    assert!(wait.poll().is_none() && wait.poll().is_none());
    drop(held);
    let (held, signalled) = wait.ready();
    assert!(signalled);
    drop(held);
    assert!(is_free(&monitor));
}

#[test]
fn g4_wait_until_that_is_over_first() {
    let monitor = Plain::default();
    let wait = monitor.conditions().wait_until(hold(&monitor), 1, ready(()));
    let (held, signalled) = Hand::new(wait).ready();
    assert!(!signalled && monitor.conditions().is_empty(&held));
    // Dropped while it enters again, and with its hold.
    for granted in [false, true] {
        let (end, ended) = oneshot::channel::<()>();
        let until = async { _ = ended.await };
        let monitor = Plain::default();
        let mut wait = Hand::waiting(monitor.conditions().wait_until(hold(&monitor), 1, until));
        let mut held = hold(&monitor);
        drop(end);
        assert!(wait.poll().is_none());
        assert!(!monitor.conditions().signal(&mut held), "it does not wait any more");
        if granted {
            drop(held);
            drop(wait);
        } else {
            drop(wait);
            drop(held);
        }
        assert!(is_free(&monitor));
    }
}

#[test]
fn g5_signal_block_dropped() {
    let monitor = Plain::default();
    // Before its first poll it has signalled no waiter.
    let first = waiter(&monitor, 1);
    drop(monitor.conditions().signal_block(hold(&monitor)));
    assert_eq!((first.wakes(), is_free(&monitor)), (0, true));
    // While the other task is inside.
    let signaller = Hand::waiting(monitor.conditions().signal_block(hold(&monitor)));
    let held = first.ready();
    drop(signaller);
    assert!(!is_free(&monitor), "that one is not concerned");
    drop(held);
    assert!(is_free(&monitor));
    // With its hold returned.
    let second = waiter(&monitor, 2);
    let signaller = Hand::waiting(monitor.conditions().signal_block(hold(&monitor)));
    let entrant = Hand::waiting(monitor.enter());
    drop(second.ready());
    assert_eq!((signaller.wakes(), entrant.wakes()), (1, 0));
    drop(signaller);
    drop(entrant.ready());
    assert!(is_free(&monitor));
}

/// If the signalled wait is dropped, the next waiter receives the hold; without one, the signaller
/// takes it back.
#[test]
fn g5_signalled_by_signal_block_and_dropped() {
    let monitor = Plain::default();
    let (first, second) = (waiter(&monitor, 1), waiter(&monitor, 2));
    let signaller = Hand::waiting(monitor.conditions().signal_block(hold(&monitor)));
    drop(first);
    assert_eq!((second.wakes(), signaller.wakes()), (1, 0));
    drop(second);
    let (held, some) = signaller.ready();
    assert!(some);
    drop(held);
    assert!(is_free(&monitor));
}

#[test]
fn g6_accept_dropped() {
    let monitor = Plain::default();
    let accept = || Hand::new(Held::accept(hold(&monitor), [Clause::new(F)]));
    // Dropped before its first poll, and without a call: then no call is accepted.
    drop(accept());
    let mut waits = accept();
    assert!(waits.poll().is_none());
    let entrant = Hand::waiting(monitor.enter());
    drop(waits);
    let held = entrant.ready();
    let caller = Hand::waiting(monitor.enter_as(F));
    drop(held);
    drop(caller.ready());
    // While a call is inside: the call is unaffected, and ends as usual.
    let mut waits = accept();
    assert!(waits.poll().is_none());
    let held = Hand::new(monitor.enter_as(F)).ready();
    drop(waits);
    assert!(!is_free(&monitor));
    drop(held);
    assert!(is_free(&monitor));
    // With its hold returned.
    let mut waits = accept();
    assert!(waits.poll().is_none());
    drop(Hand::new(monitor.enter_as(F)).ready());
    assert_eq!(waits.wakes(), 1);
    drop(waits);
    assert!(is_free(&monitor));
}

/// Checks that an accepted call is over for its acceptor: as a call, or broken off.
#[track_caller]
fn check_accepted<S: evenkeel::sync::monitor::Set>(
    acceptor: Hand<impl Future<Output = (Held<S>, Accepted)>>,
    wanted: Accepted,
) {
    assert_eq!(acceptor.wakes(), 1);
    assert_eq!(acceptor.ready().1, wanted);
}

fn acceptor(monitor: &Plain) -> Hand<impl Future<Output = (Held<&Plain>, Accepted)>> {
    Hand::waiting(Held::accept(hold(monitor), [Clause::new(G), Clause::new(F)]))
}

#[test]
fn g7_accepted_call_dropped_inside() {
    let monitor = Plain::default();
    let waits = acceptor(&monitor);
    let call = Hand::waiting(monitor.call(F, async |_held| pending::<()>().await));
    drop(call);
    check_accepted(waits, Accepted::Broken(1));
    // A call that ends is not broken, even if its future is dropped later.
    let waits = acceptor(&monitor);
    let mut call = Hand::new(monitor.call(F, async |_held| ()));
    assert!(call.poll().is_some());
    drop(call);
    check_accepted(waits, Accepted::Call(1));
    assert!(is_free(&monitor));
}

#[test]
fn g7_accepted_call_dropped_with_its_hold() {
    let monitor = Plain::default();
    let held = hold(&monitor);
    let call = Hand::waiting(monitor.call(F, async |_held| ()));
    let waits = Hand::waiting(Held::accept(held, [Clause::new(F)]));
    assert_eq!(call.wakes(), 1);
    drop(call);
    check_accepted(waits, Accepted::Broken(0));
    assert!(is_free(&monitor));
}

#[test]
fn g7_accepted_call_panics() {
    let monitor = Plain::default();
    let waits = acceptor(&monitor);
    let mut call = Hand::new(monitor.call(F, async |_held| resume_unwind(Box::new(()))));
    assert!(catch_unwind(AssertUnwindSafe(|| call.poll())).is_err());
    check_accepted(waits, Accepted::Broken(1));
    assert!(is_free(&monitor));
}

/// A call that waits, signals and blocks, or accepts has given its hold to that future.
#[test]
fn g7_accepted_call_dropped_where_it_has_given_its_hold_to_a_future() {
    let monitor = Plain::default();
    // Not polled yet.
    let waits = acceptor(&monitor);
    drop(Hand::waiting(monitor.call(F, async |held| {
        let _wait = monitor.conditions().wait_with(held, 1);
        pending::<()>().await;
    })));
    check_accepted(waits, Accepted::Broken(1));
    // In a nested accept without a call.
    let waits = acceptor(&monitor);
    drop(Hand::waiting(monitor.call(F, async |held| {
        drop(Held::accept(held, [Clause::new(G)]).await);
    })));
    check_accepted(waits, Accepted::Broken(1));
    // In a nested accept with a call inside: the outer acceptor learns of the break after that
    // call.
    let waits = acceptor(&monitor);
    let outer = Hand::waiting(monitor.call(F, async |held| {
        drop(Held::accept(held, [Clause::new(G)]).await);
    }));
    let held = Hand::new(monitor.enter_as(G)).ready();
    drop(outer);
    assert_eq!(waits.wakes(), 0);
    drop(held);
    check_accepted(waits, Accepted::Broken(1));
    // While a task that the call signalled is inside.
    let waiter = waiter(&monitor, 1);
    let waits = acceptor(&monitor);
    let signaller = Hand::waiting(monitor.call(F, async |held| {
        drop(monitor.conditions().signal_block(held).await);
    }));
    let held = waiter.ready();
    drop(signaller);
    assert_eq!(waits.wakes(), 0);
    drop(held);
    check_accepted(waits, Accepted::Broken(1));
    assert!(is_free(&monitor));
}

/// An acceptor learns only of its own call: here the inner acceptor has gone, and the dropped call
/// was its.
#[test]
fn g7_a_call_whose_acceptor_has_gone_breaks_no_other_call() {
    let monitor = Plain::default();
    let waiter = waiter(&monitor, 1);
    let waits = acceptor(&monitor);
    let signaller = Hand::waiting(monitor.call(F, async |held| {
        drop(monitor.conditions().signal_block(held).await);
    }));
    let inner = Hand::waiting(Held::accept(waiter.ready(), [Clause::new(G)]));
    let call = Hand::waiting(monitor.call(G, async |_held| pending::<()>().await));
    drop(inner);
    drop(call);
    signaller.ready();
    check_accepted(waits, Accepted::Call(1));
    assert!(is_free(&monitor));
}

/// A waiting call is over for its acceptor, which is unaffected by the call's later fate.
#[test]
fn g7_a_call_dropped_while_it_waits_is_not_broken() {
    let monitor = Plain::default();
    let waits = acceptor(&monitor);
    let call = Hand::waiting(monitor.call(F, async |held| {
        drop(monitor.conditions().wait_with(held, 1).await);
    }));
    drop(call);
    check_accepted(waits, Accepted::Call(1));
    assert!(is_free(&monitor));
}

#[test]
fn g8_a_hold_goes_to_another_task() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).build().expect("the runtime starts");
    let monitor: &'static Plain = Box::leak(Box::default());
    runtime.block_on(async {
        for _ in 0..100 {
            let held = monitor.enter().await;
            let other = spawn(async move { drop(held) });
            *monitor.enter().await += 1;
            other.await.expect("it drops the hold");
        }
    });
    let held = hold(monitor);
    std::thread::spawn(move || drop(held)).join().expect("it drops the hold");
    assert_eq!(*hold(monitor), 100);
}

/// Forgotten futures and holds may keep tasks out for ever; queued ones stay where they are.
#[test]
fn g9_forgotten_futures_and_holds() {
    let monitor = Plain::default();
    let forgotten = waiter(&monitor, 1);
    mem::forget(forgotten);
    let second = waiter(&monitor, 2);
    let mut held = hold(&monitor);
    assert_eq!(monitor.conditions().signal_all(&mut held), 2);
    drop(second);
    mem::forget(Hand::waiting(monitor.enter()));
    let third = Hand::waiting(monitor.enter_as(F));
    // The forgotten entry receives the monitor, and no entry follows it.
    drop(held);
    assert_eq!(third.wakes(), 0);
    drop(third);
    drop(Hand::waiting(monitor.enter()));
    assert!(!is_free(&monitor));
    // The monitor may move, and its value is not lost.
    let mut moved = Box::new(monitor);
    *moved.get_mut() += 1;
    assert!(Hand::new(moved.enter()).poll().is_none());
    assert_eq!(moved.into_inner(), 1);
    let monitor = Plain::default();
    mem::forget(Hand::waiting(Held::accept(hold(&monitor), [Clause::new(F)])));
    mem::forget(Hand::new(monitor.enter_as(F)).ready());
    mem::forget(Hand::waiting(lock_all((&monitor, &Plain::default()))));
    drop(monitor);
    let (one, two) = (Plain::default(), Plain::default());
    mem::forget(hold(&one));
    mem::forget(Hand::waiting(lock_all([&one, &two])));
    drop((one, two));
}

/// The future of an acceptor is forgotten, and another monitor comes to the place of one of its
/// set: a call of the set that is there now is not let in by that acceptor.
#[test]
fn g9_a_forgotten_acceptor_lets_nothing_into_other_monitors() {
    let mut pair = [Plain::default(), Plain::default()];
    let held = try_lock_all([&pair[0], &pair[1]]).expect("they are free");
    mem::forget(Hand::waiting(Held::accept(held, [Clause::new(F)])));
    pair[1] = Plain::default();
    for is_held in [false, true] {
        let held = is_held.then(|| hold(&pair[1]));
        drop(Hand::waiting(call([&pair[0], &pair[1]], F, async |_| {})));
        drop(held);
        assert!(is_free(&pair[1]));
    }
}

/// Tasks that wait in every way, when their runtime is dropped.
#[test]
fn g10_a_runtime_dropped_with_tasks_that_wait() {
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        let world = Arc::new((Plain::default(), Plain::default(), Condition::new()));
        let runtime = Builder::new().workers(workers).build().expect("the runtime starts");
        macro_rules! task {
            (|$world:ident| $body:expr) => {{
                let $world = world.clone();
                drop(runtime.spawn(async move {
                    let $world = &*$world;
                    $body
                }));
            }};
        }
        for _ in 0..4 {
            task!(|world| drop(world.0.conditions().wait_with(world.0.enter().await, 1).await));
            task!(|world| drop(world.2.wait(lock_all((&world.0, &world.1)).await).await));
            task!(|world| {
                let held = world.0.enter().await;
                let hour = sleep(Duration::from_secs(3_600));
                drop(world.0.conditions().wait_until(held, 2, hour).await);
            });
        }
        runtime.block_on(async {
            loop {
                let mut held = lock_all((&world.0, &world.1)).await;
                if world.2.signal(&mut held) {
                    break;
                }
                drop(held);
                evenkeel::yield_now().await;
            }
        });
        task!(|world| world
            .0
            .call(F, async |held| {
                drop(world.0.conditions().signal_block(held).await);
                pending::<()>().await;
            })
            .await);
        task!(|world| {
            let held = world.1.enter().await;
            let hour = sleep(Duration::from_secs(3_600));
            drop(Held::accept_until(held, [Clause::new(F)], hour).await);
        });
        for _ in 0..4 {
            task!(|world| drop(world.0.enter().await));
            task!(|world| drop(lock_all((&world.0, &world.1)).await));
            task!(|world| call((&world.0, &world.1), G, async |_held| ()).await);
        }
        drop(runtime);
        assert!(is_free(&world.0) && is_free(&world.1));
        assert_eq!(Arc::strong_count(&world), 1, "all futures have been dropped");
    }
}

/// A spurious poll changes nothing, in any state, and a wake goes to the last waker.
#[test]
fn g11_polls_for_nothing() {
    const POLLS: usize = 100_000;
    let monitor = Plain::default();
    let mut wait = waiter(&monitor, 1);
    let until = pending::<()>();
    let mut timed = Hand::waiting(monitor.conditions().wait_until(hold(&monitor), 2, until));
    let mut waits = acceptor(&monitor);
    let mut entrant = Hand::waiting(monitor.enter());
    let other = Plain::default();
    let mut bulk = Hand::waiting(lock_all((&monitor, &other)));
    for _ in 0..POLLS {
        assert!(wait.poll().is_none() && timed.poll().is_none() && waits.poll().is_none());
        assert!(entrant.poll().is_none() && bulk.poll().is_none());
    }
    let held = Hand::new(monitor.enter_as(F)).ready();
    let mut held = held;
    assert!(monitor.conditions().signal(&mut held));
    for _ in 0..POLLS {
        assert!(wait.poll().is_none() && waits.poll().is_none());
    }
    let mut signaller = Hand::waiting(monitor.conditions().signal_block(held));
    for _ in 0..POLLS {
        assert!(signaller.poll().is_none() && wait.poll().is_none() && waits.poll().is_none());
    }
    drop(timed.ready());
    drop(signaller.ready());
    drop(wait.ready());
    check_accepted(waits, Accepted::Call(1));
    drop(entrant.ready());
    assert_eq!(bulk.wakes(), 1);
    drop(bulk.ready());
    assert!(is_free(&monitor));
}

#[test]
fn g11_each_future_panics_when_it_is_polled_after_its_end() {
    let monitor = Plain::default();
    let mut entry = Hand::new(monitor.enter());
    drop(entry.poll().expect("it is free"));
    assert!(catch_unwind(AssertUnwindSafe(|| entry.poll())).is_err());
    let mut accept = Hand::new(Held::accept_or_else(hold(&monitor), [Clause::new(F)]));
    drop(accept.poll().expect("there is no call"));
    assert!(catch_unwind(AssertUnwindSafe(|| accept.poll())).is_err());
    let mut signaller = Hand::new(monitor.conditions().signal_block(hold(&monitor)));
    drop(signaller.poll().expect("there is no waiter"));
    assert!(catch_unwind(AssertUnwindSafe(|| signaller.poll())).is_err());
    drop((entry, accept, signaller));
    assert!(is_free(&monitor));
}

/// Wakers that are not evenkeel's.
#[test]
fn foreign_wakers() {
    let _watchdog = watchdog();
    let monitor = Plain::default();
    let together: FuturesUnordered<_> = (0..10)
        .map(|index| {
            let monitor = &monitor;
            async move {
                let mut held = monitor.enter().await;
                if index < 9 {
                    held = monitor.conditions().wait_with(held, index).await;
                }
                *held += 1;
                monitor.conditions().signal(&mut held);
            }
        })
        .collect();
    evenkeel::block_on(together.collect::<()>());
    assert_eq!(*hold(&monitor), 10);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                evenkeel::block_on(async {
                    for _ in 0..1_000 {
                        *monitor.enter().await += 1;
                    }
                });
            });
        }
    });
    assert_eq!(monitor.into_inner(), 4_010);
}

/// Makes a whole call when it is dropped.
struct Calls<'a>(&'a Plain);

impl Drop for Calls<'_> {
    fn drop(&mut self) {
        Hand::new(self.0.call(F, async |mut held| *held += 1)).ready();
    }
}

#[test]
fn g7_a_call_in_a_destructor_of_a_cancelled_body_is_whole() {
    let (log, other) = (Plain::default(), Plain::default());
    let accept = Hand::waiting(Held::accept(log.try_enter().unwrap(), [Clause::new(F)]));
    let body = Hand::waiting(other.call(G, async |_held| {
        let _calls = Calls(&log);
        pending::<()>().await;
    }));
    drop(body);
    let (held, accepted) = accept.ready();
    assert_eq!((*held, accepted), (1, Accepted::Call(0)));
}

#[test]
fn g7_a_call_in_a_destructor_beside_a_panic_is_whole() {
    let log = Plain::default();
    let accept = Hand::waiting(Held::accept(log.try_enter().unwrap(), [Clause::new(F)]));
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let _calls = Calls(&log);
        panic!("it is meant to");
    }));
    let (held, accepted) = accept.ready();
    assert_eq!((*held, accepted), (1, Accepted::Call(0)));
}
