//! Waits and accepts with a time limit, beside an event at just that time: exactly one happens, and
//! the other is left for the next task. The names are those of `tests/conformance.rs`.

use crate::common::op::F;
use crate::common::watchdog::watchdog;
use crate::common::weather::{in_all_weathers, join};
use evenkeel::accept;
use evenkeel::sync::monitor::{Accepted, Clause, Condition, Held, Monitor};
use evenkeel::time::{Instant, sleep, sleep_until};
use evenkeel_policy::random::Random;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const ROUNDS: u64 = 46;

/// There is no call. The acceptor is inside again after the time, and no sooner.
#[test]
fn c23_a_timeout_without_a_call() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, _| {
        runtime.block_on(async {
            let monitor = Monitor::new(0);
            let mut held = monitor.enter().await;
            let begin = Instant::now();
            let time = Duration::from_millis(2);
            let value = accept!(held; F => { 1 }; timeout sleep(time) => { 2 });
            assert_eq!(value, Some(2));
            assert!(begin.elapsed() >= time && monitor.try_enter().is_none());
            *held += 1;
        });
    });
}

/// A caller sleeps until the acceptor's deadline, and some turns or some microseconds more.
#[test]
fn c23_limits_of_all_kinds() {
    let _watchdog = watchdog();
    let runtime = evenkeel::Builder::new().workers(1).start_paused(true).build().unwrap();
    runtime.block_on(async {
        let monitor = Monitor::new(0);
        let mut held = monitor.enter().await;
        let start = Instant::now();
        let second = Duration::from_secs(1);
        assert_eq!(accept!(held; F => { 1 }; timeout second => { 2 }), Some(2));
        assert_eq!(accept!(held; F => { 1 }; timeout start + 3 * second => { 2 }), Some(2));
        assert_eq!(start.elapsed(), 3 * second);
        assert_eq!(accept!(held; F => { 1 }; timeout async {} => { 2 }), Some(2));
        let limit = std::pin::pin!(sleep(second));
        assert_eq!(accept!(held; F => { 1 }; timeout limit => { *held }), Some(0));
        assert_eq!(start.elapsed(), 4 * second);
    });
}

/// The limit's expression in the statement may use the held value.
#[test]
fn c23_a_limit_that_is_made_of_what_is_held() {
    struct Server {
        limit: Duration,
        is_open: bool,
    }

    let _watchdog = watchdog();
    let runtime = evenkeel::Builder::new().workers(1).start_paused(true).build().unwrap();
    runtime.block_on(async {
        let second = Duration::from_secs(1);
        let monitor = Monitor::new(Server { limit: second, is_open: true });
        let mut held = monitor.enter().await;
        let start = Instant::now();
        let value = accept!(held;
            F, if held.is_open => { 1 };
            timeout held.limit => { held.limit *= 2; 2 });
        assert_eq!((value, start.elapsed()), (Some(2), second));
        let value = accept!(held;
            F, if held.is_open => { 1 };
            broken => { 2 };
            timeout Instant::now() + held.limit => { 3 };
            else, if !held.is_open => { 4 });
        assert_eq!((value, start.elapsed()), (Some(3), 3 * second));
        held.is_open = false;
        let value = accept!(held;
            F, if held.is_open => { 1 };
            timeout sleep(held.limit) => { 3 };
            else, if !held.is_open => { held.limit = second; 4 });
        assert_eq!((value, held.limit, start.elapsed()), (Some(4), second, 3 * second));
    });
}

