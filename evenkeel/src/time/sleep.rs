//! Waiting for a point in time.

#![allow(unsafe_code, reason = "the wheel points to a node in this future")]

use super::Instant;
use crate::processor::context;
use crate::processor::current;
use crate::scheduler::timing;
use crate::task::word_waker::WordWaker;
use crate::timers::{Armed, Entry, Progress, Renewed, Timers};
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Waits until `duration` has passed since this call, by the clock of the runtime.
///
/// # Cancel safety
/// A sleep that is dropped is cancelled, and nothing else happens.
///
/// # Cost
/// A look at the cycle counter here, or at the clock for one of a millisecond or less; a locked
/// instruction where it is polled first, and another where it is dropped before its time. See
/// [`time`](super). The deadline may be 5 µs later than asked for, and is never earlier.
///
/// # Panics
/// The future panics if it is polled first outside of any runtime, or if its runtime ends before
/// its time.
///
/// # Examples
/// ```
/// use evenkeel::time::{Duration, Instant, sleep};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let start = Instant::now();
///     sleep(Duration::from_millis(2)).await;
///     assert!(start.elapsed() >= Duration::from_millis(2));
/// });
/// ```
#[inline]
pub fn sleep(duration: Duration) -> Sleep {
    sleep_until(Instant::in_at_least(duration))
}

/// Waits until `deadline`: not at all if it has passed. As [`sleep`] otherwise.
///
/// # Examples
/// ```
/// use evenkeel::time::{Duration, Instant, sleep_until};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let deadline = Instant::now() + Duration::from_millis(2);
///     sleep_until(deadline).await;
///     assert!(Instant::now() >= deadline);
/// });
/// ```
#[inline]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep { entry: Entry::new(), timers: None, deadline, _pinned: PhantomPinned }
}

/// The future of [`sleep`] and [`sleep_until`]. It can be [reset](Self::reset), and polled again
/// once it is complete, when it is at once complete again.
#[must_use = "futures do nothing unless awaited"]
pub struct Sleep {
    entry: Entry,
    /// Where the entry was armed last.
    timers: Option<&'static Timers>,
    deadline: Instant,
    /// The wheel points to the entry.
    _pinned: PhantomPinned,
}

// SAFETY: the entry's links are reached under the lock of its wheel alone, or by whoever has the
// future exclusively where it is in none; its waker is `Send`.
unsafe impl Send for Sleep {}
// SAFETY: a shared `Sleep` reads the entry's word, an atomic, and nothing else of it.
unsafe impl Sync for Sleep {}

impl Sleep {
    /// When it ends.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether it has ended: a task that polls it goes on. One that has not been polled has not.
    #[must_use]
    pub fn is_elapsed(&self) -> bool {
        self.entry.progress() == Progress::Fired
    }

    /// Has it end at `deadline` instead, as if it were new; it has to be polled once more to wake
    /// the task. Whether it has ended before makes no difference. It costs what a cancellation
    /// does.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::time::{Duration, Instant, sleep};
    /// use std::pin::pin;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let mut sleep = pin!(sleep(Duration::from_secs(3_600)));
    ///     sleep.as_mut().reset(Instant::now() + Duration::from_millis(1));
    ///     sleep.await;
    /// });
    /// ```
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        self.cancel();
        self.entry.set_idle();
        // SAFETY: nothing is moved.
        let sleep = unsafe { self.get_unchecked_mut() };
        sleep.deadline = deadline;
    }

    /// Takes the entry out of its wheel.
    #[inline]
    fn cancel(&self) {
        if self.entry.progress() == Progress::Armed
            && let Some(timers) = self.timers
        {
            // SAFETY: it was armed there, and this is its future. Whether it has fired meanwhile
            // makes no difference.
            let _ = unsafe { timers.cancel::<WordWaker>(NonNull::from(&self.entry)) };
        }
    }

    /// Puts the entry into the wheel of a processor.
    #[inline]
    fn arm(self: Pin<&mut Self>, waker: &Waker) -> Poll<()> {
        if self.deadline == Instant::NEVER {
            return Poll::Pending;
        }
        let waker = WordWaker::of(waker);
        let entry = NonNull::from(&self.entry);
        let deadline = self.deadline.nanos();
        let armed = context::with(|context| match context {
            Some(context) if !context.is_relief() => {
                // SAFETY: the entry is in no wheel; the future is pinned, and cancels when it is
                // dropped.
                Some(unsafe { timing::arm_here(context, entry, deadline, waker) })
            }
            // What is armed at the relief would keep it from resting.
            Some(relief) => {
                // SAFETY: as above.
                Some(unsafe { timing::arm_outside(relief.shared(), entry, deadline, waker) })
            }
            None => current::with(|shared| {
                let shared = shared?;
                // SAFETY: as above.
                Some(unsafe { timing::arm_outside(shared, entry, deadline, waker) })
            }),
        });
        let Some((armed, timers)) = armed else {
            panic!(
                "a timer is polled outside of a runtime: await it in a task or inside Runtime::block_on"
            );
        };
        match armed {
            Armed::Waits { .. } => {
                // SAFETY: nothing is moved.
                let sleep = unsafe { self.get_unchecked_mut() };
                sleep.timers = Some(timers);
                Poll::Pending
            }
            Armed::Due => {
                self.entry.set_fired();
                Poll::Ready(())
            }
            Armed::Over => orphaned(),
        }
    }

    /// Sees to it that an armed timer wakes `waker`.
    fn renew(self: Pin<&mut Self>, waker: &Waker) -> Poll<()> {
        let timers = self.timers.expect("an armed timer is armed somewhere");
        let mut fresh = None;
        loop {
            // SAFETY: it was armed there, and this is its future.
            match unsafe { timers.renew(&self.entry, waker, fresh.take()) } {
                Renewed::Done => return Poll::Pending,
                Renewed::Other => fresh = Some(WordWaker::of(waker)),
                Renewed::Ended => return self.ended(),
            }
        }
    }

    /// What an armed timer has come to that is armed no more.
    fn ended(self: Pin<&mut Self>) -> Poll<()> {
        match self.entry.progress() {
            Progress::Orphaned => orphaned(),
            _ => Poll::Ready(()),
        }
    }
}

#[cold]
fn orphaned() -> ! {
    panic!("the runtime that a timer belongs to has ended: its timers have ended with it")
}

impl Future for Sleep {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.entry.progress() {
            Progress::Idle => self.arm(context.waker()),
            Progress::Armed if self.entry.wakes_task_of::<WordWaker>(context.waker()) => {
                Poll::Pending
            }
            Progress::Armed => self.renew(context.waker()),
            Progress::Fired | Progress::Orphaned => self.ended(),
        }
    }
}

impl Drop for Sleep {
    #[inline]
    fn drop(&mut self) {
        self.cancel();
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}
