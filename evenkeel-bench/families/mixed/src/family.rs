//! The family of tasks and fork-join together.

use std::time::Duration;

use anyhow::Context;

use super::pool::{Name, RayonTokio};
use super::{
    DESCRIPTION, MOST_SIZE, NAME, Outcome, PROGRAM, Spec, Tasks, USUAL_SIZE, USUAL_TASKS, Variant,
    percentiles, run, stream,
};
use forking::forker::{Forker, Serial};
use suite::asked::{Asked, Usage};
use suite::case::{Case, Fields};
use suite::description::Experiment;
use suite::effort::Effort;
use suite::family::{self, Family, Has, NoOptions, Ran};
use suite::kit::fault::Fault;
use suite::kit::patience::{PATIENCE, patiently};
use suite::kit::runtime::evenkeel::Evenkeel;
use suite::quantity::{Better, Drawn, Quantity};
use suite::summary::Summary;

/// The family, of one experiment.
pub(crate) struct Mixed;

/// The reference: a computation with plain calls.
pub(crate) struct Plain {
    /// The median of a few computations, in seconds.
    seconds: f64,
    /// The checksum of the computation.
    right: u64,
}

/// Serial computations: their median is the base of all comparisons.
const SERIAL: usize = 5;

/// A computation short enough for a session of a moment, even in a debug build.
const QUICK_SIZE: usize = 8;

/// The shortest time in which a session measures wakes: it has some 1,700 of them, and the compared
/// p99 needs 1,000.
const WAKES_TIME: Duration = Duration::from_millis(500);

/// Both sides are compared, because a pool that gives everything to one looks good on that one.
const QUANTITIES: [Quantity; 13] = [
    rate("computations/s", "computations_per_second"),
    Quantity::shown("computation p50, µs", "computation_us_p50"),
    Quantity::shown("computation p99, µs", "computation_us_p99"),
    Quantity::shown("serial computation, µs", "computation_us_serial"),
    rate("polls/s", "polls_per_second"),
    Quantity::share("wake p50, µs", "wake_us_p50", 0.5),
    Quantity::share("wake p99, µs", "wake_us_p99", 0.99).compared(Better::Less("sooner", "later")),
    Quantity::share("wake p99.9, µs", "wake_us_p999", 0.999),
    Quantity::share("wake max, µs", "wake_us_max", 1.0),
    Quantity::share("relay p50, µs", "relay_us_p50", 0.5),
    Quantity::share("relay p99, µs", "relay_us_p99", 0.99),
    Quantity::share("relay p99.9, µs", "relay_us_p999", 0.999),
    Quantity::share("relay max, µs", "relay_us_max", 1.0),
];

const fn rate(name: &'static str, field: &'static str) -> Quantity {
    Quantity::shown(name, field).compared(Better::More("faster", "slower")).drawn(Drawn::Dots)
}

impl Family for Mixed {
    const NAME: &'static str = NAME;
    const TITLE: &'static str = "Tasks and fork-join at once";
    const ABOUT: &'static str = "\
        In joins, computations run one after another beside busy tasks; in wakes, tasks are \
        woken beside computations that keep all cores busy. A computation is timed from its \
        request to its result; a serial one makes plain calls on an idle core. A wake is timed \
        from a call by another thread to the poll, and a relay from a call by a woken task. A \
        poll of a busy task does about 2 µs of work. A percentile is omitted if fewer than ten \
        latencies of the run lie beyond it.";

    type Peer = Name;
    type Options = NoOptions;
    type Spec = Spec;
    type Ready = Plain;

    fn new() -> Self {
        Mixed
    }

    fn experiments() -> Vec<Experiment> {
        vec![Experiment {
            name: NAME,
            what: DESCRIPTION,
            variants: Variant::ALL.map(Variant::name).to_vec(),
            settings: &["tasks", "n"],
            options: &["procs", "tasks", "n", "seconds"],
            quantities: &QUANTITIES,
            depends_on_distance: true,
        }]
    }

    fn asked(asked: &Asked, _: &NoOptions) -> anyhow::Result<Vec<Spec>> {
        let n = match asked.n[..] {
            [] => USUAL_SIZE,
            [n] => n,
            _ => return Err(Usage(format!("{NAME} takes one size")).into()),
        };
        if !(1..=MOST_SIZE).contains(&n) {
            let sizes = format!("sizes are 1 to {MOST_SIZE}, usually {USUAL_SIZE}");
            return Err(Usage(format!("computations of size {n}: {sizes}")).into());
        }
        let variants = asked.variants(&Variant::ALL);
        let tasks = asked.tasks.map_or(USUAL_TASKS, |tasks| tasks as usize);
        if variants.contains(&Variant::Wakes) && tasks % 2 == 1 {
            let wakes = Variant::Wakes;
            return Err(Usage(format!("the tasks of {wakes} come in pairs: {tasks} is odd")).into());
        }
        Ok(specs(&variants, &asked.workers, tasks, n, asked.time))
    }

