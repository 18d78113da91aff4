//! The traits that programs count on: what may be sent, shared, and used after a panic.

use evenkeel::sync::monitor::Monitor;
use evenkeel::sync::{Acquire, AcquireOwned, OwnedPermit, Permit, Semaphore};
use evenkeel::task::{AbortHandle, AccessError, CancellationToken, Cancelled, CancelledOwned};
use evenkeel::task::{JoinSet, LocalJoinHandle, LocalKey, TaskLocalFuture, TaskTracker};
use evenkeel::task::{TaskTrackerToken, TaskTrackerWaitFuture, TrackedFuture};
use evenkeel::{Builder, Handle, JoinError, JoinHandle, Runtime};
use std::cell::Cell;
use std::panic::{RefUnwindSafe, UnwindSafe};

fn is_sent_and_shared<T: Send + Sync>() {}

fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}

#[test]
fn runtimes_tasks_and_permits_are_sent_and_shared() {
    is_sent_and_shared::<Runtime>();
    is_sent_and_shared::<Handle>();
    is_sent_and_shared::<Builder>();
    is_sent_and_shared::<JoinHandle<Cell<u8>>>();
    is_sent_and_shared::<JoinError>();
    is_sent_and_shared::<AbortHandle>();
    is_sent_and_shared::<JoinSet<Cell<u8>>>();
    is_sent_and_shared::<CancellationToken>();
    is_sent_and_shared::<LocalKey<Cell<*const u8>>>();
    is_sent_and_shared::<TaskLocalFuture<u8, u8>>();
    is_sent_and_shared::<AccessError>();
    is_sent_and_shared::<Cancelled<'_>>();
    is_sent_and_shared::<CancelledOwned>();
    is_sent_and_shared::<TaskTracker>();
    is_sent_and_shared::<TaskTrackerToken>();
    is_sent_and_shared::<TaskTrackerWaitFuture<'_>>();
    is_sent_and_shared::<TrackedFuture<u8>>();
    is_sent_and_shared::<Semaphore<Cell<u8>>>();
    is_sent_and_shared::<Acquire<'_, Cell<u8>>>();
    is_sent_and_shared::<AcquireOwned<Cell<u8>>>();
    is_sent_and_shared::<Permit<'_>>();
    is_sent_and_shared::<OwnedPermit>();
    is_sent_and_shared::<Monitor<Cell<u8>>>();
}

#[test]
fn runtimes_tasks_and_semaphores_may_be_used_after_a_panic() {
    is_unwind_safe::<Runtime>();
    is_unwind_safe::<Handle>();
    is_unwind_safe::<JoinHandle<&mut u8>>();
    is_unwind_safe::<JoinSet<&mut u8>>();
    is_unwind_safe::<LocalJoinHandle<&mut u8>>();
    is_unwind_safe::<CancellationToken>();
    is_unwind_safe::<TaskTracker>();
    is_unwind_safe::<Semaphore>();
    is_unwind_safe::<Semaphore<Cell<u8>>>();
}

/// What is made before the program begins.
#[test]
fn semaphores_and_monitors_are_constants() {
    static PERMITS: Semaphore = Semaphore::new(3);
    static CONNECTIONS: Semaphore<String> = Semaphore::empty();
    static LOG: Monitor<Vec<String>> = Monitor::new(Vec::new());
    assert_eq!((PERMITS.available_permits(), CONNECTIONS.available_permits()), (3, 0));
    assert!(LOG.try_enter().expect("no task is inside").is_empty());
}
