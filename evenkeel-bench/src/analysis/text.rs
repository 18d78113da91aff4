//! The analysis in the terminal.

use std::fmt::Write;

use super::tables::{self, Table};
use super::{Analysis, Design};
use crate::table::align;

/// Lays out the design, the means, and each model in turn.
pub(super) fn render(design: &Design, analyses: &[Analysis]) -> String {
    let mut text = format!("design: {}\n", tables::design(design));
    // Writing into a string cannot fail.
    for note in tables::notes(design) {
        let _ = writeln!(text, "note: {note}");
    }
    table(&mut text, &tables::means(design));
    for analysis in analyses {
        let model = analysis.model;
        let _ = writeln!(text, "\n== {}: {}", model.name(), tables::formula(model));
        for of_model in tables::of(design, analysis) {
            table(&mut text, &of_model);
        }
        text.push_str("\nAssumptions\n");
        for verdict in tables::checks(design, analysis) {
            let _ = writeln!(text, "- {verdict}");
        }
    }
    text
}

fn table(text: &mut String, table: &Table) {
    let mut lines = vec![table.heading.clone()];
    lines.extend(table.lines.iter().cloned());
    let _ = write!(text, "\n{}\n{}", table.title, align(&lines));
    if !table.note.is_empty() {
        let _ = writeln!(text, "{}", table.note);
    }
}
