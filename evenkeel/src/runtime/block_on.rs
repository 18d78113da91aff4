//! Running a future on the thread at hand.

use super::enter;
use crate::primitives::atomic::{AtomicBool, Ordering};
use crate::primitives::thread::{self, Thread};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// Wakes a blocked thread.
struct Signal {
    woken: AtomicBool,
    thread: Thread,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.swap(true, Ordering::Release) {
            self.thread.unpark();
        }
    }
}

/// Runs a future to its end on this thread, which sleeps while the future waits. It needs no runtime, and
/// enters none.
///
/// # Panics
/// If the caller is a task: it would stop a worker. The panic of the future.
///
/// # Examples
/// ```
/// assert_eq!(evenkeel::block_on(async { 1 + 1 }), 2);
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    enter::refuse_on_worker();
    run(future)
}

/// The loop of [`block_on`].
pub(super) fn run<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let signal = Arc::new(Signal { woken: AtomicBool::new(false), thread: thread::current() });
    let waker = Waker::from(signal.clone());
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        // What was before the wake is visible after the swap; a wake after it unparks.
        while !signal.woken.swap(false, Ordering::Acquire) {
            thread::park(None);
        }
    }
}
