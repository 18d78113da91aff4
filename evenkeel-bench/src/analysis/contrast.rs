//! Compares two columns: their difference over all rows, and in each row.

use super::design::Factor;
use super::distribution::t_within;
use super::effects::Estimate;
use super::error::Error;
use super::known;
use super::model::Fit;
use super::options::Pair;

/// The difference between the first and the second of two columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Contrast {
    /// Indices of the columns.
    pub(crate) pair: (usize, usize),
    /// The difference over all rows, each with the same weight.
    pub(crate) overall: Estimate,
    /// The difference within each row.
    pub(crate) rows: Vec<Estimate>,
}

impl Contrast {
    /// Compares two columns. Two means of `m` observations each have a difference with the variance
    /// `2 s² / m`.
    pub(super) fn of(fit: &Fit, mean_square: f64, confidence: f64, pair: (usize, usize)) -> Self {
        let (a, b, r) = (fit.rows.len(), fit.columns.len(), fit.replications);
        let t = t_within(confidence, a * b * (r - 1));
        let half = |observations: usize| t * (2.0 * mean_square / observations as f64).sqrt();
        let (one, other) = pair;
        let row = |line: &Vec<f64>| Estimate::around(line[one] - line[other], half(r));
        Self {
            pair,
            overall: Estimate::around(fit.columns[one] - fit.columns[other], half(a * r)),
            rows: fit.predicted.iter().map(row).collect(),
        }
    }
}

/// Returns the columns to compare: those asked for, or else the subject of a family with every
/// other column. Without a subject the first column takes its place.
pub(super) fn pairs(columns: &Factor, asked: &[Pair]) -> Result<Vec<(usize, usize)>, Error> {
    let place = |name: &String| {
        columns.levels.iter().position(|level| level == name).ok_or_else(|| {
            Error::UnknownContrast {
                field: columns.name(),
                name: name.clone(),
                known: columns.levels.clone(),
            }
        })
    };
    if !asked.is_empty() {
        return asked.iter().map(|Pair(one, other)| Ok((place(one)?, place(other)?))).collect();
    }
    let place = |subject: &str| columns.levels.iter().position(|level| level == subject);
    let subject = known::subjects().find_map(place).unwrap_or(0);
    let others = (0..columns.levels.len()).filter(|other| *other != subject);
    Ok(others.map(|other| (subject, other)).collect())
}
