//! The family of experiments on the scheduler.

use std::cell::OnceCell;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, value_parser};

use super::peer::Peer;
use super::{Bench, Outcome, Spec, Variant, memory, run};
use crate::go::{self, Go};
use suite::affinity::processor_counts;
use suite::asked::{Asked, Usage};
use suite::case::{Case, Fields};
use suite::description::Experiment;
use suite::effort::Effort;
use suite::family::{self, Family, Found, Has, Ran};
use suite::kit::go as toolchain;
use suite::kit::runtime::evenkeel::Evenkeel;
use suite::kit::runtime::tokio_hand::TokioHand;
use suite::kit::runtime::tokio_native::TokioNative;
use suite::named::NAMELESS;
use suite::output::note;
use suite::quantity::{Better, Drawn, Quantity};
use suite::record::Record;
use suite::rows::Row;
use suite::summary::Summary;
use suite::words::count;

/// The experiments, and the Go program once it is built.
pub(crate) struct Scheduling {
    go: OnceCell<Go>,
}

/// The most tasks per processor: beyond it a mistyped number would exhaust the memory.
const MOST_TASKS: i64 = 1_000_000;
/// The most cells per array, and increments per operation.
const MOST_CELLS: i64 = 1 << 24;
/// Cells per array, and increments per operation, of the published figures.
pub(crate) const USUAL: (usize, usize) = (2, 2);
/// The same for a Locality with data worth keeping warm.
const LARGE: (usize, usize) = (8192, 256);
/// How long Transfer may go without a transfer: the thesis's bound.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// The options that only these experiments have.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Options {
    /// Tasks per processor (cycle: rings; spawn: spawning tasks; memory: tasks in all)
    /// [default: 100; spawn: 1; memory: 100,000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_TASKS))]
    tasks_per_proc: Option<u32>,
    /// Locality: 64-bit cells per array [default: 2]
    #[arg(long, value_name = "W", value_parser = value_parser!(u32).range(1..=MOST_CELLS))]
    words: Option<u32>,
    /// Locality: random increments per operation [default: 2]
    #[arg(long, value_name = "T", value_parser = value_parser!(u32).range(0..=MOST_CELLS))]
    touch: Option<u32>,
}

/// The cost of operations, and their number.
const OPERATIONS: [Quantity; 2] = [
    Quantity::shown("ns/op per worker", "ns_per_op_per_proc")
        .compared(Better::Less("faster", "slower"))
        .drawn(Drawn::Lines),
    Quantity::derived("Mop/s", throughput).drawn(Drawn::Lines),
];

const TRANSFER: [Quantity; 1] = [Quantity::shown("µs/transfer", "transfer_us")
    .compared(Better::Less("faster", "slower"))
    .drawn(Drawn::Dots)];

const MEMORY: [Quantity; 2] = [
    Quantity::shown("bytes/task", "bytes_per_task")
        .compared(Better::Less("smaller", "larger"))
        .drawn(Drawn::Dots),
    Quantity::shown("of them its future", "future_bytes"),
];

/// Million operations per second, of all workers.
fn throughput(record: &Record, _: &[Record]) -> Option<f64> {
    Some(record.figures.number("ops")? / record.figures.number("seconds")? / 1e6)
}

impl Family for Scheduling {
    const NAME: &'static str = "scheduling";
    const TITLE: &'static str = "Scheduling";
    const ABOUT: &'static str = "\
        Operations are one wait and one post (cycle), one yield, one V and one P (churn, \
        locality), and one spawn and join. For cycle a task means a ring of five; for memory the \
        number of tasks is the total. In share the array travels with the permit to the woken \
        task; in noshare each task keeps its own. A leader of transfer spins until every other \
        task has run once, and then leadership passes on. It completes only if other workers \
        take the tasks behind the leader, or if the leader is preempted. Spawns are joined a \
        thousand at a time (batch) or one by one (serial).";

    type Peer = Peer;
    type Options = Options;
    type Spec = Spec;
    type Ready = ();

    fn new() -> Self {
        Scheduling { go: OnceCell::new() }
    }

    fn experiments() -> Vec<Experiment> {
        let experiment = |bench: Bench| {
            let variants = bench.variants().iter().map(|variant| variant.name());
            let (settings, options): (&[&str], &[&str]) = match bench {
                Bench::Locality => (
                    &["tasks_per_proc", "words", "touch"],
                    &["procs", "tasks_per_proc", "words", "touch", "seconds"],
                ),
                _ => (&["tasks_per_proc"], &["procs", "tasks_per_proc", "seconds"]),
            };
            Experiment {
                name: bench.name(),
                what: bench.describe(),
                variants: variants.filter(|name| *name != NAMELESS).collect(),
                settings,
                options,
                quantities: match bench {
                    Bench::Transfer => &TRANSFER,
                    Bench::Memory => &MEMORY,
                    _ => &OPERATIONS,
                },
                depends_on_distance: bench != Bench::Memory,
            }
        };
        Bench::ALL.map(experiment).to_vec()
    }

