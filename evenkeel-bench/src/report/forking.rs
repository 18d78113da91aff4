//! The part of the page about fork-join programs: their table, and pictures of each.

use maud::{Markup, PreEscaped, html};

use super::dots::{self, Dot, Scale};
use super::table::{mark, standing};
use crate::disturbance::ENOUGH;
use crate::figures::{self, Summary};
use crate::forking::figures::{doubts, milliseconds, ns_per_fork, speedup};
use crate::forking::forker::Name;
use crate::forking::runner::Measured;
use crate::forking::table::names;
use crate::verdict::{DOUBT, Standing};
use crate::words::{self, count, thousands};

/// Reads one of a runtime's figures.
type Read = fn(&Measured, Name) -> Option<Summary>;

/// A figure that a picture shows.
struct Quantity {
    name: &'static str,
    read: Read,
    unit: &'static str,
    scale: fn(&[Summary]) -> Scale,
    sense: &'static str,
}

const SPEEDUP: Quantity = Quantity {
    name: "Speed-up over serial",
    read: speedup,
    unit: "times as fast as serial calls",
    scale: Scale::from_zero,
    sense: "higher is better",
};

const COST: Quantity = Quantity {
    name: "Cost of a fork",
    read: ns_per_fork,
    unit: "ns per fork beyond serial calls",
    scale: Scale::fitting,
    sense: "lower is better",
};

/// Everything about fork-join programs; nothing if none was measured.
pub(super) fn render(all: &[Measured]) -> anyhow::Result<Markup> {
    if all.is_empty() {
        return Ok(html! {});
    }
    let mut sections = Vec::new();
    for group in all.chunk_by(|a, b| a.cell.program == b.cell.program) {
        sections.push(section(group)?);
    }
    Ok(html! {
        h2.pictures { "Fork-join" }
        (lead(all))
        (table(all))
        @for section in &sections { (section) }
    })
}

fn lead(all: &[Measured]) -> Markup {
    let number = |standing| all.iter().filter(|one| one.verdict().standing == standing).count();
    let records = || all.iter().flat_map(|one| &one.records);
    let disturbed = records().filter(|record| record.cpu_share < ENOUGH).count();
    let not_run: Vec<String> =
        all.iter().flat_map(|one| &one.not_run).map(|not_run| not_run.to_string()).collect();
    let doubts = doubts(all);
    html! {
        p {
            "Milliseconds of the recursion: median [minimum to maximum] of the repeats, and how many times as fast as "
            "plain calls in the same language, the runs of all rows of the size together. By this speed-up runtimes are compared, because compilers differ "
            "in the leaves by more than runtimes do around them; the best is " strong { "bold" }
            ". " (DOUBT) ". evenkeel's plain join is " (mark(Standing::Ahead)) "ahead of every peer in "
            (number(Standing::Ahead)) ", " (mark(Standing::Behind)) "behind in "
            (number(Standing::Behind)) " and " (mark(Standing::Even)) "neither in "
            (number(Standing::Even)) " of " (count(all.len(), "row")) "."
        }
        @if disturbed > 0 {
            p {
                (count(disturbed, "cell")) " of " (records().count()) " had a disturbed repeat, to which "
                "less than " (format!("{:.0}", ENOUGH * 100.0)) " % of its cores' time was left."
            }
        }
        @if !doubts.is_empty() {
            p { "Doubtful:" }
            ul { @for doubt in &doubts { li { (words::capital(doubt)) "." } } }
        }
        @if !not_run.is_empty() {
            p { "Not run:" }
            ul { @for not_run in &not_run { li { (not_run) } } }
        }
    }
}

fn table(all: &[Measured]) -> Markup {
    let names = names(all);
    html! {
        div.wide {
            table.dense {
                thead {
                    tr {
                        th.number scope="col" { "Size" }
                        th.number scope="col" { "Workers" }
                        @for name in &names { th.number scope="col" { (name) } }
                        th scope="col" { "Speed-up of evenkeel's join" }
                    }
                }
                @for group in all.chunk_by(|a, b| a.cell.program == b.cell.program) {
                    tbody {
                        tr.experiment {
                            th colspan=(names.len() + 3) scope="rowgroup" {
                                (group[0].cell.program) span.unit { "ms" }
                            }
                        }
                        @for measured in group { (row(measured, &names)) }
                    }
                }
            }
        }
    }
}

