//! The same monitors in all places: threads outside any runtime, threads inside one, tasks of two
//! runtimes, and foreign wakers.

use super::free::hold;
use crate::common::noted::Noted;
use crate::common::op::{F, G};
use crate::common::places::{Passing, Place, Running, in_all_places, in_all_worlds};
use crate::common::polling::Hand;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::sync::monitor::{Accepted, Clause, Condition, End, Held, Monitor};
use evenkeel::sync::monitor::{lock_all, try_lock_all};
use evenkeel::time::{Duration, sleep, timeout};
use evenkeel::{Builder, Runtime, Shutdown, accept, block_on, yield_now};
use evenkeel_policy::random::Random;
use futures::future::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

#[test]
fn entry() {
    const ENTRIES: u64 = 50;
    let _watchdog = watchdog();
    in_all_places(|world, places| {
        let counter = Arc::new(Monitor::new(0));
        let parts: Vec<_> = (0..4)
            .map(|part| {
                let (counter, mut passing) = (counter.clone(), world.passing(part as u64));
                world.run(places[part % 2], async move {
                    for _ in 0..ENTRIES {
                        let mut held = counter.enter().await;
                        let before = *held;
                        passing.pass().await;
                        *held = before + 1;
                    }
                })
            })
            .collect();
        parts.into_iter().for_each(Running::join);
        assert_eq!(*counter.try_enter().expect("all have left"), 4 * ENTRIES);
    });
}

/// A hold goes from a thread to a task and on to another thread.
#[test]
fn a_hold_belongs_to_no_thread() {
    let monitor: &'static Monitor<u32> = Box::leak(Box::default());
    let mut held = block_on(monitor.enter());
    *held += 1;
    let runtime = evenkeel::Runtime::new().expect("the runtime starts");
    let task = runtime.spawn(async move {
        *held += 1;
        held
    });
    let held = block_on(task).expect("the task ends well");
    let next = thread::spawn(move || *block_on(monitor.enter()));
    thread::spawn(move || drop(held)).join().expect("the thread ends well");
    assert_eq!(next.join().expect("the thread ends well"), 2);
}

#[derive(Default)]
struct Buffer {
    items: Monitor<VecDeque<u64>, [Condition; 2]>,
}

impl Buffer {
    const SIZE: usize = 2;

    async fn put(&self, item: u64) {
        let [not_empty, not_full] = self.items.conditions();
        let mut held = self.items.enter().await;
        if held.len() == Self::SIZE {
            held = not_full.wait(held).await;
        }
        assert!(held.len() < Self::SIZE);
        held.push_back(item);
        not_empty.signal(&mut held);
    }

    async fn take(&self) -> u64 {
        let [not_empty, not_full] = self.items.conditions();
        let mut held = self.items.enter().await;
        if held.is_empty() {
            held = not_empty.wait(held).await;
        }
        let item = held.pop_front().expect("no other task came in between");
        not_full.signal(&mut held);
        item
    }
}

/// Producers in one place, consumers in another.
#[test]
fn conditions() {
    const ITEMS: u64 = 60;
    let _watchdog = watchdog();
    in_all_places(|world, [near, far]| {
        let buffer = Arc::new(Buffer::default());
        let producers = (0..2).map(|part| {
            let (buffer, mut passing) = (buffer.clone(), world.passing(part));
            world.run(near, async move {
                for item in 1..=ITEMS {
                    buffer.put(item).await;
                    passing.pass().await;
                }
                0
            })
        });
        let consumers = (2..4).map(|part| {
            let (buffer, mut passing) = (buffer.clone(), world.passing(part));
            world.run(far, async move {
                let mut sum = 0;
                for _ in 0..ITEMS {
                    sum += buffer.take().await;
                    passing.pass().await;
                }
                sum
            })
        });
        let parts: Vec<_> = producers.chain(consumers).collect();
        let sum: u64 = parts.into_iter().map(Running::join).sum();
        assert_eq!(sum, ITEMS * (ITEMS + 1));
    });
}

