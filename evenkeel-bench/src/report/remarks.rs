//! What a reader must know about the runs before trusting a figure, counted and named.

use crate::disturbance::ENOUGH;
use crate::figures::{Figures, MIXED};
use crate::record::Record;
use crate::words::{self, count};

/// Runs named one by one; further ones are only counted, so that a remark stays readable.
const NAMED: usize = 8;

/// All remarks that follow from the runs themselves.
pub(super) fn of(records: &[Record], figures: &Figures) -> Vec<String> {
    let mut remarks = Vec::new();
    remarks.extend(disturbed(records));
    remarks.extend(mixed(records));
    remarks.extend(left_out(figures));
    remarks.extend(foreign(figures));
    remarks.extend(incomplete(records));
    remarks
}

/// How many runs with more than one processor were made in which regime, such as `40 near, 2 mixed`: to one alone the distance of the cores makes no difference.
pub(super) fn regimes(records: &[Record]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let bound = || records.iter().filter(|record| record.procs > 1);
    for record in bound() {
        match counts.iter_mut().find(|(regime, _)| *regime == record.regime) {
            Some((_, count)) => *count += 1,
            None => counts.push((&record.regime, 1)),
        }
    }
    let words: Vec<String> = counts
        .iter()
        .map(|(regime, number)| format!("{} {regime}", count(*number, "run")))
        .collect();
    if words.is_empty() {
        return "no run on more than one processor".to_owned();
    }
    let measured =
        || bound().flat_map(|r| [r.line_ns_before, r.line_ns_after]).filter(|ns| *ns > 0.0);
    let (min, max) = measured().fold((f64::INFINITY, 0.0f64), |(a, b), ns| (a.min(ns), b.max(ns)));
    let counts = format!("on more than one processor {}", words.join(", "));
    match max == 0.0 {
        true => counts,
        false => format!("{counts} (a cache line took {min:.0} to {max:.0} ns one way)"),
    }
}

fn disturbed(records: &[Record]) -> Option<String> {
    let disturbed: Vec<&Record> = records.iter().filter(|r| r.cpu_share < ENOUGH).collect();
    let name = |r: &Record| format!("{} ({:.0} %)", run(r), r.cpu_share * 100.0);
    (!disturbed.is_empty()).then(|| {
        format!(
            "{} of {} disturbed: less than {:.0} % of the processors' time was left to \
             the suite. Their figures count like all others: {}.",
            count(disturbed.len(), "run"),
            records.len(),
            ENOUGH * 100.0,
            listed(&disturbed, name),
        )
    })
}

fn mixed(records: &[Record]) -> Option<String> {
    let mixed: Vec<&Record> = records.iter().filter(|r| r.regime == MIXED && r.procs > 1).collect();
    let name =
        |r: &Record| format!("{} ({:.0} then {:.0} ns)", run(r), r.line_ns_before, r.line_ns_after);
    (!mixed.is_empty()).then(|| {
        format!(
            "{} of {} on more than one processor in a mixed regime: the distance of the cores changed during the run: {}.",
            count(mixed.len(), "run"),
            records.iter().filter(|r| r.procs > 1).count(),
            listed(&mixed, name),
        )
    })
}

fn left_out(figures: &Figures) -> Option<String> {
    let loads = figures.experiments.iter().flat_map(|e| &e.loads);
    let number: usize = loads.flat_map(|l| &l.rows).map(|r| r.left_out).sum();
    (number > 0).then(|| {
        format!(
            "Rows with more than one processor compare runs of one regime only, which is named \
             under the number of processors. Left out of their figures: {} of another regime.",
            count(number, "run"),
        )
    })
}

fn foreign(figures: &Figures) -> Option<String> {
    let rows = figures.experiments.iter().flat_map(|e| &e.loads).flat_map(|l| &l.rows);
    let cells = rows.flat_map(|row| &row.cells).filter(|cell| cell.foreign.is_some()).count();
    (cells > 0).then(|| {
        format!(
            "{} of the table only had runs of another regime than the row's: the cell names it, \
             is compared with nothing and has no point in the pictures with lines.",
            count(cells, "cell"),
        )
    })
}

fn incomplete(records: &[Record]) -> Option<String> {
    let incomplete = || records.iter().filter(|r| r.dnc);
    let seconds = || incomplete().map(|r| r.seconds);
    let (min, max) = seconds().fold((f64::INFINITY, 0.0f64), |(a, b), s| (a.min(s), b.max(s)));
    let waited = match (min, max) {
        (_, 0.0) => String::new(),
        (min, max) if max - min < 0.1 => format!(" They were stopped after {max:.1} s."),
        (min, max) => format!(" They were stopped after {min:.1} to {max:.1} s."),
    };
    (incomplete().count() > 0).then(|| {
        format!(
            "{} did not complete: the transfers came to a halt.{waited} A run that did not \
             complete counts as slower than any that did.",
            count(incomplete().count(), "run"),
        )
    })
}

fn run(record: &Record) -> String {
    let variant = if record.variant == "-" { "" } else { &record.variant };
    let name = [record.bench.as_str(), variant].join(" ");
    format!(
        "{} on {}, {}, {}, repeat {}",
        name.trim_end(),
        record.runtime,
        count(record.procs, "processor"),
        words::load(&record.bench, record.tasks_per_proc),
        record.repeat + 1,
    )
}

fn listed(records: &[&Record], name: impl Fn(&Record) -> String) -> String {
    let mut names: Vec<String> = records.iter().take(NAMED).map(|r| name(r)).collect();
    if records.len() > NAMED {
        names.push(format!("and {} more", records.len() - NAMED));
    }
    names.join("; ")
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn disturbed_and_mixed_runs_are_counted_and_named() {
        let mut records = example::session().records;
        for record in &mut records {
            record.cpu_share = 1.0;
            record.regime = "near".to_owned();
        }
        assert!(
            of(&records, &Figures::of(&records)).iter().all(|r| r.contains("did not complete"))
        );
        records[0].cpu_share = 0.913;
        records[1].procs = 2;
        records[1].regime = MIXED.to_owned();
        let remarks = of(&records, &Figures::of(&records)).join("\n");
        let named = run(&records[0]);
        assert!(remarks.contains(&format!("{named} (91 %).")), "{remarks}");
        assert!(remarks.contains(&run(&records[1])), "{remarks}");
        // One processor has no distance to another.
        records[2].procs = 1;
        records[2].regime = MIXED.to_owned();
        assert!(regimes(&records).contains("1 run mixed"), "{}", regimes(&records));
    }

    #[test]
    fn long_lists_end_in_a_count() {
        let records = example::session().records;
        let all: Vec<&Record> = records.iter().take(NAMED + 3).collect();
        assert!(listed(&all, run).ends_with("; and 3 more"));
    }
}
