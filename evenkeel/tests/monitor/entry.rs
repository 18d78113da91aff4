//! Entry of monitors, one and several: which task is inside, and which comes next.
//!
//! These cases cannot be written: a constructor that locks what it constructs (A9), a monitor that
//! is dropped while a task is inside or waits, or from inside (A10, A11), and entry of a dropped
//! monitor (A12), because holds and futures borrow their monitors; locks of other kinds in one set
//! (A5), because [`Set`] is sealed.

use crate::common::op::{F, G};
use crate::common::polling::Hand;
use crate::common::watchdog::watchdog;
use crate::common::weather::{in_all_weathers, join};
use evenkeel::sync::monitor::{Condition, Held, Monitor, Set, lock_all, try_lock_all};
use evenkeel_policy::random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A second entry by the same task would be a second `&mut`: the hold is passed down instead.
#[test]
fn a1_reentrant_entry() {
    fn add(held: &mut Held<&Monitor<u64>>, depth: u32) {
        **held += 1;
        if depth > 1 {
            add(held, depth - 1);
        }
    }
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let monitor = Arc::new(Monitor::new(0));
        let tasks: Vec<_> = (0..4)
            .map(|task| {
                let monitor = monitor.clone();
                runtime.spawn(async move {
                    let mut random = Random::new(task);
                    for _ in 0..10_000 {
                        let mut held = monitor.enter().await;
                        weather.pass(&mut random).await;
                        add(&mut held, 3);
                    }
                })
            })
            .collect();
        join(runtime, tasks);
        assert_eq!(*monitor.try_enter().expect("all have left"), 120_000);
    });
}

/// The sets are written in both orders.
#[test]
fn a2_pairs_of_three() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let monitors = Arc::new([0; 3].map(Monitor::new));
        let tasks: Vec<_> = (0..6)
            .map(|task| {
                let monitors = monitors.clone();
                runtime.spawn(async move {
                    let mut random = Random::new(task as u64);
                    let (a, b) = [(0, 1), (1, 2), (2, 0)][task % 3];
                    let (a, b) = if task < 3 { (a, b) } else { (b, a) };
                    for _ in 0..5_000 {
                        let mut held = lock_all((&monitors[a], &monitors[b])).await;
                        let before = (*held.values().0, *held.values().1);
                        weather.pass(&mut random).await;
                        let (a, b) = held.values_mut();
                        assert_eq!((*a, *b), before, "no other task has been inside");
                        *a += 1;
                        *b += 1;
                    }
                })
            })
            .collect();
        join(runtime, tasks);
        for monitor in &*monitors {
            assert_eq!(*monitor.try_enter().expect("all have left"), 20_000);
        }
    });
}

/// Two tasks name the same monitors in opposite orders, until both have been inside.
#[test]
fn a3_both_orders_are_one() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let monitors = Arc::new([0; 2].map(Monitor::new));
        let tasks = [(0, 1), (1, 0)].map(|(a, b)| {
            let monitors = monitors.clone();
            runtime.spawn(async move {
                let mut random = Random::new(a as u64);
                for _ in 0..20_000 {
                    let mut held = lock_all((&monitors[a], &monitors[b])).await;
                    weather.pass(&mut random).await;
                    let (a, b) = held.values_mut();
                    *a += 1;
                    *b += 1;
                }
            })
        });
        join(runtime, tasks);
        assert_eq!(
            try_lock_all(monitors.each_ref()).expect("all have left").values(),
            [&40_000; 2]
        );
    });
}

#[test]
fn a4_sets_that_share_one() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let monitors = Arc::new([false; 5].map(Monitor::new));
        let tasks: Vec<_> = (0..10)
            .map(|task| {
                let monitors = monitors.clone();
                runtime.spawn(async move {
                    let mut random = Random::new(task);
                    let [a, b, c, d, e] = monitors.each_ref();
                    macro_rules! enter {
                        ($set:expr, $place:tt) => {{
                            let mut held = lock_all($set).await;
                            assert!(!*held.values().$place, "two are inside");
                            *held.values_mut().$place = true;
                            weather.pass(&mut random).await;
                            *held.values_mut().$place = false;
                        }};
                    }
                    for _ in 0..400 {
                        enter!((a,), 0);
                        enter!((a, b, c, d, e), 0);
                        enter!((c, a), 1);
                        enter!((a, b, d), 0);
                        enter!((e, d, c, a), 3);
                    }
                })
            })
            .collect();
        join(runtime, tasks);
        let refs = monitors.each_ref();
        assert!(try_lock_all(&refs).is_some());
    });
}