/// Money circulates among three accounts, of which each task locks two.
#[test]
fn sets() {
    const TRANSFERS: u32 = 50;
    let _watchdog = watchdog();
    in_all_places(|world, places| {
        let accounts = Arc::new([100_i64; 3].map(Monitor::new));
        let parts: Vec<_> = (0..6)
            .map(|part| {
                let (accounts, mut passing) = (accounts.clone(), world.passing(part as u64));
                let place = places[usize::from(part >= 3)];
                world.run(place, async move {
                    let (from, to) = (&accounts[part % 3], &accounts[(part + 1) % 3]);
                    for _ in 0..TRANSFERS {
                        let mut held = lock_all((from, to)).await;
                        let (from, to) = held.values_mut();
                        let before = (*from, *to);
                        passing.pass().await;
                        (*from, *to) = (before.0 - 1, before.1 + 1);
                    }
                })
            })
            .collect();
        parts.into_iter().for_each(Running::join);
        let all = block_on(lock_all(accounts.each_ref()));
        assert_eq!(all.values().into_iter().collect::<Vec<_>>(), [&100, &100, &100]);
    });
}

/// A server in one place, its callers in another; the server accepts its end last.
#[test]
fn accepts() {
    const CALLS: u64 = 40;
    let _watchdog = watchdog();
    in_all_places(|world, [near, far]| {
        let monitor = Arc::new(Monitor::new(0_u64));
        let server = {
            let monitor = monitor.clone();
            world.run(near, async move {
                let mut held = monitor.enter().await;
                let mut calls = [0, 0];
                loop {
                    accept!(held;
                        F => { calls[0] += 1 };
                        G, if *held > 0 => { calls[1] += 1 };
                        End, if calls == [2 * CALLS; 2] => { break });
                }
                *held += 1_000;
            })
        };
        // The server is inside first.
        until(|| monitor.try_enter().is_none());
        let parts: Vec<_> = (0..4)
            .map(|part| {
                let (monitor, mut passing) = (monitor.clone(), world.passing(part));
                world.run(far, async move {
                    for _ in 0..CALLS {
                        if part % 2 == 0 {
                            monitor.call(F, async |mut held| *held += 1).await;
                        } else {
                            let mut held = monitor.enter_as(G).await;
                            passing.pass().await;
                            *held -= 1;
                        }
                    }
                })
            })
            .collect();
        let end = world.run(far, async move { *monitor.end().await });
        parts.into_iter().for_each(Running::join);
        server.join();
        assert_eq!(end.join(), 1_000);
    });
}

/// Each exchanges its number for the other's, round by round.
#[test]
fn signal_block() {
    const ROUNDS: u64 = 60;
    let _watchdog = watchdog();
    in_all_places(|world, places| {
        let exchange = Arc::new(Monitor::<[u64; 2], [Condition; 2]>::default());
        let parts = [0, 1].map(|side| {
            let (exchange, mut passing) = (exchange.clone(), world.passing(side as u64));
            world.run(places[side], async move {
                let conditions = exchange.conditions();
                for round in 0..ROUNDS {
                    let mut held = exchange.enter().await;
                    if conditions[1 - side].is_empty(&held) {
                        held = conditions[side].wait(held).await;
                        held[side] = round;
                    } else {
                        held[side] = round;
                        let met;
                        (held, met) = conditions[1 - side].signal_block(held).await;
                        assert!(met);
                    }
                    assert_eq!(held[1 - side], round, "the other one is in the same round");
                    drop(held);
                    passing.pass().await;
                }
            })
        });
        parts.into_iter().for_each(Running::join);
    });
}

type Plain = Monitor<u32, Condition>;

/// A runtime with a task that waits in a queue; dropping the runtime drops the task.
struct Stuck {
    runtime: Runtime,
}

impl Stuck {
    /// Has a task poll this future until it waits.
    fn new(workers: usize, future: impl Future<Output: Send> + Send + 'static) -> Self {
        let runtime = Builder::new().workers(workers).build().expect("the runtime starts");
        let (future, waits) = Noted::new(future);
        drop(runtime.spawn(future));
        until(waits);
        Self { runtime }
    }

