//! Parties that take turns on one thread: the future of `block_on`, local tasks, and the tasks of a
//! current-thread runtime.

use crate::common::watchdog::watchdog;
use evenkeel::object::{EnterError, Guard, HeldGuard, Object, enter2};
use evenkeel::task::{LocalSet, spawn_local};
use evenkeel::time::{Duration, sleep};
use evenkeel::{Builder, Runtime, Shutdown, deterministic, spawn, yield_now};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Barrier;
use std::thread;

fn current_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

fn by_another_executor<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn refuses_to_block(object: &Object<u32>) -> bool {
    matches!(object.call_blocking(|_| ()), Err(EnterError::Inside(_)))
}

/// Comes inside, by an operation that awaits or by a guard.
async fn come_in(
    object: &Object<u32>,
    holds: bool,
) -> (Option<HeldGuard<'_, u32>>, Option<Guard<'_, u32>>) {
    if holds {
        return (Some(object.enter_held().await.unwrap()), None);
    }
    (None, Some(object.enter().await.unwrap()))
}

/// Has a guard across awaits while a task comes to the object.
async fn keep_a_guard_beside_a_task() {
    let (object, other) = (Object::new(0), Object::new(0));
    let guard = object.enter().await.unwrap();
    let task = spawn({
        let (object, other) = (object.clone(), other.clone());
        async move {
            let both = enter2(&object, &other).await.map(|(mut one, _)| *one += 1);
            (object.try_enter().map(|guard| guard.is_some()), both)
        }
    });
    for _ in 0..10 {
        yield_now().await;
    }
    assert_eq!(*guard, 0);
    assert!(!task.is_finished());
    assert!(matches!(object.enter().await, Err(EnterError::Inside(_))));
    drop(guard);
    assert_eq!(task.await.unwrap(), (Ok(true), Ok(())));
    assert_eq!(object.with(|value| *value).await, Ok(1));
}

#[test]
fn a_task_waits_for_a_guard_that_block_on_has_on_its_thread() {
    let _watchdog = watchdog();
    current_thread().block_on(keep_a_guard_beside_a_task());
    deterministic::explore(0..20, |_| keep_a_guard_beside_a_task());
}

#[test]
fn a_local_task_waits_for_another_that_is_inside() {
    let _watchdog = watchdog();
    for (is_driver, holds) in [(false, false), (false, true), (true, false), (true, true)] {
        let worker = || Builder::new().workers(1).build().unwrap();
        let runtime = if is_driver { current_thread() } else { worker() };
        let object = Object::new(0);
        LocalSet::new().block_on(&runtime, async {
            let is_inside = Rc::new(Cell::new(false));
            let first = spawn_local({
                let (object, is_inside) = (object.clone(), is_inside.clone());
                async move {
                    let inside = come_in(&object, holds).await;
                    is_inside.set(true);
                    for _ in 0..10 {
                        yield_now().await;
                    }
                    // It is inside itself, in whichever way it comes again.
                    assert!(matches!(object.with(|_| ()).await, Err(EnterError::Inside(_))));
                    assert!(is_driver || refuses_to_block(&object));
                    is_inside.set(false);
                    drop(inside);
                }
            });
            let second = spawn_local({
                let (object, is_inside) = (object.clone(), is_inside.clone());
                async move {
                    while !is_inside.get() {
                        yield_now().await;
                    }
                    assert!(object.try_enter().unwrap().is_none());
                    // Its thread would never come to the one that is inside.
                    assert!(is_driver || refuses_to_block(&object));
                    object.with(|value| *value += 1).await.unwrap();
                    assert!(!is_inside.get());
                }
            });
            object.with(|value| *value += 1).await.unwrap();
            first.await.unwrap();
            second.await.unwrap();
            assert_eq!(object.with(|value| *value).await, Ok(2));
        });
    }
}

#[test]
fn the_future_of_block_on_and_a_local_task_wait_for_each_other() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    LocalSet::new().block_on(&runtime, wait_for_each_other());
    // The same inside of a poll.
    evenkeel::block_on(async { LocalSet::new().block_on(&runtime, wait_for_each_other()) });
    // Polled by an executor of another crate.
    let _entered = runtime.enter();
    by_another_executor(LocalSet::new().run_until(wait_for_each_other()));
}

async fn wait_for_each_other() {
    let object = Object::new(0);
    let guard = object.enter().await.unwrap();
    let local = spawn_local({
        let object = object.clone();
        async move { object.with(|value| *value += 1).await }
    });
    for _ in 0..10 {
        yield_now().await;
    }
    drop(guard);
    assert_eq!(local.await.unwrap(), Ok(()));
}

