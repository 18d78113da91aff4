//! The family of growth.

use super::probe::{self, Figures};
use super::{Bench, MOST, NUMBERS, Name, Spec};
use suite::asked::{Asked, Usage};
use suite::case::{Case, Fields};
use suite::description::Experiment;
use suite::effort::Effort;
use suite::family::{self, Family, Has, NoOptions, Ran};
use suite::power;
use suite::quantity::{Better, Drawn, Quantity, Read};
use suite::rows::Row;
use suite::words;

/// The family: every run is a process of its own.
pub(crate) struct Growth;

/// Numbers from this one on tell by which power a cost grows: below it a run is over before the
/// caches and the allocator are warm.
const MANY: f64 = 1_000.0;

const FASTER: Better = Better::Less("faster", "slower");
const SMALLER: Better = Better::Less("smaller", "larger");

const TASKS: [Quantity; 6] = [
    quantity("ns/spawn", "spawn_ns", FASTER),
    quantity("ns/wake", "wake_ns", FASTER),
    quantity("ns/step of a chase", "chase_ns", Better::Neither),
    quantity("ns/end", "end_ns", FASTER),
    quantity("bytes/task", "bytes_per_task", SMALLER),
    quantity("of them its future", "future_bytes", Better::Neither),
];

const TIMERS: [Quantity; 4] = [
    quantity("ns/arm", "arm_ns", FASTER),
    quantity("ns/cancel", "cancel_ns", FASTER),
    quantity("ns/fire", "fire_ns", FASTER),
    quantity("bytes/timer", "bytes_per_timer", SMALLER),
];

const fn quantity(name: &'static str, field: &'static str, better: Better) -> Quantity {
    Quantity { name, read: Read::Field(field), better, drawn: Drawn::No }
}

impl Family for Growth {
    const NAME: &'static str = "growth";
    const TITLE: &'static str = "Growth";
    const ABOUT: &'static str = "\
        Every run is a process of its own. A spawn counts until the task waits for the first \
        time, a wake until it waits again, an end is its share of the runtime's; tasks are woken \
        in a random order, a thousand at a time. The chase steps through as much memory in random \
        order, and each step waits for the one before. Timers are armed by one task and cancelled \
        in a random order; fires are processor time. Memory is the growth of the resident set, \
        with the allocator's share, and in small runs that of whole pages.";

    type Peer = Name;
    type Options = NoOptions;
    type Spec = Spec;
    type Ready = ();

    fn new() -> Self {
        Growth
    }

    fn experiments() -> Vec<Experiment> {
        let experiment = |bench: Bench| Experiment {
            name: bench.name(),
            what: bench.describe(),
            variants: Vec::new(),
            settings: &["number"],
            options: &["procs", "n"],
            quantities: if bench == Bench::Tasks { &TASKS } else { &TIMERS },
            depends_on_distance: false,
        };
        Bench::ALL.map(experiment).to_vec()
    }

    fn asked(asked: &Asked, _: &NoOptions) -> anyhow::Result<Vec<Spec>> {
        if let Some(odd) = asked.n.iter().find(|number| !(1..=MOST).contains(*number)) {
            let most = words::thousands(MOST as i64);
            return Err(Usage(format!("--n is from 1 to {most} for growth, and not {odd}")).into());
        }
        let numbers = if asked.n.is_empty() { &NUMBERS[..] } else { &asked.n };
        // With one worker unless more are asked for: with several, a wake includes the way of a
        // line between cores.
        let workers = if asked.is_given("procs") { &asked.workers[..] } else { &[1] };
        let benches = asked.benches::<Bench>()?;
        let each = |&bench: &Bench| specs(bench, workers, numbers);
        Ok(benches.iter().flat_map(each).collect())
    }

    fn plan(effort: Effort, _: usize) -> Vec<Spec> {
        if effort == Effort::Full {
            Bench::ALL.iter().flat_map(|&bench| specs(bench, &[1], &NUMBERS)).collect()
        } else {
            Vec::new()
        }
    }

    /// One: the runs with ten million of a runtime take up to a minute.
    fn rounds(effort: Effort) -> usize {
        usize::from(effort == Effort::Full)
    }

