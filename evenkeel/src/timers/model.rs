//! Models of arming, firing and cancelling. The models of [`scheduler`](crate::scheduler), in its
//! `sleep` and its `relief`, have the sleepers and the relief that learn of timers.

#![allow(unsafe_code, reason = "a datum that loom watches, and timers by hand")]

use super::*;
use crate::primitives::atomic::Edge;
use crate::primitives::mutation::check;
use crate::runtime::block_on;
use crate::task::word_waker::WordWaker;
use loom::cell::UnsafeCell;
use std::future::poll_fn;
use std::task::Poll;

/// The tick of the models' wheels: a nanosecond.
const TICK: u64 = 1;

/// The deadline of the models' timers.
const DEADLINE: u64 = 100;

/// A wheel, a timer that only one thread arms in it, and a datum that the firing thread uses before
/// it fires.
struct Subject {
    timers: Lease,
    entry: Entry,
    datum: UnsafeCell<u32>,
}

// SAFETY: the models keep the rules of timers, and loom fails one in which two threads reach the
// datum at once.
unsafe impl Send for Subject {}
// SAFETY: as above.
unsafe impl Sync for Subject {}

impl Subject {
    fn new() -> Arc<Self> {
        let timers = Lease::new(Rules::new::<WordWaker>(TICK));
        Arc::new(Self { timers, entry: Entry::new(), datum: UnsafeCell::new(0) })
    }

    fn arm(&self, waker: &Waker) -> Armed {
        let (entry, waker) = (NonNull::from(&self.entry), WordWaker::of(waker));
        // SAFETY: the entry is idle; the subject outlives the timer, which is cancelled or has
        // fired before it is dropped.
        unsafe { self.timers.arm(entry, DEADLINE, 0, waker) }
    }

    fn cancel(&self) -> bool {
        // SAFETY: this thread armed it there.
        unsafe { self.timers.cancel::<WordWaker>(NonNull::from(&self.entry)) }.is_some()
    }

    /// Uses the datum, as the timer's future does once the timer is not armed.
    fn use_datum(&self) {
        self.datum.with_mut(|datum| {
            // SAFETY: the timer is not armed.
            unsafe { *datum += 1 };
        });
    }
}

/// The waiting thread sees without a lock all writes of the firing thread before it fired.
#[test]
fn a_task_that_sees_that_a_timer_has_fired_sees_what_was_before() {
    check(&[Edge::WaitEnd, Edge::WaitEnded], || {
        let subject = Subject::new();
        assert_eq!(subject.arm(Waker::noop()), Armed::Waits { is_next: true });
        // The spawned thread is the one that only looks: loom misses a look that comes before the
        // other thread's own.
        let looker = {
            let subject = subject.clone();
            loom::thread::spawn(move || {
                if subject.entry.progress() == Progress::Fired {
                    subject.use_datum();
                }
            })
        };
        subject.use_datum();
        assert_eq!(subject.timers.fire(DEADLINE), 1);
        looker.join().unwrap();
    });
}

/// One thread fires and one cancels: the timer ends once.
#[test]
fn a_timer_fires_once_or_is_cancelled() {
    check(&[Edge::SpinLock, Edge::SpinUnlock], || {
        let subject = Subject::new();
        assert_eq!(subject.arm(Waker::noop()), Armed::Waits { is_next: true });
        let firer = {
            let subject = subject.clone();
            loom::thread::spawn(move || subject.timers.fire(DEADLINE))
        };
        let cancelled = subject.cancel();
        let fired = firer.join().unwrap();
        assert_eq!(usize::from(cancelled) + fired, 1);
        let progress = if cancelled { Progress::Idle } else { Progress::Fired };
        assert_eq!(subject.entry.progress(), progress);
        assert_eq!(subject.timers.refresh(), NEVER);
    });
}

/// A task waits; another thread fires while the waker is renewed.
#[test]
fn a_waiter_is_woken() {
    check(&[Edge::SpinLock, Edge::SpinUnlock], || {
        let subject = Subject::new();
        let firer = {
            let subject = subject.clone();
            loom::thread::spawn(move || subject.timers.fire(DEADLINE))
        };
        // Loom reports a deadlock if the task is not woken.
        let mut armed = false;
        block_on(poll_fn(|context| match subject.entry.progress() {
            Progress::Idle if !armed => {
                armed = true;
                assert_eq!(subject.arm(Waker::noop()), Armed::Waits { is_next: true });
                let (timers, waker) = (&subject.timers, context.waker());
                // SAFETY: this thread armed it there.
                if unsafe { timers.renew::<WordWaker>(&subject.entry, waker) } {
                    return Poll::Ready(());
                }
                // The firing thread may have come before the timer.
                if timers.next() <= DEADLINE {
                    timers.fire(DEADLINE);
                }
                Poll::Pending
            }
            Progress::Fired => Poll::Ready(()),
            progress => panic!("{progress:?}"),
        }));
        firer.join().unwrap();
    });
}
