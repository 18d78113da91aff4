//! `abort` in every state of a task.

use crate::common::runtime::runtime;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::sync::Semaphore;
use evenkeel::task::{self, Task};
use evenkeel::{Builder, JoinHandle, Runtime, Shutdown};
use futures::poll;
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

/// Keeps the only worker of `runtime` inside a poll until it is dropped.
struct Hold(Arc<AtomicBool>);

impl Hold {
    fn of(runtime: &Runtime) -> Self {
        let (begun, ended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        drop(runtime.spawn({
            let (begun, ended) = (begun.clone(), ended.clone());
            async move {
                begun.store(true, Ordering::Release);
                until(|| ended.load(Ordering::Acquire));
            }
        }));
        until(|| begun.load(Ordering::Acquire));
        Self(ended)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Counts the polls of a future that acts as `then` says.
fn counted<T: Send + 'static>(
    then: impl Fn(&mut Context<'_>) -> Poll<T> + Send + 'static,
) -> (Arc<AtomicUsize>, impl Future<Output = T> + Send + 'static) {
    let polls = Arc::new(AtomicUsize::new(0));
    let future = poll_fn({
        let polls = polls.clone();
        move |context| {
            polls.fetch_add(1, Ordering::AcqRel);
            then(context)
        }
    });
    (polls, future)
}

fn is_cancelled<T>(runtime: &Runtime, handle: JoinHandle<T>) -> bool {
    runtime.block_on(handle).is_err_and(|error| error.is_cancelled() && !error.is_panic())
}

#[test]
fn new_in_the_queue() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).reliefs(0).build().unwrap();
    let hold = Hold::of(&runtime);
    let (polls, future) = counted(|_| Poll::Ready(()));
    let handle = runtime.spawn(future);
    handle.abort();
    assert!(!handle.is_finished(), "it ends at its next turn");
    drop(hold);
    assert!(is_cancelled(&runtime, handle));
    assert_eq!(polls.load(Ordering::Acquire), 0);
}

#[test]
fn new_in_the_queue_by_the_task_that_spawned_it() {
    let _watchdog = watchdog();
    runtime(1).block_on(async {
        let parent = evenkeel::spawn(async {
            let (polls, future) = counted(|_| Poll::Ready(()));
            let handle = evenkeel::spawn(future);
            handle.abort();
            assert!(handle.await.unwrap_err().is_cancelled());
            polls.load(Ordering::Acquire)
        });
        assert_eq!(parent.await.unwrap(), 0);
    });
}

#[test]
fn running_a_poll_that_returns_pending() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let aborted = Arc::new(AtomicBool::new(false));
    let (polls, future) = counted::<()>({
        let aborted = aborted.clone();
        move |_| {
            until(|| aborted.load(Ordering::Acquire));
            Poll::Pending
        }
    });
    let handle = runtime.spawn(future);
    until(|| polls.load(Ordering::Acquire) == 1);
    handle.abort();
    aborted.store(true, Ordering::Release);
    assert!(is_cancelled(&runtime, handle));
    assert_eq!(polls.load(Ordering::Acquire), 1);
}

#[test]
fn running_its_last_poll() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let aborted = Arc::new(AtomicBool::new(false));
    let (polls, future) = counted({
        let aborted = aborted.clone();
        move |_| {
            until(|| aborted.load(Ordering::Acquire));
            Poll::Ready("done")
        }
    });
    let handle = runtime.spawn(future);
    until(|| polls.load(Ordering::Acquire) == 1);
    handle.abort();
    aborted.store(true, Ordering::Release);
    assert_eq!(runtime.block_on(handle).unwrap(), "done", "its output was on the way");
}

#[test]
fn parked() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let (polls, future) = counted::<()>(|_| Poll::Pending);
        let handle = runtime.spawn(future);
        until(|| polls.load(Ordering::Acquire) == 1);
        handle.abort();
        assert!(is_cancelled(&runtime, handle));
        assert_eq!(polls.load(Ordering::Acquire), 1);
    }
}

#[test]
fn woken_and_queued_again() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).reliefs(0).build().unwrap();
    let (polls, future) = counted::<()>(|_| Poll::Pending);
    let handle = runtime.spawn(future);
    until(|| polls.load(Ordering::Acquire) == 1);
    let hold = Hold::of(&runtime);
    handle.task().unpark();
    handle.abort();
    handle.task().unpark();
    drop(hold);
    assert!(is_cancelled(&runtime, handle));
    assert_eq!(polls.load(Ordering::Acquire), 1);
}

#[test]
fn yielding() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let turns = Arc::new(AtomicUsize::new(0));
        let handle = runtime.spawn({
            let turns = turns.clone();
            async move {
                loop {
                    turns.fetch_add(1, Ordering::Relaxed);
                    evenkeel::yield_now().await;
                }
            }
        });
        until(|| turns.load(Ordering::Relaxed) > 1_000);
        handle.abort();
        runtime.block_on(handle).unwrap_err();
    }
}

