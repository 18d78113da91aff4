//! Trackers: what counts as a task, and which waits end when.

use crate::common::panics::{Alarm, message_of};
use crate::common::polling::Hand;
use crate::common::runtime::runtime;
use crate::common::watchdog::watchdog;
use evenkeel::Shutdown;
use evenkeel::task::{JoinSet, LocalSet, TaskTracker, spawn_local};
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};

#[test]
fn a_wait_ends_when_the_tracker_is_closed_and_has_no_tasks() {
    let tracker = TaskTracker::new();
    let mut waits = Hand::waiting(tracker.wait());
    let token = tracker.token();
    tracker.close();
    assert!(waits.poll().is_none(), "a task is left");
    assert_eq!((tracker.len(), waits.wakes()), (1, 0));
    let other = token.clone();
    drop(token);
    assert_eq!((other.task_tracker().len(), waits.wakes()), (1, 0));
    drop(other);
    assert_eq!((tracker.is_empty(), waits.wakes()), (true, 1));
    waits.ready();
    Hand::new(tracker.wait()).ready();
    // The close may come last as well.
    tracker.reopen();
    let waits = Hand::waiting(tracker.wait());
    tracker.close();
    assert_eq!(waits.wakes(), 1);
    waits.ready();
}

#[test]
fn a_wait_ends_though_the_tracker_has_opened_and_has_tasks_again() {
    let tracker = TaskTracker::new();
    let (unpolled, polled) = (Hand::new(tracker.wait()), Hand::waiting(tracker.wait()));
    tracker.close();
    let at_once = Hand::new(tracker.wait());
    assert!(tracker.reopen());
    let _token = tracker.token();
    unpolled.ready();
    polled.ready();
    at_once.ready();
    let _later = Hand::waiting(tracker.wait());
}

#[test]
fn a_dropped_wait_takes_its_own_waker_along_and_no_other() {
    let tracker = TaskTracker::new();
    let former = Hand::waiting(tracker.wait());
    tracker.close();
    tracker.reopen();
    // In the place that the former one had.
    let waits = Hand::waiting(tracker.wait());
    drop(former);
    let dropped = Hand::waiting(tracker.wait());
    drop(dropped);
    tracker.close();
    assert_eq!(waits.wakes(), 1);
    waits.ready();
}

#[test]
fn a_waker_that_panics_keeps_no_other_waiter_asleep() {
    let tracker = TaskTracker::new();
    let mut panics = pin!(tracker.wait());
    let waker = Waker::from(Arc::new(Alarm));
    assert!(panics.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let waits = Hand::waiting(tracker.wait());
    tracker.close();
    assert_eq!(waits.wakes(), 1);
}

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn tasks_count_until_their_futures_are_dropped_however_they_end() {
    const TASKS: usize = 300;
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = runtime(workers);
        let (tracker, dropped) = (TaskTracker::new(), Arc::new(AtomicUsize::new(0)));
        runtime.block_on(async {
            let mut tasks = JoinSet::new();
            for n in 0..TASKS {
                let counted = Counted(dropped.clone());
                let task = tracker.spawn(async move {
                    let _counted = counted;
                    match n % 3 {
                        0 => evenkeel::yield_now().await,
                        1 => pending().await,
                        _ => panic!("man overboard"),
                    }
                });
                if n % 3 == 1 {
                    task.abort();
                }
                tasks.insert(task);
            }
            tracker.close();
            tracker.wait().await;
            assert_eq!((tracker.len(), dropped.load(Ordering::Relaxed)), (0, TASKS));
            let mut ended = 0;
            while let Some(joined) = tasks.join_next().await {
                ended += usize::from(joined.is_ok());
            }
            assert_eq!(ended, TASKS / 3);
        });
    }
}

#[test]
fn the_end_of_a_runtime_ends_the_waits_for_its_tasks() {
    let _watchdog = watchdog();
    let (running, over) = (runtime(2), runtime(1));
    let (handle, tracker) = (over.handle(), TaskTracker::new());
    over.shutdown(Shutdown::Abort);
    let refused = tracker.spawn_on(pending::<()>(), &handle);
    assert!(tracker.is_empty());
    assert!(evenkeel::block_on(refused).unwrap_err().is_cancelled());
    let cancelled = tracker.spawn_on(pending::<()>(), &running.handle());
    tracker.close();
    let waits = Hand::waiting(tracker.wait());
    running.shutdown(Shutdown::Abort);
    waits.ready();
    assert!(evenkeel::block_on(cancelled).unwrap_err().is_cancelled());
}

#[test]
fn local_tasks_and_closures_count_by_futures_and_tokens() {
    let _watchdog = watchdog();
    let (runtime, tracker) = (runtime(2), TaskTracker::new());
    LocalSet::new().block_on(&runtime, async {
        let local = spawn_local(tracker.track_future(async { 6 }));
        let token = tracker.token();
        let closure = evenkeel::spawn_blocking(move || {
            drop(token);
            7
        });
        tracker.close();
        tracker.wait().await;
        assert_eq!(local.await.unwrap() * closure.await.unwrap(), 42);
    });
}

#[test]
fn a_spawn_outside_of_a_runtime_panics_and_counts_nothing() {
    let tracker = TaskTracker::new();
    let says = message_of(|| tracker.spawn(async {}));
    assert!(says.contains("outside of a runtime"), "{says}");
    assert_eq!(tracker.len(), 0);
}
