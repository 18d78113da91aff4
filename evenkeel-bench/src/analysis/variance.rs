//! The analysis of variance: which part of the variation each factor explains, and whether chance
//! could have caused it.

use super::design::all_equal;
use super::distribution::{f_above, f_below};
use super::error::Error;
use super::model::Fit;

/// The least variation that is analysed. Its parts may be smaller by the square of the rounding
/// unit; below this limit they would lose digits, as numbers near zero do, or vanish.
const LEAST: f64 = f64::MIN_POSITIVE / (f64::EPSILON * f64::EPSILON);

/// One source of variation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Component {
    pub(crate) squares: f64,
    /// Share of the variation around the mean, 0 to 1.
    pub(crate) share: f64,
    pub(crate) freedom: usize,
    pub(crate) mean_square: f64,
}

/// A source of variation beside the errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Test {
    /// The source itself.
    pub(crate) component: Component,
    /// Its mean square over the errors'.
    pub(crate) f: f64,
    /// The F value that chance stays below with the requested confidence.
    pub(crate) f_table: f64,
    /// The probability that chance alone makes an F as large.
    pub(crate) p: f64,
}

impl Test {
    /// Returns whether more than chance is at work, at the requested confidence.
    pub(crate) fn is_significant(&self) -> bool {
        self.f > self.f_table
    }
}

/// The table of the analysis of variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Variance {
    /// The number of observations: the degrees of freedom of `y`.
    pub(crate) observations: usize,
    /// The sum of the squared observations.
    pub(crate) y: f64,
    /// The sum of squares of the mean, once for every observation.
    pub(crate) mean: f64,
    /// The sum of squares around the mean: the sum of the four components below.
    pub(crate) total: f64,
    /// Factor A.
    pub(crate) rows: Test,
    /// Factor B.
    pub(crate) columns: Test,
    /// The interactions AB.
    pub(crate) interactions: Test,
    pub(crate) errors: Component,
}

impl Variance {
    /// Analyses a fit. Returns an error if its squares cannot be added or its cells have no errors.
    pub(super) fn of(fit: &Fit, confidence: f64) -> Result<Self, Error> {
        let (a, b, r) = (fit.rows.len(), fit.columns.len(), fit.replications);
        let n = a * b * r;
        let squares = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>();
        let times = |number: usize, squares: f64| number as f64 * squares;
        let y = squares(&mut fit.observed.iter().flatten().flatten().copied());
        let mean = times(n, fit.mean * fit.mean);
        let around = fit.observed.iter().flatten().flatten().map(|y| y - fit.mean);
        let total = squares(&mut { around });
        if !(y.is_finite() && total.is_finite()) {
            return Err(Error::TooLarge);
        }
        // Different responses may have the same logarithm.
        if all_equal(&fit.observed) {
            return Err(Error::ZeroVariance);
        }
        if total < LEAST {
            return Err(Error::TooSmall);
        }
        let component = |squares: f64, freedom: usize| Component {
            squares,
            share: squares / total,
            freedom,
            mean_square: squares / freedom as f64,
        };
        let errors = squares(&mut fit.residuals.iter().flatten().flatten().copied());
        let errors = component(errors, a * b * (r - 1));
        let test = |component: Component| {
            let f = component.mean_square / errors.mean_square;
            Test {
                component,
                f,
                f_table: f_below(confidence, component.freedom, errors.freedom),
                p: f_above(f, component.freedom, errors.freedom),
            }
        };
        let rows = times(b * r, squares(&mut fit.rows.iter().copied()));
        let columns = times(a * r, squares(&mut fit.columns.iter().copied()));
        let interactions = times(r, squares(&mut fit.interactions.iter().flatten().copied()));
        Ok(Self {
            observations: n,
            y,
            mean,
            total,
            rows: test(component(rows, a - 1)),
            columns: test(component(columns, b - 1)),
            interactions: test(component(interactions, (a - 1) * (b - 1))),
            errors,
        })
    }
}
