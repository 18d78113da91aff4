//! What runs inside: local tasks, sets, closures, monitors, objects and fork-join.

use super::{here, runtime};
use crate::common::panics::message;
use crate::common::watchdog::watchdog;
use evenkeel::fork_join::{self, join, scope};
use evenkeel::object::{Object, Placement};
use evenkeel::sync::Semaphore;
use evenkeel::sync::monitor::Monitor;
use evenkeel::task::{JoinSet, LocalSet, spawn_local};
use evenkeel::{BuildError, Builder, Handle, spawn, yield_now};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

#[test]
fn local_tasks_run_beside_tasks() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let local = LocalSet::new();
    let sum = runtime.block_on(local.run_until(async {
        let shared = Rc::new(());
        let locals = [1, 2, 3].map(|n| {
            let own = shared.clone();
            spawn_local(async move {
                yield_now().await;
                let other = spawn(async move { n * 10 }).await.unwrap();
                drop(own);
                n + other
            })
        });
        let mut sum = 0;
        for local in locals {
            sum += local.await.unwrap();
        }
        assert_eq!(Rc::strong_count(&shared), 1);
        sum
    }));
    assert_eq!(sum, 66);
}

#[test]
fn a_set_of_tasks_is_joined_and_aborted() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let sum = runtime.block_on(async {
        let mut set = JoinSet::new();
        for n in 0..100 {
            set.spawn(async move {
                yield_now().await;
                n
            });
        }
        let mut sum = 0;
        while let Some(joined) = set.join_next().await {
            sum += joined.unwrap();
        }
        set.spawn(std::future::pending());
        set.shutdown().await;
        sum
    });
    assert_eq!(sum, 4_950);
}

#[test]
fn blocking_closures_have_threads_of_their_own() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let early = runtime.spawn_blocking(here);
    let (early, late, inner) = runtime.block_on(async {
        let late = evenkeel::spawn_blocking(|| {
            // A thread that runs a closure may block on the runtime.
            let inner = Handle::current().block_on(async { spawn(async { here() }).await });
            (here(), inner.unwrap())
        });
        let (late, inner) = late.await.unwrap();
        (early.await.unwrap(), late, inner)
    });
    assert!(early != here() && late != here());
    assert_eq!(inner, here(), "the driver polls the task");
}

#[test]
fn an_entered_runtime_is_spawned_on_and_not_driven() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let task = {
        let _entered = runtime.enter();
        assert!(Handle::current().ptr_eq(&runtime.handle()));
        spawn(async { here() })
    };
    assert!(!task.is_finished());
    assert_eq!(runtime.block_on(task).unwrap(), here());
}

#[test]
fn tasks_are_aborted_where_they_wait() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let early = runtime.spawn(std::future::pending::<()>());
    early.abort();
    runtime.block_on(async {
        assert!(early.await.unwrap_err().is_cancelled());
        let waiting = spawn(std::future::pending::<()>());
        yield_now().await;
        waiting.abort();
        assert!(waiting.await.unwrap_err().is_cancelled());
    });
}

#[test]
fn monitors_semaphores_and_objects_exclude() {
    let _watchdog = watchdog();
    let runtime = runtime();
    for placement in [Placement::Home, Placement::InPlace, Placement::Automatic] {
        let count = runtime.block_on(async {
            let monitor = Arc::new(Monitor::new(0));
            let permits = Arc::new(Semaphore::new(1));
            let object = Object::new(0).placed("count", placement);
            let mut tasks = Vec::new();
            for _ in 0..10 {
                let (monitor, permits, object) = (monitor.clone(), permits.clone(), object.clone());
                tasks.push(spawn(async move {
                    for _ in 0..100 {
                        let mut inside = monitor.enter().await;
                        *inside += 1;
                        drop(inside);
                        let permit = permits.acquire().await;
                        object.with(|count| *count += 1).await.unwrap();
                        yield_now().await;
                        drop(permit);
                    }
                }));
            }
            // The driver's own future is a task beside them.
            for _ in 0..100 {
                *monitor.enter().await += 1;
                object.with(|count| *count += 1).await.unwrap();
                yield_now().await;
            }
            for task in tasks {
                task.await.unwrap();
            }
            assert_eq!(*monitor.enter().await, 1_100);
            object.with(|count| *count).await.unwrap()
        });
        assert_eq!(count, 1_100);
    }
}

