//! Effects with their confidence intervals.

use super::distribution::t_within;
use super::model::Fit;

/// A figure and the interval that holds the true figure with the requested confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Estimate {
    /// Returns the interval around a value.
    pub(super) fn around(value: f64, half: f64) -> Self {
        Self { value, low: value - half, high: value + half }
    }

    /// Returns whether the effect could be zero.
    pub(crate) fn includes_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// Converts an effect on logarithms to a factor.
    pub(crate) fn as_factor(&self) -> Self {
        let [value, low, high] = [self.value, self.low, self.high].map(|v| 10f64.powf(v));
        Self { value, low, high }
    }
}

/// All effects of a fit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Effects {
    pub(crate) mean: Estimate,
    pub(crate) rows: Vec<Estimate>,
    pub(crate) columns: Vec<Estimate>,
    pub(crate) interactions: Vec<Vec<Estimate>>,
}

impl Effects {
    /// Gives each effect of a fit its interval, from the errors' mean square. An effect that takes
    /// `d` degrees of freedom out of `abr` observations has the variance `s² d / abr`, where `d` is
    /// 1 for the mean.
    pub(super) fn of(fit: &Fit, mean_square: f64, confidence: f64) -> Self {
        let (a, b, r) = (fit.rows.len(), fit.columns.len(), fit.replications);
        let t = t_within(confidence, a * b * (r - 1));
        let half = |freedom: usize| t * (mean_square * freedom as f64 / (a * b * r) as f64).sqrt();
        let around = |half: f64| move |value: &f64| Estimate::around(*value, half);
        let both = half((a - 1) * (b - 1));
        Self {
            mean: Estimate::around(fit.mean, half(1)),
            rows: fit.rows.iter().map(around(half(a - 1))).collect(),
            columns: fit.columns.iter().map(around(half(b - 1))).collect(),
            interactions: fit
                .interactions
                .iter()
                .map(|line| line.iter().map(around(both)).collect())
                .collect(),
        }
    }
}
