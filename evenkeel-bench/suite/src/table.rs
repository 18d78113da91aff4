//! The printed tables of a family: one for each experiment, fitted to the width of the terminal.
//!
//! A table has a line for each quantity of each row. Where its figures would not fit, each row is a
//! block with a line for each peer instead. No figure is ever broken.

mod blocks;
mod brief;
mod fit;
pub mod markdown;
mod wide;

use blocks::blocks;
pub use brief::brief;
use fit::fits;
pub use fit::{Plain, plain, unbroken, width, wrapped};
use wide::{fitted, wide};

use super::description::{Description, Experiment};
use super::enough::RUNS;
use super::peer::Role;
use super::published;
use super::quantity::Quantity;
use super::record::Record;
use super::rows::{Absent, Cell, LeftOut, Row, rows};
use super::tally::Tally;
use super::verdict::Verdict;
use crate::named::NAMELESS;
use crate::regime;
use crate::verdict::DOUBT;
use crate::words;

/// Renders all tables of a family, with the notes that a reader needs.
pub fn render(
    of: &Description,
    records: &[Record],
    absent: &[Absent],
    width: Option<u16>,
) -> String {
    let rows = rows(of, records, absent);
    let mut text = String::new();
    for rows in rows.chunk_by(|a, b| a.experiment.name == b.experiment.name) {
        let wide = wide(of, rows);
        let table = fitted(&wide, width);
        if fits(&table, width) {
            text.push_str(&table);
            common(rows).iter().for_each(|line| text.push_str(&wrapped(line, width)));
        } else {
            text.push_str(&blocks(of, rows, width));
        }
        text.push('\n');
    }
    for note in notes(of, &rows) {
        note.lines().for_each(|line| text.push_str(&wrapped(line, width)));
    }
    text
}