#[test]
fn forks_run_on_the_driver() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let forked = |()| {
        assert_eq!(fork_join::worker_index(), Some(0));
        assert_eq!(join(here, here), (here(), here()));
        let sum = AtomicUsize::new(0);
        scope(|scope| {
            for n in 1..=10 {
                let sum = &sum;
                scope.spawn(move |_| _ = sum.fetch_add(n, Ordering::Relaxed));
            }
        });
        assert_eq!(sum.into_inner(), 55);
        assert_eq!(fork_join::broadcast(|part| part.index()), [0]);
    };
    // In the future, and in a task.
    runtime.block_on(async {
        forked(());
        spawn(async move { forked(()) }).await.unwrap();
    });
    // On a thread that drives for it.
    runtime.install(|| forked(()));
    assert_eq!(runtime.install(here), here());
    assert_eq!(runtime.handle().broadcast(|part| (part.index(), here())), [(0, here())]);
    let mut jobs = [false; 2];
    let [one, other] = &mut jobs;
    runtime.handle().in_place_scope(|scope| {
        scope.spawn(|_| *one = true);
        scope.spawn(|_| *other = true);
    });
    assert_eq!(jobs, [true; 2]);
    let panic = catch_unwind(AssertUnwindSafe(|| runtime.install(|| panic!("in a fork"))));
    assert_eq!(message(&*panic.unwrap_err()), "in a fork");
    {
        let _entered = runtime.enter();
        assert_eq!(join(here, here), (here(), here()));
        assert_eq!(fork_join::broadcast(|part| part.index()), [0]);
    }
    // A job that no thread waits for runs when a thread drives.
    let (sender, receiver) = mpsc::channel();
    runtime.handle().spawn_job(move || sender.send(here()).unwrap());
    assert!(receiver.try_recv().is_err());
    runtime.block_on(yield_now());
    assert_eq!(receiver.recv().unwrap(), here());
}

/// While another thread drives, it runs the closures; and what waits for them, wherever it is, goes
/// on when that thread leaves.
#[test]
fn forks_of_other_threads_run_on_the_driver_or_where_they_wait() {
    let _watchdog = watchdog();
    for _ in 0..100 {
        let runtime = Arc::new(runtime());
        let is_over = Arc::new(AtomicBool::new(false));
        let driver = {
            let (runtime, is_over) = (runtime.clone(), is_over.clone());
            thread::spawn(move || {
                runtime.block_on(async move {
                    while !is_over.load(Ordering::Relaxed) {
                        yield_now().await;
                    }
                });
            })
        };
        let installers: Vec<_> = (0..4)
            .map(|me| {
                let runtime = runtime.clone();
                thread::spawn(move || {
                    for _ in 0..10 {
                        assert_eq!(runtime.install(|| join(|| me, || me + 1)), (me, me + 1));
                        assert_eq!(runtime.handle().broadcast(|part| part.index()), [0]);
                    }
                    // The future of a waiter forks too.
                    runtime.block_on(async { join(|| (), || ()) });
                })
            })
            .collect();
        is_over.store(true, Ordering::Relaxed);
        driver.join().unwrap();
        installers.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

#[test]
fn block_on_inside_is_refused() {
    const SENTENCE: &str = "block_on is called inside";
    let _watchdog = watchdog();
    let runtime = runtime();
    let other = super::runtime();
    let refused = |f: &dyn Fn()| {
        let panic = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
        assert!(message(&*panic).starts_with(SENTENCE), "{}", message(&*panic));
    };
    let handle = runtime.handle();
    runtime.block_on(async {
        refused(&|| runtime.block_on(async {}));
        refused(&|| other.block_on(async {}));
        refused(&|| evenkeel::block_on(async {}));
        let task = spawn(async move {
            let nested = catch_unwind(AssertUnwindSafe(|| handle.block_on(async {})));
            message(&*nested.unwrap_err()).starts_with(SENTENCE)
        });
        assert!(task.await.unwrap());
        // The same where another thread drives.
        thread::scope(|scope| {
            scope.spawn(|| runtime.block_on(async { refused(&|| runtime.block_on(async {})) }));
        });
    });
    assert_eq!(runtime.block_on(async { spawn(async { 1 }).await }).unwrap(), 1);
}

#[test]
fn there_is_one_worker() {
    for workers in [2, 1_024] {
        let error = Builder::new_current_thread().workers(workers).build().unwrap_err();
        assert!(matches!(error, BuildError::CurrentThread { asked } if asked == workers));
        assert!(error.to_string().starts_with("a current-thread runtime has one worker, not"));
    }
    let error = Builder::new_current_thread().workers(0).build().unwrap_err();
    assert!(matches!(error, BuildError::Workers { asked: 0 }));
    let runtime = Builder::new_current_thread().workers(1).build().unwrap();
    assert_eq!((runtime.handle().workers(), runtime.handle().reliefs()), (1, 0));
    let mut workers = 0;
    let other = Builder::new_current_thread()
        .build_with(|worker| {
            workers += 1;
            thread::spawn(|| worker.run());
            Ok(())
        })
        .unwrap();
    assert_eq!(workers, 1);
    assert_eq!(other.install(|| 7), 7);
}

#[evenkeel::test(flavor = "current_thread")]
async fn a_test_runs_on_one_thread() {
    let _watchdog = watchdog();
    assert_eq!(spawn(async { here() }).await.unwrap(), here());
}

#[evenkeel::main(flavor = "current_thread", name = "gig")]
async fn main_like() -> bool {
    spawn(async { here() }).await.unwrap() == here()
}

#[evenkeel::main(flavor = "multi_thread", workers = 1)]
async fn other_main_like() -> bool {
    spawn(async { here() }).await.unwrap() == here()
}

#[test]
fn main_runs_as_its_flavor_says() {
    let _watchdog = watchdog();
    assert!(main_like());
    assert!(!other_main_like());
}
