//! From runs to figures: records grouped into experiments, loads, rows and cells.
//!
//! Figures of two runs may only be compared if both ran in the same cache regime, because a line
//! that crosses between two last-level caches costs several times as much as one that does not.
//! Each row with more than one processor therefore settles on one regime, and what it leaves out
//! is counted, so that whoever shows the figures can say so.

use crate::record::Record;
pub(crate) use crate::suite::summary::Summary;

/// The order in which experiments appear; unknown ones follow in the order of their runs.
const BENCHES: [&str; 7] = ["cycle", "yield", "churn", "locality", "transfer", "spawn", "memory"];

/// The runtimes with a fixed place; others follow in the order of their runs.
///
/// A runtime keeps its colour and marker in every report, whatever else a session measured. There are fewer colours than
/// runtimes: those with the same one, eight places apart, are not in the same experiments.
const RUNTIMES: [&str; 15] = [
    "evenkeel",
    "tokio-hand",
    "tokio-native",
    "go-hand",
    "go-native",
    "evenkeel-worker",
    "rayon",
    "chili",
    "serial",
    "forte",
    "onetbb",
    "openmp",
    "serial-cpp",
    "rayon+tokio",
    "tokio-one",
];

/// The runtime that this suite is about: every other one is a peer.
pub(crate) const SUBJECT: &str = RUNTIMES[0];

/// How many colours, and markers, there are to tell runtimes apart.
pub(crate) const SLOTS: usize = 8;

/// The cores share a last-level cache: the regime preferred among equals, so that reports agree.
pub(crate) const NEAR: &str = "near";

/// Two readings of the bounced line disagree: such a run belongs to no regime.
pub(crate) const MIXED: &str = "mixed";

/// What an experiment's figures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Nanoseconds per operation per processor, and throughput.
    Operations,
    /// Microseconds per transfer of leadership.
    Transfer,
    /// Bytes of resident memory per parked task.
    Memory,
}

impl Measure {
    fn of(bench: &str) -> Self {
        match bench {
            "transfer" => Self::Transfer,
            "memory" => Self::Memory,
            _ => Self::Operations,
        }
    }

    /// The run's figure; infinite if the run did not complete, absent if it holds none.
    fn value(self, record: &Record) -> Option<f64> {
        if record.dnc {
            return Some(f64::INFINITY);
        }
        let value = match self {
            Self::Operations => Some(record.ns_per_op_per_proc),
            Self::Transfer => record.transfer_us,
            Self::Memory => record.bytes_per_task,
        };
        value.filter(|v| v.is_finite())
    }
}

/// All that was measured on one runtime in one row.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// Index into [`Figures::runtimes`].
    pub(crate) runtime: usize,
    /// Nanoseconds, microseconds or bytes, as the experiment's [`Measure`] says.
    pub(crate) value: Summary,
    /// Operations per second; `None` where the experiment has none.
    pub(crate) throughput: Option<Summary>,
    /// The regime of the runs, if it is not the row's: then the cell takes no part in comparisons.
    pub(crate) foreign: Option<String>,
}

/// One line of the table: one number of processors under one load.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) procs: usize,
    /// The regime in which the row compares; `None` if its runs do not depend on it.
    pub(crate) regime: Option<String>,
    /// Runs left out because they were made in another regime.
    pub(crate) left_out: usize,
    /// One cell per runtime measured, in the order of the runtimes.
    pub(crate) cells: Vec<Cell>,
}

impl Row {
    /// The cell of a runtime, if it was measured.
    pub(crate) fn cell(&self, runtime: usize) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.runtime == runtime)
    }

    /// The runtime with the smallest median among the comparable ones that completed.
    pub(crate) fn best(&self) -> Option<usize> {
        let comparable = self.cells.iter().filter(|c| c.foreign.is_none() && c.value.completed());
        comparable.min_by(|a, b| a.value.median.total_cmp(&b.value.median)).map(|c| c.runtime)
    }
}

/// All rows with the same number of tasks per processor.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) tasks_per_proc: usize,
    /// One row per number of processors, ascending.
    pub(crate) rows: Vec<Row>,
}

/// One experiment in one variant and one size of arrays.
#[derive(Clone, Debug)]
pub(crate) struct Experiment {
    pub(crate) bench: String,
    pub(crate) variant: String,
    pub(crate) words: usize,
    pub(crate) touch: usize,
    pub(crate) measure: Measure,
    /// The loads, heaviest first.
    pub(crate) loads: Vec<Load>,
}

/// Everything that the page shows in figures.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    /// The names of the runtimes measured; the place in this list never says how fast they are.
    pub(crate) runtimes: Vec<String>,
    /// For each runtime its colour and marker.
    pub(crate) slots: Vec<usize>,
    pub(crate) experiments: Vec<Experiment>,
}

impl Figures {
    /// Groups the records.
    pub(crate) fn of(records: &[Record]) -> Self {
        let measured = distinct(records.iter().map(|r| r.runtime.as_str()));
        let (runtimes, slots) = places(&measured, &RUNTIMES);
        let benches = distinct(records.iter().map(|r| r.bench.as_str()));
        let mut experiments = Vec::new();
        for bench in places(&benches, &BENCHES).0 {
            let runs: Vec<&Record> = records.iter().filter(|r| r.bench == bench).collect();
            let key = |r: &Record| (r.variant.clone(), r.words, r.touch);
            for (variant, words, touch) in distinct(runs.iter().map(|r| key(r))) {
                let same = |r: &&Record| key(r) == (variant.clone(), words, touch);
                let runs: Vec<&Record> = runs.iter().copied().filter(same).collect();
                let measure = Measure::of(&bench);
                let loads = loads(&runs, measure, &runtimes);
                let bench = bench.clone();
                experiments.push(Experiment { bench, variant, words, touch, measure, loads });
            }
        }
        Self { runtimes, slots, experiments }
    }

