//! The printed table: one line per cell, read at a glance.

use std::fmt::Write;

use crate::figures::{Cell, Experiment, Figures, Row, Summary};
use crate::record::Record;
use crate::regime;
use crate::verdict::{DOUBT, Standing, Verdict};
use crate::words::{self, FEWER};

/// Space between two columns.
const GAP: &str = "  ";

/// Lays out all cells of a session. Columns appear for the runtimes that were measured.
pub(crate) fn render(records: &[Record]) -> String {
    let figures = Figures::of(records);
    let mut lines = vec![heading(&figures)];
    let mut notes = Notes::default();
    for experiment in &figures.experiments {
        for load in &experiment.loads {
            for row in &load.rows {
                notes.take(row);
                lines.push(line(experiment, load.tasks_per_proc, row, &figures));
            }
        }
    }
    let mut text = align(&lines);
    text.push_str(&format!(
        "ns per operation per processor, transfer in us, memory in bytes per task: \
         median [min-max]; DNC: did not complete; Mop/s: operations of the first runtime in all; {DOUBT}; {FEWER}\n",
    ));
    let rows = figures.experiments.iter().flat_map(|e| &e.loads).flat_map(|l| &l.rows);
    text.push_str(&regime::meaning(rows.map(|row| row.regime.as_deref())));
    notes.write(&mut text);
    text
}

/// What a reader must know beside the table.
#[derive(Default)]
struct Notes {
    left_out: usize,
    foreign: bool,
}

impl Notes {
    fn take(&mut self, row: &Row) {
        self.left_out += row.left_out;
        self.foreign |= row.cells.iter().any(|cell| cell.foreign.is_some());
    }

    fn write(&self, text: &mut String) {
        if self.left_out > 0 {
            let runs = words::count(self.left_out, "run");
            // Writing into a string cannot fail.
            let _ = writeln!(
                text,
                "{runs} left out, made while the cores were farther or nearer than in their row"
            );
        }
        if self.foreign {
            text.push_str(
                "~ measured only while the cores were farther or nearer: compared with nothing\n",
            );
        }
    }
}

fn heading(figures: &Figures) -> Vec<String> {
    let mut texts = ["experiment", "procs", "cores", "tasks/proc"].map(str::to_owned).to_vec();
    texts.extend(figures.runtimes.iter().cloned());
    texts.push("Mop/s".to_owned());
    if compares(figures) {
        texts.extend(["evenkeel is", "wins"].map(str::to_owned));
    }
    texts
}

fn compares(figures: &Figures) -> bool {
    figures.runtimes.len() > 1 && figures.subject().is_some()
}

fn line(experiment: &Experiment, tasks: usize, row: &Row, figures: &Figures) -> Vec<String> {
    let regime = row.regime.as_deref().unwrap_or("-");
    let mut texts =
        vec![title(experiment), row.procs.to_string(), regime.to_owned(), tasks.to_string()];
    let most = row.cells.iter().map(|cell| cell.value.runs).max().unwrap_or(0);
    let cells = (0..figures.runtimes.len()).map(|runtime| row.cell(runtime));
    texts.extend(cells.map(|cell| cell.map_or_else(|| "-".to_owned(), |cell| show(cell, most))));
    let throughput = row.cell(0).and_then(|cell| cell.throughput);
    texts.push(throughput.map_or("-".to_owned(), |rate| format!("{:.3}", rate.median / 1e6)));
    if compares(figures) {
        let verdict = Verdict::of(row, figures, experiment.measure);
        texts.push(match verdict.standing {
            // A loss is to be as plain as a win.
            Standing::Behind => verdict.words.to_uppercase(),
            Standing::Ahead | Standing::Even => verdict.words,
        });
        let best = row.best().map_or("nobody", |runtime| &figures.runtimes[runtime]);
        texts.push(best.to_owned());
    }
    texts
}