#[test]
fn an_operation_is_held_by_the_task_that_completes_its_entry() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    runtime.block_on(async {
        let object = Object::new(0);
        let held = object.enter_held().await.unwrap();
        let entry = spawn({
            let object = object.clone();
            async move {
                let mut entry = Box::pin(async move {
                    let held = object.enter_held().await.unwrap();
                    yield_now().await;
                    drop(held);
                });
                assert!(futures::poll!(entry.as_mut()).is_pending());
                Some(entry)
            }
        });
        let mut entry = entry.await.unwrap().expect("it is pending");
        drop(held);
        let second = spawn({
            let object = object.clone();
            async move {
                // It may give other tasks a turn before it is inside.
                while matches!(object.try_enter(), Ok(Some(_))) {
                    assert!(futures::poll!(entry.as_mut()).is_pending());
                    yield_now().await;
                }
                let again = object.with(|_| ()).await;
                entry.await;
                again
            }
        });
        let second = second.await.unwrap();
        assert!(matches!(second, Err(EnterError::Inside(_))), "{second:?}");
    });
}

/// Enters in each way, inside a `block_on` of its own.
fn is_refused_in_a_nested_block_on(object: &Object<u32>) -> bool {
    let is_inside = |result| matches!(result, Err(EnterError::Inside(_)));
    evenkeel::block_on(async {
        is_inside(object.with(|_| ()).await)
            && is_inside(object.enter_held().await.map(drop))
            && is_inside(object.try_enter().map(drop))
    })
}

#[test]
fn what_is_polled_inside_of_a_poll_does_not_wait_for_it() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    for holds in [false, true] {
        LocalSet::new().block_on(&runtime, async {
            let object = Object::new(0);
            let local = spawn_local(async move {
                let _inside = come_in(&object, holds).await;
                assert!(is_refused_in_a_nested_block_on(&object));
            });
            local.await.unwrap();
        });
        // The other way round: the future below has the object, and a local task comes.
        runtime.block_on(async {
            let object = Object::new(0);
            let inside = come_in(&object, holds).await;
            let inner = Builder::new().workers(1).build().unwrap();
            LocalSet::new().block_on(&inner, async {
                let object = object.clone();
                let local = spawn_local(async move { object.with(|_| ()).await });
                assert!(matches!(local.await.unwrap(), Err(EnterError::Inside(_))));
            });
            drop(inside);
        });
    }
}

#[test]
fn a_task_that_a_shutdown_drives_is_inside_itself() {
    let _watchdog = watchdog();
    evenkeel::block_on(async {
        let runtime = current_thread();
        let object = Object::new(0);
        let task = runtime.spawn(async move {
            let one = object.enter().await.unwrap();
            let again = object.try_enter().map(drop);
            drop(one);
            (again, enter2(&object, &object).await.map(drop))
        });
        assert!(runtime.shutdown(Shutdown::Drain).is_clean());
        let (again, both) = task.await.unwrap();
        assert!(matches!(again, Err(EnterError::Inside(_))));
        assert!(matches!(both, Err(EnterError::Inside(_))));
    });
}

#[test]
fn a_clock_that_stands_still_moves_on_while_a_party_waits_for_a_guard() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().start_paused(true).build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let (object, other) = (Object::new(0), Object::new(0));
        let guard = object.enter().await.unwrap();
        let add = || {
            let (object, other) = (object.clone(), other.clone());
            async move {
                object.with(|value| *value += 1).await.unwrap();
                let (mut one, _) = enter2(&object, &other).await.unwrap();
                *one += 1;
            }
        };
        let (local, task) = (spawn_local(add()), spawn(add()));
        sleep(Duration::from_secs(60)).await;
        assert_eq!(*guard, 0);
        drop(guard);
        local.await.unwrap();
        task.await.unwrap();
        let guard = enter2(&object, &other).await.unwrap();
        let task = spawn(add());
        sleep(Duration::from_secs(60)).await;
        assert_eq!(*guard.0, 4);
        drop(guard);
        task.await.unwrap();
        assert_eq!(object.with(|value| *value).await, Ok(6));
    });
}

/// An object at the same address as one whose guard was forgotten.
#[test]
fn a_guard_that_is_forgotten_concerns_no_later_object() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        for _ in 0..100 {
            let object = Object::new(0);
            let local = spawn_local(async move { std::mem::forget(object.enter().await.unwrap()) });
            local.await.unwrap();
            let object = Object::new(0);
            let inside = object.with(|_| object.try_enter().map(drop)).await.unwrap();
            assert!(matches!(inside, Err(EnterError::Inside(_))));
        }
    });
}

