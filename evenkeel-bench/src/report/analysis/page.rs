//! The page: the design, and for each model its pictures and its tables.

use maud::{Markup, html};

use super::pictures;
use crate::analysis::tables::{self, Table};
use crate::analysis::{Analysed, Analysis, Design};
use crate::report::page;

/// Renders the whole page: a part for each response.
pub(super) fn render(analysed: &[Analysed]) -> anyhow::Result<String> {
    let mut parts = Vec::new();
    for (design, analyses) in analysed {
        parts.push(response(design, analyses)?);
    }
    let body = html! {
        h1 { "Analysis of variance" }
        @if parts.len() > 1 {
            nav { ul { @for (design, _) in analysed {
                li { a href={ "#" (design.response.field) } { (design.response.field) } }
            } } }
        }
        @for part in &parts { (part) }
        footer {
            "A two-factor full factorial design with replications, after R. Jain, "
            cite { "The Art of Computer Systems Performance Analysis" } ", chapters 21 and 22."
        }
    };
    Ok(page::document("Analysis of variance, evenkeel beside its peers", &body))
}

fn response(design: &Design, analyses: &[Analysis]) -> anyhow::Result<Markup> {
    let mut models = Vec::new();
    for analysis in analyses {
        models.push(model(design, analysis)?);
    }
    let notes = tables::notes(design);
    Ok(html! {
        p.lead id=(design.response.field) { (tables::design(design)) "." }
        @if !notes.is_empty() { ul { @for note in &notes { li { (note) } } } }
        (table(&tables::means(design)))
        @for model in &models { (model) }
    })
}

fn model(design: &Design, analysis: &Analysis) -> anyhow::Result<Markup> {
    let pictures = pictures::of(design, analysis)?;
    let columns =
        design.slots.iter().copied().zip(design.columns.levels.iter().map(String::as_str));
    Ok(html! {
        section {
            div.title {
                h2 { (analysis.model.name()) }
                p { (tables::formula(analysis.model)) }
                (page::legend(columns))
            }
            div.grid { @for picture in &pictures { (picture) } }
            h3.part { "Assumptions" }
            ul { @for verdict in tables::checks(design, analysis) { li { (verdict) } } }
            @for of_model in tables::of(design, analysis) { (table(&of_model)) }
        }
    })
}

/// Renders a table with its title above it and its note below.
pub(in crate::report) fn table(table: &Table) -> Markup {
    let Table { title, heading, lines, note } = table;
    html! {
        h3.part { (title) }
        div.wide {
            table {
                thead {
                    tr {
                        @for (column, text) in heading.iter().enumerate() {
                            th.number[column > 0] scope="col" { (text.trim_end()) }
                        }
                    }
                }
                tbody {
                    @for line in lines {
                        tr {
                            @for (column, text) in line.iter().enumerate() {
                                @if column == 0 {
                                    th scope="row" { (text) }
                                } @else {
                                    td.number { (marked(text)) }
                                }
                            }
                            // Short lines end before the last columns.
                            @for _ in line.len()..heading.len() { td {} }
                        }
                    }
                }
            }
        }
        @if !note.is_empty() { p.note { (note) } }
    }
}

/// Renders a figure with a separate place for its mark, so that figures stay aligned.
fn marked(text: &str) -> Markup {
    match text.strip_suffix(tables::MAYBE).or_else(|| text.strip_suffix(' ')) {
        Some(figure) => html! {
            span.marked {
                (figure.trim_end())
                span.maybe { @if text.ends_with(tables::MAYBE) { (tables::MAYBE) } }
            }
        },
        None => html! { (text) },
    }
}
