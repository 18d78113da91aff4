//! Closures on threads of their own.

use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::task::{self, TaskPanic};
use evenkeel::{Builder, Handle, Runtime, Shutdown};
use std::collections::HashSet;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

fn runtime() -> Runtime {
    Builder::new().workers(1).name("deck").build().expect("the runtime starts")
}

/// Their panics have no joiner, so they go to the hook.
#[test]
fn tasks_and_closures_have_the_names_that_their_builders_give() {
    let _watchdog = watchdog();
    let (sender, reports) = mpsc::channel();
    let hook = move |panic: &TaskPanic<'_>| sender.send(panic.task.clone()).unwrap();
    let runtime = Builder::new().workers(1).on_task_panic(hook).build().unwrap();
    let named = |name: &str| task::Builder::new().name(name);
    let (handle, line) = (runtime.handle(), line!());
    named("anchor").spawn_on(async { panic!("adrift") }, &handle).detach();
    named("cable").spawn_blocking_on(|| panic!("adrift"), &handle).detach();
    let _entered = runtime.enter();
    named("buoy").spawn_blocking(|| panic!("adrift")).detach();
    let mut told: Vec<_> = (0..3).map(|_| reports.recv().unwrap()).collect();
    told.sort_by_key(|task| task.spawn_site.line());
    let names = told.iter().map(|task| task.name.as_deref().unwrap());
    assert!(names.eq(["anchor", "cable", "buoy"]), "{told:?}");
    let lines = told.iter().map(|task| task.spawn_site.line() - line);
    assert!(lines.eq([1, 2, 4]), "{told:?}");
    assert!(told.iter().all(|task| task.spawn_site.file() == file!()));
    task::Builder::new().spawn_blocking(|| panic!("adrift")).detach();
    assert_eq!(reports.recv().unwrap().name, None);
}

#[test]
fn a_closure_gives_its_value_and_runs_beside_the_workers() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let (name, sum) = runtime.block_on(async {
        let blocked = evenkeel::spawn_blocking(|| {
            (thread::current().name().map(str::to_owned), (1..=10).sum::<u32>())
        });
        blocked.await.unwrap()
    });
    assert_eq!((name.as_deref(), sum), (Some("deck-blocking"), 55));
}

#[test]
fn a_closure_that_blocks_stops_no_task() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let open = Arc::new(AtomicBool::new(false));
    let blocked = runtime.spawn_blocking({
        let open = open.clone();
        move || until(|| open.load(Ordering::Acquire))
    });
    for n in 0..100 {
        assert_eq!(runtime.block_on(runtime.spawn(async move { n })).unwrap(), n);
    }
    assert!(!blocked.is_finished());
    open.store(true, Ordering::Release);
    runtime.block_on(blocked).unwrap();
}

#[test]
fn closures_run_side_by_side() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let barrier = Arc::new(Barrier::new(40));
    let threads = Arc::new(Mutex::new(HashSet::new()));
    let handles: Vec<_> = (0..40)
        .map(|_| {
            let (barrier, threads) = (barrier.clone(), threads.clone());
            runtime.spawn_blocking(move || {
                threads.lock().unwrap().insert(thread::current().id());
                barrier.wait();
            })
        })
        .collect();
    for handle in handles {
        runtime.block_on(handle).unwrap();
    }
    assert_eq!(threads.lock().unwrap().len(), 40);
}

#[test]
fn more_closures_than_threads_all_run() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let ran = Arc::new(AtomicUsize::new(0));
    for _ in 0..5_000 {
        let ran = ran.clone();
        drop(runtime.spawn_blocking(move || {
            ran.fetch_add(1, Ordering::Relaxed);
        }));
    }
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    assert_eq!(ran.load(Ordering::Relaxed), 5_000);
}

#[test]
fn a_closure_is_inside_its_runtime_and_may_block_on_it() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let sum = runtime.block_on(async {
        let blocked = evenkeel::spawn_blocking(|| {
            let handle = Handle::current();
            let one = handle.block_on(async { evenkeel::spawn(async { 1 }).await.unwrap() });
            let two = evenkeel::block_on(evenkeel::spawn(async { 2 })).unwrap();
            let three = evenkeel::block_on(evenkeel::spawn_blocking(|| 3)).unwrap();
            one + two + three
        });
        blocked.await.unwrap()
    });
    assert_eq!(sum, 6);
    assert!(Handle::try_current().is_none());
}

#[test]
fn aborting_ends_a_closure_that_has_not_begun_and_no_other() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let (begun, open) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    // All threads of the pool.
    let block = || {
        let (begun, open) = (begun.clone(), open.clone());
        move || {
            begun.fetch_add(1, Ordering::AcqRel);
            until(|| open.load(Ordering::Acquire));
            "done"
        }
    };
    let running: Vec<_> = (0..512).map(|_| runtime.spawn_blocking(block())).collect();
    until(|| begun.load(Ordering::Acquire) == 512);
    let captured = Arc::new(());
    let waiting = runtime.spawn_blocking({
        let captured = captured.clone();
        move || drop(captured)
    });
    waiting.abort();
    running[0].abort();
    open.store(true, Ordering::Release);
    assert!(runtime.block_on(waiting).unwrap_err().is_cancelled());
    assert_eq!(Arc::strong_count(&captured), 1);
    for handle in running {
        assert_eq!(runtime.block_on(handle).unwrap(), "done");
    }
}

