//! Runs fork-join programs: all runtimes in turn, repeat by repeat.

use std::cell::RefCell;
use std::mem;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use evenkeel::metrics::Times;

use super::cpp::{Built, Peer};
use super::figures::Baseline;
#[cfg(feature = "forte")]
use super::forker::Forte;
use super::forker::{ByArgument, Chili, Evenkeel, Forker, Name, Rayon, Serial};
use super::program::{Program, Run};
use super::record::{Metrics, NotRun, Record};
use crate::affinity;
use crate::disturbance::{ENOUGH, Retries, Watch};
use crate::figures::Summary;
use crate::regime;
use crate::words;

/// One program at one size, and who runs it.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) program: Program,
    pub(crate) n: usize,
    pub(crate) workers: usize,
    pub(crate) runtimes: Vec<Name>,
}

impl Cell {
    /// What is measured, in words.
    pub(crate) fn name(&self) -> String {
        let (n, workers) = (words::thousands(self.n as i64), words::count(self.workers, "worker"));
        format!("{}, n = {n}, {workers}", self.program)
    }
}

/// What came of a cell: a record for each runtime, or why there is none.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) cell: Cell,
    pub(crate) records: Vec<Record>,
    pub(crate) not_run: Vec<NotRun>,
    /// What speed-ups are over, once it is [pooled](super::figures::pool).
    pub(crate) baselines: Vec<Baseline>,
}

/// Runs cells.
pub(crate) struct Runner {
    built: Vec<Built>,
    retries: Retries,
    patience: Duration,
    alone: RefCell<Vec<Alone>>,
}

/// What one worker alone executes.
struct Alone {
    name: Name,
    program: Program,
    n: usize,
    seconds: f64,
}

/// The repeats of one runtime.
struct Series {
    name: Name,
    /// The program, if the runtime does not run in this process.
    peer: Option<Peer>,
    seconds: Vec<f64>,
    /// What the workers spent these seconds on.
    times: Vec<Vec<Times>>,
    cpu_share: f64,
}

/// One run, and the share of the machine's time that was left to it.
struct Watched {
    run: Run,
    cpu_share: f64,
}

impl Runner {
    /// Builds what these runtimes need. At most `spare` disturbed runs are repeated in all; a peer with a program of its
    /// own that takes longer than `patience` for one run is ended.
    pub(crate) fn new(names: &[Name], spare: usize, patience: Duration) -> anyhow::Result<Runner> {
        let cpp: Vec<Name> = names.iter().copied().filter(|name| name.is_cpp()).collect();
        Ok(Runner {
            built: Built::all(&cpp)?,
            retries: Retries::new(spare),
            patience,
            alone: RefCell::default(),
        })
    }

    /// Runs a cell: each runtime once to warm up, and then in turns. The serial result is what all others are checked
    /// against, whether or not it is asked for.
    pub(crate) fn run(&self, cell: &Cell, reps: usize) -> anyhow::Result<Measured> {
        let right = here(Name::Serial, cell)?.checksum;
        let mut measured = Measured {
            cell: cell.clone(),
            records: Vec::new(),
            not_run: Vec::new(),
            baselines: Vec::new(),
        };
        let mut all = Vec::new();
        for &name in &cell.runtimes {
            match name.refusal(cell.program, cell.n, cell.workers) {
                Some(why) => measured.not_run.push(not_run(name, cell, why)),
                None => all.push(self.series(name, cell)?),
            }
        }
        let line_ns_before = regime::bounce();
        for rep in 0..=reps {
            for mut series in mem::take(&mut all) {
                // The first run warms up.
                if self.turn(&mut series, cell, right, rep > 0)? {
                    all.push(series);
                } else {
                    let why = format!("a run took longer than {} s", self.patience.as_secs_f64());
                    measured.not_run.push(not_run(series.name, cell, why));
                }
            }
            // Whoever comes after a run of one thread finds cores that have slept: everybody does in turn.
            if !all.is_empty() {
                all.rotate_left(1);
            }
        }
        all.sort_by_key(|series| cell.runtimes.iter().position(|&name| name == series.name));
        let line_ns_after = regime::bounce();
        let summary = |series: &Series| Summary::of(series.seconds.clone()).context("no repeats");
        let record = |series: &Series| {
            let Summary { median, min, max, .. } = summary(series)?;
            let baseline = all.iter().find(|other| other.name == series.name.baseline());
            let baseline = baseline.map(summary).transpose()?;
            Ok(Record {
                runtime: series.name.to_string(),
                bench: cell.program.to_string(),
                n: cell.n,
                workers: if series.name.is_serial() { 1 } else { cell.workers },
                reps,
                seconds_median: median,
                seconds_min: min,
                seconds_max: max,
                seconds: series.seconds.clone(),
                checksum: format!("{right:#018x}"),
                speedup: baseline.map(|serial| serial.median / median),
                line_ns_before,
                line_ns_after,
                regime: regime::name(line_ns_before, line_ns_after).to_owned(),
                cpu_share: series.cpu_share,
                metrics: self.metrics(series, cell, median)?,
            })
        };
        measured.records = all.iter().map(record).collect::<anyhow::Result<_>>()?;
        Ok(measured)
    }

