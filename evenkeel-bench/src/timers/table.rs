//! The printed tables of the experiment: one for each variant, a line per runtime.

use super::Variant;
use super::record::Record;
use super::sleeper::Name;
use crate::figures::Summary;
use crate::regime::meaning;
use crate::table::align;
use crate::words;

/// A column: its heading, and its figure in a record.
pub(crate) type Column = (&'static str, fn(&Record) -> Option<f64>);

/// What the tables say of creation and cancellation.
const CANCEL: [Column; 1] = [("ns/timer", |record| record.ns_per_timer)];

/// What they say of lateness.
const LATE: [Column; 4] = [
    ("late p50", |record| record.late_us_p50),
    ("late p99", |record| record.late_us_p99),
    ("late p99.9", |record| record.late_us_p999),
    ("late max", |record| record.late_us_max),
];

/// The columns of a variant's table.
pub(crate) fn columns(variant: Variant) -> &'static [Column] {
    if variant.cancels() { &CANCEL } else { &LATE }
}

/// Lays out the records: each line is of all repeats of a runtime.
pub(crate) fn render(records: &[Record]) -> String {
    let mut text = String::new();
    for variant in Variant::ALL {
        let groups = groups(records, variant);
        if groups.is_empty() {
            continue;
        }
        let columns = columns(variant);
        let mut heading =
            ["experiment", "workers", "tasks", "runtime", "cores"].map(str::to_owned).to_vec();
        heading.extend(columns.iter().map(|(heading, _)| (*heading).to_owned()));
        let mut lines = vec![heading];
        lines.extend(groups.iter().map(|group| line(group, columns)));
        text.push_str(&align(&lines));
    }
    text.push_str(
        "ns/timer: creation and cancellation of one, per worker; late: from the deadline until the task goes on, in µs; medians of the \
         repeats [min-max]\n",
    );
    text.push_str(&meaning(records.iter().map(regime)));
    text
}

/// The records of one runtime in one cell and, on more than one worker, in one regime.
pub(crate) type Group<'a> = Vec<&'a Record>;

/// The records of each runtime in each cell of a variant: by workers, tasks and regime, and then in the order of the runtimes.
pub(crate) fn groups(records: &[Record], variant: Variant) -> Vec<Group<'_>> {
    fn key(record: &Record) -> (usize, usize, Option<&str>, Option<usize>) {
        let place = Name::ALL.iter().position(|name| name.name() == record.runtime);
        (record.workers, record.tasks, regime(record), place)
    }
    let mut chosen: Vec<&Record> =
        records.iter().filter(|record| record.variant == variant.name()).collect();
    chosen.sort_by_key(|record| key(record));
    chosen.chunk_by(|a, b| key(a) == key(b)).map(<[_]>::to_vec).collect()
}

/// How near the cores were; `None` on one worker, to which it makes no difference.
pub(crate) fn regime(record: &Record) -> Option<&str> {
    (record.workers > 1).then_some(record.regime.as_str())
}

fn line(group: &[&Record], columns: &[Column]) -> Vec<String> {
    let first = group[0];
    let mut texts = vec![
        format!("{} {}", first.bench, first.variant),
        first.workers.to_string(),
        first.tasks.to_string(),
        first.runtime.clone(),
        regime(first).unwrap_or("-").to_owned(),
    ];
    texts.extend(columns.iter().map(|(_, figure)| {
        let values = group.iter().filter_map(|record| figure(record)).collect();
        Summary::of(values).map_or("-".to_owned(), words::spread)
    }));
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(workers: usize, runtime: &str, regime: &str) -> Record {
        Record {
            runtime: runtime.to_owned(),
            bench: super::super::NAME.to_owned(),
            variant: Variant::Cancel.to_string(),
            workers,
            tasks: workers,
            repeat: 0,
            ops: 1,
            seconds: 0.2,
            ns_per_timer: Some(30.0),
            late_us_p50: None,
            late_us_p99: None,
            late_us_p999: None,
            late_us_max: None,
            line_ns_before: 30.0,
            line_ns_after: 30.0,
            regime: regime.to_owned(),
            cpu_share: 1.0,
        }
    }

    #[test]
    fn regimes_are_told_apart_on_more_than_one_worker_only() {
        let records = [
            record(2, "tokio-native", "near"),
            record(2, "evenkeel", "near"),
            record(2, "evenkeel", "far"),
            record(1, "tokio-native", "far"),
            record(1, "evenkeel", "far"),
            record(1, "evenkeel", "near"),
        ];
        let groups = groups(&records, Variant::Cancel);
        let groups: Vec<_> = groups
            .iter()
            .map(|group| {
                (group[0].workers, regime(group[0]), group[0].runtime.as_str(), group.len())
            })
            .collect();
        let right = [
            (1, None, "evenkeel", 2),
            (1, None, "tokio-native", 1),
            (2, Some("far"), "evenkeel", 1),
            (2, Some("near"), "evenkeel", 1),
            (2, Some("near"), "tokio-native", 1),
        ];
        assert_eq!(groups, right);
    }
}