    /// Index of the runtime that the suite is about, if it was measured.
    pub(crate) fn subject(&self) -> Option<usize> {
        self.runtimes.iter().position(|name| name == SUBJECT)
    }
}

/// The distinct items, in the order of their first appearance.
fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

/// The names of runtimes in their order, and the colour and marker of each.
///
/// If there are strangers among them, each runtime has the colour of its place among those measured.
pub(crate) fn places_of_runtimes(names: &[&str]) -> (Vec<String>, Vec<usize>) {
    let (names, slots) = places(names, &RUNTIMES);
    match slots.iter().all(|slot| *slot < RUNTIMES.len()) {
        true => (names, slots),
        false => (0..names.len()).map(|slot| (names[slot].clone(), slot)).unzip(),
    }
}

/// The colour and marker of a runtime with a fixed place; a stranger's is the last.
pub(crate) fn slot(name: &str) -> usize {
    RUNTIMES.iter().position(|known| *known == name).unwrap_or(RUNTIMES.len())
}

/// Sorts `names` after the `known` ones, strangers last, and tells each one's place among all.
fn places(names: &[&str], known: &[&str]) -> (Vec<String>, Vec<usize>) {
    let strangers = names.iter().filter(|name| !known.contains(name));
    let all = known.iter().chain(strangers).enumerate();
    all.filter(|(_, name)| names.contains(name))
        .map(|(place, name)| (name.to_string(), place))
        .unzip()
}

fn loads(runs: &[&Record], measure: Measure, runtimes: &[String]) -> Vec<Load> {
    let mut sizes = distinct(runs.iter().map(|r| r.tasks_per_proc));
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let load = |tasks_per_proc| {
        let runs: Vec<&Record> =
            runs.iter().copied().filter(|r| r.tasks_per_proc == tasks_per_proc).collect();
        let mut procs = distinct(runs.iter().map(|r| r.procs));
        procs.sort_unstable();
        let row = |procs| {
            let runs: Vec<&Record> = runs.iter().copied().filter(|r| r.procs == procs).collect();
            row(procs, &runs, measure, runtimes)
        };
        Load { tasks_per_proc, rows: procs.into_iter().map(row).collect() }
    };
    sizes.into_iter().map(load).collect()
}

fn row(procs: usize, runs: &[&Record], measure: Measure, runtimes: &[String]) -> Row {
    // On one processor no line travels between cores, and memory is not a matter of speed.
    let bound = procs > 1 && measure != Measure::Memory;
    let regime = if bound { settle(runs) } else { None };
    let mut left_out = 0;
    let mut cells = Vec::new();
    for (runtime, name) in runtimes.iter().enumerate() {
        let all: Vec<&Record> = runs.iter().copied().filter(|r| &r.runtime == name).collect();
        let within: Vec<&Record> = match &regime {
            Some(regime) => all.iter().copied().filter(|r| &r.regime == regime).collect(),
            None => all.clone(),
        };
        // A runtime without a run in the row's regime still shows what it has, marked as foreign.
        // A run that did not complete would not have done so in any regime.
        let (chosen, foreign) = match all.iter().find(|r| !r.dnc) {
            Some(first) if within.is_empty() => (&all, Some(first.regime.clone())),
            None => (&all, None),
            Some(_) => (&within, None),
        };
        left_out += all.len() - chosen.len();
        let value = Summary::of(chosen.iter().filter_map(|r| measure.value(r)).collect());
        let throughput = (measure == Measure::Operations)
            .then(|| chosen.iter().map(|r| r.ops as f64 / r.seconds).collect())
            .and_then(Summary::of);
        cells.extend(value.map(|value| Cell { runtime, value, throughput, foreign }));
    }
    Row { procs, regime, left_out, cells }
}

/// How much a regime is to be preferred for a comparison: one in which the subject was measured beside most peers; among equals near cores, then
/// the regime with most runs. `runtimes` are those of the runs, one for each.
///
/// Mixed runs can't be compared with each other either, so they are chosen only if there is
/// nothing else.
pub(crate) fn preference<'a>(
    regime: &str,
    runtimes: impl Iterator<Item = &'a str> + Clone,
) -> (bool, bool, usize, bool, usize) {
    let runs = runtimes.clone().count();
    let runtimes = distinct(runtimes);
    (regime != MIXED, runtimes.contains(&SUBJECT), runtimes.len(), regime == NEAR, runs)
}

/// The regime that is [preferred](preference).
fn settle(runs: &[&Record]) -> Option<String> {
    let weight = |regime: &&str| {
        let within = runs.iter().filter(|r| r.regime == *regime);
        preference(regime, within.map(|r| r.runtime.as_str()))
    };
    distinct(runs.iter().map(|r| r.regime.as_str()))
        .into_iter()
        .max_by_key(weight)
        .map(str::to_owned)
}
