//! A family that runs on the suite, in a session.

use std::panic::resume_unwind;
use std::thread::{self, JoinHandle};

use anyhow::Context;

use super::effort::Effort;
use super::interrupt;
use super::part::Part;
use super::progress::Progress;
use crate::affinity;
use crate::families;
use crate::report::Session;
use crate::suite;
use crate::suite::enough::Bound;
use crate::suite::entry::{Event, Measured};
use crate::suite::table;

type Planned = Box<dyn suite::entry::Part>;

/// A family's planned rows, and what came of them.
struct Ported {
    /// What is planned; nothing while it is built.
    part: Option<Planned>,
    /// It is built beside the other families.
    building: Option<JoinHandle<(Planned, anyhow::Result<()>)>>,
    rounds: usize,
    measured: Measured,
}

/// The family of this name.
pub(super) fn new(
    name: &str,
    effort: Effort,
    notes: &mut Vec<String>,
) -> anyhow::Result<Box<dyn Part>> {
    let entry = families::named(name).expect("a name of the registry");
    let part = (entry.plan)(effort, affinity::cores().len())?;
    let missing = part.missing();
    notes.extend(missing.iter().map(|(peer, install)| format!("{peer} not found: {install}.")));
    Ok(Box::new(Ported {
        part: Some(part),
        building: None,
        rounds: (entry.rounds)(effort),
        measured: Measured::nothing(entry),
    }))
}

impl Part for Ported {
    fn build(&mut self) -> anyhow::Result<()> {
        self.building = self.part.take().map(|mut part| {
            thread::spawn(move || {
                let built = part.build();
                (part, built)
            })
        });
        Ok(())
    }

    fn built(&mut self) -> anyhow::Result<()> {
        let Some(building) = self.building.take() else { return Ok(()) };
        let (part, built) = building.join().unwrap_or_else(|panic| resume_unwind(panic));
        self.part = Some(part);
        built
    }

    fn measure(&mut self, _: Effort, _: &mut Vec<String>) -> anyhow::Result<()> {
        let part = self.part.as_mut().context("it is not built")?;
        let progress = Progress::of(part.rows());
        let mut begun = 0;
        let measured = &mut self.measured;
        let mut each = |event| {
            match event {
                Event::Begins(case) => {
                    progress.step(usize::from(begun > 0));
                    begun += 1;
                    progress.name(case.to_string());
                    // It is looked for after a run: one that is named is measured.
                    return Ok(());
                }
                Event::Ran(record) => measured.records.push(*record),
                Event::Absent(absent) => measured.absent.push(absent),
            }
            interrupt::check()
        };
        let done = part.measure(&mut Bound::session(self.rounds), &mut each);
        progress.end();
        done
    }

    fn table(&self) -> String {
        let Measured { of, records, absent } = &self.measured;
        if records.is_empty() && absent.is_empty() {
            return String::new();
        }
        table::render(of, records, absent, table::width())
    }

    fn leave(self: Box<Self>, session: &mut Session) {
        session.ported.push(self.measured);
    }
}
