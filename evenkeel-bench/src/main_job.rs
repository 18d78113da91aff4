//! The main job: everything at a glance. It prints each row when it is complete, writes each run to
//! the file of its family when the run ends, and finishes with a summary of one screen and a
//! report.
//!
//! [`Effort`] sets how long it takes. The [registry](crate::families) names the families.

mod progress;

use std::io::IsTerminal;
use std::path::Path;
use std::thread;
use std::time::Instant;

use anyhow::{Context, anyhow};

use self::progress::Progress;
use crate::families::FAMILIES;
use crate::report::kept::Kept;
use crate::report::{self, Session};
use suite::case::Case;
use suite::effort::Effort;
use suite::enough::Bound;
use suite::entry::{Event, Measured, Part};
use suite::outcome::Outcome;
use suite::output::{last, print, say};
use suite::quantity::{Quantity, Read};
use suite::rows::rows;
use suite::table;
use suite::{affinity, interrupt, words};

/// Measures, prints rows and summary, and writes the report. Writes it as Markdown too if such a
/// page is named, and prints all tables if `has_tables`.
pub(crate) fn run(
    effort: Effort,
    folder: &Path,
    markdown: Option<&Path>,
    has_tables: bool,
) -> anyhow::Result<()> {
    markdown.map_or(Ok(()), report::markdown::prepare)?;
    let mut kept = Kept::begin(folder)?;
    let mut session = Session::begun();
    say!("{}", session.machine);
    let mut parts = Vec::new();
    for entry in FAMILIES.iter().filter(|entry| (entry.rounds)(effort) > 0) {
        let part = (entry.plan)(effort, affinity::cores().len())?;
        parts.push(Planned {
            part,
            rounds: (entry.rounds)(effort),
            measured: Measured::nothing(entry),
        });
    }
    let rounds: Vec<(&str, usize)> =
        parts.iter().map(|planned| (planned.measured.of.title, planned.rounds)).collect();
    let notes = &mut session.notes;
    notes.push(format!(
        "{}. Where runs do not count, there are up to as many more. The runtimes alternate.",
        told(&rounds),
    ));
    if cfg!(debug_assertions) {
        notes.push(
            "This is a debug build, whose figures say nothing: run it with `--release`.".to_owned(),
        );
    }
    let missing = missing(&parts);
    notes.extend(missing.iter().map(|(peer, why)| format!("{peer} was not found: {why}.")));
    for Planned { part, measured, .. } in &parts {
        if part.cases().is_empty() {
            notes.push(format!("{} need more cores, and are left out.", measured.of.title));
        }
    }
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|(peer, _)| *peer).collect();
        let said = format!("Not found: {}; `list` says what installs them.", words::and(&names));
        print(&table::wrapped(&said, table::width()));
    }
    build(&mut parts)?;

    let begun = Instant::now();
    interrupt::begin();
    let progress = Progress::of(parts.iter().map(|planned| planned.part.cases().len()).sum());
    // Runs measured before a failure are shown and kept as well.
    // One bound for all families: what one of them leaves is the time of those after it.
    let mut bound = Bound::session(0);
    let measuring =
        parts.iter_mut().try_for_each(|one| measure(one, &mut bound, &progress, &mut kept));
    progress.end();
    let failure = measuring.map_err(interrupt::why);
    session.end(&failure);
    let measured_in = begun.elapsed();
    session.measured = parts.into_iter().map(|planned| planned.measured).collect();
    if session.measured.iter().all(|of| of.records.is_empty()) {
        kept.leave();
        return failure.context("nothing was measured");
    }
    // The report is kept even if the printed rows have lost their reader.
    let written = kept.write(&session, failure.is_ok());
    // A page of an older session stays if not all was measured.
    let markdown = markdown.filter(|_| failure.is_ok());
    let kept_page = markdown.map_or(Ok(()), |page| report::markdown::write(page, &session));
    let mut text = String::new();
    for Measured { of, records, absent } in session.measured.iter().filter(|_| has_tables) {
        text += &format!("\n{}", table::render(of, records, absent, table::width()));
    }
    let outcome = Outcome::of(&session.measured).render(table::width());
    text += &format!("\n{outcome}\nmeasured in {:.0} s\n", measured_in.as_secs_f64());
    let failure = failure.context("not all was measured; summary and report cover what was");
    last(&(text + &report::lines(&written)), failure.and(written.map(drop)).and(kept_page))
}

