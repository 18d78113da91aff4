//! The page: what was measured and where, the table, and the pictures of every experiment.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::families::FAMILIES;
use super::ink::{self, Stroke};
use super::table::mark;
use super::{RECORDS, Session, file, pictures, remarks, section, table};
use crate::figures::{Experiment, Figures};
use crate::regime::MEANING;
use crate::runtime::Peer;
use crate::verdict::{DOUBT, Standing, Verdict};
use crate::words;

/// Renders the whole page.
pub(super) fn render(session: &Session) -> anyhow::Result<String> {
    let figures = Figures::of(&session.records);
    let mut sections = Vec::new();
    for experiment in &figures.experiments {
        sections.push(section(experiment, &figures)?);
    }
    let mut parts = Vec::new();
    for family in &FAMILIES {
        parts.push((family.part)(session)?);
    }
    for measured in &session.ported {
        parts.push(section::render(measured)?);
    }
    let title = format!("evenkeel beside its peers, {}", session.started);
    let body = html! {
        (head(session, &figures))
        h2 { "All figures" }
        p {
            "Median [minimum to maximum] of the repeats; smaller is better throughout, and "
            "the best of each row is " strong { "bold" } ". " (DOUBT) "."
        }
        (table::render(&figures))
        h2.pictures { "Pictures" }
        (key(&figures))
        @for section in &sections { (section) }
        @for part in &parts { (part) }
        footer {
            "All runs, one JSON object per line: "
            a href=(RECORDS) { (RECORDS) }
            @for (place, family) in FAMILIES.iter().enumerate() {
                (if place == 0 { "; of " } else { ", of " }) (family.name) ", "
                a href=(family.file) { (family.file) }
            }
            @for measured in &session.ported {
                ", of " (measured.of.name) ", "
                a href=(file(measured)) { (file(measured)) }
            }
        }
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

fn head(session: &Session, figures: &Figures) -> Markup {
    let records = &session.records;
    let verdicts = table::verdicts(figures);
    let number = |standing| verdicts.iter().filter(|v: &&Verdict| v.standing == standing).count();
    let benches = figures.experiments.len();
    let ported = session.ported.iter().map(|measured| measured.of.name);
    let further: Vec<&str> = FAMILIES.iter().map(|family| family.name).chain(ported).collect();
    let peers = figures.runtimes.iter().filter_map(|name| name.parse::<Peer>().ok());
    let peers: Vec<String> = peers.map(|peer| format!("{peer}: {}", peer.describe())).collect();
    let notes: Vec<String> =
        session.notes.iter().cloned().chain(remarks::of(records, figures)).collect();
    html! {
        h1 { "evenkeel beside its peers" }
        p.lead {
            (words::count(records.len(), "run")) " of "
            (words::count(benches, "experiment")) " on " (figures.runtimes.join(", "))
            ". evenkeel is "
            (mark(Standing::Ahead)) "ahead of every peer in " (number(Standing::Ahead)) ", "
            (mark(Standing::Behind)) "behind in " (number(Standing::Behind)) " and "
            (mark(Standing::Even)) "neither in " (number(Standing::Even)) " of their "
            (words::count(verdicts.len(), "row")) "; " (words::and(&further)) " are further down."
        }
        dl {
            dt { "Begun" } dd { (session.started) }
            dt { "Machine" } dd { (session.machine) }
            @if !peers.is_empty() {
                dt { "Runtimes" } dd { (peers.join("; ")) }
            }
            dt { "Cores" } dd { (words::capital(&remarks::regimes(records))) ". " (words::capital(MEANING)) "." }
            @if !notes.is_empty() {
                dt { "Notes" } dd { ul { @for note in &notes { li { (prose(note)) } } } }
            }
            dt { "Topology" } dd { pre { (session.topology.trim_end()) } }
        }
    }
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
fn key(figures: &Figures) -> Markup {
    let strokes = [
        (Stroke::Solid, 20, "median"),
        (Stroke::Dashed, 14, "maximum"),
        (Stroke::Dotted, 14, "minimum of the repeats"),
    ];
    let lines = figures.experiments.iter().any(pictures::by_lines);
    let dots = figures.experiments.iter().any(|experiment| !pictures::by_lines(experiment));
    html! {
        @if lines {
            p.legend {
                span { "Against processors:" }
                @for (stroke, width, word) in strokes {
                    span {
                        svg viewBox="0 0 480 120" aria-hidden="true" {
                            (rule(470, "ink", width, stroke))
                        }
                        (word)
                    }
                }
            }
        }
        @if dots {
            p.legend {
                "By runtime: the marker and the figure are the median, a bar goes from minimum to "
                "maximum."
            }
        }
    }
}

fn section(experiment: &Experiment, figures: &Figures) -> anyhow::Result<Markup> {
    let pictures = pictures::of(experiment, figures)?;
    // Rows of dots carry the runtimes' names beside them.
    let legend = pictures::by_lines(experiment);
    Ok(html! {
        section {
            div.title {
                h3 { (words::title(experiment)) }
                p { (words::description(&experiment.bench)) }
                @if legend { (runtimes(experiment, figures)) }
            }
            div.grid { @for picture in &pictures { (picture) } }
        }
    })
}

/// The colours and markers of the runtimes in an experiment.
fn runtimes(experiment: &Experiment, figures: &Figures) -> Markup {
    let measured = |runtime: &usize| {
        let mut rows = experiment.loads.iter().flat_map(|load| &load.rows);
        rows.any(|row| row.cell(*runtime).is_some())
    };
    let shown = (0..figures.runtimes.len()).filter(measured);
    legend(shown.map(|runtime| (figures.slots[runtime], figures.runtimes[runtime].as_str())))
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
