//! Reports of long polls.

use crate::common::panics::Bomb;
use crate::common::stuck::Stuck;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::task::{self, Stall};
use evenkeel::{Builder, Runtime, Shutdown, yield_now};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

/// A runtime, and the reports that its hook gets.
fn runtime(workers: usize) -> (Runtime, mpsc::Receiver<Stall>) {
    let (send, stalls) = mpsc::channel();
    let builder = Builder::new().workers(workers);
    let builder = builder.on_stall(move |stall| drop(send.send(stall.clone())));
    (builder.build().unwrap(), stalls)
}

#[test]
fn a_poll_that_does_not_end_is_reported_while_it_lasts() {
    let _watchdog = watchdog();
    // With two workers one sleeps, and no task waits.
    for workers in [1, 2] {
        let (runtime, stalls) = runtime(workers);
        let stuck = Stuck::new();
        let body = stuck.body();
        let spawn = async { [task::Builder::new().name("becalmed").spawn(async move { body() })] };
        let [handle] = runtime.block_on(spawn);
        let stall = stalls.recv().unwrap();
        assert_eq!(stall.task.id, handle.task().id());
        assert_eq!(stall.task.name.as_deref(), Some("becalmed"));
        assert!(stall.task.spawn_site.file().ends_with("stalls.rs"));
        assert!(!stall.is_over && stall.lasted >= Duration::from_millis(100), "{stall}");
        let text = stall.to_string();
        assert!(
            text.contains("\"becalmed\"") && text.contains("has been inside one poll"),
            "{text}"
        );
        assert_eq!(runtime.metrics().sum(|processor| processor.stalls), 1);
        stuck.release();
        runtime.block_on(handle).unwrap();
    }
}

#[test]
fn threads_that_block_are_told_from_those_that_compute() {
    let _watchdog = watchdog();
    let (runtime, stalls) = runtime(1);
    let (send, receive) = mpsc::channel::<()>();
    let blocks = runtime.spawn(async move { _ = receive.recv() });
    let stall = stalls.recv().unwrap();
    assert!(stall.is_blocked, "{stall}");
    assert!(stall.to_string().contains("and blocked its thread"));
    drop(send);
    runtime.block_on(blocks).unwrap();

    let is_reported = Arc::new(AtomicUsize::new(0));
    let computes = runtime.spawn({
        let is_reported = is_reported.clone();
        async move {
            while is_reported.load(Ordering::Acquire) == 0 {
                spin_loop();
            }
        }
    });
    let stall = stalls.recv().unwrap();
    assert!(!stall.is_blocked, "{stall}");
    assert!(stall.to_string().contains("computing"));
    if cfg!(target_os = "linux") {
        assert!(stall.thread.is_some_and(|thread| thread > 0));
    }
    is_reported.store(1, Ordering::Release);
    runtime.block_on(computes).unwrap();
}

#[test]
fn the_report_of_a_poll_that_ends_says_so() {
    let _watchdog = watchdog();
    let (runtime, stalls) = runtime(1);
    // A poll may be over before the lookout, or the reporter, has seen it.
    let stall = loop {
        let short = async { thread::sleep(Duration::from_millis(30)) };
        runtime.block_on(runtime.spawn(short)).unwrap();
        if let Ok(stall) = stalls.recv_timeout(Duration::from_millis(200)) {
            break stall;
        }
    };
    // On a machine that is busy it may have lasted for long.
    assert!(stall.is_over || stall.lasted >= Duration::from_millis(100), "{stall}");
    assert_eq!(stall.is_over, stall.to_string().contains(" was inside one poll for "));
}

#[test]
fn each_place_that_spawns_is_reported_once() {
    let _watchdog = watchdog();
    let (runtime, stalls) = runtime(2);
    let spawn = |stuck: &Stuck| {
        let body = stuck.body();
        runtime.spawn(async move { body() })
    };
    let first = Stuck::new();
    let handle = spawn(&first);
    let site = stalls.recv().unwrap().task.spawn_site;
    first.release();
    runtime.block_on(handle).unwrap();
    let count = || runtime.metrics().sum(|processor| processor.stalls);
    for _ in 0..3 {
        let (again, before) = (Stuck::new(), count());
        let handle = spawn(&again);
        until(|| count() > before);
        again.release();
        runtime.block_on(handle).unwrap();
    }
    let other = Stuck::new();
    let body = other.body();
    let handle = runtime.spawn(async move { body() });
    // The reporter may be at one of the others when this one is found, and rest for a while.
    let mut more = Vec::new();
    let stall = loop {
        match stalls.recv_timeout(Duration::from_millis(300)) {
            Ok(stall) => break stall,
            Err(_) => {
                let stuck = Stuck::new();
                let body = stuck.body();
                more.push((stuck, runtime.spawn(async move { body() })));
            }
        }
    };
    assert_ne!(stall.task.spawn_site, site);
    other.release();
    runtime.block_on(handle).unwrap();
    for (stuck, handle) in more {
        stuck.release();
        runtime.block_on(handle).unwrap();
    }
}

