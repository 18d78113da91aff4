//! The page: what was measured and where, the table, and the pictures of every experiment.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::ink::{self, Stroke};
use super::table::mark;
use super::{Session, file, section};
use crate::regime::MEANING;
use crate::suite::entry::Measured;
use crate::suite::rows::rows;
use crate::suite::tally::Tally;
use crate::verdict::Standing;
use crate::words;

/// Renders the whole page.
pub(super) fn render(session: &Session) -> anyhow::Result<String> {
    let mut parts = Vec::new();
    for measured in &session.ported {
        parts.push(section::render(measured)?);
    }
    let title = format!("evenkeel beside its peers, {}", session.started);
    let body = html! {
        (head(session))
        (key())
        @for part in &parts { (part) }
        footer {
            "All runs, one JSON object per line: "
            @for (place, measured) in session.ported.iter().enumerate() {
                (if place == 0 { "of " } else { ", of " }) (measured.of.name) ", "
                a href=(file(measured)) { (file(measured)) }
            }
        }
    };
    Ok(document(&title, &body))
}

/// A page of one family alone.
pub(super) fn of_one(measured: &Measured) -> anyhow::Result<String> {
    let title = format!("evenkeel: {}", measured.of.title);
    let body = html! {
        h1 { (title) }
        (section::render(measured)?)
        p.note { (words::capital(MEANING)) "." }
    };
    Ok(document(&title, &body))
}

/// A page that needs nothing beside itself.
pub(super) fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

fn head(session: &Session) -> Markup {
    let measured = &session.ported;
    let runs: usize = measured.iter().map(|measured| measured.records.len()).sum();
    let names: Vec<&str> = measured.iter().map(|measured| measured.of.name).collect();
    let tallies: Vec<Tally> = measured
        .iter()
        .map(|measured| Tally::of(&rows(&measured.of, &measured.records, &measured.absent)))
        .collect();
    let number = |of: fn(&Tally) -> usize| -> usize { tallies.iter().map(of).sum() };
    let unfinished = number(|tally| tally.unfinished);
    html! {
        h1 { "evenkeel beside its peers" }
        p.lead {
            (words::count(runs, "run")) @if !names.is_empty() { " of " (words::and(&names)) }
            ". evenkeel is "
            (mark(Standing::Ahead)) "ahead of every peer in " (number(|tally| tally.won)) ", "
            (mark(Standing::Behind)) "behind in " (number(|tally| tally.lost)) ", "
            (mark(Standing::Even)) "neither in " (number(|tally| tally.even))
            " and not compared in " (number(|tally| tally.not_compared)) " of their figures"
            @if unfinished > 0 { "; it does not complete " (unfinished) }
            "."
        }
        dl {
            dt { "Begun" } dd { (session.started) }
            dt { "Machine" } dd { (session.machine) }
            dt { "Cores" } dd { (words::capital(&regimes(session))) ". " (words::capital(MEANING)) "." }
            @if !session.notes.is_empty() {
                dt { "Notes" } dd { ul { @for note in &session.notes { li { (prose(note)) } } } }
            }
            dt { "Topology" } dd { pre { (session.topology.trim_end()) } }
        }
    }
}

/// How many runs on more than one worker were made in which regime, such as `40 runs near, 2 runs
/// mixed`: to one alone the distance of the cores makes no difference.
fn regimes(session: &Session) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let records = session.ported.iter().flat_map(|measured| &measured.records);
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

/// A sentence with what stands between backticks as code.
fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
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

/// Colours and markers with the names that they stand for.
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

/// A level line of a legend, in a colour of the page.
fn rule(end: u32, colour: &str, width: u32, stroke: Stroke) -> Markup {
    let attributes = stroke.attributes();
    PreEscaped(format!(
        r#"<path d="M10 60H{end}" stroke="var(--{colour})" stroke-width="{width}"{attributes}/>"#,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn regimes_are_counted_of_runs_that_have_one() {
        let mut session = example::session();
        session.ported.truncate(1);
        let records = &mut session.ported[0].records;
        records.truncate(3);
        for (record, workers) in records.iter_mut().zip([2, 2, 1]) {
            record.case.workers = workers;
        }
        records[1].quiet.regime = "mixed".into();
        records[2].quiet.regime = "mixed".into();
        let due = "on more than one worker 1 run near, 1 run mixed (a cache line took 41 to 43 ns \
                   one way)";
        assert_eq!(regimes(&session), due);
        session.ported.clear();
        assert_eq!(regimes(&session), "no run on more than one worker");
    }
}
