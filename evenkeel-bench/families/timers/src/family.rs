//! The family of timers.

use std::time::Duration;

use super::sleeper::{Evenkeel, Name, Tokio};
use super::{DESCRIPTION, NAME, Outcome, Spec, USUAL_TASKS, Variant, run};
use suite::affinity::processor_counts;
use suite::asked::Asked;
use suite::case::{Case, Fields};
use suite::description::Experiment;
use suite::effort::Effort;
use suite::family::{self, Family, Has, NoOptions, Ran};
use suite::kit::patience::{PATIENCE, patiently};
use suite::quantity::{Better, Drawn, Quantity};

/// The family, of one experiment.
pub(crate) struct Timers;

/// The cost of a cancelled timer, and the lateness of those that fire. Rows compare the percentile
/// with some twenty later timers beyond it in a session's run of a few thousand, and show the rarer
/// ones.
const QUANTITIES: [Quantity; 6] = [
    Quantity::shown("ns/timer", "ns_per_timer")
        .compared(Better::Less("faster", "slower"))
        .drawn(Drawn::Dots),
    Quantity::share("late p50, µs", "late_us_p50", 0.5),
    Quantity::share("late p99, µs", "late_us_p99", 0.99).compared(Better::Less("earlier", "later")),
    Quantity::share("late p99.9, µs", "late_us_p999", 0.999),
    Quantity::share("late max, µs", "late_us_max", 1.0),
    Quantity::shown("processor time, µs/timer", "cpu_us_per_timer")
        .compared(Better::Less("less", "more")),
];

impl Family for Timers {
    const NAME: &'static str = NAME;
    const TITLE: &'static str = "Timers";
    const ABOUT: &'static str = "\
        Creation, first poll and cancellation of one timer, per worker; and the lateness of \
        timers that fire, from their deadline until their task goes on. A timer of evenkeel or \
        Tokio is never early: an early one fails the run. Both round up to a tick, evenkeel's of \
        half a millisecond and Tokio's of one, which is most of the lateness. The processor time \
        that tasks take which only sleep (idle) is the price of a finer tick.";

    type Peer = Name;
    type Options = NoOptions;
    type Spec = Spec;
    type Ready = ();

    fn new() -> Self {
        Timers
    }

    fn experiments() -> Vec<Experiment> {
        vec![Experiment {
            name: NAME,
            what: DESCRIPTION,
            variants: Variant::ALL.map(Variant::name).to_vec(),
            settings: &["tasks"],
            options: &["procs", "tasks", "seconds"],
            quantities: &QUANTITIES,
            depends_on_distance: true,
        }]
    }

    fn asked(asked: &Asked, _: &NoOptions) -> anyhow::Result<Vec<Spec>> {
        let tasks = asked.tasks.map_or(USUAL_TASKS, |tasks| tasks as usize);
        Ok(specs(&asked.variants(&Variant::ALL), &asked.workers, tasks, asked.time))
    }

    fn plan(effort: Effort, cores: usize) -> Vec<Spec> {
        specs(&Variant::ALL, &processor_counts(cores), USUAL_TASKS, effort.time())
    }

    fn has(peer: Name, spec: &Spec) -> Has {
        Has::when(peer.has(spec.workers))
    }

    fn ready(&self, _: &Spec, _: Name) -> anyhow::Result<()> {
        Ok(())
    }

    fn once(&self, spec: &Spec, peer: Name, (): &mut (), seed: u64) -> anyhow::Result<Ran> {
        let spec = Spec { seed, ..spec.clone() };
        let Spec { variant, workers, time, .. } = spec;
        let ran = patiently(time + PATIENCE, move || match peer {
            Name::Evenkeel => run::<Evenkeel>(&spec),
            Name::Tokio => run::<Tokio<false>>(&spec),
            Name::TokioOne => run::<Tokio<true>>(&spec),
        });
        let Outcome { seconds, timers, late, used } = ran?;
        let cpu_us = || used.as_secs_f64() * 1e6 / timers.max(1) as f64;
        let figures = Fields::new().with("ops", timers).with("seconds", seconds);
        Ok(Ran::Done(if variant.cancels() {
            let each = seconds * 1e9 * workers as f64 / timers.max(1) as f64;
            figures.with("ns_per_timer", each)
        } else {
            let late = late.quantiles();
            figures
                .with("late_us_p50", late.p50)
                .with("late_us_p99", late.p99)
                .with("late_us_p999", late.p999)
                .with("late_us_max", late.max)
                .with_some("cpu_us_per_timer", (variant == Variant::Idle).then(cpu_us))
        }))
    }
}

impl family::Spec for Spec {
    fn case(&self) -> Case {
        Case::new(NAME, self.variant.name(), self.workers).with("tasks", self.tasks)
    }
}

/// Each variant at each number of workers. Variants that cancel timers have one task per worker.
fn specs(variants: &[Variant], workers: &[usize], asked: usize, time: Duration) -> Vec<Spec> {
    let spec = |variant: Variant, workers| {
        let tasks = if variant.cancels() { workers } else { asked };
        Spec { variant, workers, tasks, time, seed: 1 }
    };
    let of = |&variant| workers.iter().map(move |&workers| spec(variant, workers));
    variants.iter().flat_map(of).collect()
}
