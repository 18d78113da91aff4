//! Runs a future on the calling thread.

use crate::detect::{Alarm, Blocking};
use crate::primitives::atomic::{AtomicBool, Edge, Ordering, edge};
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
    /// The runtime that the thread is inside, which counts the thread while it is awake or woken.
    inside: Option<Arc<Shared>>,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Counted first: between the count and the swap the clock must not move.
        if let Some(shared) = &self.inside {
            shared.clock.come();
        }
        if !self.woken.swap(true, edge(Edge::BlockWake, Ordering::Release)) {
            self.thread.unpark();
        } else if let Some(shared) = &self.inside {
            // The previous wake is counted, and the thread has not seen it.
            shared.clock.go();
        }
    }
}

impl Signal {
    /// Takes the wakes so far. What happened before them is visible after this; a wake after this
    /// unparks.
    fn take_wake(&self) {
        self.woken.swap(false, edge(Edge::BlockWoken, Ordering::Acquire));
    }
}

impl Alarm for Signal {
    fn is_woken(&self) -> bool {
        // Relaxed: it passes nothing on, and `detect` makes a fence before it.
        self.woken.load(Ordering::Relaxed)
    }
}

/// While this lives, the thread sees the wakes of a signal. It is dropped at the end of the
/// thread's future, or by its panic.
struct Listening<'a>(&'a Signal);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        // A wake that the thread has not seen must not stay counted for ever, nor must later wakes.
        // Acquire ordering: the wake was counted before. No model shows its loss: loom makes the
        // changes of the count in the order in which it runs them.
        if self.0.woken.swap(true, Ordering::Acquire)
            && let Some(shared) = &self.0.inside
        {
            shared.clock.go();
        }
    }
}

/// While this lives, the thread is counted as awake inside a runtime.
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

/// Runs a future to its end on this thread, which sleeps while the future waits. This needs no
/// runtime. Inside one, also by [`Runtime::enter`](crate::Runtime::enter), the future is inside
/// too.
///
/// # Panics
/// If the caller is a task: it would stop a worker. Also with the panic of the future.
///
/// # Examples
/// ```
/// assert_eq!(evenkeel::block_on(async { 1 + 1 }), 2);
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    current::refuse_on_worker("block_on", "the future");
    match current::shared() {
        Some(shared) => run_inside(future, &shared),
        None => run(future, None),
    }
}

/// [`block_on`] inside a runtime.
pub(super) fn run_inside<F: Future>(future: F, shared: &Arc<Shared>) -> F::Output {
    let is_counted = current::is_counted(shared);
    let _entered = current::enter_counted(shared);
    let _awake = (!is_counted).then(|| Awake::new(shared));
    run(future, Some(shared.clone()))
}

/// The loop of [`block_on`]. The runtime that the thread is inside counts the thread as awake.
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
        // The thread leaves the count; the waker enters it with the wake.
        if let Some(shared) = &signal.inside {
            shared.go_outside();
        }
        blocking.sleep(|| current::with(|shared| shared?.hooks.deadlock.clone()));
        while !signal.woken.load(Ordering::Relaxed) {
            thread::park(None);
        }
        blocking.wake();
        signal.take_wake();
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::primitives::mutation::check;
    use loom::sync::atomic::AtomicUsize;

    /// The thread may see a wake before it is unparked, or has been woken before. Here the thread
    /// that is unparked has ended: an unpark would order what the other one sees.
    #[test]
    fn a_thread_sees_what_came_before_its_wake() {
        check(&[Edge::BlockWake, Edge::BlockWoken], || {
            let message = Arc::new(AtomicUsize::new(0));
            let thread = loom::thread::spawn(thread::current).join().unwrap();
            let woken = AtomicBool::new(false);
            let signal = Arc::new(Signal { woken, thread, inside: None });
            let waker = {
                let (message, waker) = (message.clone(), Waker::from(signal.clone()));
                loom::thread::spawn(move || {
                    message.store(1, Ordering::Relaxed);
                    waker.wake();
                })
            };
            signal.take_wake();
            let has_seen = message.load(Ordering::Relaxed) == 1;
            waker.join().unwrap();
            assert!(has_seen || signal.woken.load(Ordering::Relaxed));
        });
    }
}
