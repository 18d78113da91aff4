//! Closures on threads of their own.

use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::{Builder, Handle, Runtime, Shutdown};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

fn runtime() -> Runtime {
    Builder::new().workers(1).name("deck").build().expect("the runtime starts")
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

#[test]
#[should_panic(expected = "no runtime here")]
fn outside_of_a_runtime() {
    drop(evenkeel::spawn_blocking(|| ()));
}
