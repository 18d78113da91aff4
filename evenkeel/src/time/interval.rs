//! Periodic ticks.

use super::sleep::{Sleep, sleep_until};
use super::{Duration, Instant};
use crate::primitives::unwind::wake_all;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

/// The policy for ticks that follow a late one.
///
/// [`Burst`](Self::Burst), [`Delay`](Self::Delay) and [`Skip`](Self::Skip) are those of Tokio's
/// `MissedTickBehavior`, but that with Tokio's `Skip` too no tick is missed within 5 ms. A tick is
/// missed if the next one is due by the time that it is seen. For all policies but `Delay`, a late
/// tick that is not missed does not change the next one. After a missed tick, the four policies
/// differ.
///
/// # Examples
/// ```
/// use evenkeel::time::{Duration, MissedTicks, advance, interval};
/// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
/// runtime.block_on(async {
///     let mut interval = interval(Duration::from_millis(50)).missed_ticks(MissedTicks::Delay);
///     let start = interval.tick().await;
///     // The tick that is due after 100 ms is seen 20 ms late.
///     interval.tick().await;
///     advance(Duration::from_millis(70)).await;
///     assert_eq!(interval.tick().await - start, Duration::from_millis(100));
///     assert_eq!(interval.tick().await - start, Duration::from_millis(170));
/// });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissedTicks {
    /// All missed ticks come, one after the other, until the number of ticks has caught up.
    #[default]
    Burst,
    /// The next tick comes a period after the late one was seen, whether or not ticks were missed,
    /// and the others every period from there. Since timers are a little late, a tick that is seen
    /// within 5 ms counts as on time, and does not change the next one.
    Delay,
    /// If a tick was missed, the next one comes a period after it was seen, and the others every
    /// period from there. Otherwise the next one does not change.
    Restart,
    /// Missed ticks are left out: the next tick is the first that is not due yet.
    Skip,
}

/// How late a tick may be to count as on time for [`MissedTicks::Delay`]: Tokio's number. Without
/// it the ticks would drift by the lateness of the timers.
const ON_TIME: Duration = Duration::from_millis(5);

impl MissedTicks {
    /// Returns when the tick is due that follows the one of `due`, which was seen at `now`.
    fn next(self, due: Instant, now: Instant, period: Duration) -> Instant {
        let next = due.after(period);
        match self {
            Self::Delay if now > due.after(ON_TIME) => now.after(period),
            Self::Delay => next,
            _ if now < next => next,
            Self::Burst => next,
            Self::Restart => now.after(period),
            Self::Skip => {
                let late = now.duration_since(due).as_nanos();
                let into = u64::try_from(late % period.as_nanos()).unwrap_or(u64::MAX);
                now.after(period.saturating_sub(Duration::from_nanos(into)))
            }
        }
    }
}

/// Creates an interval that ticks every `period`, for the first time at once.
///
/// # Panics
/// If the period is zero.
///
/// # Examples
/// ```
/// use evenkeel::time::{Duration, Instant, interval};
/// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
/// runtime.block_on(async {
///     let start = Instant::now();
///     let mut interval = interval(Duration::from_secs(1));
///     for second in 0..3 {
///         assert_eq!(interval.tick().await - start, Duration::from_secs(second));
///     }
/// });
/// ```
#[must_use = "an interval does nothing unless its ticks are awaited"]
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(Instant::now(), period)
}

/// Creates an interval that ticks every `period`, for the first time at `start`.
///
/// # Panics
/// If the period is zero.
///
/// # Examples
/// ```
/// use evenkeel::time::{Duration, Instant, MissedTicks, interval_at};
/// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
/// runtime.block_on(async {
///     let start = Instant::now() + Duration::from_secs(10);
///     let mut interval = interval_at(start, Duration::from_secs(1)).missed_ticks(MissedTicks::Skip);
///     assert_eq!(interval.tick().await, start);
/// });
/// ```
#[must_use = "an interval does nothing unless its ticks are awaited"]
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert!(!period.is_zero(), "an interval has a period of zero: give it a period above zero");
    let (sleep, missed) = (Box::pin(sleep_until(start)), MissedTicks::default());
    Interval { sleep, period, missed, waiter: None }
}