fn row(measured: &Measured, names: &[Name]) -> Markup {
    let best = measured.best();
    html! {
        tr {
            td.number { (thousands(measured.cell.n as i64)) }
            td.number {
                (measured.cell.workers)
                @if let Some(regime) = measured.regime() { span.range { (regime) } }
            }
            @for &name in names { td.number { (figure(measured, name, best == Some(name))) } }
            td.verdict { (standing(&measured.verdict())) }
        }
    }
}

fn figure(measured: &Measured, name: Name, best: bool) -> Markup {
    let Some(value) = measured.record(name).and_then(milliseconds) else {
        return html! { span.range { "not run" } };
    };
    let median = words::figure(value.median);
    let speedup = speedup(measured, name).filter(|_| !name.is_serial());
    html! {
        @if best { strong { (median) } } @else { (median) }
        @if value.runs > 1 {
            span.range { "[" (words::figure(value.min)) " to " (words::figure(value.max)) "]" }
        }
        @if let Some(speedup) = speedup { span.range { (words::figure(speedup.median)) " x" } }
    }
}

/// All cells of one program.
fn section(group: &[Measured]) -> anyhow::Result<Markup> {
    let mut pictures = Vec::new();
    for size in group.chunk_by(|a, b| a.cell.n == b.cell.n) {
        for quantity in [&SPEEDUP, &COST] {
            for measured in size {
                pictures.extend(picture(measured, size, quantity)?);
            }
        }
    }
    let program = group[0].cell.program;
    Ok(html! {
        section {
            div.title {
                h3 { (words::capital(program.name())) }
                p { (words::capital(program.describe())) "." }
            }
            div.grid { @for picture in &pictures { (picture) } }
        }
    })
}

/// One picture, on an axis that the cells of the same size share; none if nothing was measured of it.
fn picture(
    measured: &Measured,
    size: &[Measured],
    quantity: &Quantity,
) -> anyhow::Result<Option<Markup>> {
    let names = || measured.cell.runtimes.iter().copied().filter(|name| !name.is_serial());
    let of = |one| names().filter_map(|name| (quantity.read)(one, name)).collect::<Vec<_>>();
    if of(measured).is_empty() {
        return Ok(None);
    }
    let dot = |name: Name| {
        let value = (quantity.read)(measured, name);
        let text = dots::text(value.as_ref(), None);
        Dot { name: name.to_string(), slot: figures::slot(name.name()), value, text }
    };
    let scale = (quantity.scale)(&size.iter().flat_map(of).collect::<Vec<_>>());
    let svg = dots::draw(quantity.unit, &scale, &names().map(dot).collect::<Vec<_>>())?;
    let workers = count(measured.cell.workers, "worker");
    let caption =
        format!("{}, n = {}, {workers}", quantity.name, thousands(measured.cell.n as i64));
    Ok(Some(html! {
        figure {
            figcaption { (caption) span.unit { (quantity.sense) } }
            div.chart role="img" aria-label=(caption) { (PreEscaped(svg)) }
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtimes_of_a_picture_have_colours_of_their_own_and_the_same_in_an_analysis() {
        let names = Name::ALL.into_iter().filter(|name| !name.is_serial());
        let names: Vec<&str> = names.map(Name::name).collect();
        let mut colours: Vec<usize> =
            names.iter().map(|name| figures::slot(name) % figures::SLOTS).collect();
        colours.sort_unstable();
        colours.dedup();
        assert_eq!(colours.len(), names.len());
        let (names, slots) = figures::places_of_runtimes(&names);
        assert!(names.iter().zip(slots).all(|(name, slot)| slot == figures::slot(name)));
    }
}
