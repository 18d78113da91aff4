//! A short form of a row for a session: a line for each figure that is compared.

use super::{figure, wrapped};
use crate::quantity::Quantity;
use crate::rows::Row;
use crate::verdict::Verdict;

/// Renders a row as a line for each figure that is compared, or for its first figure if none is.
pub fn brief(row: &Row<'_>, subject: &str, width: Option<u16>) -> String {
    let name = row.name();
    // Some experiments have no subject, such as one that only another form of it can run.
    let own = row.cell(subject).or_else(|| row.cells.first());
    let whose = own.map_or("", |cell| cell.peer.name);
    let whose = if whose == subject { String::new() } else { format!(" of {whose}") };
    let compared: Vec<&Quantity> = row.quantities().filter(|one| one.is_compared()).collect();
    let shown = if compared.is_empty() { row.quantities().take(1).collect() } else { compared };
    let mut text = String::new();
    for quantity in shown {
        let own = own.map_or("-".to_owned(), |cell| figure(row, quantity, cell));
        let words = match quantity.is_compared() {
            true => format!(", {}", Verdict::of(row, quantity).sentence(quantity.better)),
            false => String::new(),
        };
        let line = format!("{name}: {}{whose} {own}{words}", quantity.name);
        text.push_str(&wrapped(&line, width));
    }
    text
}
