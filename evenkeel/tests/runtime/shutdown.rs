//! The shutdown of runtimes: in each mode, with all kinds of remaining tasks, and from all places.

use crate::common::named::{named, names};
use crate::common::panics::message_of;
use crate::common::runtime::runtime;
use crate::common::stuck::Stuck;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::object::Object;
use evenkeel::task::{self, park};
use evenkeel::{Builder, Handle, Runtime, Shutdown, ShutdownReport, yield_now};
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// A deadline that endless tasks cannot keep.
const SOON: Duration = Duration::from_millis(20);

#[test]
fn drain_waits_for_all_that_tasks_spawn() {
    fn tree(depth: u32, leaves: Arc<AtomicUsize>) -> futures::future::BoxFuture<'static, ()> {
        Box::pin(async move {
            if depth == 0 {
                yield_now().await;
                leaves.fetch_add(1, Ordering::Relaxed);
                return;
            }
            for _ in 0..4 {
                drop(evenkeel::spawn(tree(depth - 1, leaves.clone())));
                yield_now().await;
            }
        })
    }

    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        let leaves = Arc::new(AtomicUsize::new(0));
        drop(runtime.spawn(tree(6, leaves.clone())));
        let report = runtime.shutdown(Shutdown::Drain);
        assert_eq!(leaves.load(Ordering::Relaxed), 4_096);
        assert!(report.is_clean());
        assert_eq!(report.to_string(), "every task came to its own end");
    }
}

#[test]
fn drain_waits_for_blocking_closures_and_what_they_wake() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let done = Arc::new(AtomicUsize::new(0));
    for _ in 0..20 {
        let done = done.clone();
        drop(runtime.spawn(async move {
            let parked = task::current();
            let closure = evenkeel::spawn_blocking(move || {
                thread::yield_now();
                parked.unpark();
            });
            park().await;
            closure.await.unwrap();
            done.fetch_add(1, Ordering::Relaxed);
        }));
    }
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    assert_eq!(done.load(Ordering::Relaxed), 20);
}

#[test]
fn drain_waits_for_tasks_that_threads_wake() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let parked = runtime.spawn(park());
    let task = parked.task();
    let handle = runtime.handle();
    let waker = thread::spawn(move || {
        until(|| handle.is_shutting_down());
        task.unpark();
    });
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    waker.join().unwrap();
    evenkeel::block_on(parked).unwrap();
}

/// A closure of a task keeps the runtime open; then the runtime is over.
#[test]
fn a_runtime_that_drains_takes_no_closures_from_outside() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let handle = runtime.handle();
    let (go, wait) = mpsc::channel();
    let inner = runtime.spawn(async move {
        let closure = evenkeel::spawn_blocking(move || wait.recv().is_ok());
        let inner = closure.await.unwrap();
        evenkeel::spawn_blocking(move || inner).await.unwrap()
    });
    runtime.detach();
    let refused = || {
        let ran = Arc::new(AtomicUsize::new(0));
        let counted = ran.clone();
        let closure = handle.spawn_blocking(move || counted.fetch_add(1, Ordering::Relaxed));
        assert!(evenkeel::block_on(closure).unwrap_err().is_cancelled());
        assert_eq!(Arc::try_unwrap(ran).expect("the closure is dropped").into_inner(), 0);
    };
    refused();
    go.send(()).expect("the closure waits");
    assert!(evenkeel::block_on(inner).unwrap());
    refused();
}

#[test]
fn abort_ends_what_waits_and_reports_it() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let dropped = Arc::new(());
    let inside = dropped.clone();
    let handle = named(&runtime, "waits", async move {
        let _inside = inside;
        pending::<()>().await;
    });
    let yields = named(&runtime, "yields", async {
        loop {
            yield_now().await;
        }
    });
    let done = named(&runtime, "done", async {});
    until(|| done.is_finished());
    let report = runtime.shutdown(Shutdown::Abort);
    assert_eq!(names(&report.aborted), ["waits", "yields"]);
    assert!(report.stuck.is_empty() && !report.detached && !report.is_clean());
    assert_eq!(Arc::strong_count(&dropped), 1);
    assert!(evenkeel::block_on(handle).unwrap_err().is_cancelled());
    assert!(evenkeel::block_on(yields).unwrap_err().is_cancelled());
    evenkeel::block_on(done).unwrap();
    let text = report.to_string();
    assert!(text.contains("aborted: task ") && text.contains("\"waits\""), "{text}");
    assert!(text.contains("common/named.rs:"), "{text}");
}

