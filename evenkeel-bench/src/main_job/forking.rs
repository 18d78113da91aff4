//! Fork-join programs, in a session.

use std::panic::resume_unwind;
use std::thread::{self, JoinHandle};

use anyhow::Context;

use super::effort::{Effort, SPARE};
use super::part::Part;
use super::progress::each;
use crate::affinity::{self, processor_counts};
use crate::forking::forker::Name;
use crate::forking::program::Program;
use crate::forking::runner::{Cell, Measured, Runner};
use crate::forking::{figures, found, table};
use crate::report::Session;
use crate::words;

/// Planned cells, and what came of them.
pub(super) struct Forking {
    runtimes: Vec<Name>,
    effort: Effort,
    building: Option<JoinHandle<anyhow::Result<Runner>>>,
    runner: Option<Runner>,
    cells: Vec<Cell>,
    measured: Vec<Measured>,
}

/// The programs on every runtime found that forks.
pub(super) fn new(effort: Effort, notes: &mut Vec<String>) -> anyhow::Result<Box<dyn Part>> {
    notes.push(format!(
        "The runtimes run each fork-join program in turn, {} after one to warm up. The peers in C++ are compiled for \
         this machine, Rust for all machines of its kind unless RUSTFLAGS says more; speed-ups are over serial calls \
         in the same language.",
        words::count(effort.fork_repeats(), "repeat"),
    ));
    let found = found::of(&Name::ALL)?;
    for (name, why) in &found.missing {
        notes.push(format!("Of the runtimes that fork, {name} is skipped: {why}."));
    }
    let runtimes = found.there;
    let cells = plan(effort, affinity::cores().len(), &runtimes);
    let (building, runner, measured) = (None, None, Vec::new());
    Ok(Box::new(Forking { runtimes, effort, building, runner, cells, measured }))
}

impl Part for Forking {
    fn is_foreign(&self) -> bool {
        self.runtimes.iter().any(|name| name.is_cpp())
    }

    fn build(&mut self) -> anyhow::Result<()> {
        let (runtimes, patience) = (self.runtimes.clone(), self.effort.fork_patience());
        let spare = self.cells.len() * runtimes.len() * self.effort.fork_repeats() / SPARE;
        self.building = Some(thread::spawn(move || Runner::new(&runtimes, spare, patience)));
        Ok(())
    }

    fn built(&mut self) -> anyhow::Result<()> {
        if let Some(building) = self.building.take() {
            self.runner = Some(building.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(())
    }

    fn measure(&mut self, effort: Effort, _: &mut Vec<String>) -> anyhow::Result<()> {
        let runner = self.runner.as_ref().context("the fork-join programs are not built")?;
        let failure = each(&self.cells, Cell::name, |cell| {
            self.measured.push(runner.run(cell, effort.fork_repeats())?);
            Ok(())
        });
        figures::pool(&mut self.measured);
        failure
    }

    fn table(&self) -> String {
        table::in_columns(&self.measured)
    }

    /// Of the repeats of a runtime the least one.
    fn shares(&self) -> Vec<f64> {
        let records = self.measured.iter().flat_map(|measured| &measured.records);
        records.map(|record| record.cpu_share).collect()
    }

    fn leave(self: Box<Self>, session: &mut Session) {
        session.forking = self.measured;
    }
}

/// All cells of fork-join programs, in the order of the table.
fn plan(effort: Effort, cores: usize, runtimes: &[Name]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for program in Program::ALL {
        for n in effort.fork_sizes(program) {
            for workers in processor_counts(cores) {
                let runtimes = runtimes.to_vec();
                cells.push(Cell { program, n, workers, runtimes });
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fork_join_program_is_measured_at_one_and_all_cores_on_every_runtime() {
        for (effort, sizes) in [(Effort::Quick, 1), (Effort::Usual, 1), (Effort::Full, 3)] {
            let cells = plan(effort, 4, &Name::ALL);
            assert_eq!(cells.len(), Program::ALL.len() * sizes * 2);
            assert!(cells.iter().all(|cell| cell.runtimes == Name::ALL));
            assert_eq!((cells[0].workers, cells[1].workers), (1, 4));
        }
    }
}
