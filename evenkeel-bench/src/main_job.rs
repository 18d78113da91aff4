//! The main job: everything at a glance, with a table and a report.
//!
//! [`effort`] says how long it takes. Each family of experiments is a [`part`] with a file of its own, which plans, measures and
//! shows it.

mod actors;
mod concurrency;
mod effort;
mod forking;
mod objects;
mod part;
mod progress;
mod scheduling;
mod timers;

use std::path::Path;
use std::time::Instant;

use anyhow::Context;

pub(crate) use self::effort::Effort;
use self::part::Part;
use crate::disturbance;
use crate::machine;
use crate::report::{self, Session};
use crate::words;

/// Plans a family of experiments for the runtimes that are found, and notes which are not.
type New = fn(Effort, &mut Vec<String>) -> anyhow::Result<Box<dyn Part>>;

/// All families, in the order in which they are measured and their tables are printed.
const PARTS: [New; 6] =
    [scheduling::new, forking::new, timers::new, concurrency::new, actors::new, objects::new];

/// Measures, prints the table and writes the report.
pub(crate) fn run(effort: Effort, folder: &Path) -> anyhow::Result<()> {
    // A folder that cannot be written is found out before minutes are spent.
    report::prepare(folder)?;
    let started = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S %Z").to_string();
    let topology = machine::topology();
    let machine = machine::describe();
    println!("{machine}\n{topology}\n");

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
        println!("{note}");
    }

    if parts.iter().any(|part| part.is_foreign()) {
        println!("Building the peers in other languages.");
    }
    let building = parts.iter_mut().try_for_each(|part| part.build());
    // Nothing is left behind by a build that has failed: the others come to their end.
    let built = parts.iter_mut().map(|part| part.built()).fold(Ok(()), anyhow::Result::and);
    building.and(built)?;
    let begun = Instant::now();
    // What was measured before a failure is shown and kept as well.
    let failure = parts.iter_mut().try_for_each(|part| part.measure(effort, &mut notes));
    if let Err(error) = &failure {
        notes.push(format!("Not all was measured: {error:#}."));
    }

    println!();
    for part in &parts {
        print!("{}", part.table());
        if let Some(disturbed) = disturbance::count(part.shares()) {
            println!("{disturbed}");
        }
        println!();
    }
    println!("measured in {:.0} s", begun.elapsed().as_secs_f64());
    let mut session = Session { topology, started, machine, notes, ..Session::default() };
    parts.into_iter().for_each(|part| part.leave(&mut session));
    let page = report::write(folder, &session)?;
    println!("report: {}", page.canonicalize().unwrap_or(page).display());
    failure.context("not all was measured; table and report are of what was")
}