    /// Drops the task with its runtime.
    fn shut_down(self) {
        assert_eq!(self.runtime.shutdown(Shutdown::Abort).aborted.len(), 1);
    }
}

/// Runs the test with runtimes of several numbers of workers, and a monitor that lives long enough.
fn with_workers(test: impl Fn(usize, &'static Plain)) {
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        test(workers, Box::leak(Box::default()));
    }
}

#[test]
fn a_runtime_ends_while_a_task_wants_to_enter() {
    with_workers(|workers, monitor| {
        let held = hold(monitor);
        let stuck = Stuck::new(workers, monitor.enter());
        let next = Hand::waiting(monitor.enter());
        stuck.shut_down();
        assert_eq!(next.wakes(), 0);
        drop(held);
        drop(next.ready());
    });
}

#[test]
fn a_runtime_ends_while_a_task_wants_to_enter_the_rest_of_a_set() {
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        // Entered in this order.
        let [one, two, three]: &'static [Plain; 3] = Box::leak(Box::default());
        let held = hold(two);
        let stuck = Stuck::new(workers, lock_all((three, two, one)));
        let next = Hand::waiting(one.enter());
        assert!(three.try_enter().is_some());
        stuck.shut_down();
        drop(next.ready());
        drop(held);
        assert!(try_lock_all((one, two, three)).is_some());
    }
}

#[test]
fn a_runtime_ends_while_a_task_waits_for_a_condition() {
    with_workers(|workers, monitor| {
        let condition = monitor.conditions();
        let stuck = Stuck::new(workers, condition.wait(hold(monitor)));
        stuck.shut_down();
        assert!(!condition.signal(&mut hold(monitor)));
    });
}

/// The signal goes on to the next waiter, which takes the same place.
#[test]
fn a_runtime_ends_while_a_task_is_signalled() {
    with_workers(|workers, monitor| {
        let condition = monitor.conditions();
        let stuck = Stuck::new(workers, condition.wait(hold(monitor)));
        let next = Hand::waiting(condition.wait(hold(monitor)));
        let mut held = hold(monitor);
        let entrant = Hand::waiting(monitor.enter());
        assert!(condition.signal(&mut held));
        stuck.shut_down();
        assert_eq!((next.wakes(), entrant.wakes()), (0, 0));
        drop(held);
        assert_eq!((next.wakes(), entrant.wakes()), (1, 0));
        drop(next.ready());
        drop(entrant.ready());
    });
}

#[test]
fn a_runtime_ends_while_a_task_has_given_its_hold_to_a_waiter() {
    with_workers(|workers, monitor| {
        let condition = monitor.conditions();
        let waiter = Hand::waiting(condition.wait(hold(monitor)));
        let stuck = Stuck::new(workers, condition.signal_block(hold(monitor)));
        let held = waiter.ready();
        let next = Hand::waiting(monitor.enter());
        stuck.shut_down();
        assert_eq!(next.wakes(), 0);
        drop(held);
        drop(next.ready());
    });
}

#[test]
fn a_runtime_ends_while_a_task_waits_for_calls() {
    with_workers(|workers, monitor| {
        let stuck = Stuck::new(workers, Held::accept(hold(monitor), [Clause::new(F)]));
        let next = Hand::waiting(monitor.enter());
        stuck.shut_down();
        drop(next.ready());
        // The acceptor is gone, so no call is accepted.
        let held = hold(monitor);
        drop(Hand::waiting(monitor.enter_as(F)));
        drop(held);
    });
}

#[test]
fn a_runtime_ends_while_a_task_waits_for_the_end_of_a_call() {
    with_workers(|workers, monitor| {
        let stuck = Stuck::new(workers, Held::accept(hold(monitor), [Clause::new(F)]));
        let held = Hand::new(monitor.enter_as(F)).ready();
        let next = Hand::waiting(monitor.enter());
        stuck.shut_down();
        assert_eq!(next.wakes(), 0);
        drop(held);
        drop(next.ready());
    });
}