/// A family's planned rows, and their measurements.
struct Planned {
    part: Box<dyn Part>,
    rounds: usize,
    measured: Measured,
}

/// Returns in words how many rounds the rows of each family are measured in.
fn told(rounds: &[(&str, usize)]) -> String {
    let most = rounds.iter().map(|(_, rounds)| *rounds).max().unwrap_or_default();
    let mut text = format!("Each row is measured in {}", words::count(most, "round"));
    for (title, fewer) in rounds.iter().filter(|(_, rounds)| *rounds < most) {
        text.push_str(&format!(", of {title} in {fewer}"));
    }
    text
}

/// Returns the peers that were not found, each once, with what installs them.
fn missing(parts: &[Planned]) -> Vec<(&'static str, String)> {
    let mut missing: Vec<(&'static str, String)> = Vec::new();
    for (peer, why) in parts.iter().flat_map(|planned| planned.part.missing()) {
        if !missing.iter().any(|(known, _)| *known == peer) {
            missing.push((peer, why));
        }
    }
    missing
}

/// Builds what the peers of all families need, side by side: nothing is being measured yet.
fn build(parts: &mut [Planned]) -> anyhow::Result<()> {
    thread::scope(|scope| {
        let builds: Vec<_> =
            parts.iter_mut().map(|planned| scope.spawn(|| planned.part.build())).collect();
        // A failed build does not stop the others: all come to their end.
        let built = builds.into_iter().map(|build| {
            build.join().unwrap_or_else(|_| Err(anyhow!("building a peer has panicked")))
        });
        built.fold(Ok(()), anyhow::Result::and)
    })
}

/// Measures a family, keeps each of its runs, and prints each of its rows when it is complete.
fn measure(
    planned: &mut Planned,
    bound: &mut Bound,
    progress: &Progress,
    kept: &mut Kept,
) -> anyhow::Result<()> {
    let Planned { part, rounds, measured } = planned;
    bound.go_on_with(*rounds);
    let mut current: Option<Begun> = None;
    let mut each = |event| {
        match event {
            Event::Begins(case) => {
                if let Some(done) = current.take() {
                    progress.row(&brief(measured, &done))?;
                }
                progress.name(case.to_string());
                let (records, absent) = (measured.records.len(), measured.absent.len());
                current = Some(Begun { case, records, absent });
                // Signals are checked after a run: every row that was announced is measured.
                return Ok(());
            }
            Event::Ran(record) => {
                let saved = kept.add(measured.of.name, &record);
                measured.records.push(*record);
                saved?;
            }
            Event::Absent(absent) => measured.absent.push(absent),
        }
        interrupt::check()
    };
    let done = part.measure(bound, &mut each);
    if let Some(last) = current { done.and(progress.row(&brief(measured, &last))) } else { done }
}

/// A row that is under way: its case, and the numbers of records and absences before it.
struct Begun {
    case: Case,
    records: usize,
    absent: usize,
}

/// Renders a measured row as a line.
fn brief(measured: &Measured, begun: &Begun) -> String {
    // Output for a program is not wrapped.
    let width = if std::io::stdout().is_terminal() { table::width() } else { None };
    brief_within(measured, begun, width)
}

/// Does the same within `width` columns. Makes rows from the row's own records alone, unless a
/// figure may be relative to those of other rows: to make all rows for each one would take long in
/// the end.
fn brief_within(measured: &Measured, begun: &Begun, width: Option<u16>) -> String {
    let Measured { of, records, absent } = measured;
    let quantities = of.experiment(&begun.case.bench).map_or(&[][..], |own| own.quantities);
    let is_derived = |quantity: &Quantity| matches!(quantity.read, Read::Derived(_));
    let from = if quantities.iter().any(is_derived) { 0 } else { begun.records };
    let rows = rows(of, &records[from..], &absent[begun.absent..]);
    let row = rows.iter().find(|row| *row.case == begun.case);
    row.map_or(String::new(), |row| table::brief(row, of.subject().unwrap_or_default(), width))
}

#[cfg(test)]
mod tests;
