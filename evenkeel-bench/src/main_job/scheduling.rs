//! The experiments of the scheduler, in a session.

use super::effort::{Effort, SPARE};
use super::interrupt;
use super::part::Part;
use super::progress::Progress;
use crate::affinity::{self, processor_counts};
use crate::record::Record;
use crate::report::Session;
use crate::runner::{self, Cell, Measured, Runner};
use crate::runtime::{Peer, go};
use crate::table;
use crate::workload::{Bench, Spec, memory};

/// Cells per array and increments per operation of a Locality whose data is worth keeping warm.
const LARGE: (usize, usize) = (8192, 256);

/// Planned cells, and what came of them.
pub(super) struct Scheduling {
    runner: Runner,
    cells: Vec<Cell>,
    records: Vec<Record>,
}

/// The experiments on every runtime found.
pub(super) fn new(effort: Effort, notes: &mut Vec<String>) -> anyhow::Result<Box<dyn Part>> {
    let (peers, missing) = runner::found();
    for (peer, install) in missing {
        notes.push(format!("{peer} is skipped: {install}."));
    }
    notes.push(format!(
        "A run of transfer counts as not completed (DNC) after {} s without a transfer, and is not \
         repeated then; Go's own programs wait 5 s.",
        effort.patience().as_secs_f64(),
    ));
    let cells = plan(effort, affinity::cores().len(), &peers);
    let runner = Runner::new(runs(&cells, effort) / SPARE);
    Ok(Box::new(Scheduling { runner, cells, records: Vec::new() }))
}

impl Part for Scheduling {
    fn is_foreign(&self) -> bool {
        self.cells.iter().any(|cell| cell.peers.iter().any(|peer| peer.is_go()))
    }

    fn build(&mut self) -> anyhow::Result<()> {
        if self.is_foreign() {
            self.runner.build_go()?;
        }
        Ok(())
    }

    fn measure(&mut self, effort: Effort, notes: &mut Vec<String>) -> anyhow::Result<()> {
        let progress = Progress::of(runs(&self.cells, effort));
        for cell in &self.cells {
            progress.name(cell.name());
            let before = self.records.len();
            // A disturbed run is counted in the report.
            self.runner.run(cell, effort.repeats(), |Measured { record, remarks, .. }| {
                self.records.push(record);
                for remark in remarks {
                    // The same of every run.
                    if !notes.contains(&remark) {
                        notes.push(remark);
                    }
                }
                progress.step(1);
                interrupt::check()
            })?;
            // Runs that are not repeated after a DNC count as done.
            let done = self.records.len() - before;
            progress.step(cell.peers.len() * effort.repeats() - done);
        }
        progress.end();
        Ok(())
    }

    fn table(&self) -> String {
        table::render(&self.records)
    }

    fn shares(&self) -> Vec<f64> {
        self.records.iter().map(|record| record.cpu_share).collect()
    }

    fn leave(self: Box<Self>, session: &mut Session) {
        session.records = self.records;
    }
}

fn runs(cells: &[Cell], effort: Effort) -> usize {
    cells.iter().map(|cell| cell.peers.len() * effort.repeats()).sum()
}

/// All cells of a session, in the order of the table.
fn plan(effort: Effort, cores: usize, peers: &[Peer]) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut add = |bench: Bench, procs: usize, tasks_per_proc: usize, size: (usize, usize)| {
        let peers: Vec<Peer> =
            peers.iter().copied().filter(|peer| !peer.is_go() || go::has(bench)).collect();
        for &variant in bench.variants() {
            let (words, touch) = size;
            let spec = Spec {
                bench,
                variant,
                procs,
                tasks_per_proc,
                words,
                touch,
                time: effort.time(),
                patience: effort.patience(),
                seed: 1,
            };
            cells.push(Cell { spec, peers: peers.clone() });
        }
    };
    /// The size of Locality's arrays that the published figures are of.
    const USUAL: (usize, usize) = (2, 2);
    for bench in [Bench::Cycle, Bench::Yield, Bench::Churn, Bench::Locality, Bench::Transfer] {
        for procs in processor_counts(cores) {
            for tasks in tasks(bench) {
                add(bench, procs, *tasks, USUAL);
            }
        }
    }
    if effort == Effort::Full {
        for procs in processor_counts(cores) {
            add(Bench::Locality, procs, 100, LARGE);
        }
        for procs in processor_counts(cores) {
            add(Bench::Spawn, procs, 1, USUAL);
        }
        add(Bench::Memory, cores, memory::TASKS, USUAL);
    }
    cells
}

/// Many and few tasks per processor. One task alone has nobody to exchange a permit with, and
/// Transfer is about many.
fn tasks(bench: Bench) -> &'static [usize] {
    match bench {
        Bench::Churn | Bench::Locality => &[100, 2],
        Bench::Transfer => &[100],
        _ => &[100, 1],
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_plan_has_each_experiment_at_one_and_all_cores_on_every_runtime() {
        let cells = plan(Effort::Usual, 4, &Peer::ALL);
        for bench in [Bench::Cycle, Bench::Yield, Bench::Churn, Bench::Locality, Bench::Transfer] {
            for procs in [1, 4] {
                let found = cells.iter().any(|cell| {
                    (cell.spec.bench, cell.spec.procs) == (bench, procs) && cell.peers == Peer::ALL
                });
                assert!(found, "{bench} at {procs}");
            }
        }
        assert!(cells.iter().all(|cell| cell.spec.tasks() >= cell.spec.bench.fewest_tasks()));
    }

    #[test]
    fn the_usual_session_stays_within_its_time_on_two_cores() {
        // Each run takes its time, a tenth for warming up, and about 40 ms around it; the rest of
        // three minutes for these experiments is for runs of transfer that do not complete.
        let effort = Effort::Usual;
        let run = effort.time().mul_f64(1.1) + Duration::from_millis(40);
        let runs = runs(&plan(effort, 2, &Peer::ALL), effort);
        let most = runs + runs / SPARE;
        assert!(run * (most as u32) < Duration::from_secs(150), "{most} runs of {run:?}");
    }
}
