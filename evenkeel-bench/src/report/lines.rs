//! A figure against processors, or against a size: per runtime the median solid, maximum dashed,
//! minimum dotted.

use plotters::prelude::*;

use super::frame::{self, Plane, Side};
use super::ink::{self, Stroke};
use super::ticks::{self, Axis, Ticked};
use suite::summary::Summary;

/// Height of the picture in pixels.
const HEIGHT: u32 = 306;

/// The line of one runtime.
pub(super) struct Line {
    /// Colour and marker.
    pub(super) slot: usize,
    /// Numbers of processors, each with the figure there, ascending.
    pub(super) points: Vec<(usize, Summary)>,
}

/// The quantity on the horizontal axis.
pub(super) struct Abscissa<'a> {
    pub(super) title: &'a str,
    /// Chooses the values that get a label.
    pub(super) ticks: fn(&[usize]) -> Vec<usize>,
    pub(super) label: &'a dyn Fn(f64) -> String,
}

/// The number of workers.
pub(super) const WORKERS: Abscissa<'static> = Abscissa {
    title: "workers",
    ticks: ticks::processors,
    label: &|workers| format!("{workers:.0}"),
};

/// Returns the highest figure of some lines, up to which the axis of their picture goes.
pub(super) fn highest(lines: &[Line]) -> f64 {
    lines.iter().flat_map(|line| &line.points).map(|(_, of)| of.max).fold(0.0, f64::max)
}

/// Draws the lines as SVG, on an axis from zero to at least `highest`; later lines lie on top. The
/// caption names the figure.
pub(super) fn draw(
    abscissa: &Abscissa<'_>,
    lines: &[Line],
    highest: f64,
) -> anyhow::Result<String> {
    let summaries = || lines.iter().flat_map(|line| line.points.iter());
    let mut measured: Vec<usize> = summaries().map(|(procs, _)| *procs).collect();
    measured.sort_unstable();
    measured.dedup();
    let axis = Axis::from_zero(highest, 5);
    let (first, last) = (measured.first().copied(), measured.last().copied());
    let (first, last) = (first.unwrap_or(1) as f64, last.unwrap_or(1) as f64);
    // Markers at the first and last processors need room beside them.
    let pad = if last > first { (last - first) * 0.09 } else { 1.0 };
    let x_ticks = (abscissa.ticks)(&measured).into_iter().map(|p| p as f64).collect();
    let x_range = Ticked::new(first - pad..last + pad, x_ticks);
    let y_range = Ticked::new(0.0..axis.end, axis.ticks.clone());

    let plane = Plane {
        height: HEIGHT,
        top: 10,
        right: 8,
        below: 44,
        left: 66,
        ranges: (x_range, y_range),
    };
    let procs = Side { title: abscissa.title, label: abscissa.label, grid: false };
    let value = Side { title: "", label: &|value| axis.label(value), grid: true };
    plane.draw((&procs, &value), |chart| {
        for line in lines {
            let at = |(procs, value): (usize, f64)| (procs as f64, value);
            let extremes = [
                (Stroke::Dashed, line.points.iter().map(|(p, s)| (*p, s.max)).collect::<Vec<_>>()),
                (Stroke::Dotted, line.points.iter().map(|(p, s)| (*p, s.min)).collect::<Vec<_>>()),
            ];
            let spread = line.points.iter().any(|(_, s)| s.max > s.min);
            for (stroke, points) in extremes.into_iter().filter(|_| spread) {
                let style = ink::series(line.slot, stroke).stroke_width(14);
                chart.draw_series(LineSeries::new(points.into_iter().map(at), style))?;
            }
            // A lone point has no lines to show its spread, so it gets a bar from minimum to
            // maximum.
            if let [(procs, s)] = line.points[..] {
                let style = ink::series(line.slot, Stroke::Solid).stroke_width(14);
                let ends = [(procs, s.min), (procs, s.max)];
                chart.draw_series(LineSeries::new(ends.into_iter().map(at), style))?;
            }
        }
        for line in lines {
            let style = ink::series(line.slot, Stroke::Solid);
            let points = || line.points.iter().map(|(procs, s)| (*procs as f64, s.median));
            chart.draw_series(LineSeries::new(points(), style.stroke_width(20)))?;
            frame::markers(chart, line.slot, points())?;
        }
        Ok(())
    })
}
