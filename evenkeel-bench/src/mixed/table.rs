//! The printed tables of the experiment: one for each variant, a line per runtime.

use super::Variant;
use super::record::Record;
use crate::figures::Summary;
use crate::regime;
use crate::table::align;
use crate::words;

/// A column: its heading, and its figure in a record.
type Column = (&'static str, fn(&Record) -> Option<f64>);

/// What the tables say of computations.
const COMPUTATIONS: [Column; 4] = [
    ("comp/s", |record| Some(record.computations_per_second)),
    ("comp p50", |record| Some(record.computation_us_p50)),
    ("comp p99", |record| Some(record.computation_us_p99)),
    ("serial", |record| Some(record.computation_us_serial)),
];

/// What they say of busy tasks.
const POLLS: [Column; 1] = [("polls/s", |record| record.polls_per_second)];

/// What they say of wakes.
const WAKES: [Column; 8] = [
    ("wake p50", |record| record.wake_us_p50),
    ("wake p99", |record| record.wake_us_p99),
    ("wake p99.9", |record| record.wake_us_p999),
    ("wake max", |record| record.wake_us_max),
    ("relay p50", |record| record.relay_us_p50),
    ("relay p99", |record| record.relay_us_p99),
    ("relay p99.9", |record| record.relay_us_p999),
    ("relay max", |record| record.relay_us_max),
];

/// Lays out the records: each line is of all repeats of a runtime.
pub(crate) fn render(records: &[Record]) -> String {
    let mut text = String::new();
    for variant in Variant::ALL {
        let of_variant: Vec<&Record> =
            records.iter().filter(|record| record.variant == variant.name()).collect();
        if of_variant.is_empty() {
            continue;
        }
        let columns: Vec<Column> = match variant {
            Variant::Joins => COMPUTATIONS.into_iter().chain(POLLS).collect(),
            Variant::Wakes => WAKES.into_iter().chain(COMPUTATIONS).collect(),
        };
        let mut lines = vec![heading(&columns)];
        lines.extend(groups(&of_variant).iter().map(|group| line(group, &columns)));
        text.push_str(&align(&lines));
    }
    text.push_str(
        "comp: a computation, from asking for it to its result; serial: with plain calls; wake: from a wake by another thread \
         to the poll; relay: the same by a task that was woken; times in us; medians of the repeats [min-max]\n",
    );
    text.push_str(&regime::meaning(records.iter().map(|record| Some(record.regime.as_str()))));
    text
}

fn heading(columns: &[Column]) -> Vec<String> {
    let mut texts =
        ["experiment", "workers", "tasks", "n", "runtime", "cores"].map(str::to_owned).to_vec();
    texts.extend(columns.iter().map(|(heading, _)| (*heading).to_owned()));
    texts
}

/// The records of each runtime in each cell, in the order of their first.
fn groups<'a>(records: &[&'a Record]) -> Vec<Vec<&'a Record>> {
    let key = |record: &Record| {
        (record.workers, record.tasks, record.n, record.runtime.clone(), record.regime.clone())
    };
    let mut groups: Vec<Vec<&Record>> = Vec::new();
    for &record in records {
        match groups.iter_mut().find(|group| key(group[0]) == key(record)) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    groups
}

fn line(group: &[&Record], columns: &[Column]) -> Vec<String> {
    let first = group[0];
    let mut texts = vec![
        format!("{} {}", first.bench, first.variant),
        first.workers.to_string(),
        first.tasks.to_string(),
        first.n.to_string(),
        first.runtime.clone(),
        first.regime.clone(),
    ];
    texts.extend(columns.iter().map(|(_, figure)| {
        let values = group.iter().filter_map(|record| figure(record)).collect();
        Summary::of(values).map_or("-".to_owned(), words::spread)
    }));
    texts
}
