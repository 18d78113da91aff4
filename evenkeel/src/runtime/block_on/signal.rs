//! The waker of a thread in `block_on`.

use crate::detect::Alarm;
use crate::primitives::atomic::{AtomicBool, Edge, Ordering, edge};
use crate::primitives::thread::{self, Thread};
use crate::processor::shared::Shared;
use crate::raw_task::id;
use crate::scheduler::driver;
use std::sync::Arc;
use std::task::Wake;

/// Wakes a blocked thread.
pub(super) struct Signal {
    woken: AtomicBool,
    thread: Thread,
    /// The thread's [number](id::among_threads).
    number: u64,
    /// The runtime that the thread is inside, which counts the thread while it is awake or woken.
    pub(super) inside: Option<Arc<Shared>>,
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
            self.unpark();
        } else if let Some(shared) = &self.inside {
            // The previous wake is counted. The thread may have seen it by now, and sleep again: it
            // did not move the clock while this caller was counted.
            shared.go_outside();
        }
    }
}

impl Signal {
    /// Makes the signal of the calling thread, inside of a runtime or of none.
    #[inline(always)]
    pub(super) fn new(inside: Option<Arc<Shared>>) -> Self {
        let (woken, number) = (AtomicBool::new(false), id::among_threads());
        Self { woken, thread: thread::current(), number, inside }
    }

    fn unpark(&self) {
        match &self.inside {
            Some(shared) if shared.driving.get().is_some() => {
                driver::unpark(shared, &self.thread, self.number);
            }
            _ => self.thread.unpark(),
        }
    }

    pub(super) fn is_woken(&self) -> bool {
        // Relaxed: `take_wake` acquires.
        self.woken.load(Ordering::Relaxed)
    }

    /// Makes the signal count as woken: a wake that the thread has not seen does not stay counted,
    /// and later ones are not counted.
    pub(super) fn deafen(&self) {
        // Acquire ordering: the wake was counted before. No model shows its loss: loom makes the
        // changes of the count in the order in which it runs them.
        if self.woken.swap(true, Ordering::Acquire)
            && let Some(shared) = &self.inside
        {
            shared.clock.go();
        }
    }

    /// Takes the wakes so far. What happened before them is visible after this; a wake after this
    /// unparks.
    pub(super) fn take_wake(&self) {
        self.woken.swap(false, edge(Edge::BlockWoken, Ordering::Acquire));
    }
}

impl Alarm for Signal {
    fn is_woken(&self) -> bool {
        // It passes nothing on, and `detect` makes a fence before it.
        Self::is_woken(self)
    }
}

/// While this lives, the thread sees the wakes of a signal. It is dropped at the end of the
/// thread's future, or by its panic.
pub(super) struct Listening<'a>(pub(super) &'a Signal);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.deafen();
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::primitives::mutation::check;
    use loom::sync::atomic::AtomicUsize;
    use std::task::Waker;

    /// The thread may see a wake before it is unparked, or has been woken before. Here the thread
    /// that is unparked has ended: an unpark would order what the other one sees.
    #[test]
    fn a_thread_sees_what_came_before_its_wake() {
        check(&[Edge::BlockWake, Edge::BlockWoken], || {
            let message = Arc::new(AtomicUsize::new(0));
            let thread = loom::thread::spawn(thread::current).join().unwrap();
            let woken = AtomicBool::new(false);
            let signal = Arc::new(Signal { woken, thread, number: 0, inside: None });
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