#[test]
fn abort_cancels_closures_that_have_not_begun_and_waits_for_the_others() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).blocking_threads(1).build().unwrap();
    let stuck = Stuck::new();
    let running = runtime.spawn_blocking(stuck.body());
    stuck.begun();
    let queued = runtime.spawn_blocking(|| ());
    let (handle, id) = (runtime.handle(), queued.id());
    let releaser = thread::spawn(move || {
        until(|| queued.is_finished());
        assert!(handle.is_shutting_down());
        stuck.release();
        queued
    });
    let report = runtime.shutdown(Shutdown::Abort);
    assert_eq!(report.aborted.iter().map(|task| task.id).collect::<Vec<_>>(), [id]);
    assert!(report.stuck.is_empty(), "{report}");
    let queued = releaser.join().unwrap();
    assert!(evenkeel::block_on(queued).unwrap_err().is_cancelled());
    evenkeel::block_on(running).unwrap();
}

#[test]
fn a_deadline_in_time_is_clean() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let task = runtime.spawn(async { yield_now().await });
    assert!(runtime.shutdown(Shutdown::Deadline(Duration::MAX)).is_clean());
    evenkeel::block_on(task).unwrap();
}

#[test]
fn a_deadline_aborts_what_is_left() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let handles = [
        named(&runtime, "parked", park()),
        named(&runtime, "yields", async {
            loop {
                yield_now().await;
            }
        }),
    ];
    let report = runtime.shutdown(Shutdown::Deadline(SOON));
    assert_eq!(names(&report.aborted), ["parked", "yields"]);
    assert!(report.stuck.is_empty(), "{report}");
    for handle in handles {
        assert!(evenkeel::block_on(handle).unwrap_err().is_cancelled());
    }
}

#[test]
fn a_deadline_reports_a_stuck_task_and_leaves_it_behind() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let stuck = Stuck::new();
    let body = stuck.body();
    let handle = named(&runtime, "stuck", async move { body() });
    stuck.begun();
    let report = runtime.shutdown(Shutdown::Deadline(SOON));
    assert_eq!(names(&report.stuck), ["stuck"]);
    assert!(report.aborted.is_empty(), "{report}");
    assert!(report.to_string().starts_with("stuck: task "), "{report}");
    // Its handle does not wait for the poll, which returns later.
    assert!(evenkeel::block_on(handle).unwrap_err().is_stuck());
    stuck.release();
    stuck.returned();
}

#[test]
fn tasks_of_a_stuck_worker_are_aborted_all_the_same() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let stuck = Stuck::new();
    let body = stuck.body();
    let (send, children) = mpsc::channel();
    let parent = named(&runtime, "stuck", async move {
        for _ in 0..5 {
            let child = task::Builder::new().name("parked").spawn(pending::<()>());
            send.send(child).unwrap();
        }
        // The children are polled once, on any worker.
        for _ in 0..10 {
            yield_now().await;
        }
        body();
    });
    stuck.begun();
    let report = runtime.shutdown(Shutdown::Deadline(SOON));
    assert_eq!(names(&report.stuck), ["stuck"]);
    assert_eq!(names(&report.aborted), ["parked"; 5]);
    for child in children.try_iter() {
        assert!(evenkeel::block_on(child).unwrap_err().is_cancelled());
    }
    assert!(evenkeel::block_on(parent).unwrap_err().is_stuck());
    stuck.release();
}

#[test]
fn a_deadline_reports_a_stuck_closure() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let stuck = Stuck::new();
    let handle = runtime.spawn_blocking(stuck.body());
    let id = handle.id();
    stuck.begun();
    let report = runtime.shutdown(Shutdown::Deadline(SOON));
    assert_eq!(report.stuck.iter().map(|task| task.id).collect::<Vec<_>>(), [id]);
    assert!(evenkeel::block_on(handle).unwrap_err().is_stuck());
    stuck.release();
}

#[test]
fn dropping_is_aborting() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let handle = runtime.spawn(pending::<()>());
    drop(runtime);
    assert!(evenkeel::block_on(handle).unwrap_err().is_cancelled());
}

#[test]
fn a_task_that_ends_its_own_runtime_does_not_wait() {
    let _watchdog = watchdog();
    for by_drop in [true, false] {
        let runtime = runtime(2);
        let handle = runtime.handle();
        let other = runtime.spawn(pending::<()>());
        let (give, take) = mpsc::channel::<Runtime>();
        let ender = handle.spawn(async move {
            let runtime = take.recv().expect("it is given below");
            if by_drop {
                drop(runtime);
                return None;
            }
            Some(runtime.shutdown(Shutdown::Drain))
        });
        give.send(runtime).expect("the task waits for it");
        let report: Option<ShutdownReport> = evenkeel::block_on(ender).unwrap();
        if let Some(report) = report {
            assert!(report.detached && !report.is_clean());
            assert!(report.to_string().starts_with("ended by one of its own tasks"), "{report}");
        }
        assert!(evenkeel::block_on(other).unwrap_err().is_cancelled());
    }
}

