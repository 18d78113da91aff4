//! A point in time.

use crate::primitives::clock;
use crate::processor::context;
use crate::processor::current;
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

/// A point in time, by the clock of a runtime: as [`std::time::Instant`], but one that stands still
/// while that clock is [paused](super::pause).
///
/// It is eight bytes, of nanoseconds before or after the process began to count, and reaches 292
/// years in either direction. Compare only those of one runtime, once its clock has been paused.
///
/// # Examples
/// ```
/// use evenkeel::time::{Duration, Instant};
/// let start = Instant::now();
/// let later = start + Duration::from_millis(5);
/// assert_eq!(later - start, Duration::from_millis(5));
/// assert_eq!(start.duration_since(later), Duration::ZERO);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

/// Waits that are counted from the exact time: those for which 5 µs are more than 5 per mille.
const SHORT: Duration = Duration::from_millis(1);

impl Instant {
    /// Later than every deadline: a timer that waits for it is none.
    pub(super) const NEVER: Self = Self(i64::MAX);

    /// What time it is in the runtime that the caller belongs to; outside of any, the time of the
    /// machine's monotonic clock.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::time::Instant;
    /// let start = Instant::now();
    /// assert!(Instant::now() >= start);
    /// ```
    #[must_use]
    #[inline]
    pub fn now() -> Self {
        let here = context::with(|context| context.map(|context| context.shared().clock.now()));
        Self::of(here.unwrap_or_else(|| {
            current::with(|shared| shared.map(|shared| shared.clock.now()))
                .unwrap_or_else(clock::now)
        }))
    }

    /// So much later than now, or a little more: what a wait of that duration ends at, which begins
    /// now. Never earlier; later by [5 µs](crate::primitives::ahead) at most.
    #[inline(always)]
    pub(super) fn in_at_least(duration: Duration) -> Self {
        // What is as short as a tick is worth an exact look.
        if duration > SHORT {
            let here = context::with(|context| {
                context.map(|context| context.shared().clock.at(context.ahead.now()))
            });
            if let Some(here) = here {
                return Self::of(here).after(duration);
            }
        }
        Self::now().after(duration)
    }

    /// So many nanoseconds after the process began to count.
    #[inline]
    fn of(nanos: u64) -> Self {
        Self(i64::try_from(nanos).unwrap_or(i64::MAX))
    }

    /// The same, with everything before as zero.
    #[inline]
    pub(super) fn nanos(self) -> u64 {
        self.0.try_into().unwrap_or(0)
    }

    /// How much time has passed since then; zero if none has.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Self::now().saturating_duration_since(*self)
    }

    /// How much later it is than `earlier`; zero if it is not.
    #[must_use]
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// How much later it is than `earlier`; zero if it is not.
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.checked_duration_since(earlier).unwrap_or_default()
    }

    /// How much later it is than `earlier`, if it is.
    #[must_use]
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        (*self >= earlier).then(|| Duration::from_nanos(self.0.abs_diff(earlier.0)))
    }

    /// So much later, if that can be told.
    #[must_use]
    #[inline]
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        let nanos = nanos_of(duration)?;
        self.0.checked_add_unsigned(nanos).map(Self)
    }

    /// So much earlier, if that can be told.
    #[must_use]
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        let nanos = nanos_of(duration)?;
        self.0.checked_sub_unsigned(nanos).map(Self)
    }

    /// So much later, or never.
    #[inline]
    pub(super) fn after(self, duration: Duration) -> Self {
        self.checked_add(duration).unwrap_or(Self::NEVER)
    }

    /// The same point in time of the standard library's clock, which is never paused.
    ///
    /// # Panics
    /// If that cannot be told.
    #[cfg(not(any(loom, shuttle)))]
    #[must_use]
    pub fn into_std(self) -> std::time::Instant {
        let distance = Duration::from_nanos(self.0.unsigned_abs());
        if self.0 < 0 { clock::start() - distance } else { clock::start() + distance }
    }

    /// A point in time of the standard library's clock; one that is too far away becomes the
    /// farthest that can be told.
    #[cfg(not(any(loom, shuttle)))]
    #[must_use]
    pub fn from_std(instant: std::time::Instant) -> Self {
        let zero = Self(0);
        match instant.checked_duration_since(clock::start()) {
            Some(after) => zero.after(after),
            None => {
                let before = clock::start().duration_since(instant);
                zero.checked_sub(before).unwrap_or(Self(i64::MIN))
            }
        }
    }
}

/// The nanoseconds of a duration, if 64 bits hold them.
#[inline(always)]
fn nanos_of(duration: Duration) -> Option<u64> {
    let seconds = duration.as_secs().checked_mul(1_000_000_000)?;
    seconds.checked_add(duration.subsec_nanos().into())
}

#[cfg(not(any(loom, shuttle)))]
impl From<std::time::Instant> for Instant {
    fn from(instant: std::time::Instant) -> Self {
        Self::from_std(instant)
    }
}

#[cfg(not(any(loom, shuttle)))]
impl From<Instant> for std::time::Instant {
    fn from(instant: Instant) -> Self {
        instant.into_std()
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    /// # Panics
    /// If the result cannot be told; see [`checked_add`](Self::checked_add).
    fn add(self, duration: Duration) -> Self {
        self.checked_add(duration).expect("an instant reaches 292 years: use checked_add")
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    /// # Panics
    /// If the result cannot be told; see [`checked_sub`](Self::checked_sub).
    fn sub(self, duration: Duration) -> Self {
        self.checked_sub(duration).expect("an instant reaches 292 years: use checked_sub")
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "Instant({sign}{:?})", Duration::from_nanos(self.0.unsigned_abs()))
    }
}
