//! Prints the analysis to the terminal.

use super::tables::{self, Table};
use super::{Analysis, Design};
use suite::table::{Plain, unbroken, wrapped};

/// Lays out the design, the means, and each model in turn, in `width` columns.
pub(super) fn render(design: &Design, analyses: &[Analysis], width: Option<u16>) -> String {
    let mut text = wrapped(&format!("design: {}", tables::design(design)), width);
    for note in tables::notes(design) {
        text.push_str(&wrapped(&format!("note: {note}"), width));
    }
    text.push_str(&table(tables::means(design), width));
    for analysis in analyses {
        let model = analysis.model;
        let title = format!("== {}: {}", model.name(), tables::formula(model));
        text.push_str(&format!("\n{}", wrapped(&title, width)));
        for of_model in tables::of(design, analysis) {
            text.push_str(&table(of_model, width));
        }
        text.push_str("\nAssumptions\n");
        for verdict in tables::checks(design, analysis) {
            text.push_str(&wrapped(&format!("- {verdict}"), width));
        }
    }
    text
}

/// Lays out a table with its title and its note, after an empty line.
pub(crate) fn table(Table { title, heading, lines, note }: Table, width: Option<u16>) -> String {
    let figures = 1..heading.len();
    let table = unbroken(&Plain { heading, lines, figures }, width);
    let note: String = note.lines().map(|line| wrapped(line, width)).collect();
    format!("\n{}{table}{note}", wrapped(&title, width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Model, contrast};

    #[test]
    fn no_line_is_longer_than_the_terminal_and_no_figure_is_broken() {
        let design = Design::example();
        let pairs = contrast::pairs(&design.columns, &[]).unwrap();
        let of = |model| Analysis::of(&design, model, 0.9, &pairs).unwrap();
        let analyses = [of(Model::Additive), of(Model::Multiplicative)];
        let wide = render(&design, &analyses, None);
        let figures = wide.lines().filter(|line| line.starts_with("fib")).flat_map(|line| {
            line.trim_start_matches("fib").split("  ").map(str::trim).filter(|one| !one.is_empty())
        });
        let figures: Vec<&str> = figures.collect();
        assert!(figures.len() > 20, "{wide}");
        for width in [40, 60, 80, 100] {
            let text = render(&design, &analyses, Some(width));
            for line in text.lines() {
                assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
            }
            let missing = figures.iter().find(|figure| !text.contains(**figure));
            assert_eq!(missing, None, "{width}: {text}");
        }
    }
}