    fn series(&self, name: Name, cell: &Cell) -> anyhow::Result<Series> {
        let built = self.built.iter().find(|built| built.name() == name);
        let start = |built: &Built| {
            let Cell { program, n, workers, .. } = *cell;
            affinity::confined(workers, || built.start(program, n, workers))
        };
        let peer = built.map(start).transpose()?;
        Ok(Series { name, peer, seconds: Vec::new(), times: Vec::new(), cpu_share: 1.0 })
    }

    /// Runs once more, and if that counts again when the machine was busy with something else. `false` if it took too
    /// long.
    fn turn(
        &self,
        series: &mut Series,
        cell: &Cell,
        right: u64,
        counts: bool,
    ) -> anyhow::Result<bool> {
        let again =
            |run: &Option<Watched>| counts && matches!(run, Some(run) if run.cpu_share < ENOUGH);
        let (run, _) = self.retries.run(|| self.once(series, cell), again)?;
        let Some(Watched { run, cpu_share }) = run else { return Ok(false) };
        if run.checksum != right {
            bail!(
                "{} computes {} of size {} wrongly: checksum {:#x} instead of {right:#x}",
                series.name,
                cell.program,
                cell.n,
                run.checksum,
            );
        }
        if counts {
            series.seconds.push(run.seconds);
            series.times.push(run.times);
            series.cpu_share = series.cpu_share.min(cpu_share);
        }
        Ok(true)
    }

    /// The metrics of the repeat that took the median time, or the one next to it.
    fn metrics(
        &self,
        series: &Series,
        cell: &Cell,
        median: f64,
    ) -> anyhow::Result<Option<Metrics>> {
        let distance = |seconds: &f64| (seconds - median).abs();
        let repeats = series.seconds.iter().zip(&series.times);
        let nearest = repeats.min_by(|a, b| distance(a.0).total_cmp(&distance(b.0)));
        let Some((_, times)) = nearest.filter(|(_, times)| !times.is_empty()) else {
            return Ok(None);
        };
        let alone = match times[..] {
            [one] => {
                let seconds = one.execution.total().as_secs_f64();
                self.remember(series.name, cell, seconds)
            }
            _ => self.alone(series.name, cell)?,
        };
        Ok(Some(Metrics::of(times, alone)))
    }

    /// Seconds that one worker alone executes: as it was measured with one, or else in a run for this alone.
    fn alone(&self, name: Name, cell: &Cell) -> anyhow::Result<f64> {
        let is_known =
            |one: &&Alone| (one.name, one.program, one.n) == (name, cell.program, cell.n);
        let known = self.alone.borrow().iter().find(is_known).map(|one| one.seconds);
        if let Some(seconds) = known {
            return Ok(seconds);
        }
        let cell = Cell { workers: 1, ..cell.clone() };
        let run = affinity::confined(1, || here(name, &cell))?;
        let times: Times = run.times.into_iter().sum();
        Ok(self.remember(name, &cell, times.execution.total().as_secs_f64()))
    }

