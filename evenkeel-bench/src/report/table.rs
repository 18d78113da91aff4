//! The table of all cells: median, extremes, the best of each row, and the subject's standing.

use maud::{Markup, html};

use crate::figures::{Cell, Experiment, Figures, Row};
use crate::verdict::{Standing, Verdict};
use crate::words;

/// All rows with their verdicts, in the order in which they are shown.
pub(super) fn verdicts(figures: &Figures) -> Vec<Verdict> {
    let rows = |e: &Experiment| e.loads.iter().flat_map(|l| l.rows.clone()).collect::<Vec<_>>();
    let of = |e: &Experiment| {
        let verdict = |row| Verdict::of(&row, figures, e.measure);
        rows(e).into_iter().map(verdict).collect::<Vec<_>>()
    };
    figures.experiments.iter().flat_map(of).collect()
}

/// The table as HTML.
pub(super) fn render(figures: &Figures) -> Markup {
    let columns = figures.runtimes.len() + 3;
    html! {
        div.wide {
            table {
                thead {
                    tr {
                        th scope="col" { "Load" }
                        th.number scope="col" { "Processors" }
                        @for runtime in &figures.runtimes { th.number scope="col" { (runtime) } }
                        th scope="col" { "evenkeel beside the best peer" }
                    }
                }
                @for experiment in &figures.experiments {
                    tbody {
                        tr.experiment {
                            th colspan=(columns) scope="rowgroup" {
                                (words::title(experiment))
                                span.unit { (words::unit(experiment.measure)) }
                            }
                        }
                        @for load in &experiment.loads {
                            @for (index, row) in load.rows.iter().enumerate() {
                                tr {
                                    @if index == 0 {
                                        td rowspan=(load.rows.len()) {
                                            (words::load(&experiment.bench, load.tasks_per_proc))
                                        }
                                    }
                                    (cells(row, experiment, figures))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cells(row: &Row, experiment: &Experiment, figures: &Figures) -> Markup {
    let best = row.best();
    let verdict = Verdict::of(row, figures, experiment.measure);
    html! {
        td.number {
            (row.procs)
            @if let Some(regime) = &row.regime { span.range { (regime) } }
        }
        @for runtime in 0..figures.runtimes.len() {
            td.number {
                @match row.cell(runtime) {
                    Some(cell) => (figure(cell, best == Some(runtime))),
                    None => span.range { "not measured" },
                }
            }
        }
        td.verdict { (standing(&verdict)) }
    }
}

fn figure(cell: &Cell, best: bool) -> Markup {
    let value = &cell.value;
    let median = words::figure(value.median);
    html! {
        @if !value.completed() {
            "did not complete"
            @if value.incomplete < value.runs {
                span.range { "in " (value.incomplete) " of " (words::count(value.runs, "run")) }
            }
        } @else {
            @if best { strong { (median) } } @else { (median) }
            @if value.runs == 1 {
                span.range { "1 run" }
            } @else if value.incomplete == 0 {
                span.range { "[" (words::figure(value.min)) " to " (words::figure(value.max)) "]" }
            } @else {
                span.range { "from " (words::figure(value.min)) }
                span.range.remark { (value.incomplete) " of " (value.runs) " did not complete" }
            }
        }
        @if let Some(regime) = &cell.foreign { span.range { "cores " (regime) } }
    }
}

/// What the words of a verdict are about.
pub(super) fn standing(verdict: &Verdict) -> Markup {
    html! {
        (mark(verdict.standing))
        (verdict.words)
        @if let Some(peer) = &verdict.peer { span.range { "beside " (peer) } }
    }
}

/// The coloured mark that goes with the words.
pub(super) fn mark(standing: Standing) -> Markup {
    let (class, mark) = match standing {
        Standing::Ahead => ("ahead", "▲"),
        Standing::Behind => ("behind", "▼"),
        Standing::Even => ("even", "■"),
    };
    html! { span.mark.(class) aria-hidden="true" { (mark) } }
}
