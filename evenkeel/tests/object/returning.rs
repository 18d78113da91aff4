//! Where tasks go after operations on objects elsewhere: nowhere, back at once, or back at their next wait.
//!
//! A worker that the system takes off its core may lose what is on its way there, so a round that such a thing has disturbed is made again.

use crate::common::objects::{at, comes_home, in_place, join, runtime, worker};
use crate::common::random::Random;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::object::{EnterError, Object, Return};
use evenkeel::task::{current, park};
use evenkeel::time::sleep;
use evenkeel::{Runtime, block_on, spawn, yield_now};
use futures::StreamExt;
use futures::future::{join as both, pending, select};
use futures::stream::FuturesUnordered;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// A task that begins at worker 1, and an object at worker 0.
struct Away {
    anchor: Object<()>,
    object: Object<u64>,
}

impl Away {
    fn new(runtime: &Runtime) -> Self {
        Self { anchor: at(runtime, 1, ()), object: at(runtime, 0, 0) }
    }

    /// Goes to worker 1; in the same poll the caller is there.
    async fn begin(&self) {
        comes_home(&self.anchor).await;
        assert_eq!(worker(), 1);
    }
}

/// Adds one, and says where.
fn add(value: &mut u64) -> usize {
    *value += 1;
    worker()
}

/// Makes rounds, each of them begun at worker 1, until one has ended as it should; gives how many there were.
async fn rounds<F: Future<Output = bool>>(away: &Away, round: impl Fn() -> F) -> u64 {
    let mut count = 0;
    loop {
        away.begin().await;
        count += 1;
        if round().await {
            return count;
        }
    }
}

#[test]
fn home_is_where_the_task_is_when_the_operation_is_complete() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let away = Away::new(&runtime);
    let task = runtime.spawn(async move {
        let object = &away.object;
        for _ in 0..100 {
            let round = || async {
                let place = object.with(add).returning(Return::Home).await.unwrap();
                (place, worker()) == (0, 1)
            };
            rounds(&away, round).await;
        }
    });
    join([task]);
}

/// In the same poll: nobody can have taken the task away.
#[test]
fn who_stays_is_where_the_operation_was() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let away = Away::new(&runtime);
    assert_eq!(Return::default(), Return::Stay);
    let task = runtime.spawn(async move {
        let object = &away.object;
        for _ in 0..100 {
            let round = || async {
                let place = object.with(add).returning(Return::Stay).await.unwrap();
                assert_eq!(worker(), place);
                yield_now().await;
                (place, worker()) == (0, 0)
            };
            rounds(&away, round).await;
            let round = || async {
                let place = add(&mut object.enter().returning(Return::Stay).await.unwrap());
                assert_eq!(worker(), place);
                yield_now().await;
                (place, worker()) == (0, 0)
            };
            rounds(&away, round).await;
        }
    });
    join([task]);
}

/// Waits in some way.
async fn wait(how: usize) {
    match how {
        0 => yield_now().await,
        1 => sleep(Duration::from_micros(10)).await,
        2 => {
            let task = current();
            drop(spawn(async move { task.unpark() }));
            park().await;
        }
        3 => {
            let (sender, receiver) = futures::channel::oneshot::channel();
            drop(spawn(async move { sender.send(()) }));
            receiver.await.expect("it is sent");
        }
        _ => spawn(async { yield_now().await }).await.expect("the task ends well"),
    }
}

const WAYS_TO_WAIT: usize = 5;

