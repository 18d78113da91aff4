//! Checks the residuals against the model's assumptions about the errors.

use super::distribution::{normal_above, normal_score};
use super::model::{Fit, Model};

/// The ratio of the largest to the smallest response above which effects hardly add. Jain asks for
/// the logarithm when the ratio is "large" and gives no number; a power of ten is an estimate.
const FAR_APART: f64 = 10.0;

/// The least rank correlation at which the spread counts as changing with the prediction: an
/// estimate of what matters.
const TREND: f64 = 0.3;

/// The share of designs in which chance alone makes a trend, or a run far off; only rarer ones are
/// reported.
const CHANCE: f64 = 0.01;

/// The probability below which the residuals do not count as normal: the customary 5 %.
const NORMAL: f64 = 0.05;

/// Figures about the residuals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Checks {
    /// Rank correlation (Spearman's) of the residuals' size with the prediction.
    pub(crate) trend: f64,
    /// The correlation above which a trend is more than chance.
    pub(crate) trend_limit: f64,
    /// Correlation of the sorted residuals with normal scores: 1 for a straight plot.
    pub(crate) normality: f64,
    /// How often normal errors make a plot at most as straight.
    pub(crate) normal_p: f64,
    /// The residual farthest from zero: row, column, and the number of standard deviations.
    pub(crate) farthest: (usize, usize, f64),
    /// The number of standard deviations above which that is more than chance.
    pub(crate) farthest_limit: f64,
}

impl Checks {
    pub(super) fn of(fit: &Fit) -> Self {
        let points: Vec<(f64, f64, usize)> = fit.points().collect();
        let predicted: Vec<f64> = points.iter().map(|(predicted, ..)| *predicted).collect();
        let sizes: Vec<f64> = points.iter().map(|(_, residual, _)| residual.abs()).collect();
        let plot: Vec<(f64, f64)> = quantiles(fit).into_iter().map(|(x, y, _)| (x, y)).collect();
        let (scores, sorted): (Vec<f64>, Vec<f64>) = plot.into_iter().unzip();
        let normality = correlation(&scores, &sorted);
        let number = points.len() as f64;
        let freedom = points.len() - points.len() / fit.replications;
        let free = freedom as f64 - 1.0;
        let deviation = (sizes.iter().map(|s| s * s).sum::<f64>() / freedom as f64).sqrt();
        let mut farthest = (0, 0, 0.0f64);
        for (row, line) in fit.residuals.iter().enumerate() {
            for (column, cell) in line.iter().enumerate() {
                for residual in cell.iter().map(|residual| residual / deviation) {
                    if residual.abs() > farthest.2.abs() {
                        farthest = (row, column, residual);
                    }
                }
            }
        }
        Self {
            trend: correlation(&ranks(&predicted), &ranks(&sizes)),
            // Without a trend the deviation of a rank correlation of n values is 1 / √(n - 1). The
            // residuals of a cell depend on each other: one of them follows from the rest.
            trend_limit: TREND.max(normal_score(1.0 - CHANCE / 2.0) / free.max(1.0).sqrt()),
            normality,
            normal_p: normal_p(normality, points.len()),
            farthest,
            // Each of the `number` normal variates has its share of the chance.
            farthest_limit: normal_score(1.0 - CHANCE / 2.0 / number),
        }
    }

    /// Returns the verdicts, one sentence each. `range` is that of the responses themselves, and
    /// `name` names a cell.
    pub(crate) fn words(
        &self,
        model: Model,
        range: Option<f64>,
        name: impl Fn(usize, usize) -> String,
    ) -> Vec<String> {
        let logs = model == Model::Multiplicative;
        let mut words = Vec::new();
        words.push(match range {
            None => "Range: not all responses are positive, so there is no logarithm to take."
                .to_owned(),
            Some(ratio) => format!(
                "Range: the largest response is {} times the smallest: {}.",
                suite::words::figure(ratio),
                match (ratio > FAR_APART, logs) {
                    (true, false) =>
                        "too far apart for effects that add; prefer the multiplicative model",
                    (true, true) => "far apart, which is what the logarithm is for",
                    (false, false) => "no reason against effects that add",
                    (false, true) => "near enough for effects that add, too",
                },
            ),
        });
        words.push(format!(
            "Spread: the residuals' size has the rank correlation {:.2} with the prediction: {}.",
            self.trend,
            match (self.trend > self.trend_limit, self.trend < -self.trend_limit, logs) {
                (true, _, false) => {
                    "it grows with the response, so intervals are too narrow for slow rows and too wide \
                     for fast ones; prefer the multiplicative model"
                }
                (true, _, true) => "it grows with the response even in the logarithm; intervals are rough",
                (_, true, false) => "it shrinks as the response grows; intervals are rough",
                (_, true, true) => {
                    "it shrinks as the response grows, as a constant disturbance does; intervals are rough"
                }
                _ => "no trend",
            },
        ));
        words.push(format!(
            "Normality: the quantile-quantile plot has the correlation {:.4} (p {}): {}.",
            self.normality,
            super::numbers::probability(self.normal_p),
            if self.normal_p < NORMAL {
                "the errors are not normal; F and the intervals are approximate"
            } else {
                "nothing against normal errors"
            },
        ));
        let (row, column, deviations) = self.farthest;
        if deviations.abs() > self.farthest_limit {
            words.push(format!(
                "Farthest: a run of {} is {:.1} standard deviations {} its mean; look whether it was \
                 disturbed.",
                name(row, column),
                deviations.abs(),
                if deviations > 0.0 { "above" } else { "below" },
            ));
        }
        words
    }
}