#[test]
fn c23_calls_at_the_deadline() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let monitor = Arc::new(Monitor::new(0_u64));
        for round in 0..ROUNDS {
            let deadline = Instant::now() + Duration::from_millis(1);
            let acceptor = {
                let monitor = monitor.clone();
                runtime.spawn(async move {
                    let held = monitor.enter().await;
                    // One more than the rounds, if the caller came before this task.
                    let before = *held;
                    let clauses = [Clause::new(F)];
                    let (held, accepted) =
                        Held::accept_until(held, clauses, sleep_until(deadline)).await;
                    let called = match accepted {
                        Accepted::Call(0) => 1,
                        other => {
                            assert_eq!(other, Accepted::Timeout);
                            0
                        }
                    };
                    // Since then no other task has been inside.
                    assert_eq!(*held, before + called);
                })
            };
            let caller = {
                let monitor = monitor.clone();
                runtime.spawn(async move {
                    let mut random = Random::new(round);
                    sleep_until(deadline).await;
                    weather.pass(&mut random).await;
                    for _ in 0..random.below(2_000) {
                        std::hint::spin_loop();
                    }
                    monitor.call(F, async |mut held| *held += 1).await;
                })
            };
            join(runtime, [acceptor, caller]);
        }
        assert_eq!(*monitor.try_enter().expect("all have left"), ROUNDS);
    });
}

/// A signal 100 to 1000 microseconds into a wait of a millisecond, from a thread outside: a waiter
/// that timed out has not used the signal up.
#[test]
fn f2_signals_at_the_deadline() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, _| {
        let monitor = Arc::new(Monitor::with_conditions(0_u32, Condition::new()));
        for round in 0..ROUNDS {
            let waiters = [true, false].map(|limited| {
                let monitor = monitor.clone();
                runtime.spawn(async move {
                    let mut held = monitor.enter().await;
                    *held += 1;
                    let condition = monitor.conditions();
                    if limited {
                        let time = sleep(Duration::from_millis(1));
                        condition.wait_until(held, (), time).await.1
                    } else {
                        drop(condition.wait(held).await);
                        true
                    }
                })
            });
            thread::sleep(Duration::from_micros(100 + round * 900 / (ROUNDS - 1)));
            let signal = || {
                evenkeel::block_on(async {
                    let mut held = monitor.enter().await;
                    let both = *held == 2;
                    (both, both && monitor.conditions().signal(&mut held))
                })
            };
            // Once both have begun to wait, at least one still waits.
            let sent = loop {
                let (both, sent) = signal();
                if both {
                    break sent;
                }
                thread::yield_now();
            };
            assert!(sent, "the patient one waits");
            let [limited, patient] = waiters;
            if join(runtime, [limited])[0] && !patient.is_finished() {
                assert!(signal().1, "the first signal was the other one's");
            }
            assert_eq!(join(runtime, [patient]), [true]);
            *monitor.try_enter().expect("all have left") = 0;
            let held = monitor.try_enter().expect("all have left");
            assert!(monitor.conditions().is_empty(&held));
        }
    });
}

/// A limit that is dropped since the event has come first, and whose destructor panics: the hold
/// ends with the panic.
#[test]
fn a_limit_whose_destructor_panics_leaves_the_monitor() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            if !thread::panicking() {
                panic!("it is meant to");
            }
        }
    }
    async fn never() {
        let _panics = Panics;
        std::future::pending().await
    }
    let _watchdog = watchdog();
    in_all_weathers(|runtime, _| {
        runtime.block_on(async {
            let monitor = Arc::new(Monitor::<u32, Condition>::default());
            for accepts in [false, true] {
                let own = Arc::clone(&monitor);
                let limited = evenkeel::spawn(async move {
                    let held = own.enter().await;
                    if accepts {
                        drop(Held::accept_until(held, [Clause::new(F)], never()).await);
                    } else {
                        drop(own.conditions().wait_until(held, (), never()).await);
                    }
                });
                if accepts {
                    // A call that finds the monitor free is not an accepted one.
                    while !limited.is_finished() {
                        monitor.call(F, async |mut held| *held += 1).await;
                        evenkeel::yield_now().await;
                    }
                } else {
                    // It is entered once the task waits.
                    while monitor.conditions().is_empty(&monitor.enter().await) {
                        evenkeel::yield_now().await;
                    }
                    let mut held = monitor.enter().await;
                    assert!(monitor.conditions().signal(&mut held));
                }
                assert!(limited.await.unwrap_err().is_panic());
                drop(monitor.enter().await);
            }
        });
    });
}
