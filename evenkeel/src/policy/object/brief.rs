//! A time in two bytes.

/// Bits of a [`Brief`] that say how often the others are doubled.
const EXPONENT_BITS: u32 = 4;
const MANTISSA_BITS: u32 = 16 - EXPONENT_BITS;
const MOST: u16 = (1 << MANTISSA_BITS) - 1;

/// Steps of a nanosecond: with whole ones, an average could not follow a change of less than its weight.
const STEPS: u64 = 16;

/// A time in two bytes: up to 8.3 ms, in steps of a sixteenth of a nanosecond below 255 ns and within a two-thousandth of the value above. Longer times count as the longest.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::Brief;
/// assert_eq!(Brief::new(0).nanos(), 0);
/// assert_eq!(Brief::new(200).nanos(), 200);
/// assert!(Brief::new(123_456).nanos().abs_diff(123_456) < 62);
/// assert_eq!(Brief::new(u64::MAX), Brief::LONGEST);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Brief(u16);

impl Brief {
    /// The longest time that there is room for.
    pub const LONGEST: Self = Self(u16::MAX);

    /// A time of so many nanoseconds, rounded to the nearest that there is.
    #[must_use]
    pub fn new(nanos: u64) -> Self {
        Self::from_steps(nanos.saturating_mul(STEPS))
    }

    /// The time in nanoseconds.
    #[must_use]
    pub fn nanos(self) -> u64 {
        (self.steps() + STEPS / 2) / STEPS
    }

    /// The average after one more value, which has one part in `weight` of it.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::policy::object::Brief;
    /// let mut mean = Brief::new(20);
    /// for _ in 0..60 {
    ///     mean = mean.toward(25, 8);
    /// }
    /// assert_eq!(mean.nanos(), 25);
    /// assert_eq!(mean.toward(1_000, 1).nanos(), 1_000);
    /// ```
    #[must_use]
    pub fn toward(self, nanos: u64, weight: u64) -> Self {
        let (mean, value) = (self.steps(), nanos.saturating_mul(STEPS));
        let weight = weight.max(1);
        let part = value.abs_diff(mean).saturating_add(weight / 2) / weight;
        Self::from_steps(if value < mean { mean - part } else { mean.saturating_add(part) })
    }

    fn steps(self) -> u64 {
        u64::from(self.0 & MOST) << (self.0 >> MANTISSA_BITS)
    }

    fn from_steps(steps: u64) -> Self {
        let bits = u64::BITS - steps.leading_zeros();
        let exponent = bits.saturating_sub(MANTISSA_BITS);
        if exponent >= 1 << EXPONENT_BITS {
            return Self::LONGEST;
        }
        let half = (1 << exponent) >> 1;
        let mantissa = (steps + half) >> exponent;
        if mantissa > u64::from(MOST) {
            // Rounding has made it one bit longer.
            return Self::from_steps(mantissa << exponent);
        }
        Self((exponent << MANTISSA_BITS) as u16 | mantissa as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_that_there_is_comes_back_as_it_is() {
        for bits in 0..=u16::MAX {
            let steps = Brief(bits).steps();
            assert_eq!(Brief::from_steps(steps).steps(), steps, "{bits:#x}");
        }
    }

    #[test]
    fn rounding_goes_over_into_the_next_power_of_two_and_into_the_longest() {
        assert_eq!(Brief::from_steps(8_191).steps(), 8_192);
        assert_eq!(Brief::from_steps((1 << 27) - 1), Brief::LONGEST);
        assert_eq!(Brief::from_steps(1 << 27), Brief::LONGEST);
    }
}
