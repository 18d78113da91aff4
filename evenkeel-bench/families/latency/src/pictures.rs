//! The picture of the delays: from the median to the rarest, on a logarithmic axis.

use crate::heat::{self, COLUMNS};
use crate::{Variant, promise};
use suite::picture::{Group, Picture, Range, Shape, Strip};
use suite::record::Record;
use suite::rows::{Cell, Row};
use suite::summary::Summary;
use suite::words;

/// Draws the wakes: a heat map of each row, and the ranges of all loads for each number of workers.
pub(crate) fn of(rows: &[Row<'_>]) -> Vec<Picture> {
    rows.iter().filter_map(heat_of).chain(ranges(rows)).collect()
}

/// The name of the line of what this project promises.
const LINE: &str = "promise, all workers stuck";

/// Returns the line of the longest delay that this project promises beside these loads, of which
/// those in which a worker makes progress have none.
fn line(variants: &[Variant], workers: usize) -> Option<(f64, String)> {
    let all = variants.iter().filter_map(|&variant| promise::stuck(variant, workers));
    all.max().map(|longest| (longest.as_secs_f64() * 1e6, LINE.to_owned()))
}

/// Draws when which delays occurred, of all runs that count; `None` if there are none.
fn heat_of(row: &Row<'_>) -> Option<Picture> {
    let strip = |cell: &Cell<'_>| {
        let lists = cell.runs.iter().filter_map(|run| run.figures.get("wake_us_heat"));
        let cells = heat::together(lists);
        Strip { name: cell.peer.name, slot: cell.peer.slot, cells }
    };
    let counted = row.cells.iter().filter(|cell| cell.counted > 0);
    let strips: Vec<Strip> = counted.map(strip).filter(|strip| !strip.cells.is_empty()).collect();
    if strips.is_empty() {
        return None;
    }
    let variant = row.case.variant.parse::<Variant>().ok();
    let line = line(variant.as_slice(), row.case.workers);
    Some(Picture {
        caption: format!("{}: delays of wakes over the runs' time", words::capital(&row.name())),
        says: "lower is better; the denser, the more",
        figure: "µs",
        shape: Shape::Heat { columns: COLUMNS, strips, line },
    })
}

/// Draws the ranges of all loads, a picture for each number of workers.
fn ranges(rows: &[Row<'_>]) -> Vec<Picture> {
    let mut workers: Vec<usize> = rows.iter().map(|row| row.case.workers).collect();
    workers.sort_unstable();
    workers.dedup();
    let of = |&workers: &usize| {
        let own = || rows.iter().filter(|row| row.case.workers == workers);
        let groups = Variant::ALL.into_iter().flat_map(|variant| {
            own().filter(move |row| row.case.variant == variant.name()).map(move |row| Group {
                name: variant.name().to_owned(),
                what: about(variant),
                ranges: row.cells.iter().filter_map(range).collect(),
            })
        });
        Picture {
            caption: format!("From a wake to the task's run, {}", words::count(workers, "worker")),
            says: "lower is better",
            figure: "µs",
            shape: Shape::Ranges { groups: groups.collect(), line: line(&Variant::ALL, workers) },
        }
    };
    workers.iter().map(of).collect()
}

/// The load in a few words.
fn about(variant: Variant) -> &'static str {
    match variant {
        Variant::Alone => "nothing else runs",
        Variant::Compute => "tasks compute for 1 ms, 70 % busy",
        Variant::BlockOne => "one task blocks its thread, 100 ms each",
        Variant::BlockAll => "as many block as there are workers",
        Variant::Ready => "loops of awaits that are always ready",
    }
}

/// The range of a peer: the medians of its runs that count; `None` if there are none. A run whose
/// percentile falls on tasks that never ran is later than any other.
fn range(cell: &Cell<'_>) -> Option<Range> {
    if cell.counted == 0 {
        return None;
    }
    let never = |run: &Record| run.figures.number("never_percent").unwrap_or_default();
    let at = |field: &str| {
        let value = |run: &&Record| {
            let missing = (never(run) > 0.0).then_some(f64::INFINITY);
            run.figures.number(field).or(missing)
        };
        Summary::of(cell.runs.iter().filter_map(value).collect()).map(|of| of.median)
    };
    let nevers = Summary::of(cell.runs.iter().map(|run| never(run)).collect())?;
    let mut marks = vec![at("wake_us_p50")?];
    marks.extend(["wake_us_p99", "wake_us_p999"].into_iter().filter_map(at));
    let never =
        (nevers.median > 0.0).then(|| format!("{} % never ran", words::figure(nevers.median)));
    Some(Range { name: cell.peer.name, slot: cell.peer.slot, marks, never })
}

#[cfg(test)]
mod tests {
    use super::*;
    use suite::case::{Case, Fields};
    use suite::entry::Measured;
    use suite::kit::fake::quiet;
    use suite::rows::rows;

    #[test]
    fn peers_of_which_no_run_counts_are_not_drawn() {
        let mut measured = Measured::nothing(&crate::ENTRY);
        for (runtime, cpu_share) in [("evenkeel", 1.0), ("tokio-native", 0.5)] {
            for (load, share) in [("alone", cpu_share), ("compute", 0.5)] {
                let figures = Fields::new()
                    .with("wake_us_p50", 3.0)
                    .with("wake_us_heat", heat::list(&[(0, 10, 4)]));
                let (case, mut quiet) = (Case::new("latency", load, 2), quiet("near"));
                quiet.cpu_share = share;
                let runtime = runtime.into();
                measured.records.push(Record {
                    runtime,
                    case,
                    repeat: 0,
                    figures,
                    dnc: false,
                    quiet,
                });
            }
        }
        let rows = rows(&measured.of, &measured.records, &[]);
        assert_eq!((rows.len(), rows[0].cells.len()), (2, 2));
        let [heat, ranges] = &of(&rows)[..] else { panic!("a row has a map of its own") };
        let Shape::Heat { strips, .. } = &heat.shape else { panic!("{heat:?}") };
        assert_eq!(strips.iter().map(|strip| strip.name).collect::<Vec<_>>(), ["evenkeel"]);
        let Shape::Ranges { groups, .. } = &ranges.shape else { panic!("{ranges:?}") };
        let ranges = groups.iter().map(|group| group.ranges.len()).collect::<Vec<_>>();
        assert_eq!(ranges, [1, 0]);
    }
}
