//! The page: the summary, the contents, a section for each family, and how it was measured.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::ink::{self, Stroke};
use super::section::{self, Lead};
use super::{Session, head, kept};
use crate::builds::build;
use suite::entry::Measured;
use suite::outcome::Outcome;
use suite::regime::MEANING;
use suite::words;

/// Renders the whole page.
pub(super) fn render(session: &Session) -> anyhow::Result<String> {
    let mut sections = Vec::new();
    for measured in &session.measured {
        sections.push(section::render(measured, Lead::Tally)?);
    }
    let outcome = Outcome::of(&session.measured);
    let runs = session.measured.iter().map(|measured| measured.records.len()).sum();
    let written = session.measured.iter().filter(|measured| !measured.records.is_empty());
    let files: Vec<String> = written.map(|measured| kept::file(measured.of.name)).collect();
    let title = format!("evenkeel beside its peers, {}", session.started);
    let body = html! {
        h1 { "evenkeel beside its peers" }
        p.lead {
            (words::count(runs, "run")) ", " (session.started) ", on " (session.machine) "."
        }
        (head::summary(&outcome))
        (head::contents(&session.measured))
        (key())
        @for section in &sections { (section) }
        (measured_how(session))
        footer {
            "All runs, one JSON object per line: "
            @for (place, file) in files.iter().enumerate() {
                @if place > 0 { ", " }
                a href=(file) { (file) }
            }
        }
    };
    Ok(document(&title, &body))
}

/// Returns the styles. A table with few peers is folded on narrow pages and on paper, one with many
/// everywhere.
fn style() -> String {
    let fold = include_str!("fold.css");
    let many = fold.replace(".dense", ".many");
    // The styles for paper come last, so that they override the others.
    let style = include_str!("style.css");
    let (all, paper) = style.split_once("@media print {").expect("it has styles for paper");
    format!("{all}@media (max-width: 900px), print {{\n{fold}}}\n{many}@media print {{{paper}")
}

/// Renders details of the measurement, for readers who doubt a figure.
fn measured_how(session: &Session) -> Markup {
    html! {
        h2 id="how" { "How it was measured" }
        details {
            summary { "Machine and notes" }
            dl {
                dt { "Begun" } dd { (session.started) }
                dt { "Machine" } dd { (session.machine) }
                dt { "Commit" } dd { (session.commit) }
                dt { "Build" } dd { (build::VERSION) }
                dt { "Cores" } dd { (words::capital(&regimes(session))) ". " (words::capital(MEANING)) "." }
                dt { "Topology" } dd { pre { (session.topology.trim_end()) } }
                @if !session.notes.is_empty() {
                    dt { "Notes" }
                    dd { ul { @for note in &session.notes { li { (prose(note)) } } } }
                }
            }
        }
    }
}

/// Counts the runs on more than one worker in each regime, such as `40 runs near, 2 runs mixed`.
/// For one worker the distance of the cores makes no difference.
pub(super) fn regimes(session: &Session) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let records = session.measured.iter().flat_map(|measured| &measured.records);
    let bound = records.filter(|record| record.case.workers > 1).map(|record| &record.quiet);
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for quiet in bound {
        match counts.iter_mut().find(|(regime, _)| *regime == quiet.regime) {
            Some((_, count)) => *count += 1,
            None => counts.push((&quiet.regime, 1)),
        }
        for ns in [quiet.line_ns_before, quiet.line_ns_after].into_iter().filter(|ns| *ns > 0.0) {
            (least, most) = (least.min(ns), most.max(ns));
        }
    }
    if counts.is_empty() {
        return "no run on more than one worker".to_owned();
    }
    let say = |&(regime, runs): &(&str, usize)| format!("{} {regime}", words::count(runs, "run"));
    let counts = counts.iter().map(say).collect::<Vec<_>>().join(", ");
    let took = match most {
        0.0 => String::new(),
        _ => format!(" (a cache line took {least:.0} to {most:.0} ns one way)"),
    };
    format!("on more than one worker {counts}{took}")
}

/// Renders a sentence, with text between backticks as code.
pub(super) fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Renders a page of one family alone, with the notes of its session.
pub(super) fn of_one(session: &Session, measured: &Measured) -> anyhow::Result<String> {
    let title = format!("evenkeel: {}", measured.of.title);
    let body = html! {
        p.lead { (words::count(measured.records.len(), "run")) ", " (session.started) ", on " (session.machine) "." }
        p.note { "Commit " (session.commit) ", build " (build::VERSION) "." }
        @for note in &session.notes { p.note { (prose(note)) } }
        (section::render(measured, Lead::Tally)?)
        p.note { (words::capital(MEANING)) "." }
    };
    Ok(titled(&title, &body))
}

/// Renders a page with its title at its head.
pub(super) fn titled(title: &str, body: &Markup) -> String {
    let body = html! {
        h1 { (title) }
        (body)
    };
    document(title, &body)
}

/// Renders a page that needs no other file.
pub(super) fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(style())) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

/// Explains the strokes and the rows of dots, once for all pictures.
fn key() -> Markup {
    let strokes = [
        (Stroke::Solid, 20, "median"),
        (Stroke::Dashed, 14, "maximum"),
        (Stroke::Dotted, 14, "minimum of the repeats"),
    ];
    html! {
        p.legend {
            span { "Pictures against workers:" }
            @for (stroke, width, word) in strokes {
                span {
                    svg viewBox="0 0 480 120" aria-hidden="true" {
                        (rule(470, "ink", width, stroke))
                    }
                    (word)
                }
            }
        }
        p.legend {
            "By runtime: the marker and the figure are the median, a bar goes from minimum to "
            "maximum."
        }
    }
}

/// Renders colours and markers with their names.
pub(super) fn legend<'a>(series: impl Iterator<Item = (usize, &'a str)>) -> Markup {
    html! {
        p.legend {
            @for (slot, name) in series {
                span {
                    svg viewBox="0 0 280 120" aria-hidden="true" { (swatch(slot)) }
                    (name)
                }
            }
        }
    }
}

fn swatch(slot: usize) -> Markup {
    let corner = |(x, y): (i32, i32)| format!("{},{}", x + 140, y + 60);
    let corners: Vec<String> = ink::marker(slot).into_iter().map(corner).collect();
    let series = format!("series-{}", slot % ink::SLOTS);
    html! {
        (rule(270, &series, 20, Stroke::Solid))
        polygon points=(corners.join(" ")) fill={ "var(--" (series) ")" } {}
    }
}

/// Returns a horizontal line of a legend, in a colour of the page.
fn rule(end: u32, colour: &str, width: u32, stroke: Stroke) -> Markup {
    let attributes = stroke.attributes();
    PreEscaped(format!(
        r#"<path d="M10 60H{end}" stroke="var(--{colour})" stroke-width="{width}"{attributes}/>"#,
    ))
}
