//! The tables of a family as Markdown, for a page that is kept beside the source.

use super::wide::wide;
use super::{common, notes, wrapped};
use crate::description::Description;
use crate::record::Record;
use crate::rows::{Absent, rows};
use crate::words;

/// Columns at which paragraphs wrap. Lines of tables are as long as they are.
const COLUMNS: u16 = 100;

/// Renders a family: its heading, a table for each of its experiments, and the notes. Empty if
/// nothing of it was measured.
pub fn family(of: &Description, records: &[Record], absent: &[Absent]) -> String {
    let rows = rows(of, records, absent);
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("## {}\n", of.title);
    for rows in rows.chunk_by(|a, b| a.experiment.name == b.experiment.name) {
        let experiment = rows[0].experiment;
        text.push_str(&format!("\n### {}\n", experiment.name));
        text.push_str(&paragraph(&format!("{}.", words::capital(experiment.what))));
        let wide = wide(of, rows);
        text.push_str(&table(&wide.heading, &wide.lines, wide.first));
        if let Some(common) = common(rows) {
            text.push_str(&format!("\n{}", paragraph(&common)));
        }
    }
    let notes = notes(of, &rows);
    for line in notes.iter().flat_map(|note| note.lines()) {
        text.push_str(&format!("\n{}", paragraph(line.trim())));
    }
    text
}

/// Renders a table. The columns from `figures` on are aligned to the right.
pub fn table(heading: &[String], lines: &[Vec<String>], figures: usize) -> String {
    let cell = |text: &String| text.replace('|', "\\|");
    let line = |cells: &[String]| {
        format!("| {} |\n", cells.iter().map(cell).collect::<Vec<_>>().join(" | "))
    };
    let rule = |place| if place < figures { "---" } else { "---:" };
    let rules: Vec<&str> = (0..heading.len()).map(rule).collect();
    let mut text = format!("\n{}|{}|\n", line(heading), rules.join("|"));
    lines.iter().for_each(|cells| text.push_str(&line(cells)));
    text
}

/// Wraps a paragraph.
pub fn paragraph(text: &str) -> String {
    wrapped(&plain(text), Some(COLUMNS))
}

/// Wraps a point of a list.
pub fn point(text: &str) -> String {
    let lines = wrapped(&plain(text), Some(COLUMNS - 2));
    let mark = |place| if place == 0 { "* " } else { "  " };
    lines.lines().enumerate().map(|(place, line)| format!("{}{line}\n", mark(place))).collect()
}

/// Returns a text in which nothing is read as a mark that is none.
fn plain(text: &str) -> String {
    text.replace('<', "\\<").replace('~', "\\~")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::tests::{family as rings, three};

    #[test]
    fn a_family_has_a_table_for_each_experiment_and_its_notes() {
        let mut records = three("evenkeel", [20.0, 21.0, 22.0]);
        records.extend(three("tokio", [42.0, 43.0, 44.0]));
        let text = family(&rings(), &records, &[]);
        let table = "| experiment | workers | cores | figure | evenkeel | tokio | evenkeel is | published Cilk |\n\
            |---|---|---|---|---:|---:|---:|---:|\n\
            | cycle | 2 | near | ns | 21.0 [20.0-22.0] | 43.0 [42.0-44.0] | 2.0 x faster | 23 / 24 ± 1 |\n";
        assert!(text.starts_with("## Rings\n\n### cycle\n"), "{text}");
        assert!(text.contains(table), "{text}");
        assert!(text.contains("\nRings: won 1, lost 0, even 0, not compared 0.\n"), "{text}");
        let paragraphs = text.lines().filter(|line| !line.starts_with('|'));
        for line in paragraphs {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }

    #[test]
    fn a_family_of_which_nothing_was_measured_is_left_out() {
        assert_eq!(family(&rings(), &[], &[]), "");
    }

    #[test]
    fn marks_of_markdown_in_a_cell_are_text() {
        let line = vec!["a|b".to_owned()];
        assert_eq!(table(&line, &[], 1), "\n| a\\|b |\n|---|\n");
        assert_eq!(paragraph("~: none counts, <1"), "\\~: none counts, \\<1\n");
    }

    #[test]
    fn further_lines_of_a_point_are_indented() {
        let text = point(&"word ".repeat(30));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("* word") && lines[1].starts_with("  word"), "{text}");
        assert!(lines[0].len() <= 100, "{text}");
    }
}
