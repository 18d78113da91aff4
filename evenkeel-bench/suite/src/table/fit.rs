//! Text laid out in the width of a terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table};

/// Returns the width of the terminal, or else the width that the user has set in `COLUMNS`; `None`
/// where a program reads the output.
pub fn width() -> Option<u16> {
    let terminal = rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| size.ws_col);
    let said = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.filter(|columns| *columns > 0).or_else(said)
}

pub(super) fn fits(text: &str, width: Option<u16>) -> bool {
    let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    width.is_none_or(|width| longest <= usize::from(width))
}

/// Space between two columns.
pub(super) const GAP: u16 = 2;

/// Creates a table without rules.
pub(super) fn bare(width: Option<u16>) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    table
}

/// A table of a few columns with a heading, independent of any family.
pub struct Plain {
    /// The heading.
    pub heading: Vec<String>,
    /// The lines.
    pub lines: Vec<Vec<String>>,
    /// The columns that hold figures.
    pub figures: std::ops::Range<usize>,
}

/// Lays such a table out in `width` columns.
pub fn plain(of: &Plain, width: Option<u16>) -> String {
    let mut table = bare(width);
    table.set_header(&of.heading);
    table.add_rows(&of.lines);
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, GAP));
        if of.figures.contains(&place) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt() + "\n"
}

/// Lays the table out in the same way if it fits. If not, makes each line a block: the text before
/// the figures, and below it each figure beside its heading.
pub fn unbroken(of: &Plain, width: Option<u16>) -> String {
    let text = plain(of, None);
    if fits(&text, width) {
        return text;
    }
    let mut text = String::new();
    for line in &of.lines {
        let (names, figures) = line.split_at(of.figures.start.min(line.len()));
        text.push_str(&wrapped(&names.join(", "), width));
        let mut table = bare(width);
        for (heading, figure) in of.heading.iter().skip(names.len()).zip(figures) {
            if !figure.trim().is_empty() {
                table.add_row([format!("  {}", heading.trim()), figure.trim().to_owned()]);
            }
        }
        // The last column needs no space behind it.
        for (place, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if place == 0 { GAP } else { 0 }));
        }
        text.push_str(&(table.trim_fmt() + "\n"));
    }
    text
}

/// Wraps a paragraph to `width` columns, all lines indented like its first.
pub fn wrapped(text: &str, width: Option<u16>) -> String {
    let indent = text.len() - text.trim_start().len();
    let mut table = bare(width.map(|width| width.saturating_sub(indent as u16)));
    table.add_row([text.trim_start()]);
    table.column_iter_mut().for_each(|column| {
        column.set_padding((0, 0));
    });
    let lines = table.trim_fmt();
    lines.lines().map(|line| format!("{:indent$}{line}\n", "")).collect()
}
