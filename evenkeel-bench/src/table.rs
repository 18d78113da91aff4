//! The printed table: one line per cell, read at a glance.

use std::fmt::Write;

use crate::record::Record;
use crate::runtime::Peer;
use crate::statistics::{Summary, Verdict, comparable, figure, summary, verdict};

/// Space between two columns.
const GAP: &str = "  ";

/// Lays out all cells of a session. Columns appear for the runtimes that were measured.
pub(crate) fn render(records: &[Record]) -> String {
    let peers: Vec<Peer> = Peer::ALL
        .into_iter()
        .filter(|peer| records.iter().any(|record| record.runtime == peer.name()))
        .collect();
    let mut rows = vec![heading(&peers)];
    let mut mixed = false;
    for cell in cells(records) {
        let row = Row::new(&cell, &peers);
        mixed |= row.mixed;
        rows.push(row.texts);
    }
    let mut text = align(&rows);
    text.push_str(
        "ns per operation per processor, transfer in us, memory in bytes per task: \
         median [min-max]; DNC: did not complete; Mop/s: operations of the first runtime in all\n",
    );
    if mixed {
        text.push_str("~ the cores changed between near and far: compare these with care\n");
    }
    text
}

fn heading(peers: &[Peer]) -> Vec<String> {
    let mut texts: Vec<String> =
        ["experiment", "procs", "tasks/proc"].map(str::to_owned).into_iter().collect();
    texts.extend(peers.iter().map(|peer| peer.name().to_owned()));
    texts.push("Mop/s".to_owned());
    if compares(peers) {
        texts.push("evenkeel is".to_owned());
        texts.push("wins".to_owned());
    }
    texts
}

fn compares(peers: &[Peer]) -> bool {
    peers.len() > 1 && peers.contains(&Peer::Evenkeel)
}

/// Groups runs by everything but runtime and repeat, in order of appearance.
fn cells(records: &[Record]) -> Vec<Vec<&Record>> {
    let mut cells: Vec<Vec<&Record>> = Vec::new();
    for record in records {
        match cells.iter_mut().find(|cell| key(cell[0]) == key(record)) {
            Some(cell) => cell.push(record),
            None => cells.push(vec![record]),
        }
    }
    cells
}

fn key(record: &Record) -> (&str, &str, usize, usize, usize, usize) {
    let Record { bench, variant, procs, tasks_per_proc, words, touch, .. } = record;
    (bench, variant, *procs, *tasks_per_proc, *words, *touch)
}

struct Row {
    texts: Vec<String>,
    mixed: bool,
}

impl Row {
    fn new(cell: &[&Record], peers: &[Peer]) -> Row {
        let (runs, mixed) = comparable(cell);
        let first = runs[0];
        let mut name = title(first);
        if mixed {
            name.push_str(" ~");
        }
        let mut texts = vec![name, first.procs.to_string(), first.tasks_per_proc.to_string()];
        let results: Vec<Option<Result<Summary, Dnc>>> =
            peers.iter().map(|peer| result(&runs, *peer)).collect();
        texts.extend(results.iter().map(|result| match result {
            Some(Ok(summary)) => show(*summary),
            Some(Err(Dnc)) => "DNC".to_owned(),
            None => "-".to_owned(),
        }));
        texts.push(throughput(&runs, peers[0]));
        if compares(peers) {
            let medians: Vec<(Peer, Option<f64>)> = peers
                .iter()
                .zip(&results)
                .filter_map(|(peer, result)| Some((*peer, result.as_ref()?.as_ref().ok())))
                .map(|(peer, summary)| (peer, summary.map(|summary| summary.median)))
                .collect();
            texts.push(standing(&medians));
            texts.push(winner(&medians).map_or("nobody", Peer::name).to_owned());
        }
        Row { texts, mixed }
    }
}

/// Every run of the cell did not complete.
struct Dnc;

/// What a runtime's runs come to; `None` if there are none.
fn result(runs: &[&Record], peer: Peer) -> Option<Result<Summary, Dnc>> {
    let own: Vec<&&Record> = runs.iter().filter(|run| run.runtime == peer.name()).collect();
    if own.is_empty() {
        return None;
    }
    // One run that did not complete is a runtime that does not complete.
    let figures: Option<Vec<f64>> = own.iter().map(|run| figure(run)).collect();
    Some(figures.and_then(summary).ok_or(Dnc))
}

