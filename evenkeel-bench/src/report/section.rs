//! The part of the page about a family that runs on the suite: a table and pictures of each
//! experiment.

use maud::{Markup, PreEscaped, html};

use super::dots::{self, Dot, Scale};
use super::table::mark;
use crate::suite::case::{Case, plain};
use crate::suite::entry::Measured;
use crate::suite::quantity::Quantity;
use crate::suite::rows::{Cell, Row, rows};
use crate::suite::summary::Summary;
use crate::suite::table::left_out;
use crate::suite::tally::Tally;
use crate::suite::verdict::Verdict;
use crate::verdict::{DOUBT, Standing};
use crate::words;

/// Everything about a family; nothing if none of it was measured.
pub(super) fn render(measured: &Measured) -> anyhow::Result<Markup> {
    let of = &measured.of;
    let rows = rows(of, &measured.records, &measured.absent);
    if rows.is_empty() {
        return Ok(html! {});
    }
    let tally = Tally::of(&rows);
    let subject = of.subject().unwrap_or_default();
    let mut sections = Vec::new();
    for rows in rows.chunk_by(|a, b| a.experiment.name == b.experiment.name) {
        sections.push(experiment(subject, rows)?);
    }
    Ok(html! {
        h2.pictures id=(of.name) { (of.title) }
        p.lead {
            (subject) " is " (mark(Standing::Ahead)) "ahead of every peer in " (tally.won) ", "
            (mark(Standing::Behind)) "behind in " (tally.lost) ", neither in " (tally.even)
            " and not compared in " (tally.not_compared)
            @if tally.unfinished > 0 { "; it does not complete " (tally.unfinished) }
            "."
        }
        p { (of.about) }
        p {
            "Medians [minimum to maximum] of the runs that count; the best that is compared is "
            strong { "bold" } ". " (DOUBT) "."
            @if let Some(left_out) = left_out(&rows) { " " (left_out) }
        }
        @for remark in (of.remarks)(&rows) { p { (remark) } }
        @for section in &sections { (section) }
    })
}

fn experiment(subject: &str, rows: &[Row<'_>]) -> anyhow::Result<Markup> {
    let experiment = rows[0].experiment;
    let mut pictures = Vec::new();
    for quantity in experiment.quantities.iter().filter(|quantity| quantity.is_drawn) {
        for rows in rows.chunk_by(|a, b| a.case.variant == b.case.variant) {
            // Neighbours share an axis.
            let figures = |row: &Row<'_>| -> Vec<Summary> {
                row.cells.iter().filter_map(|cell| row.summary(quantity, cell)).collect()
            };
            let all: Vec<Summary> = rows.iter().flat_map(figures).collect();
            let scale = Scale::fitting(&all);
            for row in rows.iter().filter(|row| !figures(row).is_empty()) {
                pictures.push(picture(row, quantity, &scale)?);
            }
        }
    }
    Ok(html! {
        section {
            div.title {
                h3 id={ "bench-" (experiment.name) } { (words::capital(experiment.name)) }
                p { (words::capital(experiment.what)) "." }
            }
            div.grid { @for picture in &pictures { (picture) } }
            (table(subject, rows))
        }
    })
}

/// All figures: a line for each quantity of each row.
fn table(subject: &str, rows: &[Row<'_>]) -> Markup {
    let mut names: Vec<&str> = Vec::new();
    for cell in rows.iter().flat_map(|row| &row.cells) {
        if !names.contains(&cell.peer.name) {
            names.push(cell.peer.name);
        }
    }
    html! {
        div.wide {
            table.dense {
                thead {
                    tr {
                        th scope="col" { "Case" }
                        th scope="col" { "Figure" }
                        @for name in &names { th.number scope="col" { (name) } }
                        th scope="col" { (subject) " beside the best peer" }
                    }
                }
                tbody {
                    @for row in rows {
                        @let quantities: Vec<&Quantity> = row.quantities().collect();
                        @for (place, quantity) in quantities.iter().enumerate() {
                            tr {
                                @if place == 0 { td rowspan=(quantities.len()) { (case(row)) } }
                                td { (quantity.name) }
                                @for name in &names { td.number { (figure(row, quantity, name)) } }
                                td.verdict {
                                    @if quantity.is_compared() { (verdict(row, quantity)) }
                                }
                            }
                        }
                    }
                }
            }
        }
        @for absent in rows.iter().flat_map(|row| &row.absent) {
            p.note { (absent.runtime) " has no figure of " (absent.case) ": " (absent.why) "." }
        }
    }
}

/// What tells a row apart.
fn case(row: &Row<'_>) -> Markup {
    let Case { workers, settings, .. } = row.case;
    let settings: Vec<String> = settings
        .iter()
        .map(|(name, value)| format!("{} {}", name.replace('_', " "), plain(value)))
        .collect();
    html! {
        (row.case.title()) ", " (words::count(*workers, "worker"))
        @if !settings.is_empty() { span.range { (settings.join(", ")) } }
        @if let Some(regime) = row.regime { span.range { "cores " (regime) } }
    }
}

fn figure(row: &Row<'_>, quantity: &Quantity, name: &str) -> Markup {
    let figure = |cell: &Cell<'_>| Some((row.summary(quantity, cell)?, cell.counted));
    let Some((value, counted)) = row.cell(name).and_then(figure) else { return html! { "-" } };
    let median = words::figure(value.median);
    html! {
        @if !value.completed() {
            "did not complete"
        } @else if row.best(quantity) == Some(name) {
            strong { (median) }
        } @else {
            (median)
        }
        @if value.completed() && value.min != value.max {
            span.range { "[" (words::figure(value.min)) " to " (words::figure(value.max)) "]" }
        }
        @if let Some(few) = few(row, name, counted) { span.range { (few) } }
    }
}

/// What is to be said of a cell that has too few runs to be compared.
fn few(row: &Row<'_>, name: &str, counted: usize) -> Option<String> {
    match row.cell(name)? {
        cell if cell.is_enough() => None,
        _ if counted == 0 => Some("no run counts".to_owned()),
        _ => Some(words::count(counted, "run")),
    }
}

fn verdict(row: &Row<'_>, quantity: &Quantity) -> Markup {
    let verdict = Verdict::of(row, quantity);
    html! {
        (mark(verdict.standing()))
        (verdict.words(quantity.better))
        @if let Some(peer) = verdict.peer() { span.range { "beside " (peer) } }
    }
}

/// One quantity of one row, a dot for each peer.
fn picture(row: &Row<'_>, quantity: &Quantity, scale: &Scale) -> anyhow::Result<Markup> {
    let dots: Vec<Dot> = row
        .cells
        .iter()
        .map(|cell| {
            let value = row.summary(quantity, cell);
            let text = dots::text(value.as_ref(), None);
            Dot { name: cell.peer.name.to_owned(), slot: cell.peer.slot, value, text }
        })
        .collect();
    let svg = dots::draw(quantity.name, scale, &dots)?;
    let cores = row.regime.map_or(String::new(), |regime| format!(", cores {regime}"));
    let caption = format!("{}{cores}", words::capital(&row.case.to_string()));
    Ok(html! {
        figure {
            figcaption { (caption) span.unit { (quantity.better.says()) } }
            div.chart role="img" aria-label=(caption) { (PreEscaped(svg)) }
        }
    })
}
