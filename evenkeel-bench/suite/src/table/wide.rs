//! A table with a line for each quantity of each row.

use comfy_table::{CellAlignment, ColumnConstraint, Width};

use super::fit::{GAP, bare};
use super::{compares, figure, measured, told, verdict};
use crate::case;
use crate::description::Description;
use crate::published::{self, Average};
use crate::quantity::Quantity;
use crate::rows::Row;

/// A table before layout: its headings, its lines, and the places of its figures.
pub(super) struct Wide {
    pub(super) heading: Vec<String>,
    pub(super) lines: Vec<Vec<String>>,
    /// The first column of figures.
    pub(super) first: usize,
    /// The column of comparisons, the only one that may wrap.
    comparison: Option<usize>,
}

pub(super) fn wide(of: &Description, rows: &[Row<'_>]) -> Wide {
    let experiment = rows[0].experiment;
    let settings = told(experiment, rows);
    let peers = measured(of, rows);
    let compares = compares(of, rows);
    let systems = published::systems(of, rows);
    let mut heading = vec!["experiment".to_owned(), "workers".to_owned()];
    heading.extend(settings.iter().map(|name| name.replace('_', " ")));
    heading.extend(["cores", "figure"].map(str::to_owned));
    let first = heading.len();
    heading.extend(peers.iter().map(|name| (*name).to_owned()));
    let comparison = compares.map(|_| heading.len());
    heading.extend(compares.map(|subject| format!("{subject} is")));
    heading.extend(systems.iter().map(|system| (*system).to_owned()));
    let mut lines = Vec::new();
    for row in rows {
        for (place, quantity) in row.quantities().enumerate() {
            let mut line = vec![row.case.title(), row.case.workers.to_string()];
            let value =
                |name: &&str| row.case.settings.get(name).map_or("-".to_owned(), case::plain);
            line.extend(settings.iter().map(value));
            line.push(row.regime.unwrap_or("-").to_owned());
            if place > 0 {
                line.iter_mut().for_each(String::clear);
            }
            line.push(quantity.name.to_owned());
            let figure = |name: &&str| {
                row.cell(name).map_or("-".to_owned(), |cell| figure(row, quantity, cell))
            };
            line.extend(peers.iter().map(figure));
            if compares.is_some() {
                line.push(verdict(row, quantity));
            }
            // Published figures belong to the first quantity.
            let published = |system: &&str| match place {
                0 => published::figure(of, row, system).unwrap_or("-".to_owned()),
                _ => String::new(),
            };
            line.extend(systems.iter().map(published));
            lines.push(line);
            if !systems.is_empty() {
                lines.extend(averages(row, quantity, &peers, first, heading.len()));
            }
        }
    }
    Wide { heading, lines, first, comparison }
}

/// Returns the averages below a line of medians; `None` if there are none.
pub(super) fn averages(
    row: &Row<'_>,
    quantity: &Quantity,
    peers: &[&str],
    first: usize,
    columns: usize,
) -> Option<Vec<String>> {
    let average = |name: &&str| row.average(quantity, row.cell(name)?);
    let averages: Vec<Option<Average>> = peers.iter().map(average).collect();
    averages.iter().any(Option::is_some).then(|| {
        let mut line = vec![String::new(); first - 1];
        line.push("average".to_owned());
        let text = |average: Option<Average>| average.map_or("-".to_owned(), |one| one.to_string());
        line.extend(averages.into_iter().map(text));
        line.resize(columns, String::new());
        line
    })
}

/// The least width of the column of comparisons: most comparisons fit one line of this width.
pub(super) const COMPARISON: u16 = 22;

/// Lays a table out in `width` columns.
pub(super) fn fitted(
    Wide { heading, lines, first, comparison }: &Wide,
    width: Option<u16>,
) -> String {
    let mut table = bare(width);
    table.set_header(heading);
    table.add_rows(lines);
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, GAP));
        let is_comparison = *comparison == Some(place);
        if place >= *first && !is_comparison {
            column.set_cell_alignment(CellAlignment::Right);
        }
        // A comparison may take two lines; names and figures may not.
        column.set_constraint(match is_comparison {
            false => ColumnConstraint::ContentWidth,
            true => ColumnConstraint::LowerBoundary(Width::Fixed(COMPARISON)),
        });
    }
    table.trim_fmt() + "\n"
}