/// Ticks every period: see [`interval`]. It has one allocation, for its timer.
///
/// # Examples
/// A report every minute, which leaves out the minutes in which the program was too busy:
/// ```
/// use evenkeel::time::{Duration, Interval, MissedTicks, advance, interval};
/// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
/// runtime.block_on(async {
///     let minute = Duration::from_secs(60);
///     let mut reports: Interval = interval(minute).missed_ticks(MissedTicks::Skip);
///     assert_eq!((reports.period(), reports.policy()), (minute, MissedTicks::Skip));
///     let start = reports.tick().await;
///     assert_eq!(reports.tick().await - start, minute);
///     advance(minute * 7 / 2).await;
///     // The tick of minute 2 is late; those of minutes 3 and 4 are left out.
///     assert_eq!(reports.tick().await - start, 2 * minute);
///     assert_eq!(reports.tick().await - start, 5 * minute);
///     reports.set_missed_ticks(MissedTicks::Burst);
///     advance(2 * minute).await;
///     for number in 6..=8 {
///         assert_eq!(reports.tick().await - start, number * minute);
///     }
/// });
/// ```
#[derive(Debug)]
#[must_use = "an interval does nothing unless its ticks are awaited"]
pub struct Interval {
    /// Until the next tick.
    sleep: Pin<Box<Sleep>>,
    period: Duration,
    missed: MissedTicks,
    /// The task that waits for a tick which never comes: its timer is armed nowhere, and knows of
    /// no task.
    waiter: Option<Waker>,
}

impl Interval {
    /// Sets the policy for missed ticks, [`MissedTicks::Burst`] by default.
    pub fn missed_ticks(mut self, policy: MissedTicks) -> Self {
        self.missed = policy;
        self
    }

    /// Changes the policy for missed ticks.
    pub fn set_missed_ticks(&mut self, policy: MissedTicks) {
        self.missed = policy;
    }

    /// Returns the policy for missed ticks.
    #[must_use]
    pub fn policy(&self) -> MissedTicks {
        self.missed
    }

    /// Waits for the next tick, and returns when it was due. A tick that is overdue takes a unit of
    /// the [budget](crate::budget).
    ///
    /// # Cancel safety
    /// No tick is lost: the next call returns it.
    ///
    /// # Panics
    /// As [`sleep`](super::sleep()).
    ///
    /// # Examples
    /// A wait that is given up loses no tick:
    /// ```
    /// use evenkeel::time::{Duration, interval, timeout};
    /// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
    /// runtime.block_on(async {
    ///     let mut watch = interval(Duration::from_secs(10));
    ///     let start = watch.tick().await;
    ///     assert!(timeout(Duration::from_secs(6), watch.tick()).await.is_err());
    ///     assert_eq!(watch.tick().await - start, Duration::from_secs(10));
    /// });
    /// ```
    pub async fn tick(&mut self) -> Instant {
        poll_fn(|context| self.poll_tick(context)).await
    }

