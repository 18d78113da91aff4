//! Waiting for a point in time.

#![allow(unsafe_code, reason = "the wheel points to a node in this future")]

use super::Instant;
use crate::processor::current;
use crate::processor::entered;
use crate::processor::shared::Shared;
use crate::scheduler::timing;
use crate::task::budget::{self, Unit};
use crate::task::word_waker::WordWaker;
use crate::timers::{Armed, Entry, Progress, Timers};
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Waits until `duration` has passed since this call, by the clock of the runtime.
///
/// # Cancel safety
/// Dropping a sleep cancels it, and has no other effect.
///
/// # Cost
/// This call reads the cycle counter, or the clock for a sleep of a millisecond or less. The first
/// poll takes a locked instruction, and so does dropping it before its time. See [`time`](super). A
/// sleep that is due at its first poll takes a unit of the [budget](crate::budget).
/// The deadline may be up to 5 µs later than asked for, and is never earlier.
///
/// # Panics
/// The future panics if it is first polled outside of any runtime, or if its runtime ends before
/// the deadline. A sleep beyond what an [`Instant`] holds, as of [`Duration::MAX`], waits for ever,
/// and for no runtime.
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

/// Waits until `deadline`, or not at all if it has passed. Otherwise as [`sleep`].
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
    Sleep { entry: Entry::new(), timers: None, deadline, unit: Unit::NEW, _pinned: PhantomPinned }
}

/// The future of [`sleep`] and [`sleep_until`]. It can be [reset](Self::reset). After completion it
/// can be polled again, and is complete at once; a poll that finds the
/// [slice](crate::budget) of its task used up yields first.
///
/// # Examples
/// A limit on silence, which each message moves:
/// ```
/// use evenkeel::time::{Duration, Instant, Sleep, advance, sleep};
/// use std::pin::pin;
/// const SILENCE: Duration = Duration::from_secs(30);
/// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
/// runtime.block_on(async {
///     let mut limit = pin!(sleep(SILENCE));
///     assert!(evenkeel::time::timeout(Duration::from_secs(20), limit.as_mut()).await.is_err());
///     // A message has come.
///     limit.as_mut().reset(Instant::now() + SILENCE);
///     assert!(!limit.is_elapsed());
///     limit.as_mut().await;
///     assert!(limit.is_elapsed());
///     assert_eq!(Instant::now(), limit.deadline());
/// });
/// ```
#[must_use = "futures do nothing unless awaited"]
pub struct Sleep {
    entry: Entry,
    /// The timers where the entry was armed last.
    timers: Option<&'static Timers>,
    deadline: Instant,
    /// Owed once it has waited.
    unit: Unit,
    /// The wheel points to the entry.
    _pinned: PhantomPinned,
}

// SAFETY: a thread reaches the entry's links only under the lock of its wheel, or, if it is in no
// wheel, with exclusive access to the future. Its waker is `Send`.
unsafe impl Send for Sleep {}
// SAFETY: a shared `Sleep` reads only the entry's word, an atomic.
unsafe impl Sync for Sleep {}

impl Sleep {
    /// Returns the point in time at which it ends.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns whether it has ended, so that a poll completes, or yields first. A sleep that was
    /// never polled has not ended.
    #[must_use]
    pub fn is_elapsed(&self) -> bool {
        self.entry.progress() == Progress::Fired
    }