/// Where a task is in the poll after this one.
async fn polled_again() -> usize {
    let mut polled = false;
    std::future::poll_fn(move |cx| {
        if std::mem::replace(&mut polled, true) {
            return std::task::Poll::Ready(worker());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await
}

#[test]
fn at_the_next_wait_the_task_goes() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let away = Away::new(&runtime);
    let task = runtime.spawn(async move {
        let object = &away.object;
        for to in [Return::AtNextWait, Return::Home] {
            for _ in 0..20 {
                let round = || async {
                    let place = add(&mut object.enter().returning(to).await.unwrap());
                    // It has not waited.
                    assert_eq!(worker(), place);
                    yield_now().await;
                    (place, worker()) == (0, 1)
                };
                rounds(&away, round).await;
                let round = || async {
                    let place = add(&mut object.enter().returning(to).await.unwrap());
                    (place, polled_again().await) == (0, 1)
                };
                rounds(&away, round).await;
            }
        }
        for how in 0..WAYS_TO_WAIT {
            for _ in 0..20 {
                let round = || async {
                    let operation = object.with(add).returning(Return::AtNextWait);
                    let place = operation.await.unwrap();
                    assert_eq!(worker(), place);
                    wait(how).await;
                    // Whatever else there is to wait for, it has been there.
                    (place, worker()) == (0, 1)
                };
                rounds(&away, round).await;
            }
        }
    });
    join([task]);
}

/// There and back are two journeys; of one that is not made none is counted.
#[test]
fn journeys_are_counted() {
    let _watchdog = watchdog();
    let runtime = Arc::new(runtime(2));
    let away = Away::new(&runtime);
    let task = runtime.spawn({
        let handle = runtime.handle();
        async move {
            let hops = || handle.metrics().sum(|processor| processor.hops);
            let object = &away.object;
            let round = || async {
                let before = hops();
                let place = object.with(add).returning(Return::Home).await.unwrap();
                let back = worker();
                let both = hops() - before;
                (place, back) == (0, 1) && {
                    assert_eq!(both, 2);
                    true
                }
            };
            rounds(&away, round).await;
            let round = || async {
                let before = hops();
                let place = object.with(add).returning(Return::AtNextWait).await.unwrap();
                let there = hops() - before;
                yield_now().await;
                let both = hops() - before;
                (place, worker()) == (0, 1) && {
                    assert_eq!((there, both), (1, 2));
                    true
                }
            };
            rounds(&away, round).await;
            // At home, and in place, there is nowhere to go.
            let at_home = || async {
                let before = hops();
                let place = away.anchor.with(|()| worker()).returning(Return::Home).await.unwrap();
                place == 1 && hops() == before && worker() == 1
            };
            rounds(&away, at_home).await;
        }
    });
    join([task]);
}

/// It ends in the poll in which it was to go back.
#[test]
fn a_task_that_does_not_wait_ends_where_it_is() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let away = Arc::new(Away::new(&runtime));
    loop {
        let task = runtime.spawn({
            let away = away.clone();
            async move {
                away.begin().await;
                let place = away.object.with(add).returning(Return::AtNextWait).await.unwrap();
                assert_eq!(worker(), place);
                place
            }
        });
        if join([task]) == [0] {
            break;
        }
    }
}

/// Of two journeys that it has announced the later one counts.
#[test]
fn another_entry_comes_before_the_way_back() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    let away = Away::new(&runtime);
    let third = at(&runtime, 2, 0);
    let task = runtime.spawn(async move {
        for to in [Return::Stay, Return::AtNextWait] {
            let expected = if to == Return::Stay { 2 } else { 0 };
            for _ in 0..20 {
                let round = || async {
                    let operation = away.object.with(add).returning(Return::AtNextWait);
                    let first = operation.await.unwrap();
                    let second = third.with(add).returning(to).await.unwrap();
                    yield_now().await;
                    (first, second, worker()) == (0, 2, expected)
                };
                rounds(&away, round).await;
            }
        }
    });
    join([task]);
}

#[test]
fn one_worker() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let objects = [at(&runtime, 0, 0), in_place(&runtime, 0)];
    let task = runtime.spawn(async move {
        for _ in 0..200 {
            for object in &objects {
                for to in [Return::Stay, Return::Home, Return::AtNextWait] {
                    assert_eq!(object.with(add).returning(to).await, Ok(0));
                    assert_eq!(add(&mut object.enter().returning(to).await.unwrap()), 0);
                }
            }
        }
        yield_now().await;
        objects[0].with(|value| *value).await.unwrap()
    });
    assert_eq!(join([task]), [1_200]);
    assert_eq!(runtime.metrics().sum(|processor| processor.hops), 0);
}

/// A thread that is blocked on a future has no place among the workers.
#[test]
fn outside_of_tasks() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in [at(&runtime, 0, 0), at(&runtime, 1, 0), in_place(&runtime, 0), Object::new(0)] {
        for to in [Return::Stay, Return::Home, Return::AtNextWait] {
            let operations = async {
                object.with(|value| *value += 1).returning(to).await.unwrap();
                *object.enter().returning(to).await.unwrap() += 1;
            };
            block_on(operations);
            runtime
                .block_on(async { object.with(|value| *value += 1).returning(to).await.unwrap() });
        }
        assert_eq!(object.call_blocking(|value| *value), Ok(9));
    }
}

