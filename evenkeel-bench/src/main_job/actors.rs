//! Actors, in a session.

use super::effort::{Effort, SPARE};
use super::interrupt;
use super::part::Part;
use super::progress::each;
use crate::actors::peer::Peer;
use crate::actors::record::Record;
use crate::actors::runner::{self, Cell, Runner};
use crate::actors::{Bench, table};
use crate::affinity::{self, processor_counts};
use crate::report::Session;

/// Planned cells, and what came of them.
pub(super) struct Actors {
    peers: Vec<Peer>,
    runner: Runner,
    cells: Vec<Cell>,
    records: Vec<Record>,
}

/// Actors, at one and all cores, on every system found.
pub(super) fn new(effort: Effort, notes: &mut Vec<String>) -> anyhow::Result<Box<dyn Part>> {
    let (mut peers, missing) = runner::found()?;
    for (peer, why) in missing {
        notes.push(format!("Of the actor systems {peer} is skipped: {why}."));
    }
    if effort == Effort::Quick {
        // They are built and warmed up for longer than the whole of a quick run takes.
        peers.retain(|peer| peer.foreign().is_none());
        notes.push("A quick run leaves out the actor systems of other languages.".to_owned());
    }
    let cells = plan(effort, affinity::cores().len(), &peers);
    let runs: usize = cells.iter().map(|cell| cell.peers.len() * effort.repeats()).sum();
    let runner = Runner::new(runs / SPARE);
    Ok(Box::new(Actors { peers, runner, cells, records: Vec::new() }))
}

impl Part for Actors {
    fn is_foreign(&self) -> bool {
        self.peers.iter().any(|peer| peer.foreign().is_some())
    }

    fn build(&mut self) -> anyhow::Result<()> {
        self.runner.build(&self.peers)
    }

    fn measure(&mut self, effort: Effort, _: &mut Vec<String>) -> anyhow::Result<()> {
        let name = |cell: &Cell| runner::name(&cell.spec);
        each(&self.cells, name, |cell| {
            // A disturbed run is counted in the report.
            self.runner.run(cell, effort.repeats(), |record, _| {
                self.records.push(record);
                interrupt::check()
            })
        })
    }

    fn table(&self) -> String {
        table::render(&self.records)
    }

    fn shares(&self) -> Vec<f64> {
        self.records.iter().map(|record| record.cpu_share).collect()
    }

    fn leave(self: Box<Self>, session: &mut Session) {
        session.actors = self.records;
    }
}

/// All cells of actors, in the order of the tables. Memory does not depend on the workers.
fn plan(effort: Effort, cores: usize, peers: &[Peer]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for bench in Bench::ALL {
        for &variant in bench.variants() {
            for workers in processor_counts(cores) {
                if bench == Bench::Memory && workers > 1 {
                    continue;
                }
                let mut sizes = effort.actors(workers);
                if bench == Bench::Pingpong {
                    // As many messages as the hundred actors of a worker of latency_probe send.
                    sizes.pings = sizes.pings.map(|pings| pings * 100);
                }
                if let Bench::Savina(program) = bench {
                    sizes.rounds = Some(effort.savina(program));
                }
                cells.push(Cell::new(bench, variant, workers, sizes, peers));
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actors_are_measured_at_one_and_all_cores_on_every_system() {
        let cells = plan(Effort::Usual, 4, &Peer::ALL);
        let is_there = |bench, workers| {
            let of = |cell: &&Cell| (cell.spec.bench, cell.spec.workers) == (bench, workers);
            cells.iter().filter(of).count()
        };
        for bench in Bench::ALL {
            let everywhere = bench != Bench::Memory;
            assert_eq!(is_there(bench, 1), bench.variants().len(), "{bench}");
            assert_eq!(is_there(bench, 4) > 0, everywhere, "{bench}");
        }
        for cell in &cells {
            let all = Peer::ALL.into_iter();
            let have: Vec<_> = all.filter(|peer| peer.has(cell.spec.bench)).collect();
            assert_eq!(cell.peers, have, "{}", cell.spec.bench);
        }
        let full = plan(Effort::Full, 1, &[]);
        assert_eq!(full[0].spec.pings, 40_000, "the published number");
    }
}
