//! The delays of the light tasks of a run, and their percentiles.

use serde::Deserialize;

use crate::heat::{Cell, Heat};

/// The fewest delays of which 1 in 100, and 1 in 1,000, is a figure.
const ENOUGH: (usize, usize) = (100, 1_000);

/// The delays of one kind. A task that never ran is later than any that did: a percentile that
/// falls on such a task has no value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct Delays {
    /// The number of tasks.
    pub(crate) count: usize,
    /// The number of those that never ran.
    pub(crate) never: usize,
    /// The delay that half of the tasks do not exceed, in microseconds, as all of them.
    pub(crate) p50: Option<f64>,
    /// The delay that 99 of 100 do not exceed.
    pub(crate) p99: Option<f64>,
    /// The delay that 999 of 1,000 do not exceed.
    pub(crate) p999: Option<f64>,
    /// The longest.
    pub(crate) max: Option<f64>,
    /// How often each delay occurred when.
    pub(crate) heat: Vec<Cell>,
}

/// When a task was sent, in nanoseconds of the run, and its delay in nanoseconds if it has run.
pub(crate) type Sent = (u64, Option<u64>);

impl Delays {
    /// Summarises the tasks of a run that took `time` nanoseconds.
    pub(crate) fn of(sent: &[Sent], time: u64) -> Self {
        let mut ran: Vec<u64> = sent.iter().filter_map(|(_, delay)| *delay).collect();
        ran.sort_unstable();
        let count = sent.len();
        let at = |share: f64| micros(&ran, count, share);
        Self {
            count,
            never: count - ran.len(),
            p50: at(0.5),
            p99: at(0.99).filter(|_| count >= ENOUGH.0),
            p999: at(0.999).filter(|_| count >= ENOUGH.1),
            max: at(1.0),
            heat: Heat::of(sent, time).cells(),
        }
    }
}

/// Returns the value of sorted nanoseconds, in microseconds, that this share of `count` values does
/// not exceed, where those that are missing are the largest.
pub(crate) fn micros(sorted: &[u64], count: usize, share: f64) -> Option<f64> {
    // The product of a share and a count may be a little more than the whole number it stands for.
    let rank = (share * count as f64 - 1e-9).ceil() as usize;
    sorted.get(rank.max(1) - 1).map(|&nanos| nanos as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(ran: usize, never: usize) -> Vec<Sent> {
        let ran = (1..=ran).map(|micros| (0, Some(micros as u64 * 1_000)));
        ran.chain((0..never).map(|_| (0, None))).collect()
    }

    #[test]
    fn percentiles_are_the_delays_that_so_many_tasks_do_not_exceed() {
        let Delays { count, never, p50, p99, p999, max, .. } = Delays::of(&sent(1_000, 0), 1);
        assert_eq!((count, never), (1_000, 0));
        assert_eq!([p50, p99, p999, max], [500.0, 990.0, 999.0, 1_000.0].map(Some));
    }

    #[test]
    fn a_percentile_that_falls_on_tasks_that_never_ran_has_no_value() {
        let Delays { count, never, p50, p99, p999, max, .. } = Delays::of(&sent(1_980, 20), 1);
        assert_eq!((count, never), (2_000, 20));
        assert_eq!([p50, p99, p999, max], [Some(1_000.0), Some(1_980.0), None, None]);
        assert_eq!(Delays::of(&sent(0, 5), 1).p50, None);
        assert_eq!(Delays::of(&[], 1).p50, None);
    }

    #[test]
    fn few_tasks_have_no_rare_delays() {
        let of = |count| Delays::of(&sent(count, 0), 1);
        assert_eq!((of(99).p99, of(99).max), (None, Some(99.0)));
        assert!(of(999).p99.is_some() && of(999).p999.is_none());
    }
}
