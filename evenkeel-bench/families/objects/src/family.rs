//! The family of experiments on objects.

use std::time::Duration;

use super::bench::{Access, Bench, Mode};
use super::homes::{self, Homes};
use super::options::{OPTIONS, Options, wanted};
use super::pictures;
use super::run::{Outcome, Run, perform};
use super::spec::{SETTINGS, Spec, Wanted, specs};
use suite::asked::Asked;
use suite::case::Fields;
use suite::description::Experiment;
use suite::effort::Effort;
use suite::enough::{Counts, counts};
use suite::family::{Family, Has, Ran};
use suite::kit::patience::patiently;
use suite::picture::Picture;
use suite::quantity::{Better, Drawn, Quantity};
use suite::record::Record;
use suite::rows::Row;
use suite::summary::Summary;

/// The family of all experiments on objects.
pub(crate) struct Objects;

/// How far a run may exceed its expected time before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// The least share of the operations of `travel` that must have been journeys.
const MOST: f64 = 0.9;

/// Tasks for each core in a session, except of `travel`: enough that journeys overlap.
const TASKS: usize = 16;
/// Bytes of an object that a session scans: neither small beside a journey nor large beside a
/// cache.
const SCANNED: usize = 32 << 10;

/// Throughput, the quantity of all experiments but `travel`.
const MOPS: Quantity = MOPS_BY_SIZE.drawn(Drawn::Dots);

/// Throughput, where it is drawn over the size.
pub(super) const MOPS_BY_SIZE: Quantity =
    Quantity::shown("million ops/s", "mops").compared(Better::More("faster", "slower"));

/// The quantity of `travel`.
pub(super) const CORE_NS: Quantity = Quantity::shown("core-ns there and back", "core_ns");

const BESIDE_SPIN: Quantity =
    Quantity::derived("x threads+spin", |record, all| beside(record, all, &[Mode::Spin]));
const BESIDE_BOTH: Quantity = Quantity::derived("x in-place or home", |record, all| {
    let is_automatic = record.runtime == Mode::Automatic.name();
    beside(record, all, &[Mode::InPlace, Mode::Home]).filter(|_| is_automatic)
});
const HOPS: Quantity = Quantity::derived("journeys/op", |record, _| {
    // Threads do not travel to homes.
    record.figures.text("homes_before").and_then(|_| per_operation(record, "hops"))
});
const MISSES: Quantity =
    Quantity::derived("cache misses/op", |record, _| per_operation(record, "misses"));

const USUAL: [Quantity; 5] = [MOPS, BESIDE_SPIN, BESIDE_BOTH, HOPS, MISSES];
const DIRECTORY: [Quantity; 9] = [
    MOPS_BY_SIZE,
    BESIDE_SPIN,
    BESIDE_BOTH,
    HOPS,
    MISSES,
    Quantity::shown("million ops/s, all in use", "mops_many"),
    Quantity::shown("million ops/s, all, settled", "mops_many_settled"),
    Quantity::shown("million ops/s, a 16th in use", "mops_few"),
    Quantity::shown("million ops/s, a 16th, settled", "mops_few_settled"),
];
const TRAVEL: [Quantity; 3] = [CORE_NS, Quantity::shown("million there and back/s", "mops"), HOPS];

fn per_operation(record: &Record, figure: &str) -> Option<f64> {
    Some(record.figures.number(figure)? / record.figures.number("operations")?)
}

/// The throughput of a run over the best median of these modes, if all of them were measured in the
/// same case; nothing for the modes themselves.
fn beside(record: &Record, all: &[Record], modes: &[Mode]) -> Option<f64> {
    let regime = (record.case.workers > 1).then_some(record.quiet.regime.as_ref());
    let mops = |record: &Record| record.figures.number("mops");
    let median = |mode: &Mode| {
        let same = |run: &&Record| {
            run.runtime == mode.name()
                && run.case == record.case
                && counts(run, regime) == Counts::Yes
        };
        let summary = Summary::of(all.iter().filter(same).filter_map(mops).collect());
        summary.map(|summary| summary.median)
    };
    let is_itself = modes.iter().any(|mode| record.runtime == mode.name());
    let medians: Vec<f64> = modes.iter().map(median).collect::<Option<_>>()?;
    let best = medians.into_iter().reduce(f64::max).filter(|_| !is_itself)?;
    Some(mops(record)? / best)
}

