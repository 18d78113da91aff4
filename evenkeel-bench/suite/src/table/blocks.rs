//! Rows for a terminal that is too narrow for their table.

use super::fit::{GAP, bare};
use super::{compares, figure, verdict, wrapped};
use crate::description::Description;
use crate::published;
use crate::rows::{Cell, Row};

/// Renders the rows as blocks, each with a line for each peer that has the figure.
pub(super) fn blocks(of: &Description, rows: &[Row<'_>], width: Option<u16>) -> String {
    let mut text = String::new();
    let is_published = !published::systems(of, rows).is_empty();
    for row in rows {
        text.push_str(&wrapped(&row.name(), width));
        for (place, quantity) in row.quantities().enumerate() {
            text.push_str(&wrapped(&format!("  {}", quantity.name), width));
            let mut table = bare(width);
            let has = |cell: &&Cell<'_>| row.summary(quantity, cell).is_some();
            for cell in row.cells.iter().filter(has) {
                let figure = figure(row, quantity, cell);
                table.add_row([format!("    {}", cell.peer.name), figure]);
                let average = row.average(quantity, cell).filter(|_| is_published);
                table.add_rows(average.map(|one| [String::new(), format!("average {one}")]));
            }
            // Published figures belong to the first quantity.
            for one in (of.published)(row.case).iter().filter(|_| place == 0) {
                table.add_row([&format!("    {}", one.system), &one.figure]);
            }
            table.column_iter_mut().for_each(|column| {
                column.set_padding((0, GAP));
            });
            text.push_str(&(table.trim_fmt() + "\n"));
            if let (Some(subject), true) = (compares(of, rows), quantity.is_compared()) {
                let verdict = verdict(row, quantity);
                text.push_str(&wrapped(&format!("    {subject}: {verdict}"), width));
            }
        }
    }
    text
}
