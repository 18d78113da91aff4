//! The main job: everything at a glance, with a table and a report.
//!
//! [`effort`] says how long it takes. Each family of experiments is a [`part`] with a file of its own, which plans, measures and
//! shows it.

mod effort;
pub(crate) mod interrupt;
mod part;
mod ported;
mod progress;

use std::path::Path;
use std::time::Instant;

use anyhow::Context;

pub(crate) use self::effort::Effort;
use self::part::Part;
use crate::machine;
use crate::report::{self, Session};
use crate::suite::output::say;
use crate::words;

/// Plans a family of experiments for the runtimes that are found, and notes which are not.
type New = fn(Effort, &mut Vec<String>) -> anyhow::Result<Box<dyn Part>>;

/// All families, in the order in which they are measured and their tables are printed.
const PARTS: [New; 7] = [
    |effort, notes| ported::new("scheduling", effort, notes),
    |effort, notes| ported::new("mixed", effort, notes),
    |effort, notes| ported::new("fork-join", effort, notes),
    |effort, notes| ported::new("timers", effort, notes),
    |effort, notes| ported::new("concurrency", effort, notes),
    |effort, notes| ported::new("actors", effort, notes),
    |effort, notes| ported::new("objects", effort, notes),
];

/// Measures, prints the table and writes the report.
pub(crate) fn run(effort: Effort, folder: &Path) -> anyhow::Result<()> {
    // A folder that cannot be written is found out before minutes are spent.
    report::prepare(folder)?;
    let started = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S %Z").to_string();
    let topology = machine::topology();
    let machine = machine::describe();
    say!("{machine}\n{topology}\n");

    let mut notes = vec![format!(
        "Each run measures {} ms and is done {}; the runtimes alternate.",
        effort.time().as_millis(),
        words::count(effort.repeats(), "time"),
    )];
    if cfg!(debug_assertions) {
        notes.push(
            "This is a debug build, whose figures say nothing: run it with `--release`.".to_owned(),
        );
    }
    let mut parts = Vec::new();
    for new in PARTS {
        parts.push(new(effort, &mut notes)?);
    }
    for note in &notes {
        say!("{note}");
    }

    let building = parts.iter_mut().try_for_each(|part| part.build());
    // Nothing is left behind by a build that has failed: the others come to their end.
    let built = parts.iter_mut().map(|part| part.built()).fold(Ok(()), anyhow::Result::and);
    building.and(built)?;
    let begun = Instant::now();
    interrupt::begin();
    // What was measured before a failure is shown and kept as well.
    let failure = parts.iter_mut().try_for_each(|part| part.measure(effort, &mut notes));
    // Ctrl-C reaches the peers' programs as well, whose failure is none then.
    let failure = failure.map_err(|error| interrupt::check().err().unwrap_or(error));
    if let Err(error) = &failure {
        notes.push(format!("Not all was measured: {error:#}."));
    }

    let measured_in = begun.elapsed();
    let tables: Vec<String> = parts.iter().map(|part| part.table()).collect();
    let mut session = Session { topology, started, machine, notes, ..Session::default() };
    parts.into_iter().for_each(|part| part.leave(&mut session));
    // The report is kept even if the tables have no reader any more.
    let written = report::write(folder, &session);
    say!();
    tables.iter().for_each(|table| say!("{table}"));
    say!("measured in {:.0} s", measured_in.as_secs_f64());
    let page = written?;
    say!("report: {}", page.canonicalize().unwrap_or(page).display());
    failure.context("not all was measured; table and report are of what was")
}
