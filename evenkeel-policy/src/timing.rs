//! Which worker fires a processor's timers, and when.
//!
//! A processor fires its own timers at the end of a batch, while it searches, and when it wakes for
//! the next timer. Other workers fire those of a worker that does not get to them.

/// A worker that looks at another processor fires its timers once they are this much overdue. An
/// owner inside a poll of usual length fires them itself, and the two do not meet at the lock. An
/// estimate: some 25 batches, and a fifth of a tick; no benchmark sets it.
pub const OVERDUE: u64 = 100_000;

/// The usual resolution of timers, in nanoseconds. A choice: that of Tokio and of Go's
/// contemporaries, on which users rely.
pub const RESOLUTION: u64 = 1_000_000;

/// The most timers that are fired under one hold of the lock. The firing worker wakes tasks between
/// two holds, so a thread that arms or cancels waits for no longer than it takes to unlink these;
/// but as long as it takes to move all timers of a slot of the wheel, where one of some seconds
/// begins. An estimate; no benchmark sets it.
pub const GROUP: usize = 32;

/// The most [groups](GROUP) that an owner fires before it polls tasks again: the first that they
/// wake would wait until the last has fired. An estimate: they take as long as some batches; no
/// benchmark sets it.
pub const GROUPS: usize = 8;

/// Returns whether to fire another processor's timers at the time `now` if the next is due at
/// `next`. If its worker is `away`, inside fork-join, that worker is not about to fire them.
///
/// # Examples
/// ```
/// use evenkeel_policy::timing::{OVERDUE, fires_for};
/// assert!(!fires_for(7, 8, true), "not due");
/// assert!(fires_for(8, 8, true));
/// assert!(!fires_for(8, 8, false), "its worker is about to");
/// assert!(fires_for(8 + OVERDUE, 8, false));
/// assert!(!fires_for(u64::MAX - 1, u64::MAX, true), "there is none");
/// ```
#[inline]
#[must_use]
pub fn fires_for(now: u64, next: u64, away: bool) -> bool {
    let grace = if away { 0 } else { OVERDUE };
    now >= next.saturating_add(grace) && next != u64::MAX
}

/// A timer farther away than this is armed without a look at the clock. The coarse clock is behind
/// by the length of the present poll so far. Only a poll longer than this arms a timer whose
/// deadline has already passed, which then fires a batch late. An estimate; no benchmark sets it.
pub const NEAR: u64 = 10_000_000;

/// Returns whether arming a timer with this deadline is worth a look at the clock, if the coarse
/// clock says `now`: whether it may be due already, which would save it the wheel and a tick.
///
/// # Examples
/// ```
/// use evenkeel_policy::timing::looks_at_clock;
/// assert!(looks_at_clock(1_000, 900));
/// assert!(!looks_at_clock(1_000_000_000, 900));
/// ```
#[must_use]
#[inline]
pub fn looks_at_clock(deadline: u64, now: u64) -> bool {
    deadline <= now.saturating_add(NEAR)
}

/// Returns how long a sleeper sleeps at the time `now`: as long as the watch, if it is the watch,
/// and at most until its next timer.
///
/// # Examples
/// ```
/// use evenkeel_policy::timing::sleep_limit;
/// assert_eq!(sleep_limit(None, 10, u64::MAX), None, "an idle runtime without timers does not wake");
/// assert_eq!(sleep_limit(None, 10, 30), Some(20));
/// assert_eq!(sleep_limit(Some(5), 10, 30), Some(5));
/// assert_eq!(sleep_limit(None, 30, 10), Some(0));
/// ```
#[inline]
#[must_use]
pub fn sleep_limit(watch: Option<u64>, now: u64, next: u64) -> Option<u64> {
    let timer = (next != u64::MAX).then(|| next.saturating_sub(now));
    match (watch, timer) {
        (Some(watch), Some(timer)) => Some(watch.min(timer)),
        (limit, None) | (None, limit) => limit,
    }
}

/// Returns how long the watch sleeps at the time `now`, if its sleep is `watch` and the next timer
/// of the other processors is due at `next`. It does not sleep past the time at which it would
/// [fire](fires_for) that timer for a stuck worker, but never shorter than its [shortest
/// sleep](super::waking::WATCH).
///
/// # Examples
/// ```
/// use evenkeel_policy::timing::{OVERDUE, watch_limit};
/// use evenkeel_policy::waking::{LONGEST_WATCH, WATCH};
/// assert_eq!(watch_limit(LONGEST_WATCH, 10, u64::MAX), LONGEST_WATCH, "there is none");
/// assert_eq!(watch_limit(LONGEST_WATCH, 10, 10), WATCH);
/// assert_eq!(watch_limit(LONGEST_WATCH, 10, 10 + 2 * WATCH), 2 * WATCH + OVERDUE);
/// assert_eq!(watch_limit(WATCH, 10, 10 + 2 * WATCH), WATCH);
/// ```
#[inline]
#[must_use]
pub fn watch_limit(watch: u64, now: u64, next: u64) -> u64 {
    watch.min(next.saturating_add(OVERDUE).saturating_sub(now).max(super::waking::WATCH))
}

/// Returns the binary logarithm of the length of a tick: the greatest power of two of nanoseconds
/// that is at most the requested resolution, so that a division is a shift.
///
/// # Examples
/// ```
/// use evenkeel_policy::timing::{RESOLUTION, tick_bits};
/// assert_eq!(1_u64 << tick_bits(RESOLUTION), 524_288);
/// assert_eq!(tick_bits(1_024), 10);
/// assert_eq!(tick_bits(1_023), 9);
/// ```
#[inline]
#[must_use]
pub fn tick_bits(resolution: u64) -> u32 {
    resolution.max(1).ilog2()
}
