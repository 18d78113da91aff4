//! The top of the page: the outcome of each family, as bars, the worst losses, and the contents.

use maud::{Markup, html};

use super::table::mark;
use suite::entry::Measured;
use suite::outcome::Outcome;
use suite::tally::Tally;
use suite::verdict::Standing;
use suite::words;

/// Renders the bars of all families, and the worst losses below them.
pub(super) fn summary(outcome: &Outcome) -> Markup {
    let most = outcome.families.iter().map(|family| family.tally.all()).max().unwrap_or(0);
    html! {
        section.summary {
            @for family in &outcome.families {
                div.ended {
                    a.name href={ "#" (family.name) } { (family.title) }
                    (bar(&family.tally, most))
                    span.counts { (family.tally.words()) }
                }
            }
            div.ended.all {
                span.name { "All" }
                p.legend {
                    @for (kind, _) in Tally::default().parts() {
                        span { i.{ "piece " (class(kind)) } {} (kind) }
                    }
                }
                span.counts { (outcome.all.words()) }
            }
        }
        @if !outcome.losses.is_empty() {
            p { (words::capital(&outcome.headline())) ":" }
            ul {
                @for loss in outcome.worst() {
                    li {
                        (mark(Standing::Behind))
                        a href={ "#bench-" (loss.bench) } { (loss.what) } ": "
                        (loss.words.to_lowercase())
                    }
                }
            }
        }
    }
}

/// Renders the comparisons of a family by their outcome; the length of a part is their number.
fn bar(tally: &Tally, most: usize) -> Markup {
    let width = |count: usize| count as f64 * 100.0 / most.max(1) as f64;
    html! {
        div.bar role="img" aria-label=(tally.words()) {
            @for (kind, count) in tally.parts() {
                @if count > 0 {
                    i.{ "piece " (class(kind)) } style={ "width:" (format!("{:.2}%", width(count))) } {}
                }
            }
        }
    }
}

/// Returns the name of a kind in the style sheet.
fn class(kind: &str) -> String {
    kind.replace(' ', "-")
}

/// Renders the contents.
pub(super) fn contents(all: &[Measured]) -> Markup {
    html! {
        nav {
            @for Measured { of, records, .. } in all {
                @let measured = |name: &str| records.iter().any(|record| record.case.bench == name);
                @if !records.is_empty() {
                    p {
                        a href={ "#" (of.name) } { strong { (of.title) } } ": "
                        @for (place, name) in of.experiments.iter().map(|e| e.name)
                            .filter(|name| measured(name)).enumerate() {
                            @if place > 0 { ", " }
                            a href={ "#bench-" (name) } { (name) }
                        }
                    }
                }
            }
            p { a href="#how" { "How it was measured" } }
        }
    }
}