    fn plan(effort: Effort, cores: usize) -> Vec<Spec> {
        let n = if effort == Effort::Quick { QUICK_SIZE } else { USUAL_SIZE };
        let mut specs = specs(&Variant::ALL, &[cores], USUAL_TASKS, n, effort.time());
        let wakes = specs.iter_mut().filter(|spec| spec.variant == Variant::Wakes);
        wakes.for_each(|spec| spec.time = spec.time.max(WAKES_TIME));
        specs
    }

    fn has(_: Name, _: &Spec) -> Has {
        Has::Yes
    }

    fn ready(&self, spec: &Spec, _: Name) -> anyhow::Result<Plain> {
        let serial = Serial::start(1)?;
        // The reference result comes from a computation that is not timed.
        let right = PROGRAM.run(spec.n, &serial).checksum;
        let done = stream::times(&serial, spec, right, SERIAL)?;
        let seconds = done.iter().map(|done| done.took.as_secs_f64()).collect();
        let summary = Summary::of(seconds).context("no serial computations")?;
        Ok(Plain { seconds: summary.median, right })
    }

    fn once(&self, spec: &Spec, peer: Name, plain: &mut Plain, seed: u64) -> anyhow::Result<Ran> {
        let spec = Spec { seed, ..spec.clone() };
        let right = plain.right;
        let outcome = patiently(spec.time + PATIENCE, move || match peer {
            Name::Evenkeel => run::<Evenkeel>(&spec, right),
            Name::RayonTokio => run::<RayonTokio>(&spec, right),
        })?;
        Ok(Ran::Done(figures(&outcome, plain)?))
    }
}

impl family::Spec for Spec {
    fn case(&self) -> Case {
        let Spec { variant, workers, tasks, n, .. } = *self;
        Case::new(NAME, variant.name(), workers).with("tasks", tasks).with("n", n)
    }
}

/// Each variant at each number of workers.
fn specs(
    variants: &[Variant],
    workers: &[usize],
    tasks: usize,
    n: usize,
    time: Duration,
) -> Vec<Spec> {
    let spec = |variant, workers| Spec { variant, workers, tasks, n, time, seed: 1 };
    let of = |&variant| workers.iter().map(move |&workers| spec(variant, workers));
    variants.iter().flat_map(of).collect()
}

/// The figures of a run, if its time was long enough.
fn figures(outcome: &Outcome, plain: &Plain) -> Result<Fields, Fault> {
    let Outcome { seconds, computations, tasks } = outcome;
    if computations.count() == 0 {
        return Fault::check("no computation ended in the measured time: raise --seconds");
    }
    let both = Fields::new()
        .with("seconds", *seconds)
        .with("computations", computations.count())
        .with("computations_per_second", computations.count() as f64 / seconds)
        .with("computation_us_serial", plain.seconds * 1e6);
    let both = percentiles::with(both, "computation_us", computations);
    match tasks {
        Tasks::Polls(polls) => {
            Ok(both.with("polls", *polls).with("polls_per_second", *polls as f64 / seconds))
        }
        Tasks::Wakes { outside, .. } if outside.count() == 0 => {
            Fault::check("no wake was sent in the measured time: raise --seconds")
        }
        Tasks::Wakes { outside, relayed } => {
            let all = both.with("wakes", outside.count());
            let all = percentiles::with(all, "wake_us", outside);
            Ok(percentiles::with(all, "relay_us", relayed))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wakes::PAUSES;
    use suite::kit::latency::Latencies;

    #[test]
    fn a_session_has_a_thousand_wakes_in_a_run_and_some_to_spare() {
        let mean = Duration::from_micros((PAUSES.start + PAUSES.end) as u64 / 2);
        for effort in [Effort::Quick, Effort::Usual, Effort::Full] {
            for Spec { variant, time, .. } in Mixed::plan(effort, 2) {
                if variant == Variant::Wakes {
                    assert!(time > 2_000 * mean, "{effort:?}: {time:?}");
                }
            }
        }
    }

    #[test]
    fn the_right_result_is_that_of_an_untimed_computation() {
        let spec = Spec { n: 6, ..Mixed::plan(Effort::Quick, 2).remove(0) };
        let plain = Mixed.ready(&spec, Name::Evenkeel).unwrap();
        assert_eq!(plain.right, 4);
        assert!(plain.seconds > 0.0);
    }

    #[test]
    fn a_record_has_the_percentiles_that_its_wakes_allow() {
        let figures = |wakes: u64| {
            let of = |count| {
                let mut latencies = Latencies::default();
                latencies.extend(1..=count);
                latencies
            };
            let tasks = Tasks::Wakes { outside: of(wakes), relayed: of(wakes) };
            let outcome = Outcome { seconds: 0.5, computations: of(30), tasks };
            figures(&outcome, &Plain { seconds: 1e-3, right: 4 }).unwrap()
        };
        let few = figures(300);
        assert!(few.number("wake_us_p50").is_some() && few.number("relay_us_max").is_some());
        for absent in ["computation_us_p99", "wake_us_p99", "wake_us_p999", "relay_us_p99"] {
            assert_eq!(few.get(absent), None, "{absent}");
        }
        let enough = figures(1_000);
        assert!(enough.number("wake_us_p99").is_some() && enough.get("wake_us_p999").is_none());
        assert!(enough.number("computation_us_serial").is_some());
    }
}
