//! Summarises many runs as one figure.

/// The median and the extremes of some runs.
///
/// A run that did not complete counts as infinitely bad: the median is infinite when at least half
/// of the runs did not complete.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The value that half of the runs do not exceed.
    pub median: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
    /// The number of runs.
    pub runs: usize,
    /// The number of runs that did not complete.
    pub incomplete: usize,
}

impl Summary {
    /// Summarises the values; `None` if there are none.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let half = values.len() / 2;
        let median = match values.len() % 2 {
            1 => values[half],
            _ => f64::midpoint(values[half - 1], values[half]),
        };
        let incomplete = values.iter().filter(|v| v.is_infinite()).count();
        Some(Self { median, min, max, runs: values.len(), incomplete })
    }

    /// Returns whether the ranges of the two overlap.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min <= other.max && other.min <= self.max
    }

    /// Returns whether the median is a figure, and not "did not complete".
    pub fn completed(&self) -> bool {
        self.median.is_finite()
    }
}