/// The hook waits for what the stuck task holds, and panics. Then there are further reports.
#[test]
fn a_hook_that_blocks_and_panics_keeps_no_task_waiting() {
    let _watchdog = watchdog();
    let (send, receive) = mpsc::channel::<()>();
    let receive = std::sync::Mutex::new(receive);
    let called = Arc::new(AtomicUsize::new(0));
    let calls = called.clone();
    let hook = move |_: &Stall| {
        calls.fetch_add(1, Ordering::Release);
        let received = receive.lock().unwrap_or_else(PoisonError::into_inner).recv();
        received.expect("a panic of the hook ends one report");
    };
    let runtime = Builder::new().workers(1).on_stall(hook).build().unwrap();
    let stuck = Stuck::new();
    let body = stuck.body();
    let handle = runtime.spawn(async move { body() });
    until(|| called.load(Ordering::Acquire) == 1);
    let others: Vec<_> = (0..100).map(|_| runtime.spawn(yield_now())).collect();
    for other in others {
        runtime.block_on(other).unwrap();
    }
    drop(send);
    stuck.release();
    runtime.block_on(handle).unwrap();
    until(|| {
        let long = runtime.spawn(async { thread::sleep(Duration::from_millis(20)) });
        runtime.block_on(long).unwrap();
        called.load(Ordering::Acquire) == 2
    });
}

/// The report is made on a thread of its own, which is no part of the shutdown.
#[test]
fn a_report_that_is_under_way_is_not_waited_for() {
    let _watchdog = watchdog();
    let (send, receive) = mpsc::channel::<()>();
    let receive = std::sync::Mutex::new(receive);
    let (say, said) = mpsc::channel();
    let hook = move |stall: &Stall| {
        say.send(stall.clone()).unwrap();
        _ = receive.lock().unwrap().recv();
    };
    let runtime = Builder::new().workers(1).on_stall(hook).build().unwrap();
    let stuck = Stuck::new();
    let body = stuck.body();
    let handle = runtime.spawn(async move { body() });
    assert_eq!(said.recv().unwrap().task.id, handle.task().id());
    stuck.release();
    runtime.block_on(handle).unwrap();
    let report = runtime.shutdown(Shutdown::Drain);
    assert!(report.is_clean(), "{report:?}");
    drop(send);
}

#[test]
fn without_reliefs_there_are_no_reports() {
    let _watchdog = watchdog();
    let builder = Builder::new().workers(1).reliefs(0);
    let runtime = builder.on_stall(|stall| panic!("{stall}")).build().unwrap();
    runtime.block_on(runtime.spawn(async { thread::sleep(Duration::from_millis(20)) })).unwrap();
    assert_eq!(runtime.metrics().sum(|processor| processor.stalls), 0);
}

#[test]
fn reliefs_that_are_stuck_are_reported_too() {
    let _watchdog = watchdog();
    let (runtime, stalls) = runtime(1);
    let stuck: Vec<_> = (0..2).map(|_| Stuck::new()).collect();
    let first = stuck[0].body();
    let on_worker = runtime.spawn(async move { first() });
    let first = stalls.recv().unwrap();
    let mut on_relief = Vec::new();
    let second = loop {
        let body = stuck[1].body();
        on_relief.push(runtime.spawn(async move { body() }));
        if let Ok(stall) = stalls.recv_timeout(Duration::from_millis(300)) {
            break stall;
        }
    };
    assert_ne!(first.task.spawn_site, second.task.spawn_site);
    assert!(runtime.metrics().reliefs.iter().any(|relief| relief.stalls > 0));
    stuck.iter().for_each(Stuck::release);
    for handle in on_relief.into_iter().chain([on_worker]) {
        runtime.block_on(handle).unwrap();
    }
}

#[test]
fn a_hook_may_panic_with_any_payload() {
    let _watchdog = watchdog();
    let calls = Arc::new(AtomicUsize::new(0));
    let builder = Builder::new().workers(1).on_stall({
        let calls = calls.clone();
        move |_| {
            calls.fetch_add(1, Ordering::Relaxed);
            std::panic::panic_any(Bomb("the payload of a panic, on purpose"));
        }
    });
    let runtime = builder.build().unwrap();
    let stuck = Stuck::new();
    let body = stuck.body();
    let handle = runtime.spawn(async move { body() });
    until(|| calls.load(Ordering::Relaxed) == 1);
    stuck.release();
    runtime.block_on(handle).unwrap();
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
}
