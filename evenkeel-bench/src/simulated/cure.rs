//! Whether rules of the runtime's own cure what the paper ends with: idle time that eats the gain
//! of locality.

use super::Scheduler::{self, CilkRandom, CilkRestricted};
use super::rows::{CONFIDENCE, Metric, Row, ratio};
use crate::analysis::Estimate;
use crate::analysis::tables::Table;

/// Returns for each of the runtime's own rules in how many rows, by their 90 % intervals, its time
/// is not above that of random victims, its inflation below, and its idle time below that of
/// restricted ones. `None` if there is no row with an interval for all of that.
pub(super) fn table(rows: &[Row<'_>]) -> Option<Table> {
    let own = Scheduler::ALL.into_iter().filter(|scheduler| !scheduler.is_cilk());
    let line = |scheduler: Scheduler| {
        let cells: Vec<Cell> = rows.iter().filter_map(|row| Cell::of(row, scheduler)).collect();
        let of = |is: fn(&Cell) -> bool| {
            format!("{} of {}", cells.iter().filter(|cell| is(cell)).count(), cells.len())
        };
        (!cells.is_empty()).then(|| {
            vec![
                scheduler.to_string(),
                of(|cell| cell.time.low <= 1.0),
                of(|cell| cell.inflation.high < 0.0),
                of(|cell| cell.idle_to_restricted.high < 0.0),
                of(Cell::is_cured),
                of(|cell| cell.idle_to_random.low <= 0.0),
            ]
        })
    };
    let lines: Vec<_> = own.filter_map(line).collect();
    let heading = [
        "rules",
        "time not above cilk-random",
        "inflation below cilk-random",
        "idle below cilk-restricted",
        "all three",
        "idle not above cilk-random",
    ];
    (!lines.is_empty()).then(|| Table {
        title: "What the paper leaves open: less inflation without more idle time".to_owned(),
        heading: heading.map(str::to_owned).to_vec(),
        lines,
        note: format!(
            "in how many of the programs and sizes, by {:.0} % intervals of the seeds",
            100.0 * CONFIDENCE
        ),
    })
}

/// One row, for one of the runtime's own rules.
struct Cell {
    /// The ratio of its time to that of random victims.
    time: Estimate,
    /// Differences in seconds.
    inflation: Estimate,
    idle_to_restricted: Estimate,
    idle_to_random: Estimate,
}

impl Cell {
    fn of(row: &Row<'_>, scheduler: Scheduler) -> Option<Self> {
        Some(Self {
            time: ratio(&[row], (scheduler, CilkRandom))?,
            inflation: row.difference((scheduler, CilkRandom), Metric::Inflation)?,
            idle_to_restricted: row.difference((scheduler, CilkRestricted), Metric::Idle)?,
            idle_to_random: row.difference((scheduler, CilkRandom), Metric::Idle)?,
        })
    }

    fn is_cured(&self) -> bool {
        self.time.low <= 1.0 && self.inflation.high < 0.0 && self.idle_to_restricted.high < 0.0
    }
}