    fn asked(asked: &Asked, options: &Options) -> anyhow::Result<Vec<Spec>> {
        let tasks = options.tasks_per_proc.map(|tasks| tasks as usize);
        let given = |option: Option<u32>, usual| option.map_or(usual, |number| number as usize);
        let size = (given(options.words, USUAL.0), given(options.touch, USUAL.1));
        let mut specs = Vec::new();
        for bench in asked.benches::<Bench>()? {
            let tasks = tasks.unwrap_or(bench.usual_tasks());
            for variant in asked.variants(bench.variants()) {
                let spec = |&procs: &usize| Spec {
                    variant,
                    time: asked.time,
                    ..spec(bench, procs, tasks, size)
                };
                specs.extend(asked.workers.iter().map(spec));
            }
        }
        let few = |spec: &&Spec| spec.tasks() < spec.bench.fewest_tasks();
        if let Some(Spec { bench, .. }) = specs.iter().find(few) {
            let fewest = count(bench.fewest_tasks(), "task");
            let why = format!("{bench} needs at least {fewest}: raise --tasks-per-proc or --procs");
            return Err(Usage(why).into());
        }
        Ok(specs)
    }

    fn plan(effort: Effort, cores: usize) -> Vec<Spec> {
        let mut specs = Vec::new();
        let mut add = |bench: Bench, tasks: usize, procs: &[usize], size| {
            for &procs in procs {
                let of = |&variant: &Variant| Spec {
                    variant,
                    time: effort.time(),
                    patience: patience(effort),
                    ..spec(bench, procs, tasks, size)
                };
                specs.extend(bench.variants().iter().map(of));
            }
        };
        let procs = processor_counts(cores);
        for bench in [Bench::Cycle, Bench::Yield, Bench::Churn, Bench::Locality, Bench::Transfer] {
            for &tasks in loads(bench) {
                add(bench, tasks, &procs, USUAL);
            }
        }
        if effort == Effort::Full {
            add(Bench::Locality, 100, &procs, LARGE);
            add(Bench::Spawn, 1, &procs, USUAL);
            add(Bench::Memory, memory::TASKS, &[cores], USUAL);
        }
        specs
    }

    fn found(&self) -> anyhow::Result<Found<Peer>> {
        let go = toolchain::found();
        let look = |peer: Peer| if peer.is_go() { go.clone().map(Some) } else { Ok(None) };
        Ok(Found::by(&Peer::ALL, look))
    }

    fn has(peer: Peer, spec: &Spec) -> Has {
        Has::when(!peer.is_go() || go::has(spec.bench))
    }

    fn build(&self, peers: &[Peer]) -> anyhow::Result<()> {
        if self.go.get().is_none() && peers.iter().any(|peer| peer.is_go()) {
            note!("building the Go peer");
            let built = Go::build()?;
            self.go.get_or_init(|| built);
        }
        Ok(())
    }

    fn ready(&self, _: &Spec, _: Peer) -> anyhow::Result<()> {
        Ok(())
    }

    fn once(&self, spec: &Spec, peer: Peer, (): &mut (), seed: u64) -> anyhow::Result<Ran> {
        let spec = Spec { seed, ..spec.clone() };
        let outcome = match peer {
            Peer::Evenkeel => run::<Evenkeel>(&spec),
            Peer::TokioHand => run::<TokioHand>(&spec),
            Peer::TokioNative => run::<TokioNative>(&spec),
            Peer::GoNative | Peer::GoHand => {
                self.go.get().context("the Go peer is not built")?.run(peer, &spec)
            }
        }?;
        Ok(ran(&spec, &outcome))
    }

    fn remarks(rows: &[Row<'_>]) -> Vec<String> {
        let runs = rows.iter().flat_map(|row| &row.cells).flat_map(|cell| &cell.runs);
        let stopped = runs.filter(|run| run.dnc).filter_map(|run| run.figures.number("seconds"));
        let say = |Summary { min, max, runs, .. }| {
            let after = if max - min < 0.1 { String::new() } else { format!("{min:.1} to ") };
            format!(
                "{} did not complete (DNC): the transfers came to a halt. They were stopped after \
                 {after}{max:.1} s, and not repeated. They count as slower than any that did.",
                count(runs, "run"),
            )
        };
        Summary::of(stopped.collect()).map(say).into_iter().collect()
    }
}

impl family::Spec for Spec {
    fn case(&self) -> Case {
        let Spec { bench, variant, procs, tasks_per_proc, words, touch, .. } = *self;
        let case = Case::new(bench.name(), variant.name(), procs);
        let case = case.with("tasks_per_proc", tasks_per_proc);
        match bench {
            Bench::Locality => case.with("words", words).with("touch", touch),
            _ => case,
        }
    }
}

/// A run of the first variant, with a user's patience.
fn spec(bench: Bench, procs: usize, tasks_per_proc: usize, (words, touch): (usize, usize)) -> Spec {
    let (time, patience, variant) = (Duration::ZERO, PATIENCE, bench.variants()[0]);
    Spec { bench, variant, procs, tasks_per_proc, words, touch, time, patience, seed: 1 }
}

/// How long Transfer may go without a transfer. Several runtimes never complete one, and the
/// slowest that does takes 60 ms.
fn patience(effort: Effort) -> Duration {
    match effort {
        Effort::Quick => Duration::from_millis(500),
        Effort::Usual => Duration::from_secs(1),
        Effort::Full => PATIENCE,
    }
}

/// Many and few tasks per processor. A single task has no other to exchange a permit with, and
/// Transfer needs many.
fn loads(bench: Bench) -> &'static [usize] {
    match bench {
        Bench::Churn | Bench::Locality => &[100, 2],
        Bench::Transfer => &[100],
        _ => &[100, 1],
    }
}

