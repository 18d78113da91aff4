//! Many runs as one figure.

/// Median and extremes of some runs.
///
/// A run that did not complete counts as infinitely bad: the median is infinite when half of the
/// runs or more did not complete.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Half of the runs are as low at most.
    pub median: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
    /// How many there are.
    pub runs: usize,
    /// How many of them did not complete.
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

    /// Whether a value of one might as well be one of the other.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min <= other.max && other.min <= self.max
    }

    /// Whether the median is a figure, and not "did not complete".
    pub fn completed(&self) -> bool {
        self.median.is_finite()
    }
}
