//! Columns of text.

use std::fmt::Write;

/// Space between two columns.
const GAP: &str = "  ";

/// Columns under each other: the first to the left, the others to the right.
pub(crate) fn align(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|text| text.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let padded =
                if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
            line.push_str(if column == 0 { "" } else { GAP });
            line.push_str(&padded);
        }
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