/// The result of a run; it has no figure if no operation was complete in the measured time.
fn ran(spec: &Spec, outcome: &Outcome) -> Ran {
    match *outcome {
        Outcome { dnc: true, .. } => Ran::Unfinished(figures(spec, outcome)),
        Outcome { ops: 0, .. } => {
            Ran::GaveUp("no operation ended in the measured time: raise --seconds".to_owned())
        }
        _ => Ran::Done(figures(spec, outcome)),
    }
}

/// The figures of a run. The number of all tasks follows from the case.
fn figures(spec: &Spec, outcome: &Outcome) -> Fields {
    let Outcome { ops, seconds, dnc, footprint } = *outcome;
    let per_op = (ops > 0).then(|| seconds / ops as f64);
    let figures =
        Fields::new().with("tasks", spec.tasks() as f64).with("ops", ops).with("seconds", seconds);
    match (spec.bench, footprint) {
        (Bench::Memory, Some(footprint)) => figures
            .with("bytes_per_task", footprint.bytes_per_task)
            .with("future_bytes", footprint.future_bytes as f64),
        (Bench::Transfer | Bench::Memory, _) => {
            figures.with_some("transfer_us", per_op.filter(|_| !dnc).map(|time| time * 1e6))
        }
        _ => figures
            .with_some("ns_per_op_per_proc", per_op.map(|time| time * 1e9 * spec.procs as f64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_has_each_experiment_at_one_and_all_cores() {
        let specs = Scheduling::plan(Effort::Usual, 4);
        for bench in [Bench::Cycle, Bench::Yield, Bench::Churn, Bench::Locality, Bench::Transfer] {
            for procs in [1, 4] {
                let is = |spec: &Spec| (spec.bench, spec.procs) == (bench, procs);
                let variants = specs.iter().filter(|spec| is(spec)).count();
                assert_eq!(variants, bench.variants().len() * loads(bench).len(), "{bench}");
            }
        }
        assert!(specs.iter().all(|spec| spec.tasks() >= spec.bench.fewest_tasks()));
    }

    #[test]
    fn the_usual_session_stays_within_its_time_on_two_cores() {
        // Each run takes its time, a tenth to warm up, and about 40 ms around it; the rest of three
        // minutes for these experiments is for runs of transfer that do not complete.
        let effort = Effort::Usual;
        let run = effort.time().mul_f64(1.1) + Duration::from_millis(40);
        let runs = Scheduling::plan(effort, 2).len() * Peer::ALL.len() * effort.repeats();
        // Further rounds take a fifth of the time of the planned ones.
        let most = runs + runs / 5;
        assert!(run * (most as u32) < Duration::from_secs(150), "{most} runs of {run:?}");
    }

    #[test]
    fn a_run_without_an_operation_has_no_record_and_one_that_came_to_a_halt_has() {
        let ran = |bench, ops, dnc| {
            let outcome = Outcome { ops, seconds: 0.2, dnc, footprint: None };
            ran(&spec(bench, 1, 1_000_000, USUAL), &outcome)
        };
        let Ran::GaveUp(why) = ran(Bench::Yield, 0, false) else { panic!("it has a record") };
        assert_eq!(why, "no operation ended in the measured time: raise --seconds");
        assert!(matches!(ran(Bench::Yield, 1, false), Ran::Done(_)));
        assert!(matches!(ran(Bench::Transfer, 0, true), Ran::Unfinished(_)));
    }

    #[test]
    fn a_run_that_gave_up_is_said_to_have_waited() {
        let of = family::describe::<Scheduling>();
        let spec = spec(Bench::Transfer, 1, 100, USUAL);
        let outcome = Outcome { ops: 0, seconds: 1.02, dnc: true, footprint: None };
        let case = family::Spec::case(&spec);
        let quiet = suite::kit::fake::run("evenkeel", 1, 1.0).quiet;
        let (runtime, figures) = ("evenkeel".into(), figures(&spec, &outcome));
        let record = Record { runtime, case, repeat: 0, figures, dnc: true, quiet };
        let records = [record];
        let remarks = Scheduling::remarks(&suite::rows::rows(&of, &records, &[]));
        assert_eq!(remarks.len(), 1);
        assert!(remarks[0].starts_with("1 run did not complete (DNC)"), "{remarks:?}");
        assert!(remarks[0].contains("They were stopped after 1.0 s, and"), "{remarks:?}");
    }
}