    /// Polls for the next tick, as [`tick`](Self::tick) does. If there is none yet, the next tick
    /// wakes the task of the last poll.
    ///
    /// # Examples
    /// A future of the next tick of two intervals:
    /// ```
    /// use evenkeel::time::{Duration, interval};
    /// use std::future::poll_fn;
    /// use std::task::Poll;
    /// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
    /// runtime.block_on(async {
    ///     let mut seconds = interval(Duration::from_secs(1));
    ///     let mut minutes = interval(Duration::from_secs(60));
    ///     minutes.tick().await;
    ///     let start = seconds.tick().await;
    ///     let next = poll_fn(|context| match minutes.poll_tick(context) {
    ///         Poll::Ready(due) => Poll::Ready(("minute", due)),
    ///         Poll::Pending => seconds.poll_tick(context).map(|due| ("second", due)),
    ///     });
    ///     assert_eq!(next.await, ("second", start + Duration::from_secs(1)));
    /// });
    /// ```
    pub fn poll_tick(&mut self, context: &mut Context<'_>) -> Poll<Instant> {
        if self.sleep.deadline() == Instant::NEVER {
            let waker = context.waker();
            if !self.waiter.as_ref().is_some_and(|waiter| waiter.will_wake(waker)) {
                self.waiter = Some(waker.clone());
            }
        }
        ready!(self.sleep.as_mut().poll(context));
        let due = self.sleep.deadline();
        let next = self.missed.next(due, Instant::now(), self.period);
        self.sleep.as_mut().reset(next);
        Poll::Ready(due)
    }

    /// Makes the next tick come a period from now, and the others every period from there. A task
    /// that waits for a tick, by an earlier [`poll_tick`](Self::poll_tick), is woken to poll again;
    /// the other resets do that too.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::time::{Duration, Instant, advance, interval};
    /// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
    /// runtime.block_on(async {
    ///     let mut interval = interval(Duration::from_secs(1));
    ///     let start = interval.tick().await;
    ///     advance(Duration::from_millis(300)).await;
    ///     interval.reset();
    ///     assert_eq!(interval.tick().await - start, Duration::from_millis(1_300));
    /// });
    /// ```
    pub fn reset(&mut self) {
        self.reset_at(Instant::now().after(self.period));
    }

    /// Makes the next tick come `duration` from now, and the others every period from there.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::time::{Duration, interval};
    /// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
    /// runtime.block_on(async {
    ///     let mut retries = interval(Duration::from_secs(1));
    ///     let start = retries.tick().await;
    ///     // The server asks for a pause.
    ///     retries.reset_after(Duration::from_secs(30));
    ///     assert_eq!(retries.tick().await - start, Duration::from_secs(30));
    ///     assert_eq!(retries.tick().await - start, Duration::from_secs(31));
    /// });
    /// ```
    pub fn reset_after(&mut self, duration: Duration) {
        self.reset_at(Instant::now().after(duration));
    }

    /// Makes the next tick come at once, and the others every period from there.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::time::{Duration, advance, interval};
    /// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
    /// runtime.block_on(async {
    ///     let mut saves = interval(Duration::from_secs(60));
    ///     let start = saves.tick().await;
    ///     advance(Duration::from_secs(20)).await;
    ///     // The user asks for a copy now.
    ///     saves.reset_immediately();
    ///     assert_eq!(saves.tick().await - start, Duration::from_secs(20));
    ///     assert_eq!(saves.tick().await - start, Duration::from_secs(80));
    /// });
    /// ```
    pub fn reset_immediately(&mut self) {
        self.reset_at(Instant::now());
    }

    /// Makes the next tick come at `deadline`, and the others every period from there.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::time::{Duration, Instant, interval};
    /// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
    /// runtime.block_on(async {
    ///     let midnight = Instant::now() + Duration::from_secs(5 * 3_600);
    ///     let mut days = interval(Duration::from_secs(24 * 3_600));
    ///     days.reset_at(midnight);
    ///     assert_eq!(days.tick().await, midnight);
    ///     assert_eq!(days.tick().await, midnight + days.period());
    /// });
    /// ```
    pub fn reset_at(&mut self, deadline: Instant) {
        self.sleep.as_mut().reset_for_waiter(deadline);
        wake_all(self.waiter.take());
    }

    /// Returns the time between two ticks.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }
}

/// An endless stream of ticks: the time at which each was due.
#[cfg(feature = "stream")]
impl futures_core::Stream for Interval {
    type Item = Instant;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Instant>> {
        self.poll_tick(context).map(Some)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}
