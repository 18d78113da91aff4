//! The part of the page about the tables of "Concurrency in C∀": each beside its published columns.

use maud::{Markup, html};

use super::table::{mark, standing};
use crate::concurrency::figures::{Line, Quantity, columns, lines};
use crate::concurrency::peer::Peer;
use crate::concurrency::published::{self, System};
use crate::concurrency::record::Record;
use crate::concurrency::table::{of_system, systems};
use crate::concurrency::{Bench, Variant};
use crate::disturbance;
use crate::verdict::{DOUBT, Standing};
use crate::words::{self, count};

/// All tables; nothing if none of it was measured.
pub(super) fn render(records: &[Record]) -> Markup {
    let lines = lines(records);
    if lines.is_empty() {
        return html! {};
    }
    html! {
        h2.pictures { "Concurrency in C∀" }
        (lead(&lines, records))
        @for group in lines.chunk_by(|a, b| a.bench == b.bench) { (table(group)) }
        p.note { (words::capital(published::SOURCE)) "." }
    }
}

fn lead(lines: &[Line], records: &[Record]) -> Markup {
    let compared = || lines.iter().filter(|line| line.verdict().peer.is_some());
    let number = |standing| compared().filter(|line| line.verdict().standing == standing).count();
    html! {
        p {
            "The experiments of the thesis: so many times the operation on one processor, nanoseconds of each by the clock "
            "on the wall: median [minimum to maximum] of the repeats; smaller is better, but for the entries of contended. The best is "
            strong { "bold" } ". call, a plain call, guards nothing and is not compared. tokio-notify is two Notify in turns, without a monitor. " (DOUBT) "."
            @if compared().next().is_some() {
                " evenkeel is " (mark(Standing::Ahead)) "ahead of every peer in " (number(Standing::Ahead)) ", "
                (mark(Standing::Behind)) "behind in " (number(Standing::Behind)) " and " (mark(Standing::Even)) "neither in "
                (number(Standing::Even)) " of the " (count(compared().count(), "row")) " that compare it with a peer: of those that differ in the "
                "distance of the cores one does, and none in which it changed or one of the two has a single run."
            }
        }
        p {
            "In ctxswitch, coroutine is beside its loop, where the compiler removes it; coroutine-kept is in memory, behind a call, as one that a "
            "function has returned; task is one alone, two-tasks are two in turns. In schedint and schedext the variant names the party that is timed. In creation a lazy "
            "coroutine never runs and an eager one runs once; boxed: with its type erased. In contended, tight parties enter again at once, yielding ones yield "
            "before; a longest wait is that of any party until it is inside."
        }
        @if let Some(disturbed) = disturbance::count(records.iter().map(|record| record.cpu_share)) {
            p { (disturbed) }
        }
    }
}

fn table(lines: &[Line]) -> Markup {
    let (peers, systems) = (columns(lines), systems(lines));
    let bench = lines[0].bench;
    html! {
        div.wide {
            table.dense {
                thead {
                    tr {
                        th scope="col" { "Variant" }
                        th.number scope="col" { "Processors, tasks" }
                        @for peer in &peers { th.number scope="col" { (peer) } }
                        th scope="col" { "evenkeel beside the best peer" }
                        @for system in &systems { th.number scope="col" { (system.name()) } }
                    }
                }
                tbody {
                    tr.experiment {
                        th colspan=(peers.len() + systems.len() + 3) scope="rowgroup" {
                            (words::capital(bench.name()))
                            span.unit { (bench.describe()) }
                        }
                    }
                    @for line in lines { (row(line, &peers, &systems)) }
                }
            }
        }
    }
}

fn row(line: &Line, peers: &[Peer], systems: &[System]) -> Markup {
    let best = line.best();
    html! {
        tr {
            td { (variant(line)) }
            td.number {
                (line.procs) ", " (line.tasks)
                @if let Some(regime) = &line.regime { span.range { (regime) } }
            }
            @for &peer in peers { td.number { (figure(line, peer, best == Some(peer))) } }
            td.verdict {
                @if line.cell(Peer::Evenkeel).is_some() { (standing(&line.verdict())) }
            }
            @for &system in systems {
                td.number { (of_system(line, system).unwrap_or_else(|| "-".to_owned())) }
            }
        }
    }
}

fn variant(line: &Line) -> String {
    let name = line.variant.name();
    let monitors = || count(line.monitors, "monitor");
    match (line.quantity, line.bench, line.variant) {
        (Quantity::Time, Bench::Ctxswitch | Bench::Creation, _) => name.to_owned(),
        (Quantity::Time, _, Variant::Only) => monitors(),
        (Quantity::Time, ..) => format!("{name}, {}", monitors()),
        (quantity, ..) => format!("{name}: {}", quantity.unit()),
    }
}

fn figure(line: &Line, peer: Peer, best: bool) -> Markup {
    let Some(value) = line.cell(peer) else {
        return html! { span.range { "-" } };
    };
    let median = words::figure(value.median);
    html! {
        @if best { strong { (median) } } @else { (median) }
        @if value.runs > 1 {
            span.range { "[" (words::figure(value.min)) " to " (words::figure(value.max)) "]" }
        } @else {
            span.range { "1 run" }
        }
    }
}