/// The other runtime runs a closure on that thread, or drops a future there.
#[test]
fn a_task_may_end_its_own_runtime_while_its_thread_drives_another() {
    let _watchdog = watchdog();
    for in_closure in [true, false] {
        let runtime = Builder::new().workers(1).build().unwrap();
        let (give, take) = mpsc::channel::<Runtime>();
        let task = runtime.handle().spawn(async move {
            let own = take.recv().expect("it is given below");
            let driven = Builder::new_current_thread().build().unwrap();
            if in_closure {
                driven.install(move || drop(own));
            } else {
                drop(driven.spawn(async move {
                    let _own = own;
                    pending::<()>().await;
                }));
            }
        });
        give.send(runtime).expect("the task waits for it");
        evenkeel::block_on(task).unwrap();
    }
}

#[test]
fn a_task_spawns_while_its_runtime_drains_and_its_thread_drives_another() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let handle = runtime.handle();
    let outer = runtime.spawn(async move {
        until(|| handle.is_shutting_down());
        let driven = Builder::new_current_thread().build().unwrap();
        let inner = driven.install(|| handle.spawn(async { 7 }));
        inner.await
    });
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    assert_eq!(evenkeel::block_on(outer).unwrap().unwrap(), 7);
}

#[test]
fn a_blocking_closure_that_ends_its_own_runtime_does_not_wait() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let handle = runtime.handle();
    let other = runtime.spawn(pending::<()>());
    let ender = handle.spawn_blocking(move || {
        drop(runtime);
        "dropped"
    });
    assert_eq!(evenkeel::block_on(ender).unwrap(), "dropped");
    assert!(evenkeel::block_on(other).unwrap_err().is_cancelled());
}

#[test]
fn a_task_may_end_another_runtime() {
    let _watchdog = watchdog();
    let (inner, outer) = (runtime(2), runtime(2));
    let waits = inner.spawn(pending::<()>());
    let ender = outer.spawn(async move { inner.shutdown(Shutdown::Abort).aborted.len() });
    assert_eq!(outer.block_on(ender).unwrap(), 1);
    assert!(outer.block_on(waits).unwrap_err().is_cancelled());
}

#[test]
fn a_runtime_may_live_inside_a_task() {
    let _watchdog = watchdog();
    let outer = runtime(2);
    let task = outer.spawn(async {
        let inner = runtime(2);
        let sum = inner.spawn(async { 1 }).await.unwrap();
        // A task belongs to its own runtime, even if it holds another.
        sum + evenkeel::spawn(async { 2 }).await.unwrap()
    });
    assert_eq!(outer.block_on(task).unwrap(), 3);
}

#[test]
fn nested_block_ons_restore_the_runtime_outside() {
    let _watchdog = watchdog();
    let (outer, inner) = (runtime(2), runtime(2));
    let size = || Handle::current().metrics().spawned_outside;
    outer.block_on(async {
        outer.spawn(async {}).await.unwrap();
        assert_eq!(size(), 1);
        inner.block_on(async { assert_eq!(size(), 0) });
        let caught = catch_unwind(AssertUnwindSafe(|| inner.block_on(async { panic!("inside") })));
        assert!(caught.is_err());
        assert_eq!(size(), 1);
    });
    assert!(Handle::try_current().is_none());
}

#[test]
fn a_handle_outlives_its_runtime_and_gives_cancelled_handles() {
    let _watchdog = watchdog();
    for mode in [Shutdown::Drain, Shutdown::Abort, Shutdown::Deadline(Duration::MAX)] {
        let runtime = runtime(2);
        let handle = runtime.handle();
        assert!(!handle.is_shutting_down());
        runtime.shutdown(mode);
        assert!(handle.is_shutting_down());
        let captured = Arc::new(());
        for _ in 0..3 {
            let inside = captured.clone();
            let task = handle.spawn(async move { drop(inside) });
            assert!(task.is_finished());
            assert!(evenkeel::block_on(task).unwrap_err().is_cancelled());
            let inside = captured.clone();
            let closure = handle.spawn_blocking(move || drop(inside));
            assert!(evenkeel::block_on(closure).unwrap_err().is_cancelled());
        }
        assert_eq!(Arc::strong_count(&captured), 1);
        // Blocking needs no workers.
        assert_eq!(handle.block_on(async { 1 }), 1);
        assert!(handle.block_on(async { evenkeel::spawn(async {}).await }).is_err());
        assert_eq!(handle.metrics().processors.len(), 2);
    }
}

