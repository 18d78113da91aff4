//! Two workers on one hardware thread move apart.
#![cfg(target_os = "linux")]

use common::watchdog::watchdog;
use evenkeel::Builder;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::time::Duration;

mod common {
    pub(crate) mod watchdog;
}

/// Returns the hardware threads that this process may use, the number of the first of them, and a
/// set of that one alone.
fn cores() -> (CpuSet, usize, CpuSet) {
    let allowed = sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu)).unwrap();
    let mut one = CpuSet::new();
    one.set(first);
    (allowed, first, one)
}

#[test]
fn two_workers_on_one_core_go_apart() {
    let _watchdog = watchdog();
    let (allowed, _, one) = cores();
    if allowed.count() < 2 {
        // There is no second hardware thread.
        return;
    }
    let runtime = Builder::new().workers(2).build().unwrap();
    // The system may separate them before they check: then try again.
    while runtime.metrics().sum(|processor| processor.moves) == 0 {
        runtime.handle().broadcast(|_| sched_setaffinity(None, &one).unwrap());
        runtime.handle().broadcast(|_| sched_setaffinity(None, &allowed).unwrap());
        runtime.install(|| {
            for _ in 0..100 {
                evenkeel::fork_join::join(|| compute(10_000), || compute(10_000));
            }
        });
    }
    // Their affinity masks are unchanged.
    let masks = runtime.handle().broadcast(|_| sched_getaffinity(None).unwrap());
    assert_eq!(masks, [allowed, allowed]);
}

#[test]
fn workers_that_may_run_on_one_core_only_stay_there() {
    let _watchdog = watchdog();
    let (_, first, one) = cores();
    let runtime = Builder::new().workers(2).build().unwrap();
    runtime.handle().broadcast(|_| sched_setaffinity(None, &one).unwrap());
    let before = runtime.metrics().sum(|processor| processor.moves);
    for _ in 0..100 {
        runtime.install(|| evenkeel::fork_join::join(|| compute(10_000), || compute(10_000)));
        std::thread::sleep(Duration::from_micros(100));
    }
    let masks = runtime.handle().broadcast(|_| (sched_getaffinity(None).unwrap(), sched_getcpu()));
    assert_eq!(masks, [(one, first), (one, first)]);
    assert_eq!(runtime.metrics().sum(|processor| processor.moves), before);
}

#[test]
fn a_worker_stays_where_another_one_is_blocked() {
    let _watchdog = watchdog();
    let (allowed, _, one) = cores();
    if allowed.count() < 2 {
        // No worker can move.
        return;
    }
    let runtime = Builder::new().workers(2).build().unwrap();
    runtime.handle().broadcast(|_| sched_setaffinity(None, &one).unwrap());
    let (begins, begun) = std::sync::mpsc::channel();
    let (ends, end) = std::sync::mpsc::channel::<()>();
    runtime.handle().spawn_job(move || {
        begins.send(()).unwrap();
        _ = end.recv();
    });
    begun.recv().unwrap();
    let moves = || runtime.metrics().sum(|processor| processor.moves);
    let before = moves();
    for _ in 0..50 {
        // The other worker is on the core of the blocked one, and may leave it.
        let task = runtime.spawn(async move {
            sched_setaffinity(None, &one).unwrap();
            sched_setaffinity(None, &allowed).unwrap();
        });
        runtime.block_on(task).unwrap();
        // A worker moves once a millisecond at most.
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(moves(), before);
    drop(ends);
}

fn compute(steps: u64) -> u64 {
    (0..steps).fold(steps, |sum, step| std::hint::black_box(sum.wrapping_mul(31) ^ step))
}

#[test]
fn lent_threads_stay_where_they_are_unless_told_otherwise() {
    let _watchdog = watchdog();
    let (allowed, _, one) = cores();
    let runtime = Builder::new()
        .workers(2)
        .build_with(|worker| {
            std::thread::spawn(move || worker.run());
            Ok(())
        })
        .unwrap();
    for _ in 0..20 {
        runtime.handle().broadcast(|_| sched_setaffinity(None, &one).unwrap());
        runtime.handle().broadcast(|_| sched_setaffinity(None, &allowed).unwrap());
        runtime.install(|| evenkeel::fork_join::join(|| compute(10_000), || compute(10_000)));
    }
    assert_eq!(runtime.metrics().sum(|processor| processor.moves), 0);
}
