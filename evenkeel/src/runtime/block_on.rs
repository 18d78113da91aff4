//! Running a future on the thread at hand.

use crate::detect::{Alarm, Blocking};
use crate::primitives::atomic::{AtomicBool, Ordering};
use crate::primitives::thread::{self, Thread};
use crate::processor::current;
use crate::processor::shared::Shared;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// Wakes a blocked thread.
struct Signal {
    woken: AtomicBool,
    thread: Thread,
    /// The runtime that the thread is inside of, which counts it while it is awake or woken.
    inside: Option<Arc<Shared>>,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Counted first: between the two the clock is not to move.
        if let Some(shared) = &self.inside {
            shared.clock.come();
        }
        if !self.woken.swap(true, Ordering::Release) {
            self.thread.unpark();
        } else if let Some(shared) = &self.inside {
            // The wake before is counted, and has not been seen.
            shared.clock.go();
        }
    }
}

impl Alarm for Signal {
    fn is_woken(&self) -> bool {
        self.woken.load(Ordering::Acquire)
    }
}

/// A thread that sees the wakes of a signal, until this is dropped: by the end of its future, or by
/// its panic.
struct Listening<'a>(&'a Signal);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        // A wake that nobody has seen is not to be counted for ever, nor are those that come later.
        if self.0.woken.swap(true, Ordering::Acquire)
            && let Some(shared) = &self.0.inside
        {
            shared.clock.go();
        }
    }
}

/// A thread that is counted as awake inside a runtime, for as long as this lives.
struct Awake<'a>(&'a Shared);

impl<'a> Awake<'a> {
    fn new(shared: &'a Shared) -> Self {
        shared.clock.come();
        Self(shared)
    }
}

impl Drop for Awake<'_> {
    fn drop(&mut self) {
        self.0.go_outside();
    }
}

/// Runs a future to its end on this thread, which sleeps while the future waits. It needs no
/// runtime, and enters none.
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
    current::refuse_on_worker("block_on", "the future");
    run(future, current::shared())
}

/// [`block_on`] for a thread that is about to be inside the runtime, and is inside of `before`
/// until then.
pub(super) fn run_inside<F: Future>(
    future: F,
    shared: &Arc<Shared>,
    before: Option<&Shared>,
) -> F::Output {
    let is_counted = before.is_some_and(|before| std::ptr::eq(before, Arc::as_ptr(shared)));
    let _awake = (!is_counted).then(|| Awake::new(shared));
    run(future, Some(shared.clone()))
}

/// The loop of [`block_on`]. The thread is counted as awake by the runtime that it is inside of.
fn run<F: Future>(future: F, inside: Option<Arc<Shared>>) -> F::Output {
    let mut future = pin!(future);
    let signal =
        Arc::new(Signal { woken: AtomicBool::new(false), thread: thread::current(), inside });
    let _listening = Listening(&signal);
    let waker = Waker::from(signal.clone());
    let blocking = Blocking::begin(&signal);
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        // The thread's own count goes; with the wake comes the waker's.
        if let Some(shared) = &signal.inside {
            shared.go_outside();
        }
        blocking.sleep(|| current::with(|shared| shared?.hooks.deadlock.clone()));
        while !signal.woken.load(Ordering::Relaxed) {
            thread::park(None);
        }
        blocking.wake();
        // What was before the wake is visible after the swap; a wake after it unparks.
        signal.woken.swap(false, Ordering::Acquire);
    }
}