/// Returns the settings in which the rows differ, so that the table needs columns for them.
fn told(experiment: &Experiment, rows: &[Row<'_>]) -> Vec<&'static str> {
    let value = |row: &Row<'_>, name: &str| row.case.settings.get(name).cloned();
    let differs = |name: &&str| rows.iter().any(|row| value(row, name) != value(&rows[0], name));
    experiment.settings.iter().copied().filter(differs).collect()
}

/// Returns the settings that all rows share, as a line below their table, which has no column for
/// them.
fn common(rows: &[Row<'_>]) -> Option<String> {
    let experiment = rows[0].experiment;
    let columns = told(experiment, rows);
    let shared = rows[0].case.told().filter(|(name, _)| !columns.contains(name));
    let shared: Vec<String> = shared.map(|(_, setting)| setting).collect();
    let all = format!("All rows of {}: {}.", experiment.name, shared.join(", "));
    (!shared.is_empty()).then_some(all)
}

/// Returns the peers that were measured in any of these rows.
fn measured(of: &Description, rows: &[Row<'_>]) -> Vec<&'static str> {
    let names = of.peers.iter().map(|peer| peer.name);
    names.filter(|name| rows.iter().any(|row| row.cell(name).is_some())).collect()
}

/// Returns the subject's name, if it is compared with a peer in any of these rows.
fn compares(of: &Description, rows: &[Row<'_>]) -> Option<&'static str> {
    let has = |role| rows.iter().flat_map(|row| &row.cells).any(|cell| cell.peer.role == role);
    of.subject().filter(|_| has(Role::Subject) && has(Role::Peer))
}

fn verdict(row: &Row<'_>, quantity: &Quantity) -> String {
    match quantity.is_compared() {
        true => Verdict::of(row, quantity).plain(quantity.better),
        false => String::new(),
    }
}

/// Formats the median and the extremes, with the number of runs where they are too few.
fn figure(row: &Row<'_>, quantity: &Quantity, cell: &Cell<'_>) -> String {
    let Some(summary) = row.summary(quantity, cell) else { return "-".to_owned() };
    let mut text = match summary.incomplete {
        _ if !summary.completed() => "DNC".to_owned(),
        0 => words::spread(summary),
        some => format!("{} [{some} of {} DNC]", words::figure(summary.median), summary.runs),
    };
    match cell.counted {
        0 => text.push('~'),
        _ if cell.is_enough() || !summary.completed() => {}
        runs => text.push_str(&format!(" n={runs}")),
    }
    text
}

/// Returns the notes that a reader needs beside the figures.
fn notes(of: &Description, rows: &[Row<'_>]) -> Vec<String> {
    let mut notes = vec![of.about.to_owned()];
    if compares(of, rows).is_some() {
        notes.push(format!("{}: {}.", of.title, Tally::of(rows).words()));
    }
    notes.push(format!(
        "Medians [minimum-maximum] of the runs that count. n: their number, where it is less than \
         {RUNS} and nothing is compared; ~: none counts; {NAMELESS}: no figure; {DOUBT}.",
    ));
    if !published::systems(of, rows).is_empty() {
        notes.push(published::FORM.to_owned());
    }
    notes.extend(left_out(rows));
    if rows.iter().any(|row| row.regime.is_some()) {
        notes.push(regime::MEANING.to_owned() + ".");
    }
    notes.extend((of.remarks)(rows));
    notes.extend(rows.iter().flat_map(|row| &row.absent).map(|absent| format!("{absent}.")));
    notes
}

/// Returns a sentence about the runs that do not count; `None` if all count.
pub fn left_out(rows: &[Row<'_>]) -> Option<String> {
    let sum = |part: fn(LeftOut) -> usize| rows.iter().map(|row| part(row.left_out)).sum::<usize>();
    let parts = [
        (sum(|out| out.disturbed), "while others took time of their cores"),
        (sum(|out| out.mixed), "while the distance of the cores changed"),
        (sum(|out| out.elsewhere), "while the cores were nearer or farther than in their row"),
    ];
    let say = |(runs, why): (usize, &str)| format!("{} made {why}", words::count(runs, "run"));
    let said: Vec<String> = parts.into_iter().filter(|part| part.0 > 0).map(say).collect();
    (!said.is_empty()).then(|| format!("Left out: {}.", said.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::fake::run;
    use crate::rows::tests::{family, three};

    fn records() -> Vec<Record> {
        let mut records = three("evenkeel", [20.0, 21.0, 22.0]);
        records.extend(three("tokio", [42.0, 43.0, 44.0]));
        records.extend(three("go", [10_000.0, 11_000.0, 12_000.0])[..2].to_vec());
        records.extend(["evenkeel", "tokio"].map(|name| run(name, 1, 18.0)));
        records
    }

    #[test]
    fn a_line_holds_all_peers_and_the_comparison() {
        let text = render(&family(), &records(), &[], None);
        let lines: Vec<&str> = text.lines().collect();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            words(lines[0]),
            "experiment workers cores figure evenkeel tokio go evenkeel is published Cilk"
        );
        assert_eq!(
            words(lines[1]),
            "cycle 2 near ns 21.0 [20.0-22.0] 43.0 [42.0-44.0] 10,500 [10,000-11,000] n=2 2.0 x faster \
             23 / 24 ± 1"
        );
        assert_eq!(words(lines[2]), "average 21.0 ± 1.00 43.0 ± 1.00 10,500 ± 707");
        assert!(words(lines[5]).starts_with("cycle 1 - ns 18.0 n=1 18.0 n=1 - not compared"));
        assert!(text.contains("\nAll rows of cycle: tasks 100.\n"), "{text}");
        assert!(text.contains("Rings: won 1, lost 0, even 0, not compared 1."), "{text}");
        assert!(text.contains("A ring is passed on."), "{text}");
        assert!(text.contains("\n2 rows in all:\n  listed\n"), "{text}");
    }

    #[test]
    fn no_line_is_longer_than_the_terminal_and_no_figure_is_broken() {
        for width in [48, 60, 72, 80, 100, 120] {
            let text = render(&family(), &records(), &[], Some(width));
            for line in text.lines() {
                assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
            }
            for figure in [
                "21.0 [20.0-22.0]",
                "10,500 [10,000-11,000] n=2",
                "2.0 x faster",
                "23 / 24 ± 1",
                "21.0 ± 1.00",
            ] {
                assert!(text.contains(figure), "{width}: {figure} is missing from\n{text}");
            }
        }
    }

    #[test]
    fn a_plain_table_that_would_be_broken_is_blocks() {
        let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
        let of = Plain {
            heading: words(&["program", "evenkeel  ", "rayon  ", ""]),
            lines: vec![words(&["fib, n 10", "1.5 [1.4, 1.6] ~", "12,345 [1, 2]  ", ""])],
            figures: 1..4,
        };
        // Marks at the ends keep their positions.
        let wide = "program          evenkeel            rayon\n\
                    fib, n 10  1.5 [1.4, 1.6] ~  12,345 [1, 2]\n";
        assert_eq!(unbroken(&of, None), wide);
        assert_eq!(unbroken(&of, Some(50)), wide);
        let narrow = "fib, n 10\n  evenkeel  1.5 [1.4, 1.6] ~\n  rayon     12,345 [1, 2]\n";
        assert_eq!(unbroken(&of, Some(40)), narrow);
    }

    #[test]
    fn a_block_has_only_the_peers_that_have_its_figure() {
        let mut records = [three("evenkeel", [30.0; 3]), three("tokio", [20.0; 3])].concat();
        let without = |record: &Record| record.runtime == "tokio";
        let figures = crate::case::Fields::new;
        records.iter_mut().filter(|one| without(one)).for_each(|one| one.figures = figures());
        let text = render(&family(), &records, &[], Some(40));
        assert!(text.contains("    evenkeel"), "{text}");
        assert!(!text.contains("    tokio"), "{text}");
    }

    #[test]
    fn a_loss_is_as_plain_as_a_win() {
        let records = [three("evenkeel", [30.0; 3]), three("tokio", [20.0; 3])].concat();
        let text = render(&family(), &records, &[], None);
        assert!(text.contains("1.50 X SLOWER"), "{text}");
    }

    #[test]
    fn what_did_not_complete_was_left_out_or_is_absent_is_said() {
        let mut records = [three("evenkeel", [30.0; 3]), three("tokio", [20.0; 3])].concat();
        records[0].quiet.cpu_share = 0.55;
        records[1].dnc = true;
        records[3..].iter_mut().for_each(|record| record.quiet.regime = "far".into());
        let case = records[0].case.clone();
        let why = "it took too long".to_owned();
        let absent = [Absent { case, runtime: "go", why, runs: 0 }];
        let text = render(&family(), &records, &absent, None);
        assert!(text.contains("20.0~") && text.contains("DNC"), "{text}");
        let left_out = "Left out: 1 run made while others took time of their cores; \
             3 runs made while the cores were nearer or farther than in their row.";
        assert!(text.contains(left_out), "{text}");
        let absent = "go has no figure of cycle, 2 workers, tasks 100: it took too long.";
        assert!(text.contains(absent), "{text}");
    }

    #[test]
    fn settings_in_which_rows_differ_are_columns() {
        let mut records = records();
        records[0].case.settings = crate::case::Fields::new().with("tasks", 7);
        let text = render(&family(), &records, &[], None);
        assert!(text.lines().next().is_some_and(|line| line.contains("tasks")), "{text}");
        assert!(!text.contains("All rows"), "{text}");
    }
}
