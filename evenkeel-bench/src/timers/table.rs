//! The printed tables of the experiment: one for each variant, a line per runtime.

use super::Variant;
use super::record::Record;
use crate::figures::Summary;
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
        "ns/timer: creation and cancellation of one, per worker; late: from the deadline until the task goes on, in us; medians of the \
         repeats [min-max]\n",
    );
    text
}

/// The records of one runtime in one cell and one regime.
pub(crate) type Group<'a> = Vec<&'a Record>;

/// The records of each runtime in each cell of a variant, in the order of their first.
pub(crate) fn groups(records: &[Record], variant: Variant) -> Vec<Group<'_>> {
    let key = |record: &Record| {
        (record.workers, record.tasks, record.runtime.clone(), record.regime.clone())
    };
    let mut groups: Vec<Group<'_>> = Vec::new();
    for record in records.iter().filter(|record| record.variant == variant.name()) {
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