/// A tuple is flat here; its values come in the order of writing, whatever the addresses.
#[test]
fn a6_values_come_in_the_order_of_the_set() {
    let [a, b, c] = [1, 2, 3].map(Monitor::new);
    let wide = Monitor::new(String::from("x"));
    let mut held = Hand::new(lock_all((&c, &wide, &a, &b))).ready();
    held.values_mut().1.push('y');
    assert_eq!(held.values(), (&3, &String::from("xy"), &1, &2));
    drop(held);
    let slice = [&b, &c, &a];
    let mut held = Hand::new(lock_all(&slice[..])).ready();
    *held.values_mut()[0] = 20;
    assert_eq!(*held.values(), [&20, &3, &1]);
    drop(held);
    let eight = [0; 8].map(Monitor::new);
    let [s, t, u, v, w, x, y, z] = eight.each_ref();
    drop(Hand::new(lock_all((z, y, x, w, v, u, t, s))).ready());
    assert!(try_lock_all(eight.each_ref()).is_some());
}

#[test]
fn a7_one_lock() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let counter = Arc::new(Monitor::new(0));
        let tasks: Vec<_> = (0..10)
            .map(|task| {
                let counter = counter.clone();
                runtime.spawn(async move {
                    let mut random = Random::new(task);
                    for _ in 0..10_000 {
                        *counter.enter().await += 1;
                        weather.pass(&mut random).await;
                    }
                })
            })
            .collect();
        join(runtime, tasks);
        assert_eq!(*counter.try_enter().expect("all have left"), 100_000);
    });
}

/// The task enters a superset by entering the other monitor while it holds the first: the inner
/// exit leaves the first alone.
#[test]
fn a8_nested_superset() {
    let [one, two] = [0; 2].map(Monitor::new);
    let outer = Hand::new(one.enter()).ready();
    let inner = Hand::new(two.enter()).ready();
    drop(inner);
    assert!(two.try_enter().is_some() && one.try_enter().is_none());
    drop(outer);
    assert!(one.try_enter().is_some());
}

/// It works in C∀, by recursion. Here it would be two `&mut` to one value, and is refused before
/// any entry.
#[test]
fn a13_the_same_monitor_twice() {
    #[track_caller]
    fn is_refused<S: Set>(set: impl Fn() -> S) {
        let panic =
            catch_unwind(AssertUnwindSafe(|| drop(lock_all(set())))).expect_err("it is refused");
        let message = panic.downcast_ref::<&str>().expect("it has a message");
        assert!(message.contains("the same monitor twice"), "{message}");
    }
    let monitors: &'static [Monitor<u32, Condition>; 2] = Box::leak(Box::default());
    let [one, two] = monitors.each_ref();
    is_refused(move || (one, one));
    is_refused(move || [two, one, two]);
    is_refused(move || -> &'static [&'static Monitor<u32, Condition>] {
        Box::leak(Box::new([one, two, one]))
    });
    assert!(try_lock_all((one, two)).is_some());
    let none: &[&Monitor<u32>] = &[];
    assert!(catch_unwind(AssertUnwindSafe(|| drop(lock_all(none)))).is_err());
}

#[test]
fn a14_entry_is_first_come_first_served() {
    let monitor = Monitor::new(());
    let held = monitor.try_enter().expect("it is free");
    let first = Hand::waiting(monitor.enter());
    let named = Hand::waiting(monitor.enter_as(F));
    let other = Hand::waiting(monitor.enter_as(G));
    let last = Hand::waiting(monitor.enter());
    assert!(monitor.try_enter().is_none());
    drop(held);
    // It belongs to the first entrant already, which has not been polled.
    assert!(monitor.try_enter().is_none());
    let barger = Hand::waiting(monitor.enter());
    drop(first.ready());
    assert_eq!((named.wakes(), last.wakes()), (1, 0));
    drop(named.ready());
    drop(other.ready());
    drop(last.ready());
    drop(barger.ready());
    assert!(monitor.try_enter().is_some());
}
