//! From records to the lines of the tables.

use std::str::FromStr;

use super::bench::{Access, Bench, Mode, Popularity};
use super::record::Record;
use crate::figures::{MIXED, Summary};

/// Regimes in the order of the tables; others follow.
const REGIMES: [&str; 3] = ["near", "far", "siblings"];

/// What is compared: objects, and what is done to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) bench: Bench,
    pub(crate) access: Access,
    pub(crate) popularity: Popularity,
    pub(crate) period_ms: u64,
    pub(crate) workers: usize,
    pub(crate) keys: usize,
    pub(crate) objects: usize,
    /// Bytes of all objects.
    pub(crate) bytes: usize,
}

/// Figures of the parts of an oscillating run, in the order of the tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) many: Summary,
    pub(crate) many_settled: Option<Summary>,
    pub(crate) few: Summary,
    pub(crate) few_settled: Option<Summary>,
}

/// One line: all runs of a mode with so many tasks in one place and one regime.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// How near the cores were; `None` on one worker, to which it makes no difference.
    pub(crate) regime: Option<String>,
    pub(crate) place: Place,
    pub(crate) tasks_per_core: Option<usize>,
    pub(crate) mode: Mode,
    /// Millions of operations per second.
    pub(crate) mops: Summary,
    /// The median over that of threads with spin locks.
    pub(crate) beside_spin: Option<f64>,
    /// Of an automatic class, the median over that of the better of the two modes it chooses from.
    pub(crate) beside_better: Option<f64>,
    /// Journeys for each operation: the median.
    pub(crate) hops: f64,
    /// Nanoseconds of a journey there and back, times the workers.
    pub(crate) core_ns: Option<Summary>,
    pub(crate) parts: Option<Parts>,
}

impl Line {
    /// Whether it is a line for this run, among others.
    pub(crate) fn has(&self, record: &Record) -> bool {
        let regime = (record.workers > 1).then_some(record.regime.as_str());
        (self.regime.as_deref(), Some(self.place), self.tasks_per_core)
            == (regime, Place::of(record), record.tasks_per_core)
            && record.mode == self.mode.name()
    }

    /// Whether it is compared: the cores did not move while it was measured.
    pub(crate) fn is_compared(&self) -> bool {
        self.regime.as_deref() != Some(MIXED)
    }
}

impl Place {
    fn of(record: &Record) -> Option<Self> {
        Some(Self {
            bench: Bench::from_str(&record.bench).ok()?,
            access: Access::from_str(&record.access).ok()?,
            popularity: Popularity::from_str(&record.popularity).ok()?,
            period_ms: record.period_ms,
            workers: record.workers,
            keys: record.keys,
            objects: record.objects,
            bytes: record.bytes,
        })
    }

    /// Sorts as the tables do.
    fn rank(&self) -> [usize; 8] {
        let Self { bench, access, popularity, .. } = *self;
        [
            bench as usize,
            access as usize,
            popularity as usize,
            self.period_ms as usize,
            self.workers,
            self.keys,
            // Objects that are scanned have many sizes in one total.
            self.objects,
            self.bytes,
        ]
    }
}

/// Groups the records, in the order of the tables. Records that no experiment here leaves are left out.
pub(crate) fn lines(records: &[Record]) -> Vec<Line> {
    type Run<'a> = (Option<&'a str>, Place, Option<usize>, Mode, &'a Record);
    let mut runs: Vec<Run<'_>> = records
        .iter()
        .filter_map(|record| {
            let mode = Mode::from_str(&record.mode).ok()?;
            let regime = (record.workers > 1).then_some(record.regime.as_str());
            Some((regime, Place::of(record)?, record.tasks_per_core, mode, record))
        })
        .collect();
    let place_of = |regime: Option<&str>| match regime {
        None => 0,
        Some(MIXED) => REGIMES.len() + 2,
        Some(name) => 1 + REGIMES.iter().position(|known| *known == name).unwrap_or(REGIMES.len()),
    };
    runs.sort_by_key(|(regime, place, tasks, mode, _)| {
        (place_of(*regime), *regime, place.rank(), *tasks, *mode as usize)
    });
    let of_line = |a: &Run<'_>, b: &Run<'_>| (a.0, a.1, a.2, a.3) == (b.0, b.1, b.2, b.3);
    let mut lines: Vec<Line> = runs
        .chunk_by(of_line)
        .filter_map(|group| {
            let (regime, place, tasks, mode, _) = group[0];
            line(regime, place, tasks, mode, group.iter().map(|run| run.4))
        })
        .collect();
    compare(&mut lines);
    lines
}

fn line<'a>(
    regime: Option<&str>,
    place: Place,
    tasks_per_core: Option<usize>,
    mode: Mode,
    records: impl Iterator<Item = &'a Record> + Clone,
) -> Option<Line> {
    let all =
        |read: fn(&Record) -> Option<f64>| Summary::of(records.clone().filter_map(read).collect());
    let parts = || {
        Some(Parts {
            many: all(|record| record.mops_many)?,
            many_settled: all(|record| record.mops_many_settled),
            few: all(|record| record.mops_few)?,
            few_settled: all(|record| record.mops_few_settled),
        })
    };
    Some(Line {
        regime: regime.map(str::to_owned),
        place,
        tasks_per_core,
        mode,
        mops: all(|record| Some(record.mops))?,
        beside_spin: None,
        beside_better: None,
        hops: all(|record| Some(record.hops as f64 / record.operations as f64))?.median,
        core_ns: all(|record| record.core_ns),
        parts: parts(),
    })
}

/// Puts each line beside those that it is compared with, which are of the same regime and place.
fn compare(lines: &mut [Line]) {
    let medians = |line: &Line, mode, tasks: Option<usize>| {
        let same = lines.iter().find(|other| {
            (&other.regime, other.place, other.mode, other.tasks_per_core)
                == (&line.regime, line.place, mode, tasks)
        });
        Some(same?.mops.median)
    };
    let ratios: Vec<(Option<f64>, Option<f64>)> = lines
        .iter()
        .map(|line| {
            if !line.is_compared() {
                return (None, None);
            }
            let over = |other: f64| line.mops.median / other;
            let spin = medians(line, Mode::Spin, None).filter(|_| line.mode != Mode::Spin);
            let both = medians(line, Mode::InPlace, line.tasks_per_core).zip(medians(
                line,
                Mode::Home,
                line.tasks_per_core,
            ));
            let better = both.filter(|_| line.mode == Mode::Automatic).map(|(a, b)| a.max(b));
            (spin.map(over), better.map(over))
        })
        .collect();
    for (line, (spin, better)) in lines.iter_mut().zip(ratios) {
        (line.beside_spin, line.beside_better) = (spin, better);
    }
}