impl Family for Objects {
    const NAME: &'static str = "objects";
    const TITLE: &'static str = "Objects with homes";
    const ABOUT: &'static str = "\
        Operations on shared objects. One at a time is inside an object; the modes differ in how \
        it gets in.\n\
        threads+spin, mutex, parking_lot, dashmap and atomic: one pinned thread per core, and a \
        lock per object, or none. They have no tasks, and run beside each number of tasks.\n\
        one-thread: one pinned thread on one core owns all objects, without a lock. The work \
        that the other cores could do meanwhile is not measured.\n\
        tasks+parking_lot, tasks+arc and tasks+rwlock: evenkeel's tasks on as many pinned \
        workers, and an ordinary lock per object, which blocks the worker. The second has each \
        lock in an allocation of its own, like an object, and the others have them in one array; \
        the third admits several read-only operations together.\n\
        in-place, home and automatic: the same tasks, and evenkeel's objects. A task enters an \
        object in place, or travels to the worker that is the object's home, or does what the \
        object's class has found to be faster. Read-only operations use Object::read, except \
        with --access alone.\n\
        The throughput is that of all workers together. \"x threads+spin\": as a multiple of \
        that of threads+spin. \"x in-place or home\": that of automatic as a multiple of the \
        faster of these two.\n\
        Before its measured time a run has 20 ms in which caches warm up. A run of automatic has \
        200 ms, in which its class tries both ways; its record has the exact length as \
        settled_ms. So its figures are those of a class that has chosen.\n\
        A journey is one way, to the home of an object. Core-ns: nanoseconds of a journey there \
        and back, times the workers, from runs in which nine tenths of the operations were \
        journeys.\n\
        Bank takes two locks at once, in the order of their numbers, or enters two objects by \
        enter2. A graph's vertices lie side by side in memory; all other objects have cache \
        lines of their own.\n\
        Oscillating: all directories are in use, and then a sixteenth, in turns. Settled: \
        without the first 10 ms after each change.\n\
        Each run checks that no operation was lost or made halfway.";
    const DRAWS: bool = true;

    type Peer = Mode;
    type Options = Options;
    type Spec = Spec;
    type Ready = ();

    fn new() -> Self {
        Objects
    }

    fn experiments() -> Vec<Experiment> {
        let experiment = |bench: Bench| Experiment {
            name: bench.name(),
            what: bench.describe(),
            variants: Vec::new(),
            settings: &SETTINGS,
            options: &OPTIONS,
            quantities: match bench {
                Bench::Directory => &DIRECTORY,
                Bench::Travel => &TRAVEL,
                _ => &USUAL,
            },
            depends_on_distance: true,
        };
        Bench::ALL.map(experiment).to_vec()
    }

    fn asked(asked: &Asked, options: &Options) -> anyhow::Result<Vec<Spec>> {
        let wanted = wanted(asked, options)?;
        let mut all = Vec::new();
        for bench in asked.benches::<Bench>()? {
            all.extend(specs(bench, &wanted)?);
        }
        Ok(all)
    }

