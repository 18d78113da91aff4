//! The printed tables: one for each regime of the cores, a line for each mode.

use super::bench::{Access, Bench, Popularity};
use super::figures::{Line, Place, lines};
use super::homes;
use super::record::Record;
use super::score::UNSETTLED;
use crate::figures::Summary;
use crate::regime::MEANING;
use crate::table::align;
use crate::words::{count, figure};

/// A column that stands there if any line has something for it: its heading, and its text.
type Column = (&'static str, fn(&Line) -> Option<String>);

/// What there is to say beside the throughput.
const COLUMNS: [Column; 7] = [
    ("x threads+spin", |line| line.beside_spin.map(figure)),
    ("x better of both", |line| line.beside_better.map(figure)),
    ("core-ns there+back", |line| line.core_ns.map(|summary| spread(&summary))),
    ("all in use", |line| line.parts.map(|parts| figure(parts.many.median))),
    ("settled", |line| line.parts?.many_settled.map(|summary| figure(summary.median))),
    ("a 16th in use", |line| line.parts.map(|parts| figure(parts.few.median))),
    ("settled", |line| line.parts?.few_settled.map(|summary| figure(summary.median))),
];

/// Lays out the records. No table has runs of two regimes.
pub(crate) fn render(records: &[Record]) -> String {
    let lines = lines(records);
    let mut text = String::new();
    for group in lines.chunk_by(|a, b| a.regime == b.regime) {
        text.push_str(&format!("{}\n", heading(&group[0])));
        let columns: Vec<Column> = COLUMNS
            .into_iter()
            .filter(|(_, read)| group.iter().any(|line| read(line).is_some()))
            .collect();
        let mut rows = vec![headings(&columns)];
        rows.extend(group.iter().map(|line| row(line, &columns)));
        text.push_str(&align(&rows));
        text.push('\n');
    }
    text.push_str(
        "Mops: millions of operations per second of all workers together, for travel of journeys there and back; medians of the runs, their least and most\n\
         x threads+spin: over the median of threads with spin locks; x better of both: over that of in-place or home, whichever is better, with as many tasks\n\
         hops/op: journeys to homes for each operation\n",
    );
    let verdicts = homes::verdicts(records);
    if !verdicts.is_empty() {
        text.push_str("automatic classes, when their last runs were over:\n");
        verdicts.iter().for_each(|verdict| text.push_str(&format!("  {verdict}\n")));
    }
    if lines.iter().any(|line| line.core_ns.is_some()) {
        text.push_str("core-ns: nanoseconds times the workers, of the runs in which nine tenths of the operations were journeys\n");
    }
    if lines.iter().any(|line| line.parts.is_some()) {
        let unsettled = UNSETTLED.as_millis();
        text.push_str(&format!(
            "in use: Mops while all objects are, and while a sixteenth is; settled: without the first {unsettled} ms after each change\n"
        ));
    }
    if lines.iter().any(|line| line.regime.is_some()) {
        text.push_str(&format!("{MEANING}\n"));
    }
    text
}

/// What a table is of.
pub(crate) fn heading(line: &Line) -> String {
    match &line.regime {
        None => "one worker".to_owned(),
        Some(regime) if line.is_compared() => format!("cores {regime}"),
        Some(regime) => format!("cores {regime}: compared with nothing"),
    }
}

/// What is done to what, such as `directory read, 65 objects, 2,031 KiB`.
pub(crate) fn title(place: &Place) -> String {
    let mut title = place.bench.to_string();
    if place.access != Access::Only {
        title.push_str(&format!(" {}", place.access));
    }
    if place.popularity == Popularity::Oscillating {
        title.push_str(&format!(" {} every {} ms", place.popularity, place.period_ms));
    }
    title.push_str(&format!(", {}", count(place.objects, "object")));
    match place.bench {
        Bench::Map => title.push_str(&format!(" of {}", count(place.keys, "key"))),
        Bench::Heap => title.push_str(&format!(" of {}", count(place.keys, "event"))),
        Bench::Directory => title.push_str(&format!(", {}", size(place.bytes))),
        Bench::Scan => {
            let each = place.bytes / place.objects.max(1);
            title.push_str(&format!(" of {}, {}", size(each), size(place.bytes)));
        }
        Bench::Counters | Bench::Travel => {}
    }
    title
}

/// Bytes in a unit that keeps them short.
pub(crate) fn size(bytes: usize) -> String {
    const KIB: usize = 1 << 10;
    const MIB: usize = 1 << 20;
    match bytes {
        0..KIB => format!("{bytes} B"),
        KIB..MIB => format!("{} KiB", figure_of(bytes, KIB)),
        _ => format!("{} MiB", figure_of(bytes, MIB)),
    }
}

/// With the decimals that say something.
fn figure_of(bytes: usize, unit: usize) -> String {
    if bytes.is_multiple_of(unit) {
        (bytes / unit).to_string()
    } else {
        figure(bytes as f64 / unit as f64)
    }
}

fn headings(columns: &[Column]) -> Vec<String> {
    let fixed =
        ["experiment", "workers", "tasks/core", "mode", "Mops", "min", "max", "runs", "hops/op"];
    fixed
        .into_iter()
        .chain(columns.iter().map(|(heading, _)| *heading))
        .map(str::to_owned)
        .collect()
}

fn row(line: &Line, columns: &[Column]) -> Vec<String> {
    let dash = || "-".to_owned();
    let Summary { median, min, max, runs, .. } = line.mops;
    let mut texts = vec![
        title(&line.place),
        line.place.workers.to_string(),
        line.tasks_per_core.map_or_else(dash, |tasks| tasks.to_string()),
        line.mode.to_string(),
    ];
    texts.extend([median, min, max].map(figure));
    texts.extend([runs.to_string(), figure(line.hops)]);
    texts.extend(columns.iter().map(|(_, read)| read(line).unwrap_or_else(dash)));
    texts
}

fn spread(summary: &Summary) -> String {
    crate::words::spread(*summary)
}
