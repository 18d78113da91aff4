//! Rows below each other, and a line per series from row to row: where lines are parallel, rows and
//! series do not interact.
//!
//! The usual interaction plot, rotated, so that the names of the rows have room.

use plotters::prelude::*;

use super::dots::{self, Scale};
use super::frame::{self, Plane, Side};
use super::ink::{self, Stroke};
use super::ticks::Ticked;

/// Height of a row in pixels.
const ROW: u32 = 34;

/// Room for ticks and the title of the axis, in pixels.
const FOOT: u32 = 52;

/// One series: colour and marker, and its value in each row.
pub(super) struct Series {
    pub(super) slot: usize,
    pub(super) values: Vec<f64>,
}

/// Draws the series as SVG; later series lie on top.
pub(super) fn draw(
    unit: &str,
    scale: &Scale,
    names: &[String],
    all: &[Series],
) -> anyhow::Result<String> {
    let height = ROW * names.len() as u32 + FOOT;
    let (low, high) = scale.ends();
    let pad = (high - low) * 0.04;
    let rows = names.len() as f64;
    let middle = |row: usize| rows - row as f64 - 0.5;
    let x_range = Ticked::new(low - pad..high + pad, scale.ticks());
    let y_range = Ticked::new(0.0..rows, (0..names.len()).map(middle).collect());
    let name = |y: f64| names.get((rows - y) as usize).cloned().unwrap_or_default();

    let plane = Plane {
        height,
        top: 2,
        right: 14,
        below: 48,
        left: dots::room(names.iter().map(String::as_str)),
        ranges: (x_range, y_range),
    };
    let title = scale.title(unit);
    let x = Side { title: &title, label: &|place| scale.label(place), grid: true };
    plane.draw((&x, &Side { title: "", label: &name, grid: false }), |chart| {
        if let Some(nothing) = scale.nothing() {
            frame::rule(chart, [(nothing, 0.0), (nothing, rows)])?;
        }
        for series in all {
            let points = || {
                let places = series.values.iter().map(|value| scale.place(*value));
                places.enumerate().map(|(row, place)| (place, middle(row)))
            };
            let style = ink::series(series.slot, Stroke::Solid).stroke_width(14);
            chart.draw_series(LineSeries::new(points(), style))?;
            frame::markers(chart, series.slot, points())?;
        }
        Ok(())
    })
}