    fn plan(effort: Effort, cores: usize) -> Vec<Spec> {
        // One core has no other to share with.
        if cores == 1 {
            return Vec::new();
        }
        let (kib, travellers, millis): (&[usize], &[usize], u64) = match effort {
            Effort::Quick => (&[1 << 10], &[16], 20),
            Effort::Usual => (&[1 << 10, 32 << 10], &[1, 16, 64], 50),
            Effort::Full => (&[1 << 10, 8 << 10, 32 << 10], &[1, 16, 64], 60),
        };
        // One object for which all compete, and enough objects for parties to meet rarely.
        let objects: &[usize] = if effort == Effort::Quick { &[1] } else { &[1, 64] };
        let usual = Wanted {
            has_tasks: true,
            workers: vec![cores],
            time: Duration::from_millis(millis),
            tasks_per_core: vec![TASKS],
            objects: objects.to_vec(),
            keys: vec![1 << 10],
            object_bytes: vec![SCANNED],
            ..Wanted::default()
        };
        let directories =
            Wanted { kib: kib.to_vec(), access: vec![Access::Found], ..usual.clone() };
        let journeys = Wanted { tasks_per_core: travellers.to_vec(), ..usual.clone() };
        let own = Wanted { objects: Vec::new(), ..usual.clone() };
        let shards = Wanted { objects: vec![16], keys: Vec::new(), ..usual.clone() };
        let of = |bench| match bench {
            Bench::Directory => specs(bench, &directories),
            Bench::Travel => specs(bench, &journeys),
            // A bank and a histogram have their own numbers of objects: two objects make a bank,
            // and 64 a histogram.
            Bench::Bank | Bench::Graph | Bench::Histogram => specs(bench, &own),
            Bench::Cache => specs(bench, &shards),
            Bench::Own => specs(bench, &Wanted { steps: vec![200], ..usual.clone() }),
            _ => specs(bench, &usual),
        };
        Bench::ALL.into_iter().flat_map(|bench| of(bench).expect("it can be run")).collect()
    }

    fn has(mode: Mode, spec: &Spec) -> Has {
        let has_what_it_takes = spec.tasks_per_core.is_some() || !mode.has_tasks();
        Has::when(has_what_it_takes && spec.bench.modes().contains(&mode))
    }

    fn ready(&self, _: &Spec, _: Mode) -> anyhow::Result<()> {
        Ok(())
    }

    fn once(&self, spec: &Spec, mode: Mode, (): &mut (), seed: u64) -> anyhow::Result<Ran> {
        let run = Run { spec: *spec, mode, seed };
        let outcome = patiently(spec.time + PATIENCE, move || perform(&run))?;
        Ok(Ran::Done(figures(spec, outcome)))
    }

    fn remarks(rows: &[Row<'_>]) -> Vec<String> {
        homes::verdicts(rows)
    }

    fn pictures(rows: &[Row<'_>]) -> Vec<Picture> {
        pictures::of(rows)
    }
}

/// The figures of a run.
fn figures(spec: &Spec, outcome: Outcome) -> Fields {
    let Outcome { operations, seconds, hops, misses, homes, settled, parts } = outcome;
    let travels = spec.bench == Bench::Travel;
    // A journey there and back is two operations, each at another home.
    let operations = if travels { operations / 2 } else { operations };
    // No task travels to a worker that stands still: what it did instead is no journey.
    let went = travels && hops as f64 >= MOST * 2.0 * operations as f64;
    let core_ns = || seconds * 1e9 * spec.workers as f64 / operations.max(1) as f64;
    let (parts, homes) = (parts.as_ref(), homes.as_ref());
    Fields::new()
        .with("operations", operations)
        .with("seconds", seconds)
        .with("mops", operations as f64 / seconds / 1e6)
        .with("hops", hops)
        .with_some("misses", misses)
        .with_some("homes_before", homes.and_then(|homes| Homes::text(&homes.before)))
        .with_some("homes_after", homes.and_then(|homes| Homes::text(&homes.after)))
        .with_some("given_away", homes.map(|homes| homes.given_away))
        .with_some("verdict", homes.and_then(|homes| homes.verdict.clone()))
        .with_some("settled_ms", settled.map(|time| time.as_secs_f64() * 1e3))
        .with_some("core_ns", went.then(core_ns))
        .with_some("mops_many", parts.map(|parts| parts.many))
        .with_some("mops_few", parts.map(|parts| parts.few))
        .with_some("mops_many_settled", parts.and_then(|parts| parts.many_settled))
        .with_some("mops_few_settled", parts.and_then(|parts| parts.few_settled))
}
