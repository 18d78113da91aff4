//! Published figures of a case, shown beside the measured ones.
//!
//! Papers give an average and a standard deviation. So do experiments that are shown beside a
//! paper, as well as the median and the extremes by which they are compared.

use std::fmt;

use super::description::Description;
use super::rows::Row;
use crate::words;

/// A published figure of a case. No verdict rests on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The system measured: the heading of its column.
    pub system: &'static str,
    /// Its median.
    pub median: f64,
    /// The figure, as it was published.
    pub figure: String,
}

/// The average of some runs, and their scatter about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Average {
    mean: f64,
    /// The standard deviation of a sample.
    deviation: f64,
}

impl Average {
    /// Returns the average of some runs; `None` if there are fewer than two or one did not
    /// complete.
    pub fn of(runs: &[f64]) -> Option<Self> {
        let number = runs.len() as f64;
        let mean = runs.iter().sum::<f64>() / number;
        let squares: f64 = runs.iter().map(|run| (run - mean).powi(2)).sum();
        let deviation = (squares / (number - 1.0)).sqrt();
        (runs.len() > 1 && deviation.is_finite()).then_some(Self { mean, deviation })
    }
}

/// Formats such as `46.1 ± 0.74`.
impl fmt::Display for Average {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ± {}", words::figure(self.mean), words::figure(self.deviation))
    }
}

/// The explanation of measured averages beside published figures.
pub const FORM: &str = "Average: of the runs that count, ± their standard deviation.";

/// Returns the systems with a published figure in any of these rows.
pub fn systems(of: &Description, rows: &[Row<'_>]) -> Vec<&'static str> {
    let mut systems = Vec::new();
    for Published { system, .. } in rows.iter().flat_map(|row| (of.published)(row.case)) {
        if !systems.contains(&system) {
            systems.push(system);
        }
    }
    systems
}

/// Returns a system's figure for this row, if there is one.
pub fn figure(of: &Description, row: &Row<'_>, system: &str) -> Option<String> {
    let mut published = (of.published)(row.case).into_iter();
    published.find(|one| one.system == system).map(|one| one.figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_is_of_two_runs_at_least_that_all_completed() {
        let text = |runs: &[f64]| Average::of(runs).map(|average| average.to_string());
        assert_eq!(text(&[46.0, 47.0, 48.0]).as_deref(), Some("47.0 ± 1.00"));
        assert_eq!(text(&[38.0, 38.0]).as_deref(), Some("38.0 ± 0.00"));
        assert_eq!((text(&[]), text(&[38.0]), text(&[38.0, f64::INFINITY])), (None, None, None));
    }
}