/// Says that it has been dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The operation has been made, and what it has given goes with the task.
#[test]
fn cancelled_on_the_way_back() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let away = Arc::new(Away::new(&runtime));
    let mut operations = 0;
    for at_once in [true, false] {
        for _ in 0..20 {
            let flags: [Arc<AtomicBool>; 3] = Default::default();
            let [inside, aborted, dropped] = flags.clone();
            let task = runtime.spawn({
                let away = away.clone();
                async move {
                    away.begin().await;
                    let operation = |value: &mut u64| {
                        add(value);
                        inside.store(true, Ordering::Release);
                        until(|| aborted.load(Ordering::Acquire));
                        Dropped(dropped.clone())
                    };
                    let to = if at_once { Return::Home } else { Return::AtNextWait };
                    let _dropped = away.object.with(operation).returning(to).await.unwrap();
                    // Also where it has not travelled: it does not come further than this.
                    yield_now().await;
                    panic!("it is cancelled");
                }
            });
            let [inside, aborted, dropped] = flags;
            until(|| inside.load(Ordering::Acquire));
            task.abort();
            aborted.store(true, Ordering::Release);
            let outcome: Result<(), _> = block_on(task);
            assert!(outcome.unwrap_err().is_cancelled());
            assert!(dropped.load(Ordering::Acquire));
            operations += 1;
            assert_eq!(away.object.call_blocking(|value| *value), Ok(operations));
        }
    }
}

/// The future is dropped on the way back, and the task goes on.
#[test]
fn dropped_on_the_way_back() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let away = Away::new(&runtime);
    let task = runtime.spawn(async move {
        let mut operations = 0;
        for _ in 0..50 {
            away.begin().await;
            let operation = Box::pin(away.object.with(add).returning(Return::Home));
            // The other one is complete in the second or third poll.
            drop(select(operation, Box::pin(yield_now())).await);
            yield_now().await;
            let value = away.object.with(|value| *value).await.unwrap();
            assert!(value == operations || value == operations + 1);
            operations = value;
        }
    });
    join([task]);
}

#[test]
fn a_panic_in_the_operation() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for to in [Return::Home, Return::AtNextWait] {
        let away = Arc::new(Away::new(&runtime));
        let broken = runtime.spawn({
            let away = away.clone();
            async move {
                away.begin().await;
                away.object.with(|_| panic!("halfway")).returning(to).await
            }
        });
        let outcome: Result<Result<(), EnterError>, _> = block_on(broken);
        assert!(outcome.unwrap_err().is_panic());
        let next = runtime.spawn({
            let away = away.clone();
            async move {
                away.begin().await;
                let error = away.object.with(add).returning(to).await.unwrap_err();
                assert!(matches!(error, EnterError::Poisoned(_)));
                let error = away.object.enter().returning(to).await.unwrap_err();
                assert!(matches!(error, EnterError::Poisoned(_)));
                away.object.clear_poison();
                away.object.with(add).returning(to).await.unwrap();
            }
        });
        join([next]);
        assert_eq!(away.object.call_blocking(|value| *value), Ok(1));
    }
}

/// A guard that is dropped by a panic which the task survives.
#[test]
fn a_panic_that_is_caught() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let away = Away::new(&runtime);
    let task = runtime.spawn(async move {
        let round = || async {
            let guard = away.object.enter().returning(Return::AtNextWait).await.unwrap();
            let place = worker();
            let operation = std::panic::AssertUnwindSafe(|| {
                let _guard = guard;
                panic!("halfway");
            });
            std::panic::catch_unwind(operation).expect_err("it panics");
            away.object.clear_poison();
            yield_now().await;
            (place, worker()) == (0, 1)
        };
        rounds(&away, round).await;
    });
    join([task]);
}

/// The worker that a task has come from is stuck when it goes back: it goes on elsewhere.
#[test]
fn where_it_has_come_from_is_stuck() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let away = Arc::new(Away::new(&runtime));
    for to in [Return::Home, Return::AtNextWait] {
        for _ in 0..5 {
            let flags: [Arc<AtomicBool>; 4] = Default::default();
            let [inside, go, begun, open] = flags.clone();
            let traveller = runtime.spawn({
                let away = away.clone();
                async move {
                    let round = || async {
                        let operation = |value: &mut u64| {
                            let place = add(value);
                            if place == 0 {
                                inside.store(true, Ordering::Release);
                                until(|| go.load(Ordering::Acquire));
                            }
                            place
                        };
                        let place = away.object.with(operation).returning(to).await.unwrap();
                        yield_now().await;
                        place == 0
                    };
                    rounds(&away, round).await;
                    worker()
                }
            });
            let [inside, go, begins, opened] = flags;
            until(|| inside.load(Ordering::Acquire));
            let stuck = runtime.spawn({
                let anchor = away.anchor.clone();
                async move {
                    comes_home(&anchor).await;
                    begun.store(true, Ordering::Release);
                    until(|| open.load(Ordering::Acquire));
                }
            });
            until(|| begins.load(Ordering::Acquire));
            go.store(true, Ordering::Release);
            assert_eq!(join([traveller]), [0], "worker 1 is elsewhere");
            opened.store(true, Ordering::Release);
            join([stuck]);
        }
    }
}