#[test]
fn what_is_spawned_from_outside_while_the_runtime_drains_is_cancelled() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let parked = runtime.spawn(park());
    let task = parked.task();
    let handle = runtime.handle();
    let outside = thread::spawn(move || {
        until(|| handle.is_shutting_down());
        let late = handle.spawn(async {});
        let cancelled = evenkeel::block_on(late).is_err_and(|error| error.is_cancelled());
        task.unpark();
        cancelled
    });
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    assert!(outside.join().unwrap());
    evenkeel::block_on(parked).unwrap();
}

#[test]
fn blocking_inside_a_task_is_refused_with_what_to_do_instead() {
    let _watchdog = watchdog();
    let (one, two) = (runtime(2), runtime(2));
    let (own, other) = (one.handle(), two.handle());
    let task = one.spawn(async move {
        let block_ons: [Box<dyn Fn() + Send>; 3] = [
            Box::new(|| evenkeel::block_on(async {})),
            Box::new(move || own.block_on(async {})),
            Box::new(move || other.block_on(async {})),
        ];
        let messages = block_ons.map(message_of);
        yield_now().await;
        messages
    });
    for message in one.block_on(task).unwrap() {
        assert_eq!(
            message,
            "block_on is called inside a task, where it would stop a worker: await the future \
             instead, or call block_on inside spawn_blocking"
        );
    }
    let object = Object::new(1);
    let task = one.spawn({
        let object = object.clone();
        async move { message_of(|| object.call_blocking(|value| *value += 1)) }
    });
    assert_eq!(
        one.block_on(task).unwrap(),
        "call_blocking is called inside a task, where it would stop a worker: await `with` \
         instead, or call call_blocking inside spawn_blocking"
    );
    assert_eq!(object.call_blocking(|value| *value), Ok(1));
}

#[test]
fn a_job_that_blocks_on_a_future_hears_that_it_is_a_job() {
    let runtime = Builder::new().workers(1).build().unwrap();
    let message = |block: fn()| runtime.install(|| message_of(block));
    assert_eq!(
        message(|| evenkeel::block_on(async {})),
        "block_on is called inside a closure that a worker runs for install, a fork, a scope or a \
         hook, where it would stop the worker: call it on the thread that installs, have a task \
         await the future, or call block_on inside spawn_blocking"
    );
    let in_half = message(|| {
        evenkeel::fork_join::join(|| (), || evenkeel::block_on(async {}));
    });
    assert!(in_half.starts_with("block_on is called inside a closure"), "{in_half}");
}

#[test]
fn aborted_tasks_may_spawn_as_they_go() {
    struct Spawns(Arc<AtomicUsize>);
    impl Drop for Spawns {
        fn drop(&mut self) {
            let dropped = self.0.clone();
            let child = evenkeel::spawn(async move {
                let _never_run = dropped;
                pending::<()>().await;
            });
            self.0.fetch_add(1, Ordering::Relaxed);
            drop(child);
        }
    }

    let _watchdog = watchdog();
    let runtime = runtime(2);
    let dropped = Arc::new(AtomicUsize::new(0));
    for _ in 0..50 {
        let guard = Spawns(dropped.clone());
        drop(runtime.spawn(async move {
            let _guard = guard;
            pending::<()>().await;
        }));
    }
    drop(runtime);
    assert_eq!(dropped.load(Ordering::Relaxed), 50);
    assert_eq!(Arc::strong_count(&dropped), 1, "the children's futures are gone too");
}

/// Spawns from threads race the end of a drain: each task either runs to its end or is cancelled,
/// and none is left in a runtime that has ended.
#[test]
fn spawns_that_race_the_end_of_a_drain_complete_or_are_cancelled() {
    let _watchdog = watchdog();
    for _ in 0..200 {
        let runtime = runtime(2);
        let handle = runtime.handle();
        let spawner = std::thread::spawn(move || {
            (0..50).map(|_| handle.spawn(async { yield_now().await })).collect::<Vec<_>>()
        });
        assert!(runtime.shutdown(Shutdown::Drain).stuck.is_empty());
        for task in spawner.join().unwrap() {
            let joined = evenkeel::block_on(task);
            assert!(joined.is_ok() || joined.unwrap_err().is_cancelled());
        }
    }
}