    fn has(peer: Name, spec: &Spec) -> Has {
        Has::when(peer.has(spec.bench))
    }

    fn ready(&self, _: &Spec, _: Name) -> anyhow::Result<()> {
        Ok(())
    }

    fn once(&self, spec: &Spec, peer: Name, (): &mut (), seed: u64) -> anyhow::Result<Ran> {
        let figures = probe::call(&Spec { seed, ..*spec }, peer)?;
        Ok(Ran::Done(match figures {
            Figures::Tasks(of) => Fields::new()
                .with("spawn_ns", of.spawn_ns)
                .with("wake_ns", of.wake_ns)
                .with("chase_ns", of.chase_ns)
                .with("end_ns", of.end_ns)
                .with("bytes_per_task", of.bytes_per_task)
                .with("future_bytes", of.future_bytes as f64),
            Figures::Timers(of) => Fields::new()
                .with("arm_ns", of.arm_ns)
                .with("cancel_ns", of.cancel_ns)
                .with("fire_ns", of.fire_ns)
                .with("bytes_per_timer", of.bytes_per_timer),
        }))
    }

    fn remarks(rows: &[Row<'_>]) -> Vec<String> {
        let mut remarks = Vec::new();
        for experiment in Self::experiments() {
            let mut workers: Vec<usize> = rows.iter().map(|row| row.case.workers).collect();
            workers.sort_unstable();
            workers.dedup();
            for workers in workers {
                let is = |row: &&Row<'_>| {
                    row.experiment.name == experiment.name && row.case.workers == workers
                };
                let rows: Vec<&Row<'_>> = rows.iter().filter(is).collect();
                remarks.extend(powers(&rows, experiment.name, workers));
            }
        }
        remarks
    }
}

/// Says by which powers the costs of an experiment grow.
fn powers(rows: &[&Row<'_>], bench: &str, workers: usize) -> Option<String> {
    let quantities = rows.first()?.quantities().filter(|quantity| quantity.name.starts_with("ns/"));
    let peers = Name::ALL.map(Name::name);
    let mut parts = Vec::new();
    let mut most = f64::INFINITY;
    for quantity in quantities {
        let points = peers.map(|peer| {
            let point = |row: &&Row<'_>| {
                let number = row.case.settings.number("number")?;
                let median = row.summary(quantity, row.cell(peer)?)?.median;
                (number >= MANY).then_some((number, median))
            };
            (peer, rows.iter().filter_map(point).collect::<Vec<_>>())
        });
        // Of the numbers that all peers have which are there.
        let largest = |(_, points): &(_, Vec<(f64, f64)>)| {
            points.iter().map(|point| point.0).reduce(f64::max)
        };
        let common = points.iter().filter_map(largest).fold(f64::INFINITY, f64::min);
        most = most.min(common);
        let of = |(peer, points): &(&str, Vec<(f64, f64)>)| {
            let points: Vec<_> = points.iter().copied().filter(|one| one.0 <= common).collect();
            Some(format!("{peer} {:.2}", power::fitted(&points)?))
        };
        let fitted: Vec<String> = points.iter().filter_map(of).collect();
        if !fitted.is_empty() {
            let name = quantity.name.trim_start_matches("ns/");
            parts.push(format!("{name}: {}", fitted.join(", ")));
        }
    }
    (!parts.is_empty()).then(|| {
        format!(
            "The powers of the number by which the cost of all grows in {bench}, {}, fitted from \
             1,000 to {}, the largest number that all have: {}. A power of 1 is work that each does for itself; the chase's is that of \
             the caches alone.",
            words::count(workers, "worker"),
            words::thousands(most as i64),
            parts.join("; ")
        )
    })
}

impl family::Spec for Spec {
    fn case(&self) -> Case {
        Case::new(self.bench.name(), suite::named::NAMELESS, self.workers)
            .with("number", self.number)
    }
}

fn specs(bench: Bench, workers: &[usize], numbers: &[usize]) -> Vec<Spec> {
    let spec = |workers, number| Spec { bench, workers, number, seed: 1 };
    let of = |&workers| numbers.iter().map(move |&number| spec(workers, number));
    workers.iter().flat_map(of).collect()
}
