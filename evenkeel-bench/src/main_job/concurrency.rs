//! The tables of "Concurrency in C∀", in a session.

use super::effort::{Effort, SPARE};
use super::interrupt;
use super::part::Part;
use super::progress::each;
use crate::affinity;
use crate::concurrency::peer::Peer;
use crate::concurrency::record::Record;
use crate::concurrency::runner::{self, Row, Runner};
use crate::concurrency::{Bench, table};
use crate::report::Session;

/// Planned rows, and what came of them.
pub(super) struct Concurrency {
    runner: Runner,
    rows: Vec<Row>,
    records: Vec<Record>,
}

/// The tables, with every runtime found.
pub(super) fn new(effort: Effort, notes: &mut Vec<String>) -> anyhow::Result<Box<dyn Part>> {
    let (peers, missing) = runner::found();
    for (peer, why) in missing {
        notes.push(format!("Of the peers of the thesis's tables {peer} is skipped: {why}."));
    }
    let rows = plan(effort, affinity::cores().len(), &peers);
    let runs: usize = rows.iter().map(|row| row.peers.len() * effort.repeats()).sum();
    Ok(Box::new(Concurrency { runner: Runner::new(runs / SPARE), rows, records: Vec::new() }))
}

impl Part for Concurrency {
    fn is_foreign(&self) -> bool {
        !runner::languages(&self.rows).is_empty()
    }

    fn build(&mut self) -> anyhow::Result<()> {
        for language in runner::languages(&self.rows) {
            self.runner.build(language)?;
        }
        Ok(())
    }

    fn measure(&mut self, effort: Effort, _: &mut Vec<String>) -> anyhow::Result<()> {
        each(&self.rows, runner::name, |row| {
            // A disturbed run is counted in the report.
            self.runner.run(row, effort.repeats(), |record, _| {
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
        session.concurrency = self.records;
    }
}

/// All rows of the tables of "Concurrency in C∀" that so many cores can show and somebody has.
fn plan(effort: Effort, cores: usize, peers: &[Peer]) -> Vec<Row> {
    let rows = |bench| runner::rows(bench, peers, effort.round_time());
    let mut rows: Vec<_> = Bench::ALL.into_iter().flat_map(rows).collect();
    rows.retain(|row| row.procs <= cores && !row.peers.is_empty());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_thesis_are_measured_as_far_as_the_cores_go() {
        let benches = |cores| {
            let rows = plan(Effort::Quick, cores, &Peer::ALL);
            let mut benches: Vec<_> = rows.iter().map(|row| row.bench.name()).collect();
            benches.dedup();
            benches
        };
        let thesis = ["ctxswitch", "mutex", "schedint", "schedext", "creation"];
        assert_eq!(benches(1), thesis);
        assert_eq!(benches(2), [&thesis[..], &["contended"]].concat());
    }
}
