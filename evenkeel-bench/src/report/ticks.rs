//! Ticks at round values, few enough that their labels never meet.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;

use crate::words;

/// A linear coordinate whose ticks are exactly the given ones.
///
/// Plotters' own choice of ticks falls between measured numbers of processors.
pub(super) struct Ticked {
    range: RangedCoordf64,
    ticks: Vec<f64>,
}

impl Ticked {
    /// The coordinate from one end of the range to the other.
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
        // Light points would be the finer grid between the ticks, and there is none.
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.range.range()
    }
}

/// An axis from zero: its end, and where its ticks are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) end: f64,
    pub(super) ticks: Vec<f64>,
    /// Decimals that tell neighbouring ticks apart.
    decimals: usize,
}

impl Axis {
    /// An axis that reaches from zero to a round value at or above `max`, in at most `steps` steps.
    pub(super) fn from_zero(max: f64, steps: u32) -> Self {
        let max = if max > 0.0 { max } else { 1.0 };
        let rough = max / f64::from(steps);
        let magnitude = 10f64.powf(rough.log10().floor());
        // The factor forgives rounding in the division, so that 0.3 / 0.1 makes three steps.
        let fits = |step: &f64| rough <= step * magnitude * 1.000_001;
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(fits).unwrap_or(10.0);
        let halved = if step == 2.5 { 1.0 } else { 0.0 };
        let decimals = (halved - (step * magnitude).log10().floor()).max(0.0) as usize;
        let step = step * magnitude;
        let steps = (max / step - 1e-6).ceil() as u32;
        let ticks: Vec<f64> = (0..=steps).map(|i| f64::from(i) * step).collect();
        Self { end: f64::from(steps) * step, ticks, decimals }
    }

    /// The label of a tick.
    pub(super) fn label(&self, tick: f64) -> String {
        match self.decimals {
            0 => words::thousands(tick.round() as i64),
            decimals => format!("{tick:.decimals$}"),
        }
    }
}

/// The measured numbers of processors that get a label: first and last always, others where
/// they keep the distance of a label.
pub(super) fn processors(measured: &[usize]) -> Vec<usize> {
    /// A label with three digits takes this share of the axis, with some air.
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
    fn processors_in_a_crowd_stay_unlabelled() {
        assert_eq!(processors(&[1, 2]), [1, 2]);
        assert_eq!(processors(&[8]), [8]);
        assert_eq!(processors(&[1, 2, 4, 8, 16, 32, 64]), [1, 8, 16, 32, 64]);
        assert_eq!(processors(&[1, 60, 64]), [1, 64]);
    }
}
