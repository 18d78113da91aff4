//! A family that runs on the suite, in a session.

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

/// A family's planned rows, and what came of them.
struct Ported {
    part: Box<dyn suite::entry::Part>,
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
    let measured = Measured::nothing(entry);
    if part.rows() == 0 {
        notes.push(format!("{} need more cores, and are left out.", measured.of.title));
    }
    Ok(Box::new(Ported { part, measured }))
}

impl Part for Ported {
    fn build(&mut self) -> anyhow::Result<()> {
        self.part.build()
    }

    fn measure(&mut self, effort: Effort, _: &mut Vec<String>) -> anyhow::Result<()> {
        let progress = Progress::of(self.part.rows());
        let mut begun = 0;
        let measured = &mut self.measured;
        let mut each = |event| {
            match event {
                Event::Begins(case) => {
                    progress.step(usize::from(begun > 0));
                    begun += 1;
                    progress.name(case.to_string());
                }
                Event::Ran(record) => measured.records.push(*record),
                Event::Absent(absent) => measured.absent.push(absent),
            }
            interrupt::check()
        };
        let done = self.part.measure(&mut Bound::session(effort.repeats()), &mut each);
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

    fn shares(&self) -> Vec<f64> {
        // The tables count what was disturbed.
        Vec::new()
    }

    fn leave(self: Box<Self>, session: &mut Session) {
        session.ported.push(self.measured);
    }
}
