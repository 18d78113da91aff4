//! Current-thread runtimes: threads that come and go, of which one drives.

use crate::runtime::checked::check_with;
use crate::sync::Semaphore;
use crate::{Builder, Runtime, Shutdown, yield_now};
use shuttle::thread;
use std::sync::Arc;

fn runtime() -> Arc<Runtime> {
    Arc::new(Builder::new_current_thread().build().expect("the runtime is built"))
}

/// Shuts a runtime down that no other thread has any more.
fn drain(runtime: Arc<Runtime>) {
    let runtime = Arc::into_inner(runtime).expect("the threads have ended");
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
}

#[test]
fn a_thread_drives_on_when_the_driver_leaves() {
    check_with(|| {
        let runtime = runtime();
        let task = runtime.spawn(async {
            yield_now().await;
            7
        });
        let other = {
            let runtime = runtime.clone();
            thread::spawn(move || runtime.block_on(task).expect("the task does not panic"))
        };
        runtime.block_on(yield_now());
        assert_eq!(other.join().expect("the thread does not panic"), 7);
        drain(runtime);
    });
}

#[test]
fn wakes_from_outside_meet_drivers_that_fall_asleep_and_leave() {
    check_with(|| {
        let runtime = runtime();
        let permits = Arc::new(Semaphore::new(0));
        let waiters: Vec<_> = (0..2)
            .map(|_| {
                let (runtime, permits) = (runtime.clone(), permits.clone());
                thread::spawn(move || {
                    let own = permits.clone();
                    let task = runtime.spawn(async move { own.take().await });
                    runtime.block_on(permits.take());
                    runtime.block_on(task).expect("the task does not panic");
                })
            })
            .collect();
        (0..4).for_each(|_| permits.add_permits(1));
        waiters.into_iter().for_each(|waiter| waiter.join().expect("the thread does not panic"));
        drain(runtime);
    });
}

#[test]
fn closures_from_outside_run_on_the_driver_or_where_they_wait() {
    check_with(|| {
        let runtime = runtime();
        let other = {
            let runtime = runtime.clone();
            thread::spawn(move || runtime.block_on(yield_now()))
        };
        assert_eq!(runtime.install(|| 7), 7);
        other.join().expect("the thread does not panic");
        drain(runtime);
    });
}

#[test]
fn a_runtime_that_is_dropped_beside_a_driver_ends_there() {
    check_with(|| {
        let runtime = runtime();
        let handle = runtime.handle();
        let task = runtime.spawn(std::future::pending::<()>());
        let driver = thread::spawn(move || handle.block_on(task).is_err());
        drop(runtime);
        assert!(driver.join().expect("the thread does not panic"));
    });
}