#[test]
fn what_a_local_task_drops_is_inside_with_it() {
    struct Enters(Object<u32>, Rc<Cell<bool>>);
    impl Drop for Enters {
        fn drop(&mut self) {
            self.1.set(matches!(self.0.try_enter(), Err(EnterError::Inside(_))));
        }
    }
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let is_refused = Rc::new(Cell::new(false));
    LocalSet::new().block_on(&runtime, async {
        let object = Object::new(0);
        let local = spawn_local({
            let (object, is_refused) = (object.clone(), is_refused.clone());
            async move {
                let guard = object.enter().await.unwrap();
                let _enters = Enters(object.clone(), is_refused);
                std::future::pending::<()>().await;
                drop(guard);
            }
        });
        yield_now().await;
        local.abort();
        assert!(local.await.unwrap_err().is_cancelled());
    });
    assert!(is_refused.get());
}

/// A call inside of a poll, and what another party of the same set is inside.
#[test]
fn what_is_polled_inside_of_a_poll_does_not_wait_for_what_goes_on_after_it() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    for holds in [false, true] {
        LocalSet::new().block_on(&runtime, async {
            let object = Object::new(0);
            let first = spawn_local({
                let object = object.clone();
                async move {
                    let inside = come_in(&object, holds).await;
                    yield_now().await;
                    drop(inside);
                }
            });
            let second = spawn_local(async move { is_refused_in_a_nested_block_on(&object) });
            assert!(second.await.unwrap());
            first.await.unwrap();
        });
    }
}

#[test]
fn a_guard_that_was_handed_on_is_waited_for_by_no_party_of_its_thread() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let object: &'static Object<u32> = Box::leak(Box::new(Object::new(0)));
        let is_inside = async || matches!(object.with(|_| ()).await, Err(EnterError::Inside(_)));
        // By the end of a local task, and of a call inside of a poll.
        let guard = spawn_local(object.enter()).await.unwrap().unwrap();
        assert!(is_inside().await);
        drop(guard);
        let held = spawn_local(object.enter_held()).await.unwrap().unwrap();
        assert!(is_inside().await);
        drop(held);
        let local = spawn_local(async move {
            let guard = evenkeel::block_on(object.enter()).unwrap();
            assert!(is_inside().await);
            drop(guard);
            let held = evenkeel::block_on(object.enter_held()).unwrap();
            assert!(is_inside().await);
            drop(held);
        });
        local.await.unwrap();
        assert_eq!(object.with(|value| *value).await, Ok(0));
    });
    let object = Object::new(0);
    let held = evenkeel::block_on(object.enter_held()).unwrap();
    let again = evenkeel::block_on(object.with(|_| ()));
    assert!(matches!(again, Err(EnterError::Inside(_))));
    drop(held);
    let guard = evenkeel::block_on(object.enter()).unwrap();
    let again = evenkeel::block_on(object.with(|_| ()));
    assert!(matches!(again, Err(EnterError::Inside(_))));
    drop(guard);
}

#[test]
fn a_party_that_waits_for_two_gives_its_turn_to_one_that_is_inside() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let two = async |is_turned: bool| {
        let (first, second) = (Object::new(0), Object::new(0));
        // Whichever has the lower address, by which `enter2` begins.
        let (first, second) = if is_turned { (second, first) } else { (first, second) };
        let held = second.enter_held().await.unwrap();
        let both = spawn_local({
            let (first, second) = (first.clone(), second.clone());
            async move { enter2(&first, &second).await.map(|(mut one, _)| *one += 1) }
        });
        yield_now().await;
        let inside = spawn_local({
            let (first, second) = (first.clone(), second.clone());
            async move {
                let mut guard = first.enter().await.unwrap();
                let held = second.enter_held().await.unwrap();
                *guard += 1;
                drop(held);
            }
        });
        yield_now().await;
        yield_now().await;
        drop(held);
        assert_eq!(both.await.unwrap(), Ok(()));
        inside.await.unwrap();
        assert_eq!(first.with(|value| *value).await, Ok(2));
    };
    LocalSet::new().block_on(&runtime, async {
        two(false).await;
        two(true).await;
    });
}