/// Returns the ratio of the largest to the smallest value; `None` if one is not positive.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (min, max) = values.fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(v), b.max(v)));
    (min > 0.0 && max.is_finite()).then(|| max / min)
}

/// Makes the normal quantile-quantile plot: score, residual and column, ascending. Scores are
/// Blom's.
pub(crate) fn quantiles(fit: &Fit) -> Vec<(f64, f64, usize)> {
    let mut residuals: Vec<(f64, usize)> = fit.points().map(|(_, r, column)| (r, column)).collect();
    residuals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let number = residuals.len() as f64;
    let score = |rank: usize| normal_score((rank as f64 + 0.625) / (number + 0.25));
    residuals.into_iter().enumerate().map(|(rank, (r, column))| (score(rank), r, column)).collect()
}

/// Returns how often `number` normal variates make a quantile-quantile plot with at most this
/// correlation: Royston's approximation for the test of Shapiro and Francia (*A pocket-calculator
/// algorithm for the Shapiro-Francia test*, Statistics in Medicine 12, 1993), good for 5 to 5,000
/// variates. Residuals are a little less free than variates, so it is approximate.
fn normal_p(correlation: f64, number: usize) -> f64 {
    let u = (number as f64).ln();
    let v = u.ln();
    let mean = -1.2725 + 1.0521 * (v - u);
    let deviation = 1.0308 - 0.26758 * (v + 2.0 / u);
    normal_above(((1.0 - correlation * correlation).ln() - mean) / deviation)
}

/// Returns Pearson's correlation; 0 if either side does not vary.
fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_x, mean_y) = (mean(x), mean(y));
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| f(x - mean_x, y - mean_y)).sum()
    };
    let (both, of_x, of_y) = (sum(&|x, y| x * y), sum(&|x, _| x * x), sum(&|_, y| y * y));
    if of_x * of_y > 0.0 { both / (of_x * of_y).sqrt() } else { 0.0 }
}

/// Returns the ranks, from 1; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        for index in tied {
            ranks[*index] = before as f64 + f64::midpoint(1.0, tied.len() as f64);
        }
        before += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }

    #[test]
    fn a_straight_plot_is_no_evidence_against_normal_errors() {
        // Five percent of normal samples of 50 have less than 0.9769 (by simulation, 20,000
        // samples).
        assert!((normal_p(0.9769, 50) - 0.05).abs() < 0.005);
        assert!((normal_p(0.99846, 1000) - 0.05).abs() < 0.005);
        assert!(normal_p(0.9, 50) < 0.001 && normal_p(0.995, 50) > 0.5);
    }

    #[test]
    fn a_run_far_off_is_told() {
        let cell = |last: f64| vec![1.0, 1.1, 0.9, 1.05, 0.95, last];
        let words = |last: f64| {
            let fit = Fit::of(vec![vec![cell(1.0), cell(1.0)], vec![cell(last), cell(1.0)]]);
            Checks::of(&fit).words(Model::Additive, None, |row, column| format!("{row},{column}"))
        };
        assert!(!words(1.1).join(" ").contains("Farthest"));
        // 5/3 above its mean; the errors' mean square is 3.43 / 20.
        let told = words(3.0).join(" ");
        assert!(told.contains("Farthest: a run of 1,0 is 4.0 standard deviations above"), "{told}");
    }

    #[test]
    fn residuals_that_grow_are_told() {
        let cell = |middle: f64| [-1.0, 0.5, -0.3, 0.8].map(|e| middle * (1.0 + e / 10.0)).to_vec();
        let cells = |row: usize| (0..4).map(|j| cell(10f64.powi((row * 4 + j) as i32))).collect();
        let fit = Fit::of((0..4).map(cells).collect());
        let words = Checks::of(&fit).words(Model::Additive, Some(1e15), |_, _| String::new());
        assert!(words[0].contains("prefer the multiplicative model"), "{words:?}");
        assert!(words[1].contains("it grows with the response"), "{words:?}");
    }

    #[test]
    fn the_range_needs_positive_responses() {
        assert_eq!(range([2.0, 8.0].into_iter()), Some(4.0));
        assert_eq!(range([0.0, 8.0].into_iter()), None);
    }
}