/// The future is polled by something that has wakers of its own.
#[test]
fn inside_of_combinators() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let away = Away::new(&runtime);
    let task = runtime.spawn(async move {
        let object = &away.object;
        let alone = || async {
            let mut operations = FuturesUnordered::new();
            operations.push(object.with(add).returning(Return::Home));
            let place = operations.next().await.expect("there is one").unwrap();
            (place, worker()) == (0, 1)
        };
        rounds(&away, alone).await;
        for _ in 0..100 {
            let mut operations: FuturesUnordered<_> =
                (0..5).map(|_| object.with(add).returning(Return::Home)).collect();
            while let Some(place) = operations.next().await {
                place.unwrap();
            }
            let (first, second) = both(
                object.with(add).returning(Return::Home),
                both(yield_now(), object.with(add).returning(Return::AtNextWait)),
            )
            .await;
            first.unwrap();
            second.1.unwrap();
        }
    });
    join([task]);
}

/// One that polls it over and over in one poll of the task does not do so for ever.
#[test]
fn polled_without_being_let_go() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let away = Away::new(&runtime);
    let task = runtime.spawn(async move {
        let round = || async {
            let mut operation = Box::pin(away.object.with(add).returning(Return::Home));
            // To worker 0, where it is made.
            let mut polls = 0;
            let place = std::future::poll_fn(|cx| {
                if worker() == 1 {
                    return operation.as_mut().poll(cx);
                }
                loop {
                    polls += 1;
                    if let std::task::Poll::Ready(place) = operation.as_mut().poll(cx) {
                        return std::task::Poll::Ready(place);
                    }
                }
            })
            .await;
            (place, worker()) == (Ok(0), 0) && polls > 1
        };
        rounds(&away, round).await;
    });
    join([task]);
}

/// Whoever wakes a task on its way back has woken it: nobody waits for ever.
#[test]
fn no_wake_is_lost_on_the_way_back() {
    const TASKS: u64 = 24;
    let _watchdog = watchdog();
    for workers in [2, 4] {
        let runtime = runtime(workers);
        let objects: Vec<_> = (0..workers).map(|home| at(&runtime, home, 0)).collect();
        let done = Arc::new(AtomicU64::new(0));
        let tasks = (0..TASKS).map(|seed| {
            let (objects, done) = (objects.clone(), done.clone());
            runtime.spawn(async move {
                let mut random = Random::new(seed);
                for _ in 0..400 {
                    let object = &objects[random.below(objects.len() as u64) as usize];
                    match random.below(5) {
                        0 => drop(object.with(add).returning(Return::Home).await.unwrap()),
                        1 => drop(object.with(add).returning(Return::AtNextWait).await.unwrap()),
                        2 => {
                            let guard = object.enter().returning(Return::AtNextWait).await;
                            add(&mut guard.unwrap());
                        }
                        3 => {
                            let mut held = object.enter_held().await.unwrap();
                            wait(random.below(WAYS_TO_WAIT as u64) as usize).await;
                            add(&mut held);
                        }
                        _ => drop(object.with(add).await.unwrap()),
                    }
                    if random.below(2) == 0 {
                        wait(random.below(WAYS_TO_WAIT as u64) as usize).await;
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        join(tasks.collect::<Vec<_>>());
        assert_eq!(done.load(Ordering::Relaxed), TASKS * 400);
        let sum = objects.iter().map(|object| object.call_blocking(|value| *value).unwrap());
        assert_eq!(sum.sum::<u64>(), TASKS * 400);
    }
}

/// A runtime that ends has tasks on their way back, which end with it.
#[test]
fn a_runtime_that_ends() {
    let _watchdog = watchdog();
    for _ in 0..10 {
        let runtime = runtime(2);
        let away = Arc::new(Away::new(&runtime));
        let tasks: Vec<_> = (0..8)
            .map(|number| {
                let away = away.clone();
                runtime.spawn(async move {
                    loop {
                        let to = if number % 2 == 0 { Return::Home } else { Return::AtNextWait };
                        away.begin().await;
                        away.object.with(add).returning(to).await.unwrap();
                        if number == 7 {
                            pending::<()>().await;
                        }
                    }
                })
            })
            .collect();
        until(|| away.object.call_blocking(|value| *value >= 100).unwrap());
        assert!(runtime.shutdown(evenkeel::Shutdown::Abort).stuck.is_empty());
        for task in tasks {
            let outcome: Result<(), _> = block_on(task);
            assert!(outcome.unwrap_err().is_cancelled());
        }
    }
}

/// Who does not go back pays nothing for it, in memory either.
#[test]
fn an_entry_is_as_small_as_before() {
    let runtime = runtime(1);
    let object = at(&runtime, 0, 0_u64);
    assert_eq!(size_of_val(&object.enter()), 24);
    assert_eq!(size_of_val(&object.with(|_| ())), 32);
    assert_eq!(size_of_val(&object.try_enter().unwrap().unwrap()), 16);
}