#[test]
fn waiting_in_a_semaphore_s_queue() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let semaphore = Arc::new(Semaphore::new(0));
    let handle = runtime.spawn({
        let semaphore = semaphore.clone();
        async move { semaphore.take().await }
    });
    until(|| semaphore.waiting() == 1);
    handle.abort();
    assert!(is_cancelled(&runtime, handle));
    assert_eq!(semaphore.waiting(), 0);
    semaphore.add_permits(1);
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
fn complete() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let handle = runtime.spawn(async { "kept" });
    until(|| handle.is_finished());
    handle.abort();
    handle.task().abort();
    assert_eq!(runtime.block_on(handle).unwrap(), "kept");
}

#[test]
fn complete_and_joined() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let handle = runtime.spawn(async {});
    let task = handle.task();
    runtime.block_on(handle).unwrap();
    task.abort();
    drop(runtime);
    task.abort();
}

#[test]
fn complete_and_detached() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let handle = runtime.spawn(async {});
    let task = handle.task();
    drop(handle);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    task.abort();
}

#[test]
fn twice() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let handle = runtime.spawn(pending::<()>());
    handle.abort();
    handle.abort();
    handle.task().abort();
    until(|| handle.is_finished());
    handle.abort();
    assert!(is_cancelled(&runtime, handle));
}

#[test]
fn from_inside_itself() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let waits = runtime.spawn(async {
        task::current().abort();
        pending::<()>().await;
    });
    assert!(is_cancelled(&runtime, waits));
    let yields = runtime.spawn(async {
        task::current().abort();
        evenkeel::yield_now().await;
    });
    assert!(is_cancelled(&runtime, yields));
    let ends = runtime.spawn(async {
        task::current().abort();
        "done"
    });
    assert_eq!(runtime.block_on(ends).unwrap(), "done");
}

#[test]
fn from_inside_its_own_destructor() {
    struct AbortsItself(Option<Task>);
    impl Drop for AbortsItself {
        fn drop(&mut self) {
            self.0.take().expect("it has been polled").abort();
        }
    }

    let _watchdog = watchdog();
    let runtime = runtime(1);
    let handle = runtime.spawn(async {
        let _guard = AbortsItself(Some(task::current()));
        pending::<()>().await;
    });
    handle.abort();
    let error = runtime.block_on(handle).unwrap_err();
    // If it is aborted before its first poll, it has no guard; later, the guard aborts it once
    // more.
    assert!(error.is_cancelled());
}

#[test]
fn by_a_reference_while_the_handle_waits() {
    let _watchdog = watchdog();
    runtime(2).block_on(async {
        let mut handle = evenkeel::spawn(pending::<()>());
        let task = handle.task();
        assert!(poll!(&mut handle).is_pending());
        let aborter = evenkeel::spawn(async move { task.abort() });
        assert!(handle.await.unwrap_err().is_cancelled());
        aborter.await.unwrap();
    });
}

#[test]
fn a_detached_task_is_aborted_by_a_reference() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let held = Arc::new(());
    let inside = held.clone();
    let handle = runtime.spawn(async move {
        let _inside = inside;
        pending::<()>().await;
    });
    let task = handle.task();
    drop(handle);
    task.abort();
    until(|| Arc::strong_count(&held) == 1);
}

#[test]
fn by_abort_handles_that_outlive_the_handle_and_the_runtime() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let held = Arc::new(());
    let inside = held.clone();
    let handle = runtime.spawn(async move {
        let _inside = inside;
        pending::<()>().await;
    });
    let (id, abort) = (handle.id(), handle.abort_handle());
    let other = abort.clone();
    drop(handle);
    assert!(!abort.is_finished(), "a dropped handle is not the end of the task");
    std::thread::spawn(move || other.abort()).join().unwrap();
    until(|| abort.is_finished());
    assert_eq!((Arc::strong_count(&held), abort.id()), (1, id));
    drop(runtime);
    abort.abort();
    assert!(abort.is_finished());
}

#[test]
fn an_abort_handle_does_nothing_to_a_complete_task() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let handle = runtime.spawn(async { "kept" });
    let abort = handle.abort_handle();
    until(|| abort.is_finished());
    abort.abort();
    assert_eq!(runtime.block_on(handle).unwrap(), "kept");
}

#[test]
fn a_handle_that_has_returned_its_output_has_an_abort_handle_too() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let mut handle = runtime.spawn(async {});
    runtime.block_on(&mut handle).unwrap();
    let abort = handle.abort_handle();
    abort.abort();
    assert!(abort.is_finished());
    assert_eq!(abort.id(), handle.id());
}
