//! The record of a simulation of Figure 4.

use serde::{Deserialize, Serialize};

use super::Memories;
use evenkeel_sim::coretime::{Mode, Outcome, Popularity, Unit};
use suite::summary::Summary;

/// The name of the experiment.
pub(crate) const NAME: &str = "directory";

/// One total size, with or without homes, over all seeds. Figures are medians, unless they are a
/// list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Always true: the figures are not from a real core.
    pub(crate) simulated: bool,
    /// `threads` or `objects`.
    pub(crate) runtime: String,
    pub(crate) bench: String,
    /// `uniform`, `oscillating` in phases with equal numbers of resolutions, or `oscillating in
    /// time` in phases of equal time. Each comes plain, with lines that may come `from caches`, or
    /// with `one line ahead`.
    pub(crate) variant: String,
    /// The total size of all directories.
    pub(crate) kib: u64,
    pub(crate) directories: usize,
    pub(crate) workers: usize,
    /// The number of seeds.
    pub(crate) reps: usize,
    /// Thousand resolutions per simulated second.
    pub(crate) thousands_median: f64,
    pub(crate) thousands_min: f64,
    pub(crate) thousands_max: f64,
    /// The same rate for each seed.
    pub(crate) thousands: Vec<f64>,
    /// Busy time of all cores over all time; a core that spins is busy.
    pub(crate) busy: f64,
    /// The number of homes changed by rebalancing, including the warm-up.
    pub(crate) moves: f64,
    /// The result of the trials at the end of the first seed.
    pub(crate) verdict: String,
}

impl Record {
    /// Returns the name of a mode, which takes the place of a runtime.
    pub(super) fn runtime(mode: Mode) -> &'static str {
        match mode {
            Mode::Threads => "threads",
            Mode::Objects { .. } => "objects",
        }
    }

    pub(super) fn variant(popularity: Popularity, unit: Unit, memories: Memories) -> String {
        let popularity = match (popularity, unit) {
            (Popularity::Uniform, _) => "uniform",
            (Popularity::Oscillating, Unit::Work) => "oscillating",
            (Popularity::Oscillating, Unit::Time) => "oscillating in time",
        };
        popularity.to_owned()
            + match memories {
                Memories::Usual => "",
                Memories::FromCaches => ", from caches",
                Memories::OneAhead => ", one line ahead",
            }
    }

    /// Returns the summary of all seeds, in thousand resolutions per second.
    pub(crate) fn summary(&self) -> Option<Summary> {
        Summary::of(self.thousands.clone())
    }
}

/// Returns the median of a figure over the seeds.
pub(super) fn median(outcomes: &[Outcome], of: impl Fn(&Outcome) -> f64) -> f64 {
    Summary::of(outcomes.iter().map(of).collect()).map_or(f64::NAN, |summary| summary.median)
}