#[test]
fn a_runtime_ends_while_its_call_is_accepted() {
    with_workers(|workers, monitor| {
        let acceptor = Hand::waiting(Held::accept(hold(monitor), [Clause::new(F)]));
        let body = async |_held: Held<&'static Plain>| pending::<()>().await;
        let stuck = Stuck::new(workers, monitor.call(F, body));
        let next = Hand::waiting(monitor.enter());
        stuck.shut_down();
        let (held, accepted) = acceptor.ready();
        assert_eq!((accepted, next.wakes()), (Accepted::Broken(0), 0));
        drop(held);
        drop(next.ready());
    });
}

#[test]
fn a_runtime_ends_while_a_task_waits_for_the_end() {
    with_workers(|workers, monitor| {
        let held = hold(monitor);
        let stuck = Stuck::new(workers, monitor.end());
        let (held, accepted) = Hand::new(Held::accept(held, [Clause::new(End)])).ready();
        assert_eq!(accepted, Accepted::Call(0));
        let next = Hand::waiting(monitor.enter());
        stuck.shut_down();
        drop(held);
        drop(next.ready());
    });
}

/// One runtime ends in the midst of contention; the other one and the threads go on.
#[test]
fn a_runtime_ends_amid_contention() {
    const ROUNDS: usize = 100;
    let _watchdog = watchdog();
    #[derive(Default)]
    struct All {
        /// Steps of parties that may be left behind.
        steps: AtomicUsize,
        monitors: [Monitor<u64>; 2],
        /// Of the first monitor, and of both.
        conditions: [Condition; 2],
    }
    /// Uses the monitors once. Only parties that may be left behind wait for others.
    async fn step(all: &All, passing: &mut Passing, may_stay: bool) {
        let [one, two] = &all.monitors;
        let [of_one, of_both] = &all.conditions;
        match passing.random.below(if may_stay { 10 } else { 7 }) {
            0 => *one.enter().await += 1,
            1 => *lock_all((two, one)).await.values_mut().0 += 1,
            2 => _ = of_one.signal_block(one.enter_as(F).await).await,
            3 => _ = of_both.signal(&mut lock_all((one, two)).await),
            4 => {
                let mut held = one.enter_as(G).await;
                accept!(held; F => {}; G => {}; else => { passing.pass().await });
            }
            5 => {
                let mut held = lock_all((one, two)).await;
                passing.pass().await;
                of_both.signal_all(&mut held);
            }
            6 => one.call(F, async |mut held| *held += 1).await,
            7 => drop(of_one.wait(one.enter().await).await),
            8 => drop(of_both.wait(lock_all((one, two)).await).await),
            _ => {
                let mut held = one.enter_as(F).await;
                accept!(held; G => {}; broken => {});
            }
        }
        passing.pass().await;
    }
    in_all_worlds(|world| {
        let all = Arc::new(All::default());
        let doomed = Builder::new().workers(world.weather.workers).build();
        let doomed = doomed.expect("the runtime starts");
        for seed in 0..8 {
            let all = all.clone();
            let mut passing = world.passing(seed);
            drop(doomed.spawn(async move {
                loop {
                    step(&all, &mut passing, true).await;
                    all.steps.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
        let parts = [Place::Thread, Place::Task, Place::Foreigner].map(|place| {
            let (all, mut passing) = (all.clone(), world.passing(9));
            world.run(place, async move {
                for _ in 0..ROUNDS {
                    step(&all, &mut passing, false).await;
                }
            })
        });
        // All may have to wait sooner.
        let soon = (0..1_000).map(|_| thread::yield_now());
        let _ = soon.take_while(|()| all.steps.load(Ordering::Relaxed) < 50).count();
        assert_eq!(doomed.shutdown(Shutdown::Abort).aborted.len(), 8);
        parts.into_iter().for_each(Running::join);
        let [one, two] = &all.monitors;
        let mut both = try_lock_all((one, two)).expect("all have left");
        assert!(!all.conditions[1].signal(&mut both), "no waiter was left behind");
        drop(both);
        assert!(!all.conditions[0].signal(&mut one.try_enter().expect("it is free")));
    });
}

/// Producers and consumers, each group under one foreign waker, in a set of futures.
#[test]
fn in_futures_unordered() {
    const ITEMS: u64 = 50;
    let _watchdog = watchdog();
    in_all_worlds(|world| {
        for place in [Place::Thread, Place::Task] {
            let buffer = Arc::new(Buffer::default());
            let mut passing = world.passing(1);
            let part = world.run(place, async move {
                let mut set = FuturesUnordered::new();
                for part in 0..6 {
                    let buffer = &buffer;
                    set.push(async move {
                        let mut sum = 0;
                        for item in 1..=ITEMS {
                            if part % 2 == 0 {
                                buffer.put(item).await;
                            } else {
                                sum += buffer.take().await;
                            }
                        }
                        sum
                    });
                }
                let mut sum = 0;
                while let Some(part) = set.next().await {
                    sum += part;
                    passing.pass().await;
                }
                sum
            });
            assert_eq!(part.join(), 3 * ITEMS * (ITEMS + 1) / 2);
        }
    });
}

/// Either of two monitors may be entered first; the other entry is given up, or left again.
#[test]
fn in_select() {
    const ENTRIES: u64 = 50;
    let _watchdog = watchdog();
    in_all_places(|world, places| {
        let monitors = Arc::new([0_u64; 2].map(Monitor::new));
        let parts: Vec<_> = (0..6)
            .map(|part| {
                let monitors = monitors.clone();
                let mut passing = world.passing(part as u64);
                world.run(places[part % 2], async move {
                    for _ in 0..ENTRIES {
                        let [one, two] = &*monitors;
                        let mut held = futures::select! {
                            held = one.enter().fuse() => held,
                            held = two.enter().fuse() => held,
                        };
                        let before = *held;
                        passing.pass().await;
                        *held = before + 1;
                    }
                })
            })
            .collect();
        parts.into_iter().for_each(Running::join);
        let all = monitors.each_ref().map(|monitor| *monitor.try_enter().expect("all have left"));
        assert_eq!(all.iter().sum::<u64>(), 6 * ENTRIES);
    });
}

/// Tokio's tasks share the monitors with evenkeel's.
#[test]
fn on_another_executor() {
    const ITEMS: u64 = 60;
    let _watchdog = watchdog();
    in_all_worlds(|world| {
        let (there, back) = (Arc::new(Buffer::default()), Arc::new(Buffer::default()));
        let echo = thread::spawn({
            let (there, back) = (there.clone(), back.clone());
            move || {
                let tokio = tokio::runtime::Builder::new_current_thread().build();
                tokio.expect("Tokio starts").block_on(async {
                    let echoes = [(); 3].map(|()| {
                        let (there, back) = (there.clone(), back.clone());
                        tokio::spawn(async move {
                            for _ in 0..ITEMS {
                                back.put(there.take().await).await;
                                yield_now().await;
                            }
                        })
                    });
                    for echo in echoes {
                        echo.await.expect("the task ends well");
                    }
                });
            }
        });
        let parts: Vec<_> = (0..6)
            .map(|part| {
                let (there, back) = (there.clone(), back.clone());
                let mut passing = world.passing(part);
                world.run([Place::Task, Place::Foreigner][part as usize % 2], async move {
                    let mut sum = 0;
                    for item in 1..=ITEMS {
                        if part < 3 {
                            there.put(item).await;
                        } else {
                            sum += back.take().await;
                        }
                        passing.pass().await;
                    }
                    sum
                })
            })
            .collect();
        let sum: u64 = parts.into_iter().map(Running::join).sum();
        echo.join().expect("the thread ends well");
        assert_eq!(sum, 3 * ITEMS * (ITEMS + 1) / 2);
    });
}

/// A time limit that is over at once, soon, or almost never.
fn limit(random: &mut Random) -> Duration {
    [Duration::ZERO, Duration::from_micros(20), Duration::from_secs(100)][random.below(3) as usize]
}

/// The places with timers.
const TIMED: [Place; 3] = [Place::Inside, Place::Task, Place::Foreigner];

/// An entry is inside exactly if it has not timed out.
#[test]
fn entries_with_a_time_limit() {
    const ENTRIES: usize = 60;
    let _watchdog = watchdog();
    in_all_worlds(|world| {
        let counter = Arc::new(Monitor::new(0));
        let parts: Vec<_> = (0..6)
            .map(|part| {
                let (counter, mut passing) = (counter.clone(), world.passing(part as u64));
                world.run(TIMED[part % 3], async move {
                    let mut entered = 0;
                    for _ in 0..ENTRIES {
                        let limit = limit(&mut passing.random);
                        if let Ok(mut held) = timeout(limit, counter.enter()).await {
                            passing.pass().await;
                            *held += 1;
                            entered += 1;
                        }
                    }
                    entered
                })
            })
            .collect();
        let entered: usize = parts.into_iter().map(Running::join).sum();
        assert_eq!(*counter.try_enter().expect("all have left"), entered);
    });
}

/// Each signal ends one wait, or finds no waiter.
#[test]
fn waits_with_a_time_limit() {
    const WAITS: usize = 40;
    let _watchdog = watchdog();
    in_all_worlds(|world| {
        // The number of parties that wait, or are about to.
        let monitor = Arc::new(Monitor::<usize, Condition>::default());
        *monitor.try_enter().expect("it is free") = 3;
        let waiters: Vec<_> = (0..3)
            .map(|part| {
                let (monitor, mut passing) = (monitor.clone(), world.passing(part as u64));
                world.run(TIMED[part], async move {
                    let mut signals = 0;
                    for _ in 0..WAITS {
                        let held = monitor.enter().await;
                        let until = sleep(limit(&mut passing.random));
                        let (held, signalled) =
                            monitor.conditions().wait_until(held, (), until).await;
                        signals += usize::from(signalled);
                        drop(held);
                        passing.pass().await;
                    }
                    *monitor.enter().await -= 1;
                    signals
                })
            })
            .collect();
        let (monitor, mut passing) = (monitor.clone(), world.passing(7));
        let signaller = world.run(Place::Thread, async move {
            let mut signals = 0;
            loop {
                let mut held = monitor.enter().await;
                if *held == 0 {
                    return signals;
                }
                signals += usize::from(monitor.conditions().signal(&mut held));
                drop(held);
                yield_now().await;
                passing.pass().await;
            }
        });
        let signals: usize = waiters.into_iter().map(Running::join).sum();
        assert_eq!(signaller.join(), signals);
    });
}

/// A call in time is accepted, and no other; the acceptor stays inside.
#[test]
fn accepts_with_a_time_limit() {
    const CALLS: u32 = 40;
    let _watchdog = watchdog();
    in_all_worlds(|world| {
        for place in TIMED {
            let monitor = Arc::new(Plain::default());
            let acceptor = {
                let (monitor, mut passing) = (monitor.clone(), world.passing(1));
                world.run(place, async move {
                    let mut held = monitor.enter().await;
                    let mut calls = 0;
                    while calls < 2 * CALLS {
                        let limit = limit(&mut passing.random);
                        accept!(held; F => { calls += 1 }; timeout sleep(limit) => {});
                        assert_eq!(*held, calls);
                    }
                })
            };
            until(|| monitor.try_enter().is_none());
            let callers = [Place::Thread, Place::Task].map(|place| {
                let (monitor, mut passing) = (monitor.clone(), world.passing(2));
                world.run(place, async move {
                    for _ in 0..CALLS {
                        monitor.call(F, async |mut held| *held += 1).await;
                        passing.pass().await;
                    }
                })
            });
            acceptor.join();
            callers.into_iter().for_each(Running::join);
        }
    });
}