/// A waker that panics, and one that polls at once.
#[test]
fn a_guard_that_goes_leaves_before_it_wakes() {
    struct Polls(Object<u32>, std::sync::Mutex<Option<bool>>);
    impl std::task::Wake for Polls {
        fn wake(self: std::sync::Arc<Self>) {
            *self.1.lock().unwrap() = Some(self.0.try_enter().is_ok_and(|guard| guard.is_some()));
            panic!("a waker that panics");
        }
    }
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let object = Object::new(0);
        let guard = object.enter().await.unwrap();
        let polls = std::sync::Arc::new(Polls(object.clone(), std::sync::Mutex::new(None)));
        let waits = spawn_local({
            let (object, polls) = (object.clone(), polls.clone());
            async move {
                let waker = std::task::Waker::from(polls);
                let mut entry = Box::pin(object.with(|_| ()));
                let mut cx = std::task::Context::from_waker(&waker);
                assert!(entry.as_mut().poll(&mut cx).is_pending());
            }
        });
        waits.await.unwrap();
        let mut other = Box::pin(object.with(|_| ()));
        drop(guard);
        assert_eq!(*polls.1.lock().unwrap(), Some(true));
        assert_eq!(other.as_mut().await, Ok(()));
    });
}

/// Tasks of worker threads, whose clock does not move on while they look again and again.
#[test]
fn tasks_of_other_threads_sleep_while_a_party_keeps_a_guard() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).start_paused(true).build().unwrap();
    runtime.block_on(async {
        let (object, other) = (Object::new(0), Object::new(0));
        for is_first in [true, false] {
            let kept = if is_first { &object } else { &other };
            let guard = kept.enter().await.unwrap();
            let tasks = [(); 4].map(|()| {
                let (object, other) = (object.clone(), other.clone());
                spawn(async move {
                    let (mut one, mut two) = enter2(&object, &other).await.unwrap();
                    *one += 1;
                    *two += 1;
                })
            });
            let with = spawn({
                let kept = kept.clone();
                async move { kept.with(|value| *value += 1).await }
            });
            sleep(Duration::from_secs(60)).await;
            assert!(!with.is_finished());
            drop(guard);
            for task in tasks {
                task.await.unwrap();
            }
            with.await.unwrap().unwrap();
        }
        assert_eq!(object.with(|value| *value).await, Ok(9));
        assert_eq!(other.with(|value| *value).await, Ok(9));
    });
}

/// A thread in `block_on`, whose clock does not move on while it looks again and again.
#[test]
fn a_blocking_call_sleeps_while_a_party_of_another_thread_keeps_a_guard() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).start_paused(true).build().unwrap();
    let (object, calls) = (Object::new(0), Barrier::new(2));
    thread::scope(|scope| {
        runtime.block_on(async {
            let guard = object.enter().await.unwrap();
            let caller = scope.spawn(|| {
                runtime.block_on(async {
                    calls.wait();
                    object.call_blocking(|value| *value += 1)
                })
            });
            calls.wait();
            sleep(Duration::from_secs(60)).await;
            assert!(!caller.is_finished());
            drop(guard);
        });
    });
    assert_eq!(object.call_blocking(|value| *value), Ok(1));
}

/// All that a task polls is the task, also where it drives a set inside one of its polls.
#[test]
fn local_tasks_that_a_task_polls_are_inside_with_it() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let task = runtime.spawn(async {
        evenkeel::block_in_place(|| {
            let object = Object::new(0);
            let set = LocalSet::new();
            by_another_executor(set.run_until(async {
                let local = spawn_local({
                    let object = object.clone();
                    async move {
                        let guard = object.enter().await.unwrap();
                        assert!(matches!(object.try_enter(), Err(EnterError::Inside(_))));
                        yield_now().await;
                        assert!(matches!(object.with(|_| ()).await, Err(EnterError::Inside(_))));
                        let both = enter2(&object, &object).await.map(|_| ());
                        assert!(matches!(both, Err(EnterError::Inside(_))));
                        drop(guard);
                    }
                });
                local.await.unwrap();
                let guard = object.enter().await.unwrap();
                assert!(matches!(object.with(|_| ()).await, Err(EnterError::Inside(_))));
                drop(guard);
            }));
        });
    });
    runtime.block_on(task).unwrap();
}

/// As in `block_on` of this library: what has ended does not go on.
#[test]
fn a_guard_that_outlives_a_future_beside_local_tasks_is_waited_for_by_none() {
    let _watchdog = watchdog();
    let object = Object::new(0);
    let set = LocalSet::new();
    let guard = by_another_executor(set.run_until(object.enter())).unwrap();
    by_another_executor(set.run_until(async {
        let local = spawn_local({
            let object = object.clone();
            async move { object.with(|_| ()).await }
        });
        assert!(matches!(local.await.unwrap(), Err(EnterError::Inside(_))));
        assert!(matches!(object.with(|_| ()).await, Err(EnterError::Inside(_))));
    }));
    drop(guard);
    let sum = by_another_executor(set.run_until(object.with(|value| *value)));
    assert_eq!(sum, Ok(0));
}
