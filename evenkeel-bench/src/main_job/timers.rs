//! Timers, in a session.

use super::effort::Effort;
use super::part::Part;
use super::progress::each;
use crate::affinity::{self, processor_counts};
use crate::report::Session;
use crate::timers::record::Record;
use crate::timers::runner::{self, Cell};
use crate::timers::{self, Variant};

/// Planned cells, and what came of them.
pub(super) struct Timers {
    cells: Vec<Cell>,
    records: Vec<Record>,
}

/// Timers, at one and all cores.
pub(super) fn new(effort: Effort, _: &mut Vec<String>) -> anyhow::Result<Box<dyn Part>> {
    let counts = processor_counts(affinity::cores().len());
    let cells = Variant::ALL
        .into_iter()
        .flat_map(|variant| counts.iter().map(move |&workers| Cell::usual(variant, workers)));
    let mut cells: Vec<Cell> = cells.collect();
    cells.iter_mut().for_each(|cell| cell.spec.time = effort.time());
    Ok(Box::new(Timers { cells, records: Vec::new() }))
}

impl Part for Timers {
    fn measure(&mut self, effort: Effort, _: &mut Vec<String>) -> anyhow::Result<()> {
        each(&self.cells, Cell::name, |cell| {
            // A disturbed run is counted in the report.
            runner::run(cell, effort.repeats(), |record, _| {
                self.records.push(record);
                Ok(())
            })
        })
    }

    fn table(&self) -> String {
        timers::table::render(&self.records)
    }

    fn shares(&self) -> Vec<f64> {
        self.records.iter().map(|record| record.cpu_share).collect()
    }

    fn leave(self: Box<Self>, session: &mut Session) {
        session.timers = self.records;
    }
}
