//! The part of the page about timers: their table, and a picture of each variant.

use maud::{Markup, PreEscaped, html};

use super::dots::{self, Dot, Scale};
use crate::disturbance;
use crate::figures::{self, Summary};
use crate::timers::Variant;
use crate::timers::record::Record;
use crate::timers::table::{Group, columns, groups, regime};
use crate::words::{self, count};

/// What a picture shows.
struct Quantity {
    name: &'static str,
    unit: &'static str,
    read: fn(&Record) -> Option<f64>,
}

/// That of a variant: its cost, or the tail of its lateness.
fn quantity(variant: Variant) -> Quantity {
    if variant.cancels() {
        Quantity { name: "Cost", unit: "ns per timer", read: |record| record.ns_per_timer }
    } else {
        let read = |record: &Record| record.late_us_p999;
        Quantity { name: "Lateness", unit: "µs, 99.9th percentile", read }
    }
}

/// Everything about timers; nothing if none was measured.
pub(super) fn render(records: &[Record]) -> anyhow::Result<Markup> {
    if records.is_empty() {
        return Ok(html! {});
    }
    let mut sections = Vec::new();
    for variant in Variant::ALL {
        let groups = groups(records, variant);
        if !groups.is_empty() {
            sections.push(section(variant, &groups)?);
        }
    }
    Ok(html! {
        h2.pictures { "Timers" }
        p {
            "Creation, first poll and cancellation of one timer, in nanoseconds; and how late those are that fire, from their deadline until their task "
            "goes on, in microseconds. Medians [minimum to maximum] of the repeats; lower is better. A timer of evenkeel or Tokio is never early: one that "
            "is fails the run. Both round up to a tick, evenkeel's of half a millisecond and Tokio's of one. tokio-native is Tokio of as many threads as there are "
            "workers, tokio-one its runtime of one thread."
        }
        @if let Some(disturbed) = disturbance::count(records.iter().map(|record| record.cpu_share)) {
            p { (disturbed) }
        }
        @for section in &sections { (section) }
    })
}

fn section(variant: Variant, groups: &[Group<'_>]) -> anyhow::Result<Markup> {
    let columns = columns(variant);
    let mut pictures = Vec::new();
    for rows in groups.chunk_by(|a, b| place(a) == place(b)) {
        pictures.push(picture(variant, rows)?);
    }
    Ok(html! {
        section {
            div.title { h3 { (words::capital(variant.says())) } }
            div.wide {
                table.dense {
                    thead {
                        tr {
                            th.number scope="col" { "Workers" }
                            th scope="col" { "Runtime" }
                            @for (heading, _) in columns { th.number scope="col" { (heading) } }
                        }
                    }
                    tbody {
                        @for group in groups {
                            tr {
                                td.number {
                                    (group[0].workers)
                                    @if let Some(regime) = regime(group[0]) { span.range { (regime) } }
                                }
                                td { (group[0].runtime) }
                                @for (_, read) in columns { td.number { (figure(group, *read)) } }
                            }
                        }
                    }
                }
            }
            div.grid { @for picture in &pictures { (picture) } }
        }
    })
}

/// What the runtimes of one picture have in common.
fn place<'a>(group: &Group<'a>) -> (usize, usize, Option<&'a str>) {
    (group[0].workers, group[0].tasks, regime(group[0]))
}

/// One picture: a variant at one number of workers, with the cores in one regime.
fn picture(variant: Variant, rows: &[Group<'_>]) -> anyhow::Result<Markup> {
    let Quantity { name, unit, read } = quantity(variant);
    let dots: Vec<Dot> = rows
        .iter()
        .map(|group| {
            let value = summary(group, read);
            let text = dots::text(value.as_ref(), None);
            let runtime = &group[0].runtime;
            Dot { name: runtime.clone(), slot: figures::slot(runtime), value, text }
        })
        .collect();
    let values: Vec<Summary> = dots.iter().filter_map(|dot| dot.value).collect();
    let svg = dots::draw(unit, &Scale::fitting(&values), &dots)?;
    let workers = count(rows[0][0].workers, "worker");
    let caption = match regime(rows[0][0]) {
        Some(regime) => format!("{name}, {variant}, {workers}, cores {regime}"),
        None => format!("{name}, {variant}, {workers}"),
    };
    Ok(html! {
        figure {
            figcaption { (caption) span.unit { "lower is better" } }
            div.chart role="img" aria-label=(caption) { (PreEscaped(svg)) }
        }
    })
}

fn summary(group: &Group<'_>, read: fn(&Record) -> Option<f64>) -> Option<Summary> {
    Summary::of(group.iter().filter_map(|record| read(record)).collect())
}

fn figure(group: &Group<'_>, read: fn(&Record) -> Option<f64>) -> Markup {
    let Some(value) = summary(group, read) else { return html! { "-" } };
    html! {
        (words::figure(value.median))
        @if value.runs > 1 {
            span.range { "[" (words::figure(value.min)) " to " (words::figure(value.max)) "]" }
        }
    }
}
