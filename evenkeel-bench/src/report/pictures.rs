//! Which pictures an experiment gets, and the figures in them.

use maud::{Markup, PreEscaped, html};

use super::dots::{self, Dot, Scale};
use super::lines::{self, Line};
use crate::figures::{Cell, Experiment, Figures, Load, Measure, Row, Summary};
use crate::words;

/// Reads one of a cell's figures.
type Read = fn(&Cell) -> Option<Summary>;

/// A figure that a picture shows: its name, how to read it, its unit, and which way is better.
struct Quantity {
    name: &'static str,
    read: Read,
    unit: &'static str,
    /// What one unit of the picture stands for.
    size: f64,
    /// The axis that rows of dots share.
    scale: fn(&[Summary]) -> Scale,
    sense: &'static str,
}

impl Quantity {
    fn read(&self, cell: &Cell) -> Option<Summary> {
        (self.read)(cell).map(|summary| summary.divided(self.size))
    }
}

/// All pictures of an experiment.
pub(super) fn of(experiment: &Experiment, figures: &Figures) -> anyhow::Result<Vec<Markup>> {
    let mut pictures = Vec::new();
    for (index, load) in experiment.loads.iter().enumerate() {
        let tasks = words::load(&experiment.bench, load.tasks_per_proc);
        let quantities: Vec<Quantity> = match experiment.measure {
            Measure::Operations => vec![throughput(load), value(experiment, "Scalability, ")],
            Measure::Transfer | Measure::Memory => vec![value(experiment, "")],
        };
        if by_lines(experiment) {
            // With two loads they have the names that the literature gives them.
            let size = match (experiment.loads.len(), index) {
                (2, 0) => "many tasks: ",
                (2, _) => "few tasks: ",
                _ => "",
            };
            for quantity in &quantities {
                let svg = lines::draw(
                    &lines::WORKERS,
                    quantity.unit,
                    &lines_of(load, figures, quantity),
                )?;
                let caption = format!("{}{size}{tasks}", quantity.name);
                pictures.push(figure(&caption, quantity.sense, &svg));
            }
            continue;
        }
        for row in &load.rows {
            for quantity in &quantities {
                let cells = load.rows.iter().flat_map(|row| &row.cells);
                let all: Vec<Summary> = cells.filter_map(|cell| quantity.read(cell)).collect();
                let dots = dots_of(row, &load.rows, figures, quantity);
                let svg = dots::draw(quantity.unit, &(quantity.scale)(&all), &dots)?;
                let processors = words::count(row.procs, "processor");
                let caption = format!("{}{processors}, {tasks}", quantity.name);
                pictures.push(figure(&caption, quantity.sense, &svg));
            }
        }
    }
    Ok(pictures)
}

/// Whether the pictures are lines against processors; with one number of processors there are no
/// lines, and rows of dots do not cover each other.
pub(super) fn by_lines(experiment: &Experiment) -> bool {
    let several = experiment.loads.iter().any(|load| load.rows.len() > 1);
    experiment.measure == Measure::Operations && several
}

/// The experiment's own figure.
fn value(experiment: &Experiment, name: &'static str) -> Quantity {
    let read: Read = |cell| Some(cell.value);
    let unit = words::unit(experiment.measure);
    let scale = match experiment.measure {
        Measure::Transfer => Scale::fitting,
        Measure::Operations | Measure::Memory => Scale::from_zero,
    };
    Quantity { name, read, unit, size: 1.0, scale, sense: "lower is better" }
}

/// Operations per second, in the unit that keeps labels short.
fn throughput(load: &Load) -> Quantity {
    let cells = load.rows.iter().flat_map(|row| &row.cells);
    let summaries = cells.filter_map(|cell| cell.throughput);
    let (size, unit) = match summaries.map(|s| s.max).fold(0.0, f64::max) {
        max if max >= 2e9 => (1e9, "billion operations/s"),
        max if max >= 2e6 => (1e6, "million operations/s"),
        max if max >= 2e3 => (1e3, "thousand operations/s"),
        _ => (1.0, "operations/s"),
    };
    let read: Read = |cell| cell.throughput;
    let scale = Scale::from_zero;
    Quantity { name: "Throughput, ", read, unit, size, scale, sense: "higher is better" }
}

/// The lines of all runtimes, the subject's last, so that it lies on top.
fn lines_of(load: &Load, figures: &Figures, quantity: &Quantity) -> Vec<Line> {
    let line = |runtime: usize| {
        // A figure of another regime has no place on the axes of this one.
        let point = |row: &Row| {
            let cell = row.cell(runtime).filter(|cell| cell.foreign.is_none())?;
            Some((row.procs, quantity.read(cell)?))
        };
        let points: Vec<_> = load.rows.iter().filter_map(point).collect();
        Line { slot: figures.slots[runtime], points }
    };
    let lines = (0..figures.runtimes.len()).rev().map(line);
    lines.filter(|line| !line.points.is_empty()).collect()
}

/// One dot per runtime that these rows have, in the order of the table's columns.
fn dots_of(row: &Row, rows: &[Row], figures: &Figures, quantity: &Quantity) -> Vec<Dot> {
    let dot = |runtime: usize| {
        let value = row.cell(runtime).and_then(|cell| quantity.read(cell));
        let foreign = row.cell(runtime).and_then(|cell| cell.foreign.as_deref());
        let text = dots::text(value.as_ref(), foreign);
        Dot { name: figures.runtimes[runtime].clone(), slot: figures.slots[runtime], value, text }
    };
    let is_there = |runtime: &usize| rows.iter().any(|row| row.cell(*runtime).is_some());
    (0..figures.runtimes.len()).filter(is_there).map(dot).collect()
}

/// A picture with its caption, and a few words on how to read it, if any.
pub(super) fn figure(caption: &str, sense: &str, svg: &str) -> Markup {
    html! {
        figure {
            figcaption { (caption) @if !sense.is_empty() { span.unit { (sense) } } }
            div.chart role="img" aria-label=(caption) { (PreEscaped(svg)) }
        }
    }
}
