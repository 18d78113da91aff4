//! A point in time.

use crate::primitives::clock;
use crate::processor::current;
use crate::processor::entered;
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

/// A point in time by the clock of a runtime. It is like [`std::time::Instant`], except that this
/// clock can be [paused](super::pause).
///
/// It has eight bytes, and counts nanoseconds before or after the process began to count, up to 292
/// years in either direction. Once a runtime's clock has been paused, compare its instants only
/// with each other.
///
/// # Examples
/// ```
/// use evenkeel::time::{Duration, Instant};
/// let start = Instant::now();
/// let later = start + Duration::from_millis(5);
/// assert_eq!(later - start, Duration::from_millis(5));
/// assert_eq!(start.duration_since(later), Duration::ZERO);
/// ```
///
/// Differences of either sign, and the ends of the range:
/// ```
/// use evenkeel::time::{Duration, Instant};
/// let (day, start) = (Duration::from_secs(24 * 3_600), Instant::now());
/// let yesterday = start.checked_sub(day).unwrap();
/// assert_eq!(start.checked_duration_since(yesterday), Some(day));
/// assert_eq!(yesterday.checked_duration_since(start), None);
/// assert_eq!(yesterday.saturating_duration_since(start), Duration::ZERO);
/// assert!(yesterday.elapsed() >= day);
/// assert_eq!(start.checked_add(day * 365 * 300), None, "an instant reaches 292 years");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

/// Waits up to this duration count from the exact time: for them 5 µs are more than 5 per mille.
const SHORT: Duration = Duration::from_millis(1);

impl Instant {
    /// Later than every deadline: a sleep until then arms no timer.
    pub(super) const NEVER: Self = Self(i64::MAX);

    /// Returns the time of the caller's runtime; outside of any runtime, the time of the machine's
    /// monotonic clock.
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
        let here = entered::at_home(|context| context.map(|context| context.shared().clock.now()));
        Self::of(here.unwrap_or_else(|| {
            current::with(|shared| shared.map(|shared| shared.clock.now()))
                .unwrap_or_else(clock::now)
        }))
    }

    /// Returns the end of a wait of `duration` that begins at this call. It is never too early, and
    /// too late by [5 µs](crate::primitives::ahead) at most.
    #[inline(always)]
    pub(crate) fn in_at_least(duration: Duration) -> Self {
        Self::on_worker(duration).unwrap_or_else(|| Self::now().after(duration))
    }

    /// Returns the end of such a wait, unless the caller is outside of any runtime, where no timer
    /// can be armed.
    #[inline(always)]
    pub(crate) fn in_runtime(duration: Duration) -> Option<Self> {
        Self::on_worker(duration).or_else(|| {
            let is_inside = current::with(|shared| shared.is_some());
            is_inside.then(|| Self::now().after(duration))
        })
    }

    /// Returns the end of such a wait on a worker that has entered no other runtime. None also for
    /// a wait as short as a tick, which is worth reading the exact time.
    #[inline(always)]
    fn on_worker(duration: Duration) -> Option<Self> {
        if duration <= SHORT {
            return None;
        }
        let here = entered::at_home(|context| {
            context.map(|context| context.shared().clock.at(context.ahead.now()))
        });
        Some(Self::of(here?).after(duration))
    }

    /// The instant `nanos` nanoseconds after the process began to count.
    #[inline]
    fn of(nanos: u64) -> Self {
        Self(i64::try_from(nanos).unwrap_or(i64::MAX))
    }

    /// The nanoseconds since the process began to count, zero for an earlier instant.
    #[inline]
    pub(super) fn nanos(self) -> u64 {
        self.0.try_into().unwrap_or(0)
    }

    /// Returns the time that has passed since this instant; zero if it lies in the future.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Self::now().saturating_duration_since(*self)
    }

    /// Returns how much later it is than `earlier`; zero if it is earlier.
    #[must_use]
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// Returns how much later it is than `earlier`; zero if it is earlier.
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.checked_duration_since(earlier).unwrap_or_default()
    }

    /// Returns how much later it is than `earlier`, or `None` if it is earlier.
    #[must_use]
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        (*self >= earlier).then(|| Duration::from_nanos(self.0.abs_diff(earlier.0)))
    }

    /// Returns the instant `duration` later, or `None` if it is out of range.
    #[must_use]
    #[inline]
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        let nanos = nanos_of(duration)?;
        self.0.checked_add_unsigned(nanos).map(Self)
    }

    /// Returns the instant `duration` earlier, or `None` if it is out of range.
    #[must_use]
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        let nanos = nanos_of(duration)?;
        self.0.checked_sub_unsigned(nanos).map(Self)
    }

    /// The instant `duration` later, or [`NEVER`](Self::NEVER) if it is out of range.
    #[inline]
    pub(super) fn after(self, duration: Duration) -> Self {
        self.checked_add(duration).unwrap_or(Self::NEVER)
    }

    /// Converts it to the standard library's clock, which is never paused.
    ///
    /// # Panics
    /// If the result is out of range.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::time::{Duration, Instant};
    /// let deadline = Instant::now() + Duration::from_secs(1);
    /// let for_a_library = deadline.into_std();
    /// assert!(for_a_library > std::time::Instant::now());
    /// assert_eq!(Instant::from_std(for_a_library), deadline);
    /// ```
    #[cfg(not(any(loom, shuttle)))]
    #[must_use]
    #[track_caller]
    pub fn into_std(self) -> std::time::Instant {
        let distance = Duration::from_nanos(self.0.unsigned_abs());
        if self.0 < 0 { clock::start() - distance } else { clock::start() + distance }
    }

    /// Converts a point in time of the standard library's clock. One that is out of range becomes
    /// the farthest in range.
    ///
    /// # Examples
    /// A deadline that a library gives; `into` is the same conversion:
    /// ```
    /// use evenkeel::time::{Instant, timeout_at};
    /// let given = std::time::Instant::now() + std::time::Duration::from_millis(1);
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let never = std::future::pending::<()>();
    /// assert!(runtime.block_on(timeout_at(given.into(), never)).is_err());
    /// assert!(Instant::now() >= Instant::from_std(given));
    /// ```
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

/// The nanoseconds of a duration, if they fit into 64 bits.
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
    /// If the result is out of range; see [`checked_add`](Self::checked_add).
    fn add(self, duration: Duration) -> Self {
        self.checked_add(duration).expect("an instant reaches 292 years: use checked_add")
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    /// # Panics
    /// If the result is out of range; see [`checked_sub`](Self::checked_sub).
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