fn title(experiment: &Experiment) -> String {
    let Experiment { bench, variant, words, touch, .. } = experiment;
    let mut name = bench.clone();
    if variant != "-" {
        name = format!("{name} {variant}");
    }
    if !matches!((words, touch), (0, 0) | (2, 2)) {
        name = format!("{name} {words}/{touch}");
    }
    name
}

/// A cell of a row in which the others have up to so many runs: with fewer, their number is told.
fn show(cell: &Cell, most: usize) -> String {
    let Summary { median, min, max, runs, incomplete } = cell.value;
    let mut text = match incomplete {
        _ if !cell.value.completed() => "DNC".to_owned(),
        0 if min == max => short(median),
        0 => format!("{} [{}-{}]", short(median), short(min), short(max)),
        _ => format!("{} [{incomplete} of {runs} DNC]", short(median)),
    };
    if cell.value.completed() && runs < most {
        text.push_str(&format!(" n={runs}"));
    }
    if cell.foreign.is_some() {
        text.push('~');
    }
    text
}

/// Three digits say what a measurement knows.
fn short(value: f64) -> String {
    if value < 99.95 { format!("{value:.1}") } else { format!("{value:.0}") }
}

/// Pads the columns: names to the left, figures to the right.
/// Columns under each other: the first to the left, the others to the right.
pub(crate) fn align(rows: &[Vec<String>]) -> String {
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
    use crate::figures::SUBJECT;
    use crate::record::example;

    fn lines(records: &[Record]) -> Vec<String> {
        render(records).lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_row_shows_medians_extremes_the_ratio_and_the_winner() {
        let records = [
            example(SUBJECT, 20.0),
            example(SUBJECT, 22.0),
            example(SUBJECT, 21.0),
            example("tokio-hand", 42.0),
        ];
        let lines = lines(&records);
        assert_eq!(
            lines[0],
            "experiment  procs  cores  tasks/proc          evenkeel  tokio-hand  Mop/s   evenkeel is      wins"
        );
        assert_eq!(
            lines[1],
            "cycle           1      -         100  21.0 [20.0-22.0]    42.0 n=1  4.000  2.0 x faster  evenkeel"
        );
    }

    #[test]
    fn a_loss_is_as_plain_as_a_win() {
        let lines = lines(&[example(SUBJECT, 30.0), example("go-hand", 20.0)]);
        assert!(lines[1].ends_with("1.50 X SLOWER  go-hand"), "{}", lines[1]);
    }

    #[test]
    fn a_run_that_did_not_complete_is_words() {
        let dnc = |runtime| Record { dnc: true, ..example(runtime, 0.0) };
        let ends = lines(&[example(SUBJECT, 30.0), dnc("tokio-native")]);
        assert!(ends[1].contains("DNC"), "{}", ends[1]);
        assert!(ends[1].ends_with("only one to complete  evenkeel"), "{}", ends[1]);
        let some = lines(&[example(SUBJECT, 30.0), dnc(SUBJECT), example(SUBJECT, 31.0)]);
        assert!(some[1].contains("31.0 [1 of 3 DNC]"), "{}", some[1]);
    }

    #[test]
    fn runs_of_another_regime_are_left_out_and_it_is_said() {
        let at = |runtime, regime: &str| Record {
            procs: 2,
            regime: regime.to_owned(),
            ..example(runtime, 30.0)
        };
        let records = [
            at(SUBJECT, "near"),
            at(SUBJECT, "far"),
            at("go-hand", "near"),
            at("go-native", "far"),
        ];
        let text = render(&records);
        assert!(text.contains("30.0~"), "{text}");
        assert!(text.contains("1 run left out"), "{text}");
        assert!(text.contains("compared with nothing"), "{text}");
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
            ..example(SUBJECT, 30.0)
        };
        let title = |words, touch| title(&Figures::of(&[record(words, touch)]).experiments[0]);
        assert_eq!(title(2, 2), "locality share");
        assert_eq!(title(8192, 256), "locality share 8192/256");
    }
}