/// Adds itself to `now` for as long as it runs, and keeps the highest sum in `most`.
fn counted(now: &AtomicUsize, most: &AtomicUsize) {
    most.fetch_max(now.fetch_add(1, Ordering::AcqRel) + 1, Ordering::AcqRel);
    thread::sleep(Duration::from_micros(200));
    now.fetch_sub(1, Ordering::AcqRel);
}

#[test]
fn no_more_closures_run_at_once_than_the_builder_allows() {
    const CLOSURES: usize = 300;

    let _watchdog = watchdog();
    for threads in [1, 2, 7] {
        let runtime = Builder::new().workers(2).blocking_threads(threads).build().unwrap();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let handles: Vec<_> = (0..CLOSURES)
            .map(|number| {
                let (now, most) = (now.clone(), most.clone());
                runtime.spawn_blocking(move || {
                    counted(&now, &most);
                    number
                })
            })
            .collect();
        assert!(runtime.metrics().blocking_threads <= threads);
        for (number, handle) in handles.into_iter().enumerate() {
            assert_eq!(runtime.block_on(handle).unwrap(), number);
        }
        let most = most.load(Ordering::Acquire);
        assert!((1..=threads).contains(&most), "{most} of {threads}");
    }
}

#[test]
fn one_thread_runs_closures_in_their_order_and_the_metrics_show_those_that_wait() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).blocking_threads(1).build().unwrap();
    assert_eq!((runtime.metrics().blocking_threads, runtime.metrics().blocking_waiting), (0, 0));
    let (begun, open) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let first = runtime.spawn_blocking({
        let (begun, open) = (begun.clone(), open.clone());
        move || {
            begun.store(true, Ordering::Release);
            until(|| open.load(Ordering::Acquire));
        }
    });
    until(|| begun.load(Ordering::Acquire));
    let order = Arc::new(Mutex::new(Vec::new()));
    let waiting: Vec<_> = (0..10)
        .map(|number| {
            let order = order.clone();
            runtime.spawn_blocking(move || order.lock().unwrap().push(number))
        })
        .collect();
    let metrics = runtime.metrics();
    assert_eq!((metrics.blocking_threads, metrics.blocking_waiting), (1, 10));
    let text = metrics.to_string();
    assert!(text.lines().next().unwrap().ends_with("; 1 blocking threads, 10 closures waiting"));
    open.store(true, Ordering::Release);
    runtime.block_on(first).unwrap();
    for handle in waiting {
        runtime.block_on(handle).unwrap();
    }
    assert_eq!(*order.lock().unwrap(), (0..10).collect::<Vec<_>>());
    assert_eq!(runtime.metrics().blocking_waiting, 0);
}

#[test]
fn a_shutdown_runs_queued_closures_or_cancels_them() {
    let _watchdog = watchdog();
    // The closures that run return within the grace, however busy the machine is.
    let (deadline, grace) = (Duration::ZERO, Duration::from_secs(3_600));
    let with_grace = Shutdown::DeadlineAndGrace { deadline, grace };
    for mode in [Shutdown::Drain, Shutdown::Abort, with_grace] {
        let runtime = Builder::new().workers(1).blocking_threads(2).build().unwrap();
        let (begun, open) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let running: Vec<_> = (0..2)
            .map(|_| {
                let (begun, open) = (begun.clone(), open.clone());
                runtime.spawn_blocking(move || {
                    begun.fetch_add(1, Ordering::AcqRel);
                    until(|| open.load(Ordering::Acquire));
                })
            })
            .collect();
        until(|| begun.load(Ordering::Acquire) == 2);
        let queued: Vec<_> = (0..100).map(|n| runtime.spawn_blocking(move || n)).collect();
        let handle = runtime.handle();
        let ender = thread::spawn(move || runtime.shutdown(mode));
        until(|| handle.is_shutting_down());
        if mode != Shutdown::Drain {
            until(|| handle.metrics().blocking_waiting == 0);
        }
        open.store(true, Ordering::Release);
        let report = ender.join().unwrap();
        for handle in running {
            evenkeel::block_on(handle).unwrap();
        }
        for (n, handle) in queued.into_iter().enumerate() {
            match evenkeel::block_on(handle) {
                Ok(value) => assert!(mode == Shutdown::Drain && value == n),
                Err(error) => assert!(mode != Shutdown::Drain && error.is_cancelled()),
            }
        }
        assert_eq!(report.aborted.len(), if mode == Shutdown::Drain { 0 } else { 100 });
        assert!(report.stuck.is_empty(), "{report}");
    }
}

/// No thread has so large a stack, so the spawning thread runs the closures. It is one of the
/// runtime's own meanwhile. The second closure ends the runtime, and this thread drives it to its
/// end afterwards.
#[test]
fn a_closure_on_the_spawning_thread_is_inside_its_runtime_and_may_end_it() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().stack_size(1 << 50).build().unwrap();
    let here = || (thread::current().id(), Handle::try_current().is_some());
    let closure = runtime.spawn_blocking(here);
    assert_eq!(evenkeel::block_on(closure).unwrap(), (thread::current().id(), true));
    assert!(Handle::try_current().is_none());
    let (handle, waits) = (runtime.handle(), runtime.spawn(pending::<()>()));
    let ender = handle.spawn_blocking(move || runtime.shutdown(Shutdown::Drain).detached);
    assert!(evenkeel::block_on(ender).unwrap());
    assert!(evenkeel::block_on(waits).unwrap_err().is_cancelled());
}

#[test]
#[should_panic(expected = "spawn_blocking is called outside of a runtime")]
fn outside_of_a_runtime() {
    drop(evenkeel::spawn_blocking(|| ()));
}
