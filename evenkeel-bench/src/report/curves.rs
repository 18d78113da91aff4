//! Percentiles as curves: the latency of the median and of the rare cases, in one picture.
//!
//! Equal steps to the right are equal factors of rarity: 1 in 10, in 100, in 1,000. The vertical
//! axis is logarithmic too, for the rarest cases may be a thousand times as late as the median.

use plotters::prelude::*;

use super::frame::{self, Plane, Side};
use super::ink::{self, Stroke};
use super::ticks::{self, Ticked};
use suite::summary::Summary;

/// Height of the picture in pixels.
const HEIGHT: u32 = 306;

/// The curve of one peer.
pub(super) struct Curve {
    /// Colour and marker.
    pub(super) slot: usize,
    /// Shares of the values below a figure, ascending from 0 to 1, each with the figure.
    pub(super) points: Vec<(f64, Summary)>,
}

/// Draws the curves as SVG, with the median of the runs at each percentile and a bar from least to
/// most; later curves lie on top.
pub(super) fn draw(curves: &[Curve]) -> anyhow::Result<String> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let mut shares: Vec<f64> = points().map(|(share, _)| *share).collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let rarest = shares.iter().filter(|share| **share < 1.0).map(|&share| rarity(share));
    // The maximum comes one step beyond the rarest percentile.
    let beyond = rarest.fold(0.0, f64::max) + 1.0;
    let place = |share: f64| if share < 1.0 { rarity(share) } else { beyond };
    let label = |x: f64| {
        let share = shares.iter().find(|share| (place(**share) - x).abs() < 1e-6);
        share.map_or(String::new(), |share| name(*share))
    };
    let ends = points().flat_map(|(_, of)| [of.min, of.max]).filter(|v| v.is_finite() && *v > 0.0);
    let (low, high) = ends.fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(v), b.max(v)));
    let (low, high) = if low > high { (1.0, 10.0) } else { (low, high) };
    let (low, high) = (low.log10().floor(), high.log10().ceil().max(low.log10().floor() + 1.0));
    let powers = (low as i32..=high as i32).map(f64::from).collect();
    let x_range = Ticked::new(0.1..beyond + 0.2, shares.iter().map(|&s| place(s)).collect());
    let y_range = Ticked::new(low..high, powers);

    let plane = Plane {
        height: HEIGHT,
        top: 10,
        right: 8,
        below: 28,
        // `1,000,000` in the widest of the page's fonts.
        left: 80,
        ranges: (x_range, y_range),
    };
    let power = |place: f64| ticks::power(place as i32);
    let x = Side { title: "", label: &label, grid: false };
    plane.draw((&x, &Side { title: "", label: &power, grid: true }), |chart| {
        let at = |share: f64, value: f64| (place(share), value.max(f64::MIN_POSITIVE).log10());
        for Curve { slot, points } in curves {
            let thin = ink::series(*slot, Stroke::Solid).stroke_width(10);
            for (share, of) in points.iter().filter(|(_, of)| of.max > of.min && of.min > 0.0) {
                let bar = [at(*share, of.min), at(*share, of.max)];
                chart.draw_series(LineSeries::new(bar, thin))?;
            }
            let line = || points.iter().map(|(share, of)| at(*share, of.median));
            let style = ink::series(*slot, Stroke::Solid).stroke_width(20);
            chart.draw_series(LineSeries::new(line(), style))?;
            frame::markers(chart, *slot, line())?;
        }
        Ok(())
    })
}

/// Returns the rarity of values above a share, as a power of ten: 2 for one in a hundred.
fn rarity(share: f64) -> f64 {
    -(1.0 - share).log10()
}

/// Formats such as `p99.9`.
fn name(share: f64) -> String {
    if share >= 1.0 {
        return "max".to_owned();
    }
    let percent = format!("{:.4}", share * 100.0);
    format!("p{}", percent.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_named_as_people_name_them() {
        let names: Vec<String> = [0.5, 0.9, 0.99, 0.999, 0.9999, 1.0].map(name).to_vec();
        assert_eq!(names, ["p50", "p90", "p99", "p99.9", "p99.99", "max"]);
    }

    #[test]
    fn each_percentile_has_a_label_and_each_peer_a_marker() {
        let of = |values: [f64; 3]| Summary::of(values.to_vec()).expect("there are figures");
        let points = vec![
            (0.5, of([9.0, 10.0, 11.0])),
            (0.999, of([90.0, 100.0, 5_000.0])),
            (1.0, of([900.0, 1_000.0, 70_000.0])),
        ];
        let svg = draw(&[Curve { slot: 0, points }]).expect("it is drawn");
        for words in ["p50", "p99.9", "max", "100,000", "<polygon"] {
            assert!(svg.contains(words), "{words} is missing from {svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