fn title(record: &Record) -> String {
    let mut name = record.bench.clone();
    if record.variant != "-" {
        name = format!("{name} {}", record.variant);
    }
    if (record.words, record.touch) != (0, 0) && (record.words, record.touch) != (2, 2) {
        name = format!("{name} {}/{}", record.words, record.touch);
    }
    name
}

fn show(Summary { median, min, max }: Summary) -> String {
    if min == max {
        return short(median);
    }
    format!("{} [{}-{}]", short(median), short(min), short(max))
}

/// Three digits say what a measurement knows.
fn short(value: f64) -> String {
    if value < 99.95 { format!("{value:.1}") } else { format!("{value:.0}") }
}

fn throughput(runs: &[&Record], peer: Peer) -> String {
    let own = runs.iter().filter(|run| run.runtime == peer.name() && run.bytes_per_task.is_none());
    let rates = own.map(|run| run.ops as f64 / run.seconds / 1e6);
    summary(rates).map_or_else(|| "-".to_owned(), |rate| format!("{:.3}", rate.median))
}

fn standing(medians: &[(Peer, Option<f64>)]) -> String {
    let Some((_, own)) = medians.iter().find(|(peer, _)| *peer == Peer::Evenkeel) else {
        return "-".to_owned();
    };
    let others = medians.iter().filter(|(peer, _)| *peer != Peer::Evenkeel);
    match verdict(*own, &others.map(|(_, median)| *median).collect::<Vec<_>>()) {
        Verdict::Faster(factor) => format!("{factor:.2}x better"),
        Verdict::Slower(factor) => format!("{factor:.2}x WORSE"),
        Verdict::Alone => "alone".to_owned(),
        Verdict::Beaten => "BEATEN".to_owned(),
        Verdict::Open => "-".to_owned(),
    }
}

fn winner(medians: &[(Peer, Option<f64>)]) -> Option<Peer> {
    let complete = medians.iter().filter_map(|(peer, median)| Some((*peer, (*median)?)));
    complete.min_by(|one, other| one.1.total_cmp(&other.1)).map(|(peer, _)| peer)
}

/// Pads the columns: names to the left, figures to the right.
fn align(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|text| text.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let padded =
                if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
            line.push_str(if column == 0 { "" } else { GAP });
            line.push_str(&padded);
        }
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::example;

    fn lines(records: &[Record]) -> Vec<String> {
        render(records).lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_row_shows_medians_extremes_the_ratio_and_the_winner() {
        let records = [
            example("evenkeel", 20.0),
            example("evenkeel", 22.0),
            example("evenkeel", 21.0),
            example("tokio-hand", 42.0),
        ];
        let lines = lines(&records);
        assert_eq!(
            lines[0],
            "experiment  procs  tasks/proc          evenkeel  tokio-hand  Mop/s   evenkeel is      wins"
        );
        assert_eq!(
            lines[1],
            "cycle           1         100  21.0 [20.0-22.0]        42.0  4.000  2.00x better  evenkeel"
        );
    }

    #[test]
    fn a_loss_is_as_plain_as_a_win() {
        let lines = lines(&[example("evenkeel", 30.0), example("go-hand", 20.0)]);
        assert!(lines[1].ends_with("1.50x WORSE  go-hand"), "{}", lines[1]);
    }

    #[test]
    fn a_run_that_did_not_complete_is_words() {
        let dnc = Record { dnc: true, ..example("tokio-native", 0.0) };
        let lines = lines(&[example("evenkeel", 30.0), dnc]);
        assert!(lines[1].contains("DNC"), "{}", lines[1]);
        assert!(lines[1].ends_with("alone  evenkeel"), "{}", lines[1]);
    }

    #[test]
    fn without_evenkeel_there_is_no_comparison() {
        let lines = lines(&[example("tokio-hand", 30.0)]);
        assert!(!lines[0].contains("wins"));
    }

    #[test]
    fn sizes_of_locality_other_than_the_usual_show() {
        let record = |words, touch| Record {
            bench: "locality".to_owned(),
            variant: "share".to_owned(),
            words,
            touch,
            ..example("evenkeel", 30.0)
        };
        assert_eq!(title(&record(2, 2)), "locality share");
        assert_eq!(title(&record(8192, 256)), "locality share 8192/256");
    }
}