    /// Makes it end at `deadline` instead, as if it were new, whether or not it has ended before. A
    /// task that waits for it is woken at the new deadline, or polls it again at once if that has
    /// passed or the caller is outside of the sleep's runtime. A sleep that has ended, or has no
    /// end that an [`Instant`] holds, keeps no waker: poll it after the reset.
    ///
    /// # Cost
    /// That of a cancellation and, where a task waits for it, of a first poll.
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
    pub fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        let waiter = self.disarm();
        self.entry.set_idle();
        // SAFETY: nothing is moved.
        let sleep = unsafe { self.as_mut().get_unchecked_mut() };
        sleep.deadline = deadline;
        sleep.unit = Unit::NEW;
        if let Some(waiter) = waiter {
            // It has waited, and this task's slice is not that task's.
            sleep.unit.owe();
            self.arm_for(waiter);
        }
    }

    /// Arms it for the task that waits for it since before a reset. If that is no wait, or this is
    /// another runtime's thread, or none's, it wakes the task, which then polls it.
    fn arm_for(mut self: Pin<&mut Self>, waiter: WordWaker) {
        let is_of = |shared: &Arc<Shared>| self.timers.is_some_and(|at| at.go_by(&shared.clock));
        let is_here = current::with(|shared| shared.is_some_and(is_of));
        if !is_here || waiter.peek(|waker| self.as_mut().arm(waker)).is_ready() {
            waiter.wake();
        }
    }

    /// As [`reset`](Self::reset), and wakes the task that waits for it, which then polls it again.
    pub(super) fn reset_for_waiter(mut self: Pin<&mut Self>, deadline: Instant) {
        let waiter = self.disarm();
        self.as_mut().reset(deadline);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }

    /// Takes it out of its wheel, and drops the waker of the task that waits for it: it keeps
    /// nothing of its runtime. It is [reset](Self::reset) before it is polled again.
    #[inline]
    pub(crate) fn cancel(self: Pin<&mut Self>) {
        drop(self.disarm());
        self.entry.set_idle();
    }

    /// Polls it as the limit of a future that was polled just before. `had_slice` is whether this
    /// poll of the task had any of its slice left for that one. If not, the future may have
    /// yielded, and comes first once more.
    #[inline]
    pub(super) fn poll_limit(mut self: Pin<&mut Self>, waker: &Waker, had_slice: bool) -> Poll<()> {
        // SAFETY: nothing is moved.
        let sleep = unsafe { self.as_mut().get_unchecked_mut() };
        if !had_slice && sleep.entry.progress() == Progress::Idle && !sleep.unit.is_owed() {
            return sleep.unit.yield_to(waker);
        }
        // It ends though the future may have used up the slice.
        sleep.unit.owe();
        let ended = self.poll_ended(waker);
        if ended.is_ready() {
            // A loop over limits that have passed yields in the end.
            budget::take_if_any();
        }
        ended
    }

    #[inline]
    fn poll_ended(self: Pin<&mut Self>, waker: &Waker) -> Poll<()> {
        self.poll_or_over(waker).map(|ended| ended.unwrap_or_else(|Over| orphaned()))
    }

    /// Takes the entry out of its wheel, and returns its waker if it has not fired.
    #[inline]
    fn disarm(&self) -> Option<WordWaker> {
        if self.entry.progress() != Progress::Armed {
            return None;
        }
        let timers = self.timers?;
        // SAFETY: the entry was armed there, and this is its future.
        unsafe { timers.cancel::<WordWaker>(NonNull::from(&self.entry)) }
    }

    /// Puts the entry into the wheel of a processor.
    #[inline]
    fn arm(self: Pin<&mut Self>, waker: &Waker) -> Poll<Result<(), Over>> {
        if self.deadline == Instant::NEVER {
            return Poll::Pending;
        }
        let word = WordWaker::of(waker);
        let entry = NonNull::from(&self.entry);
        let deadline = self.deadline.nanos();
        let armed = entered::at_home(|context| match context {
            Some(context) if !context.is_relief() => {
                // SAFETY: the entry is in no wheel; the future is pinned, and cancels when it is
                // dropped.
                Some(unsafe { timing::arm_here(context, entry, deadline, word) })
            }
            // A timer that is armed at a relief would keep it from resting.
            Some(relief) => {
                // SAFETY: as above.
                Some(unsafe { timing::arm_outside(relief.shared(), entry, deadline, word) })
            }
            None => {
                let shared = current::shared();
                shared.map(|shared| {
                    shared.while_awake(|| {
                        // SAFETY: as above.
                        unsafe { timing::arm_outside(&shared, entry, deadline, word) }
                    })
                })
            }
        });
        let Some((armed, timers)) = armed else {
            panic!(
                "a timer is polled outside of a runtime: await it in a task or inside Runtime::block_on"
            );
        };
        // SAFETY: nothing is moved.
        let sleep = unsafe { self.get_unchecked_mut() };
        match armed {
            Armed::Waits { .. } => {
                sleep.timers = Some(timers);
                sleep.unit.owe();
                Poll::Pending
            }
            Armed::Due => {
                sleep.entry.set_fired();
                sleep.unit.poll(waker).map(Ok)
            }
            Armed::Over => Poll::Ready(Err(Over)),
        }
    }

    /// Makes an armed timer wake `waker`.
    fn renew(self: Pin<&mut Self>, waker: &Waker) -> Poll<Result<(), Over>> {
        let timers = self.timers.expect("an armed timer is armed somewhere");
        // SAFETY: it was armed there, and this is its future.
        let is_over = unsafe { timers.renew::<WordWaker>(&self.entry, waker) };
        if is_over { self.ended(waker) } else { Poll::Pending }
    }

    /// The outcome of a timer that is not armed any more.
    fn ended(self: Pin<&mut Self>, waker: &Waker) -> Poll<Result<(), Over>> {
        if self.entry.progress() == Progress::Orphaned {
            return Poll::Ready(Err(Over));
        }
        // SAFETY: nothing is moved.
        unsafe { self.get_unchecked_mut() }.unit.poll(waker).map(Ok)
    }

    /// Polls it. An end of its runtime is an error, and no panic.
    #[inline]
    pub(crate) fn poll_or_over(self: Pin<&mut Self>, waker: &Waker) -> Poll<Result<(), Over>> {
        match self.entry.progress() {
            Progress::Idle => self.arm(waker),
            Progress::Armed if self.entry.wakes_task_of::<WordWaker>(waker) => Poll::Pending,
            Progress::Armed => self.renew(waker),
            Progress::Fired | Progress::Orphaned => self.ended(waker),
        }
    }
}

/// The runtime of a timer has ended before the deadline.
#[derive(Debug)]
pub(crate) struct Over;

#[cold]
fn orphaned() -> ! {
    panic!(
        "the runtime that a timer belongs to has ended, and its timers with it: wait for them before its shutdown, \
         or make new ones in another runtime"
    )
}

impl Future for Sleep {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.poll_ended(context.waker())
    }
}

impl Drop for Sleep {
    #[inline]
    fn drop(&mut self) {
        drop(self.disarm());
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}
