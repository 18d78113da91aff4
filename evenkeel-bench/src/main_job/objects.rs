//! Objects with homes beside locks, in a session.

use super::effort::{Effort, SPARE};
use super::interrupt;
use super::part::Part;
use super::progress::each;
use crate::affinity;
use crate::objects::cells::{self, Asked, Cell, Impossible};
use crate::objects::record::Record;
use crate::objects::runner::{self, Runner};
use crate::objects::{Access, Bench, table};
use crate::report::Session;

/// Tasks for each core, of all but travel: enough that journeys overlap.
const TASKS: usize = 16;
/// An object that is scanned: neither small beside the journey nor large beside a cache.
const SCAN_BYTES: usize = 32 << 10;

/// Planned cells, and what came of them.
pub(super) struct Objects {
    runner: Runner,
    cells: Vec<Cell>,
    records: Vec<Record>,
}

/// A few cells of each experiment, at all cores.
pub(super) fn new(effort: Effort, notes: &mut Vec<String>) -> anyhow::Result<Box<dyn Part>> {
    let cores = affinity::cores().len();
    if cores == 1 {
        notes.push("Objects with homes are left out: one core shares with nobody.".to_owned());
    }
    let cells = plan(effort, cores)?;
    let runs: usize =
        cells.iter().map(|cell| cell.contenders.len() * effort.object_repeats()).sum();
    Ok(Box::new(Objects { runner: Runner::new(runs / SPARE), cells, records: Vec::new() }))
}

impl Part for Objects {
    fn measure(&mut self, effort: Effort, _: &mut Vec<String>) -> anyhow::Result<()> {
        each(&self.cells, runner::name, |cell| {
            // A disturbed run is counted in the report.
            self.runner.run(cell, effort.object_repeats(), |record, _| {
                self.records.push(record);
                interrupt::check()
            })
        })
    }

    fn table(&self) -> String {
        if self.records.is_empty() { String::new() } else { table::render(&self.records) }
    }

    fn shares(&self) -> Vec<f64> {
        self.records.iter().map(|record| record.cpu_share).collect()
    }

    fn leave(self: Box<Self>, session: &mut Session) {
        session.objects = self.records;
    }
}

/// What is measured on so many cores.
fn plan(effort: Effort, cores: usize) -> Result<Vec<Cell>, Impossible> {
    if cores == 1 {
        return Ok(Vec::new());
    }
    let usual = Asked {
        workers: vec![cores],
        time: effort.object_time(),
        seed: 1,
        tasks_per_core: vec![TASKS],
        objects: vec![1],
        keys: vec![1 << 10],
        object_bytes: vec![SCAN_BYTES],
        ..Asked::default()
    };
    let directories = Asked {
        kib: effort.directory_kib().to_vec(),
        access: vec![Access::Found],
        ..usual.clone()
    };
    let journeys = Asked { tasks_per_core: effort.travellers().to_vec(), ..usual.clone() };
    let mut cells = Vec::new();
    for bench in Bench::ALL {
        cells.extend(cells::of(
            bench,
            match bench {
                Bench::Directory => &directories,
                Bench::Travel => &journeys,
                Bench::Counters | Bench::Map | Bench::Heap | Bench::Scan => &usual,
            },
        )?);
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// What the runs of a session are to take, without those that are repeated.
    fn time(effort: Effort) -> Duration {
        let cells = plan(effort, 2).unwrap();
        let runs = cells.iter().flat_map(|cell| cell.contenders.iter().map(move |c| (cell, c)));
        let once: Duration = runs.map(|(cell, &contender)| runner::expected(cell, contender)).sum();
        once * effort.object_repeats() as u32
    }

    #[test]
    fn a_session_has_some_of_everything_and_is_short() {
        for effort in [Effort::Quick, Effort::Usual, Effort::Full] {
            let cells = plan(effort, 2).unwrap();
            for bench in Bench::ALL {
                assert!(cells.iter().any(|cell| cell.bench == bench), "{bench}");
            }
        }
        assert!(time(Effort::Quick) < Duration::from_millis(3_500), "{:?}", time(Effort::Quick));
        assert!(time(Effort::Usual) < Duration::from_secs(12), "{:?}", time(Effort::Usual));
        assert!(time(Effort::Full) < Duration::from_secs(22), "{:?}", time(Effort::Full));
    }

    #[test]
    fn one_core_shares_with_nobody() {
        assert!(plan(Effort::Full, 1).unwrap().is_empty());
    }
}
