//! The printed tables of the experiment: one for each variant, a line per runtime.

use super::Variant;
use super::record::Record;
use crate::figures::Summary;
use crate::table::align;
use crate::words;

/// A column: its heading, and its figure in a record.
type Column = (&'static str, fn(&Record) -> Option<f64>);

/// What the tables say of creation and cancellation.
const CANCEL: [Column; 1] = [("ns/timer", |record| record.ns_per_timer)];

/// What they say of lateness.
const LATE: [Column; 4] = [
    ("late p50", |record| record.late_us_p50),
    ("late p99", |record| record.late_us_p99),
    ("late p99.9", |record| record.late_us_p999),
    ("late max", |record| record.late_us_max),
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
        let columns: &[Column] = if variant == Variant::Cancel { &CANCEL } else { &LATE };
        let mut heading =
            ["experiment", "workers", "tasks", "runtime", "cores"].map(str::to_owned).to_vec();
        heading.extend(columns.iter().map(|(heading, _)| (*heading).to_owned()));
        let mut lines = vec![heading];
        lines.extend(groups(&of_variant).iter().map(|group| line(group, columns)));
        text.push_str(&align(&lines));
    }
    text.push_str(
        "ns/timer: creation and cancellation of one, per worker; late: from the deadline until the task goes on, in us; medians of the \
         repeats [min-max]\n",
    );
    text
}

/// The records of each runtime in each cell, in the order of their first.
fn groups<'a>(records: &[&'a Record]) -> Vec<Vec<&'a Record>> {
    let key = |record: &Record| {
        (record.workers, record.tasks, record.runtime.clone(), record.regime.clone())
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
        first.runtime.clone(),
        first.regime.clone(),
    ];
    texts.extend(columns.iter().map(|(_, figure)| {
        let values = group.iter().filter_map(|record| figure(record)).collect();
        Summary::of(values).map_or("-".to_owned(), words::spread)
    }));
    texts
}
