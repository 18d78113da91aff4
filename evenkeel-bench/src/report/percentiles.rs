//! The percentiles of an experiment's rows, a curve for each peer.

use maud::Markup;

use super::curves::{self, Curve};
use super::pictures;
use suite::quantity::{Drawn, Quantity};
use suite::rows::{Cell, Row};
use suite::words;

/// Draws a picture of each kind of latency in each of these rows.
pub(super) fn of(rows: &[Row<'_>]) -> anyhow::Result<Vec<Markup>> {
    let mut pictures = Vec::new();
    for row in rows {
        for kind in kinds(row) {
            let curves: Vec<Curve> =
                row.cells.iter().rev().map(|cell| curve(row, cell, &kind)).collect();
            let curves: Vec<Curve> = curves.into_iter().filter(|c| !c.points.is_empty()).collect();
            if !curves.is_empty() {
                let (_, first) = kind[0];
                let caption = format!("{}: {}", words::capital(&row.name()), stem(first));
                let unit = first.name.rsplit_once(", ").map_or("", |(_, unit)| unit);
                let sense =
                    format!("{unit} at each percentile, both axes logarithmic; lower is better");
                pictures.push(pictures::figure(&caption, &sense, &curves::draw(&curves)?));
            }
        }
    }
    Ok(pictures)
}

/// Percentiles of one kind of latency: the shares below them, and the quantities.
type Kind = Vec<(f64, &'static Quantity)>;

/// Returns the percentiles of a row, grouped by kind of latency.
fn kinds(row: &Row<'_>) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for quantity in row.experiment.quantities {
        let Drawn::Percentile(share) = quantity.drawn else { continue };
        match kinds.iter_mut().find(|kind| stem(kind[0].1) == stem(quantity)) {
            Some(kind) => kind.push((share, quantity)),
            None => kinds.push(vec![(share, quantity)]),
        }
    }
    kinds
}

/// Returns the common part of the names of one kind's percentiles: `late` of `late p99.9, µs`.
fn stem(quantity: &Quantity) -> &'static str {
    let name = quantity.name.split(", ").next().unwrap_or(quantity.name);
    name.rsplit_once(' ').map_or(name, |(stem, _)| stem)
}

/// Returns the curve of a peer; it has no points if none of its runs counts.
fn curve(row: &Row<'_>, cell: &Cell<'_>, kind: &Kind) -> Curve {
    let point = |(share, quantity): &(f64, &Quantity)| {
        let value = row.summary(quantity, cell).filter(|value| value.incomplete == 0)?;
        (cell.counted > 0).then_some((*share, value))
    };
    Curve { slot: cell.peer.slot, points: kind.iter().filter_map(point).collect() }
}
