//! Latencies, with their common and their rarest values.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The resolution of a histogram: three digits.
const DIGITS: u8 = 3;
/// The longest latency that is told from longer ones, in nanoseconds: ten minutes, longer than any
/// run.
const LONGEST: u64 = 600_000_000_000;

/// Latencies of one kind in one run.
#[derive(Debug)]
pub struct Latencies(Histogram<u64>);

/// The quantiles of some latencies, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// Half of them are at most this long.
    pub p50: f64,
    /// Of 100, 99 are at most this long.
    pub p99: f64,
    /// Of 1,000, 999 are at most this long.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}

impl Default for Latencies {
    /// Creates an empty set.
    fn default() -> Self {
        Latencies(Histogram::new_with_bounds(1, LONGEST, DIGITS).expect("the bounds are in order"))
    }
}

impl Latencies {
    /// Adds one.
    pub fn add(&mut self, latency: Duration) {
        self.add_nanos(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Adds one, given in nanoseconds.
    #[inline]
    pub fn add_nanos(&mut self, nanos: u64) {
        self.0.saturating_record(nanos);
    }

    /// Adds all of another set.
    pub fn absorb(&mut self, other: &Self) {
        // Both have the same bounds.
        self.0.add(&other.0).expect("the other set has the same bounds");
    }

    /// Returns the number of latencies.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns the quantiles; all zero if there are no latencies.
    pub fn quantiles(&self) -> Quantiles {
        let at = |quantile| self.0.value_at_quantile(quantile) as f64 / 1e3;
        Quantiles { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: self.0.max() as f64 / 1e3 }
    }
}

impl Extend<u64> for Latencies {
    /// Adds latencies in nanoseconds.
    fn extend<I: IntoIterator<Item = u64>>(&mut self, nanos: I) {
        nanos.into_iter().for_each(|nanos| self.add_nanos(nanos));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_microseconds_to_three_digits() {
        let mut latencies = Latencies::default();
        latencies.extend((1..=1_000).map(|micros| micros * 1_000));
        let Quantiles { p50, p99, p999, max } = latencies.quantiles();
        for (seen, due) in [(p50, 500.0), (p99, 990.0), (p999, 999.0), (max, 1_000.0)] {
            assert!((seen / due - 1.0_f64).abs() < 0.002, "{seen} for {due}");
        }
        assert_eq!(latencies.count(), 1_000);
        let mut both = Latencies::default();
        both.absorb(&latencies);
        both.absorb(&latencies);
        assert_eq!((both.count(), both.quantiles()), (2_000, latencies.quantiles()));
    }

    #[test]
    fn no_latencies_are_zero_and_endless_ones_are_kept() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.quantiles(), Quantiles { p50: 0.0, p99: 0.0, p999: 0.0, max: 0.0 });
        latencies.add(Duration::from_secs(86_400));
        assert!(latencies.quantiles().max >= 600e6);
    }
}
