//! The parts that every chart has: axes with ticks and titles, and a grid along one of them.

use plotters::prelude::*;

use super::ink::{self, UNIT};
use super::ticks::Ticked;

/// A chart with ticks at chosen positions.
pub(super) type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Ticked, Ticked>>;

/// One axis of a chart.
pub(super) struct Side<'a> {
    /// Its title; empty for none.
    pub(super) title: &'a str,
    /// The label of a tick.
    pub(super) label: &'a dyn Fn(f64) -> String,
    /// Whether its ticks have grid lines.
    pub(super) grid: bool,
}

/// An empty chart: its height and the room around its plane in pixels, and the ranges of its axes.
pub(super) struct Plane {
    pub(super) height: u32,
    pub(super) top: i32,
    pub(super) right: i32,
    pub(super) below: i32,
    pub(super) left: u32,
    pub(super) ranges: (Ticked, Ticked),
}

impl Plane {
    /// Draws axes and grid, and then the result of `series`, as SVG.
    pub(super) fn draw(
        self,
        (x, y): (&Side<'_>, &Side<'_>),
        series: impl FnOnce(&mut Chart<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<String> {
        let Self { height, top, right, below, left, ranges } = self;
        let mut svg = String::new();
        {
            let size = (ink::scaled(ink::WIDTH), ink::scaled(height));
            let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            let mut chart = ChartBuilder::on(&root)
                .margin_top(top * UNIT)
                .margin_right(right * UNIT)
                .x_label_area_size(below * UNIT)
                .y_label_area_size(ink::scaled(left))
                .build_cartesian_2d(ranges.0, ranges.1)?;
            mesh(&mut chart, x, y)?;
            series(&mut chart)?;
            root.present()?;
        }
        Ok(ink::finish(&svg, height))
    }
}

/// Draws axes and grid.
fn mesh(chart: &mut Chart<'_>, x: &Side<'_>, y: &Side<'_>) -> anyhow::Result<()> {
    let label_of_x = |place: &f64| (x.label)(*place);
    let label_of_y = |place: &f64| (y.label)(*place);
    let mut mesh = chart.configure_mesh();
    mesh.bold_line_style(ink::GRID.stroke_width(UNIT as u32))
        .light_line_style(TRANSPARENT)
        .axis_style(ink::AXIS.stroke_width(UNIT as u32))
        .set_all_tick_mark_size(5 * UNIT)
        .label_style(ink::text_style())
        .axis_desc_style(ink::text_style())
        .x_label_formatter(&label_of_x)
        .y_label_formatter(&label_of_y);
    if !x.grid {
        mesh.disable_x_mesh();
    }
    if !y.grid {
        mesh.disable_y_mesh();
    }
    if !x.title.is_empty() {
        mesh.x_desc(x.title);
    }
    if !y.title.is_empty() {
        mesh.y_desc(y.title);
    }
    mesh.draw()?;
    Ok(())
}

/// Draws a marker at each point, with a rim that separates it from the lines below.
pub(super) fn markers(
    chart: &mut Chart<'_>,
    slot: usize,
    points: impl Iterator<Item = (f64, f64)>,
) -> anyhow::Result<()> {
    let marker = ink::marker(slot);
    let style = ink::series(slot, ink::Stroke::Solid);
    chart.draw_series(points.map(|point| {
        let mut rim = marker.clone();
        rim.push(marker[0]);
        EmptyElement::at(point)
            + Polygon::new(marker.clone(), style.filled())
            + PathElement::new(rim, ink::PAPER.stroke_width(10))
    }))?;
    Ok(())
}

/// Draws a thin line from point to point in the colour of the axes.
pub(super) fn rule(chart: &mut Chart<'_>, ends: [(f64, f64); 2]) -> anyhow::Result<()> {
    chart.draw_series(LineSeries::new(ends, ink::AXIS.stroke_width(UNIT as u32)))?;
    Ok(())
}
