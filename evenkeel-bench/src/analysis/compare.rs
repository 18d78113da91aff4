//! Compares a few cells of which each has its own spread: one spread for all would hide what a
//! quiet cell shows.

use super::design::Cells;
use super::distribution::t_within;
use super::effects::Estimate;
use super::model::Fit;
use super::variance::Variance;

/// Returns a weighted sum of means, with the interval that holds the true sum with this confidence;
/// `None` if a part has fewer than two values.
///
/// The degrees of freedom are those of Satterthwaite, rounded down.
pub(crate) fn contrast(parts: &[(f64, Vec<f64>)], confidence: f64) -> Option<Estimate> {
    let (mut value, mut variance, mut spread) = (0.0, 0.0, 0.0);
    for (weight, values) in parts {
        let number = values.len() as f64;
        if values.len() < 2 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / number;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let of_mean = weight.powi(2) * squares / (number - 1.0) / number;
        value += weight * mean;
        variance += of_mean;
        spread += of_mean.powi(2) / (number - 1.0);
    }
    // Of one mean it is a whole number, of which rounding must not lose one.
    const ABOVE: f64 = 1.0 + 1e-12;
    let freedom =
        if spread > 0.0 { (variance.powi(2) / spread * ABOVE).floor().max(1.0) } else { 1.0 };
    Some(Estimate::around(value, t_within(confidence, freedom as usize) * variance.sqrt()))
}

/// Returns the mean of some values.
pub(crate) fn mean(values: &[f64], confidence: f64) -> Option<Estimate> {
    contrast(&[(1.0, values.to_vec())], confidence)
}

/// Returns the difference of the means of `one` and `other`.
pub(crate) fn difference(one: &[f64], other: &[f64], confidence: f64) -> Option<Estimate> {
    contrast(&[(1.0, one.to_vec()), (-1.0, other.to_vec())], confidence)
}

/// Returns the ratio of the first to the second of each pair, as the geometric mean over all pairs.
/// All values must be above zero.
pub(crate) fn ratio(pairs: &[(Vec<f64>, Vec<f64>)], confidence: f64) -> Option<Estimate> {
    let weight = 1.0 / pairs.len() as f64;
    let logs = |values: &Vec<f64>| values.iter().map(|value| value.log10()).collect();
    let both = |(one, other): &(Vec<f64>, Vec<f64>)| [(weight, logs(one)), (-weight, logs(other))];
    let parts: Vec<(f64, Vec<f64>)> = pairs.iter().flat_map(both).collect();
    contrast(&parts, confidence).map(|estimate| estimate.as_factor())
}

/// Fits the additive model to cells by row and column, if the design is complete.
pub(crate) fn fit(cells: Cells) -> Option<Fit> {
    let number = cells.first()?.first()?.len();
    let is_whole = cells.len() > 1
        && number > 1
        && cells.iter().all(|row| row.len() > 1 && row.iter().all(|cell| cell.len() == number));
    is_whole.then(|| Fit::of(cells))
}

/// Analyses the variance of such cells.
pub(crate) fn variance(cells: Cells, confidence: f64) -> Option<Variance> {
    Variance::of(&fit(cells)?, confidence).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_difference_is_that_of_welch() {
        // R: t.test(c(1, 2, 3, 4), c(10, 14, 18), conf.level = 0.9)
        let found = difference(&[1.0, 2.0, 3.0, 4.0], &[10.0, 14.0, 18.0], 0.9).unwrap();
        assert!((found.value + 11.5).abs() < 1e-12, "{found:?}");
        // 2.31 degrees of freedom, rounded down to two.
        let half = 2.919_986 * (5.0f64 / 12.0 + 16.0 / 3.0).sqrt();
        assert!((found.high - found.value - half).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn a_mean_has_a_degree_of_freedom_less_than_values() {
        for number in 2..40_u32 {
            for step in 1..40 {
                let of = |place| f64::from(place * place % 17) * 0.1 * f64::from(step) + 1.0;
                let values: Vec<f64> = (0..number).map(of).collect();
                let found = mean(&values, 0.9).unwrap();
                let n = f64::from(number);
                let squares: f64 = values.iter().map(|value| (value - found.value).powi(2)).sum();
                let due = t_within(0.9, number as usize - 1) * (squares / (n - 1.0) / n).sqrt();
                let half = found.high - found.value;
                assert!((half / due - 1.0).abs() < 1e-9, "{number} values: {half}, not {due}");
            }
        }
    }

    #[test]
    fn ratios_of_several_pairs_are_averaged_as_factors() {
        let pair = |factor: f64| (vec![2.0 * factor, 2.0 * factor], vec![2.0, 2.0]);
        let found = ratio(&[pair(4.0), pair(0.25)], 0.9).unwrap();
        assert!((found.value - 1.0).abs() < 1e-12 && found.high - found.low < 1e-12, "{found:?}");
        assert_eq!(ratio(&[(vec![1.0], vec![1.0])], 0.9), None, "one value has no spread");
    }

    #[test]
    fn variance_needs_a_whole_design() {
        let cell = |value: f64| vec![value, value + 0.1];
        let rows = |value| vec![cell(value), cell(value + 1.0)];
        let found = variance(vec![rows(1.0), rows(10.0)], 0.9).unwrap();
        assert!(found.rows.component.share > 0.9 && found.columns.is_significant());
        assert!(variance(vec![rows(1.0)], 0.9).is_none());
        assert!(variance(vec![rows(1.0), vec![cell(1.0), vec![1.0]]], 0.9).is_none());
    }
}
