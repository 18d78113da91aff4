//! Ticks at round values, few enough that their labels never meet.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;

use suite::words;

/// A linear coordinate with exactly the given ticks.
///
/// Plotters' own choice of ticks falls between measured numbers of processors.
pub(super) struct Ticked {
    range: RangedCoordf64,
    ticks: Vec<f64>,
}

impl Ticked {
    /// Creates the coordinate from one end of the range to the other.
    pub(super) fn new(range: Range<f64>, ticks: Vec<f64>) -> Self {
        Self { range: range.into(), ticks }
    }
}

impl Ranged for Ticked {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.range.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Light points would make a finer grid between the ticks, which is not wanted.
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.range.range()
    }
}

/// An axis: its ends, and the positions of its ticks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) ticks: Vec<f64>,
    /// The decimals that tell neighbouring ticks apart.
    decimals: usize,
}

impl Axis {
    /// Creates an axis from zero to a round value at or above `max`, in at most `steps` steps.
    pub(super) fn from_zero(max: f64, steps: u32) -> Self {
        Self::covering(0.0, if max > 0.0 { max } else { 1.0 }, steps)
    }

    /// Creates an axis between round values at or beyond `min` and `max`, in about `steps` steps.
    pub(super) fn covering(min: f64, max: f64, steps: u32) -> Self {
        let span = if max > min { max - min } else { 1.0 };
        let rough = span / f64::from(steps);
        let magnitude = 10f64.powf(rough.log10().floor());
        // The factor forgives rounding in the division, so that 0.3 / 0.1 makes three steps.
        let fits = |step: &f64| rough <= step * magnitude * 1.000_001;
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(fits).unwrap_or(10.0);
        let halved = if step == 2.5 { 1.0 } else { 0.0 };
        let decimals = (halved - (step * magnitude).log10().floor()).max(0.0) as usize;
        let step = step * magnitude;
        let first = (min / step + 1e-6).floor() as i64;
        let last = (max / step - 1e-6).ceil() as i64;
        let ticks: Vec<f64> = (first..=last.max(first + 1)).map(|i| i as f64 * step).collect();
        Self { start: ticks[0], end: ticks[ticks.len() - 1], ticks, decimals }
    }

    /// Returns the label of a tick.
    pub(super) fn label(&self, tick: f64) -> String {
        match self.decimals {
            0 => words::thousands(tick.round() as i64),
            // Zero has no sign.
            decimals => format!("{:.decimals$}", tick + 0.0),
        }
    }
}

/// Returns round factors that cover `min` and `max` around 1: 1, 2 and 5 times powers of ten, or,
/// if the two are close together, steps between.
pub(super) fn factors(min: f64, max: f64, steps: u32) -> Vec<f64> {
    /// The ratio of the ends below which steps of equal size look right on a logarithmic axis.
    const CLOSE: f64 = 4.0;
    /// The most ticks with labels that do not touch.
    const MOST: usize = 7;
    if max / min < CLOSE {
        return Axis::covering(min, max, steps).ticks.into_iter().filter(|t| *t > 0.0).collect();
    }
    let (low, high) = (min.log10().floor() as i32, max.log10().ceil() as i32);
    let of = |digits: &[f64]| -> Vec<f64> {
        let all = (low..=high).flat_map(|p| digits.iter().map(move |d| d * 10f64.powi(p)));
        let all: Vec<f64> = all.collect();
        let first = all.iter().rposition(|t| *t <= min * 1.000_001).unwrap_or(0);
        let last = all.iter().position(|t| *t >= max / 1.000_001).unwrap_or(all.len() - 1);
        all[first..=last].to_vec()
    };
    let fine = of(&[1.0, 2.0, 5.0]);
    if fine.len() <= MOST { fine } else { of(&[1.0]) }
}

/// Returns the label of a power of ten.
pub(super) fn power(exponent: i32) -> String {
    let value = 10f64.powi(exponent);
    match exponent {
        ..0 => format!("{value:.*}", exponent.unsigned_abs() as usize),
        0.. => words::thousands(value.round() as i64),
    }
}

/// Returns the label of a factor.
pub(super) fn factor(factor: f64) -> String {
    match factor {
        f if f >= 1_000.0 => words::thousands(f.round() as i64),
        // Three digits tell neighbouring ticks apart; trailing zeros are cut.
        f => {
            let decimals = (2 - f.log10().floor() as i32).max(0) as usize;
            let text = format!("{f:.decimals$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
    }
}

/// Returns the measured numbers of processors that get a label: always the first and the last,
/// others where there is room for a label.
pub(super) fn processors(measured: &[usize]) -> Vec<usize> {
    /// The share of the axis for a label with three digits and some margin.
    const LABEL: f64 = 0.08;
    let (Some(&first), Some(&last)) = (measured.first(), measured.last()) else {
        return Vec::new();
    };
    let distance = (last - first) as f64 * LABEL;
    let mut labelled = vec![first];
    for &procs in measured {
        let previous = labelled[labelled.len() - 1];
        let clear = (procs - previous) as f64 >= distance && (last - procs) as f64 >= distance;
        if procs != previous && (clear || procs == last) {
            labelled.push(procs);
        }
    }
    labelled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_values() {
        let labels = |max| {
            let axis = Axis::from_zero(max, 5);
            axis.ticks.iter().map(|&t| axis.label(t)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels(41.0), "0 10 20 30 40 50");
        assert_eq!(labels(50.0), "0 10 20 30 40 50");
        assert_eq!(labels(0.9), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(labels(12.0), "0.0 2.5 5.0 7.5 10.0 12.5");
        assert_eq!(labels(5_200.0), "0 2,000 4,000 6,000");
        assert_eq!(Axis::from_zero(0.0, 5).end, 1.0);
    }

    #[test]
    fn axes_cover_both_sides_of_zero() {
        let axis = Axis::covering(-0.3, 0.95, 4);
        let labels: Vec<String> = axis.ticks.iter().map(|&t| axis.label(t)).collect();
        assert_eq!(labels, ["-0.5", "0.0", "0.5", "1.0"]);
        assert_eq!((axis.start, axis.end), (-0.5, 1.0));
        // Nothing to cover still makes an axis.
        let axis = Axis::covering(2.0, 2.0, 4);
        assert!(axis.start <= 2.0 && axis.end > axis.start, "{axis:?}");
    }

    #[test]
    fn factors_are_round() {
        let labels =
            |min, max| factors(min, max, 4).into_iter().map(factor).collect::<Vec<_>>().join(" ");
        assert_eq!(labels(0.9, 1.2), "0.9 1 1.1 1.2");
        assert_eq!(labels(0.3, 3.0), "0.2 0.5 1 2 5");
        assert_eq!(labels(0.002, 900.0), "0.001 0.01 0.1 1 10 100 1,000");
    }

    #[test]
    fn processors_in_a_crowd_stay_unlabelled() {
        assert_eq!(processors(&[1, 2]), [1, 2]);
        assert_eq!(processors(&[8]), [8]);
        assert_eq!(processors(&[1, 2, 4, 8, 16, 32, 64]), [1, 8, 16, 32, 64]);
        assert_eq!(processors(&[1, 60, 64]), [1, 64]);
    }
}