    fn remember(&self, name: Name, cell: &Cell, seconds: f64) -> f64 {
        let Cell { program, n, .. } = *cell;
        self.alone.borrow_mut().push(Alone { name, program, n, seconds });
        seconds
    }

    fn once(&self, series: &mut Series, cell: &Cell) -> anyhow::Result<Option<Watched>> {
        affinity::confined(cell.workers, || {
            let watch = Watch::beside(affinity::cores(), series.peer.as_ref().map(Peer::id));
            let run = match &mut series.peer {
                Some(peer) => {
                    let run = peer.once(self.patience).with_context(|| series.name.to_string())?;
                    run.map(|(seconds, checksum)| Run { seconds, checksum, times: Vec::new() })
                }
                None => Some(here(series.name, cell)?),
            };
            let cpu_share = watch.share();
            Ok(run.map(|run| Watched { run, cpu_share }))
        })
    }
}

fn not_run(name: Name, cell: &Cell, why: String) -> NotRun {
    let Cell { program, n, workers, .. } = *cell;
    NotRun { runtime: name.to_string(), bench: program.to_string(), n, workers, why }
}

/// Runs the program once in this process. The runtime is started before the time, and ended after it.
fn here(name: Name, cell: &Cell) -> anyhow::Result<Run> {
    match name {
        Name::Serial => on::<Serial>(cell),
        Name::Evenkeel => on::<Evenkeel>(cell),
        Name::EvenkeelWorker => on::<ByArgument>(cell),
        Name::Rayon => on::<Rayon>(cell),
        Name::Chili => on::<Chili>(cell),
        #[cfg(feature = "forte")]
        Name::Forte => on::<Forte>(cell),
        #[cfg(not(feature = "forte"))]
        Name::Forte => bail!("forte is not part of this binary"),
        Name::SerialCpp | Name::Onetbb | Name::Openmp => {
            bail!("{name} does not run in this process")
        }
    }
    .with_context(|| format!("{name} did not start"))
}

/// How long threads that have just been started are given to begin and to find nothing to do: those of the peers with
/// programs of their own have done so, too.
const SETTLE: Duration = Duration::from_millis(2);

fn on<F: Forker>(cell: &Cell) -> anyhow::Result<Run> {
    let forker = F::start(cell.workers)?;
    thread::sleep(SETTLE);
    Ok(cell.program.run(cell.n, &forker))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_take_too_long_is_not_run_and_said() {
        let runner = Runner::new(&[], 0, Duration::from_secs(60)).unwrap();
        let runtimes = vec![Name::Serial, Name::Openmp];
        let cell = |n| Cell { program: Program::Fib, n, workers: 2, runtimes: runtimes.clone() };
        let measured = runner.run(&cell(31), 1).unwrap();
        assert_eq!(measured.records.len(), 1);
        assert_eq!(
            measured.not_run[0].to_string(),
            "fib of size 31 on openmp with 2 workers: it would take too long; 30 is the largest size that it is given"
        );
        let crowd = Cell { workers: 33, runtimes: vec![Name::Forte], ..cell(5) };
        assert_eq!(runner.run(&crowd, 1).unwrap().not_run[0].why, "its pools have 32 seats");
        // Within its bound it is run, and this runner has not built it.
        assert!(runner.run(&cell(5), 1).is_err());
    }

    #[test]
    fn the_speed_up_is_over_the_serial_one_of_the_same_language() {
        let runner = Runner::new(&[], 0, Duration::from_secs(60)).unwrap();
        let of = |runtimes: &[Name]| {
            let cell =
                Cell { program: Program::Uts, n: 4, workers: 2, runtimes: runtimes.to_vec() };
            let records = runner.run(&cell, 2).unwrap().records;
            records.iter().map(|r| (r.workers, r.speedup.is_some())).collect::<Vec<_>>()
        };
        assert_eq!(of(&[Name::Serial, Name::Rayon]), [(1, true), (2, true)]);
        assert_eq!(of(&[Name::Rayon]), [(2, false)]);
    }
}
