//! Preparations for the signalled waiter: `signal_block_with`, beside waits that time out
//! meanwhile.

use super::free::{hold, is_free};
use crate::common::polling::Hand;
use crate::common::watchdog::watchdog;
use evenkeel::Builder;
use evenkeel::sync::monitor::{Condition, Held, Monitor, lock_all};
use evenkeel::time::{Duration, sleep};
use evenkeel_policy::random::Random;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

type Plain = Monitor<u32, Condition<u32>>;

/// A time limit that the test controls.
#[derive(Default)]
struct Limit(Cell<bool>);

impl Limit {
    async fn wait(&self) {
        poll_fn(|_| if self.0.get() { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    fn come(&self) {
        self.0.set(true);
    }
}

/// A task that waits for the monitor's condition until the limit.
fn waiter<'a>(
    monitor: &'a Plain,
    datum: u32,
    limit: &'a Limit,
) -> Hand<impl Future<Output = (Held<&'a Plain>, bool)>> {
    Hand::waiting(monitor.conditions().wait_until(hold(monitor), datum, limit.wait()))
}

/// The documentation's warning: `front` and a signal are two steps.
#[test]
fn a_waiter_may_run_out_of_time_between_a_look_and_a_signal() {
    let (monitor, limit) = (Plain::default(), Limit::default());
    let mut waiter = waiter(&monitor, 7, &limit);
    let held = hold(&monitor);
    assert_eq!(monitor.conditions().front(&held), Some(7));
    limit.come();
    assert!(waiter.poll().is_none(), "it wants to enter anew");
    let (held, some) = Hand::new(monitor.conditions().signal_block(held)).ready();
    assert!(!some);
    drop(held);
    assert!(!waiter.ready().1);
}

#[test]
fn what_is_prepared_is_for_the_one_that_was_seen_though_its_time_comes_meanwhile() {
    let (monitor, limit, never) = (Plain::default(), Limit::default(), Limit::default());
    let first = RefCell::new(waiter(&monitor, 7, &limit));
    let second = waiter(&monitor, 8, &never);
    let prepare = |held: &mut Held<&Plain>, datum| {
        limit.come();
        assert!(first.borrow_mut().poll().is_none());
        **held = 10 * datum;
        "prepared"
    };
    let signaller = Hand::waiting(monitor.conditions().signal_block_with(hold(&monitor), prepare));
    assert_eq!((first.borrow().wakes(), second.wakes()), (1, 0));
    let (mut held, is_signalled) = first.borrow_mut().poll().expect("it has the monitor");
    assert_eq!((*held, is_signalled), (70, true));
    *held = 1;
    drop(held);
    let (held, prepared) = signaller.ready();
    assert_eq!((*held, prepared), (1, Some("prepared")));
    drop(held);
    assert!(is_free(&monitor));
    drop(second);
}

#[test]
fn nothing_is_prepared_where_no_task_waits() {
    let monitor = Plain::default();
    let never = |_: &mut Held<&Plain>, _| unreachable!("there is no waiter");
    // Before a task has ever waited, and afterwards.
    for _ in 0..2 {
        let block = monitor.conditions().signal_block_with(hold(&monitor), never);
        let (held, prepared) = Hand::new(block).ready();
        assert!(prepared.is_none() && !is_free(&monitor));
        drop(held);
        drop(waiter(&monitor, 1, &Limit::default()));
    }
    // Dropped before its first poll it has prepared nothing, and the waiter times out as usual.
    let limit = Limit::default();
    let mut waiting = waiter(&monitor, 1, &limit);
    drop(monitor.conditions().signal_block_with(hold(&monitor), never));
    limit.come();
    assert!(waiting.poll().is_some_and(|(_, is_signalled)| !is_signalled));
    assert!(is_free(&monitor));
}

#[test]
fn if_the_chosen_one_is_dropped_the_next_has_its_turn_or_the_signaller_goes_on() {
    let never = Limit::default();
    for is_alone in [false, true] {
        let monitor = Plain::default();
        let first = Cell::new(Some(waiter(&monitor, 1, &never)));
        let second = if is_alone { None } else { Some(waiter(&monitor, 2, &never)) };
        let prepare = |held: &mut Held<&Plain>, datum| {
            **held = datum;
            drop(first.take());
        };
        let mut signaller =
            Hand::new(monitor.conditions().signal_block_with(hold(&monitor), prepare));
        let at_once = signaller.poll();
        assert_eq!(at_once.is_some(), is_alone);
        if let Some(second) = second {
            let (held, is_signalled) = second.ready();
            assert_eq!((*held, is_signalled), (1, true));
        }
        let (held, prepared) = at_once.unwrap_or_else(|| signaller.ready());
        assert!(prepared.is_some());
        drop(held);
        assert!(is_free(&monitor));
    }
}

#[test]
fn a_panic_of_the_preparation_signals_and_leaves() {
    let (monitor, limit) = (Plain::default(), Limit::default());
    let mut waiting = waiter(&monitor, 1, &limit);
    let prepare = |_: &mut Held<&Plain>, _: u32| resume_unwind(Box::new("halfway"));
    let mut signaller =
        Hand::new(monitor.conditions().signal_block_with::<_, _, ()>(hold(&monitor), prepare));
    assert!(catch_unwind(AssertUnwindSafe(|| signaller.poll().is_some())).is_err());
    limit.come();
    let (held, is_signalled) = waiting.poll().expect("it has the monitor");
    assert!(is_signalled);
    drop(held);
    drop(signaller);
    assert!(is_free(&monitor));
}

/// Leaves its hold, and replaces it by one of another monitor.
fn changed_for<'a>(other: &'a Plain) -> impl FnOnce(&mut Held<&'a Plain>, u32) {
    move |held, _| drop(mem::replace(held, hold(other)))
}

#[test]
fn a_signal_of_the_same_condition_within_is_for_the_next_one_behind_the_chosen() {
    let (monitor, never) = (Plain::default(), Limit::default());
    for is_alone in [false, true] {
        let first = waiter(&monitor, 1, &never);
        let second = if is_alone { None } else { Some(waiter(&monitor, 2, &never)) };
        let prepare = |held: &mut Held<&Plain>, datum| {
            **held = datum;
            monitor.conditions().signal(held)
        };
        let signaller =
            Hand::waiting(monitor.conditions().signal_block_with(hold(&monitor), prepare));
        let (held, is_signalled) = first.ready();
        assert_eq!((*held, is_signalled), (1, true), "it is prepared for the first one");
        drop(held);
        assert_eq!(signaller.ready().1, Some(!is_alone), "the second one has been signalled");
        if let Some(second) = second {
            drop(second.ready());
        }
        assert!(is_free(&monitor));
    }
}

/// A waiter that the preparation signalled gives up: its signal does not go to the chosen waiter.
#[test]
fn a_signal_within_that_is_given_up_passes_the_chosen_by() {
    let (monitor, never) = (Plain::default(), Limit::default());
    let first = waiter(&monitor, 1, &never);
    let second = Cell::new(Some(waiter(&monitor, 2, &never)));
    let prepare = |held: &mut Held<&Plain>, datum| {
        **held = datum;
        assert!(monitor.conditions().signal(held));
        drop(second.take());
    };
    let signaller = Hand::waiting(monitor.conditions().signal_block_with(hold(&monitor), prepare));
    drop(first.ready());
    assert!(signaller.ready().1.is_some());
    assert!(is_free(&monitor));
}

#[test]
fn the_limit_of_the_chosen_one_counts_again_if_the_preparation_changes_its_hold_for_another() {
    for (panics, comes_within) in [(false, false), (false, true), (true, false), (true, true)] {
        let (monitor, other, limit) = (Plain::default(), Plain::default(), Limit::default());
        let waiting = RefCell::new(waiter(&monitor, 1, &limit));
        let change = changed_for(&other);
        let prepare = |held: &mut _, datum| {
            if comes_within {
                limit.come();
                assert!(waiting.borrow_mut().poll().is_none(), "it has been chosen");
            }
            change(held, datum);
            if panics {
                resume_unwind(Box::new("halfway"));
            }
        };
        let mut signaller =
            Hand::new(monitor.conditions().signal_block_with(hold(&monitor), prepare));
        assert!(catch_unwind(AssertUnwindSafe(|| signaller.poll().is_some())).is_err());
        assert_eq!(waiting.borrow().wakes(), 1, "it is to look at its limit again");
        limit.come();
        let is_signalled = waiting.borrow_mut().poll().expect("its limit has come").1;
        assert!(!is_signalled);
        drop(signaller);
        assert!(is_free(&monitor) && is_free(&other));
    }
}

/// The chosen waiter goes with the replaced hold, and nothing else keeps the monitor.
#[test]
fn an_owned_monitor_outlives_a_preparation_that_changes_its_hold_for_another() {
    let [monitor, other] = [(); 2].map(|()| Arc::new(Monitor::new(0_u32)));
    let (condition, gone) = (Condition::<u32>::new(), Arc::downgrade(&monitor));
    let enter = |monitor: &Arc<Monitor<u32>>| lock_all(monitor.clone());
    let waiting = Hand::waiting(condition.wait_with(Hand::new(enter(&monitor)).ready(), 1));
    let held = Hand::new(enter(&monitor)).ready();
    drop(monitor);
    let waiting = Cell::new(Some(waiting));
    let prepare = |held: &mut Held<Arc<Monitor<u32>>>, _| {
        drop(mem::replace(held, Hand::new(enter(&other)).ready()));
        drop(waiting.take());
    };
    let mut signaller = Hand::new(condition.signal_block_with(held, prepare));
    assert!(catch_unwind(AssertUnwindSafe(|| signaller.poll().is_some())).is_err());
    drop(signaller);
    assert!(gone.upgrade().is_none() && other.try_enter().is_some());
}

#[test]
fn a_preparation_may_not_change_its_hold_for_another() {
    let (monitor, other, never) = (Plain::default(), Plain::default(), Limit::default());
    let waiting = waiter(&monitor, 3, &never);
    let block = monitor.conditions().signal_block_with(hold(&monitor), changed_for(&other));
    let mut signaller = Hand::new(block);
    let panic = catch_unwind(AssertUnwindSafe(|| signaller.poll().is_some())).unwrap_err();
    let words = panic.downcast_ref::<&str>().expect("it is text");
    assert!(words.starts_with("a condition is used inside other monitors"), "{words}");
    drop((waiting, signaller));
    assert!(is_free(&monitor) && is_free(&other));
}

#[test]
fn a_set_of_monitors_is_prepared_as_a_whole() {
    let monitors = [Monitor::new(1_u32), Monitor::new(2_u32)];
    let condition = Condition::<u32>::new();
    let both = || Hand::new(lock_all(monitors.each_ref())).ready();
    let waiting = Hand::waiting(condition.wait_with(both(), 5));
    let prepare = |held: &mut Held<[&Monitor<u32>; 2]>, datum| {
        held.values_mut().into_iter().for_each(|value| *value *= datum);
    };
    let signaller = Hand::waiting(condition.signal_block_with(both(), prepare));
    let held = waiting.ready();
    assert_eq!(held.values(), [&5, &10]);
    drop(held);
    assert!(signaller.ready().1.is_some());
}

/// Waits that time out at just that moment: the waiter takes what was prepared for it.
#[test]
fn nothing_that_is_prepared_is_left_over() {
    type Counter = Monitor<Option<u32>, Condition<u32>>;

    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        let counter = Arc::new(Counter::default());
        let is_over = Arc::new(AtomicBool::new(false));
        let waiters: Vec<_> = (0..4_u32)
            .map(|name| {
                let (counter, is_over) = (counter.clone(), is_over.clone());
                runtime.spawn(async move {
                    let mut random = Random::new(u64::from(name));
                    let mut served = 0;
                    while !is_over.load(Ordering::Acquire) {
                        let held = counter.enter().await;
                        let limit = sleep(Duration::from_micros(random.below(1_500)));
                        let wait = counter.conditions().wait_until(held, name, limit);
                        let (mut held, is_signalled) = wait.await;
                        if is_signalled {
                            assert_eq!(held.take(), Some(name), "it is for this one");
                            served += 1;
                        }
                        assert_eq!(*held, None);
                    }
                    served
                })
            })
            .collect();
        let signaller = runtime.spawn(async move {
            let mut prepared = 0;
            while prepared < 500 {
                let held = counter.enter().await;
                let prepare = |held: &mut Held<&Counter>, name| **held = Some(name);
                let (held, some) = counter.conditions().signal_block_with(held, prepare).await;
                assert_eq!(*held, None, "it has been taken");
                prepared += u32::from(some.is_some());
                drop(held);
                evenkeel::yield_now().await;
            }
            is_over.store(true, Ordering::Release);
            prepared
        });
        runtime.block_on(async {
            let prepared = signaller.await.unwrap();
            let mut served = 0;
            for waiter in waiters {
                served += waiter.await.unwrap();
            }
            assert_eq!(served, prepared);
        });
    }
}
