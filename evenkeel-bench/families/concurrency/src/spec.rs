//! Rows of the tables, and how to run one of them.

use std::cell::OnceCell;
use std::time::Duration;

use anyhow::anyhow;

use super::bench::{Bench, Variant};
use super::cells::{self, Cell};
use super::contended::{Contention, Outcome};
use super::peer::Peer;
use super::program::{Language, Program};
use suite::case::Case;
use suite::family;
use suite::kit::patience::patiently;

/// One row of the tables.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(super) bench: Bench,
    pub(super) variant: Variant,
    /// Monitors that a party enters together; 0 where there are none.
    pub(super) monitors: usize,
    pub(super) workers: usize,
    /// Tasks or threads.
    pub(super) tasks: usize,
    /// Rounds; `None` if the time determines them.
    pub(super) n: Option<u64>,
    /// The intended time of a run.
    pub(super) time: Duration,
}

impl family::Spec for Spec {
    fn case(&self) -> Case {
        Case::new(self.bench.name(), self.variant.name(), self.workers)
            .with("monitors", self.monitors)
            .with("tasks", self.tasks)
    }
}

/// All rows of an experiment.
pub(super) fn specs(bench: Bench, time: Duration) -> impl Iterator<Item = Spec> {
    let (workers, tasks) = bench.usual();
    let of = move |&variant: &Variant| {
        let tasks = variant.tasks(tasks);
        let spec =
            move |&monitors| Spec { bench, variant, monitors, workers, tasks, n: None, time };
        bench.monitors().iter().map(spec)
    };
    bench.variants().iter().flat_map(of)
}

/// What a run measured.
pub(super) struct Measured {
    pub(super) ops: u64,
    pub(super) seconds: f64,
    pub(super) longest: Option<Duration>,
}

/// The first number of rounds to try.
const FEW: u64 = 64;
/// A trial that takes this share of the time determines the number of rounds.
const TRIAL: f64 = 0.1;
/// The factor of rounds from one trial to the next: a run that begins quickly may slow down.
const STEP: u64 = 8;
/// How far a run may exceed its expected time before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(30);

/// The programs in other languages, each built at its first use.
#[derive(Default)]
pub(super) struct Programs {
    c: OnceCell<Program>,
    go: OnceCell<Program>,
}

impl Programs {
    /// The program in a language.
    pub(super) fn get(&self, language: Language) -> anyhow::Result<&Program> {
        let cell = match language {
            Language::C => &self.c,
            Language::Go => &self.go,
        };
        if let Some(built) = cell.get() {
            return Ok(built);
        }
        let built = Program::build(language)?;
        Ok(cell.get_or_init(|| built))
    }

    /// Returns the number of rounds that take the time; the search also warms up. A contended run
    /// is limited by time.
    pub(super) fn rounds(&self, spec: &Spec, peer: Peer) -> anyhow::Result<u64> {
        if spec.n.is_some() || spec.bench == Bench::Contended {
            return Ok(spec.n.unwrap_or_default());
        }
        let trial = spec.time.mul_f64(TRIAL);
        let mut n = FEW;
        loop {
            let took = self.measure(spec, peer, n, Duration::ZERO)?.seconds;
            if took >= trial.as_secs_f64() {
                return Ok((n as f64 * spec.time.as_secs_f64() / took).ceil() as u64);
            }
            n *= STEP;
        }
    }

    /// Makes `n` rounds, within the expected time and some patience.
    pub(super) fn measure(
        &self,
        spec: &Spec,
        peer: Peer,
        n: u64,
        expected: Duration,
    ) -> anyhow::Result<Measured> {
        let Spec { bench, variant, monitors, workers, tasks, time, .. } = *spec;
        let cell = cells::find(peer, bench, variant, monitors)
            .ok_or_else(|| anyhow!("it has no such experiment"))?;
        // A run with a requested number of rounds may take any time.
        let patience = if spec.n.is_some() { Duration::MAX / 4 } else { PATIENCE };
        let rounds =
            |took: Duration| Measured { ops: n, seconds: took.as_secs_f64(), longest: None };
        match cell {
            Cell::Rounds(run) => patiently(expected + patience, move || run(n)).map(rounds),
            Cell::Program(language) => {
                let program = self.get(language)?;
                program.run(bench, variant, monitors, n, expected + patience).map(rounds)
            }
            Cell::Contended(run) => {
                let yields = variant == Variant::Yielding;
                let contention = Contention { procs: workers, tasks, time, yields };
                let Outcome { entries, longest } =
                    patiently(expected + patience, move || run(contention))?;
                let seconds = time.as_secs_f64();
                Ok(Measured { ops: entries, seconds, longest: Some(longest) })
            }
        }
    }
}
