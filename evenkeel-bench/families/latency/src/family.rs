//! The family of delays.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, value_parser};

use super::foreign::{self, Program};
use super::peer::Peer;
use super::pictures;
use super::{DESCRIPTION, NAME, Outcome, Spec, USUAL_RATE, Variant, run};
use suite::affinity::processor_counts;
use suite::asked::{Asked, Usage};
use suite::case::{Case, Fields};
use suite::description::Experiment;
use suite::effort::Effort;
use suite::family::{self, Family, Found, Has, Ran};
use suite::kit::runtime::evenkeel::Evenkeel;
use suite::kit::runtime::tokio_native::TokioNative;
use suite::output::note;
use suite::picture::Picture;
use suite::quantity::{Better, Quantity};
use suite::rows::Row;
use suite::words::count;

use crate::delays::Delays;
use crate::heat::{self, HEAT};

/// The experiment, and the programs in other languages once they are built.
pub(crate) struct Latency {
    programs: Mutex<BTreeMap<&'static str, Program>>,
}

/// The usual measured time: 2,000 wakes and as many spawns, of which the rarest of 1,000 is a
/// figure.
const USUAL_TIME: Duration = Duration::from_secs(2);

/// How long after the last send a light task may run before it counts as never run, unless a
/// session has less time.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most wakes of a run: each has a parked task.
const MOST_EVENTS: usize = 1_000_000;

/// The highest rate, at which the sender is busy all the time.
const MOST_RATE: i64 = 100_000;

/// The options that only this experiment has.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Options {
    /// Latency: wakes, and spawns, of light tasks per second [default: 1,000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_RATE))]
    rate: Option<u32>,
}

/// The rows compare wakes, of which a session's run has enough for the 99th percentile.
const QUANTITIES: [Quantity; 10] = [
    Quantity::share("wake p50, µs", "wake_us_p50", 0.5),
    Quantity::share("wake p99, µs", "wake_us_p99", 0.99).compared(SOONER),
    Quantity::share("wake p99.9, µs", "wake_us_p999", 0.999).compared(SOONER),
    Quantity::share("wake max, µs", "wake_us_max", 1.0),
    Quantity::share("spawn p50, µs", "spawn_us_p50", 0.5),
    Quantity::share("spawn p99, µs", "spawn_us_p99", 0.99),
    Quantity::share("spawn p99.9, µs", "spawn_us_p999", 0.999),
    Quantity::share("spawn max, µs", "spawn_us_max", 1.0),
    Quantity::shown("never run, %", "never_percent"),
    Quantity::shown("sender late p99.9, µs", "sender_us_p999"),
];

const SOONER: Better = Better::Less("sooner", "later");

impl Family for Latency {
    const NAME: &'static str = NAME;
    const TITLE: &'static str = "Latency";
    const ABOUT: &'static str = "\
        A thread outside of the runtime wakes a parked task and spawns another a thousand times \
        per second each, at times that are fixed beforehand. A delay is from just before that call \
        until the task runs, and not from the time that was fixed: the lateness of the sender \
        itself is not in it, but a line of its own. In Go the sender is a goroutine, since no \
        other thread can start one. Beside that run nothing (alone), tasks that compute for 1 ms each and come at random, as many as keep the \
        workers busy for 70 % (compute), tasks that block their threads for 100 ms of every 101, \
        one at a time (block-one) or one for each worker (block-all), or loops of awaits that are always ready, \
        two for each worker (ready). A task that has not run some time after the last send, while \
        the load goes on, has never run: it is later than all others. Such a run did not complete, \
        and a percentile that falls on such a task has no figure. A percentile needs at least one \
        task beyond it.";
    const DRAWS: bool = true;

    type Peer = Peer;
    type Options = Options;
    type Spec = Spec;
    type Ready = ();

    fn new() -> Self {
        Latency { programs: Mutex::default() }
    }

    fn experiments() -> Vec<Experiment> {
        vec![Experiment {
            name: NAME,
            what: DESCRIPTION,
            variants: Variant::ALL.map(Variant::name).to_vec(),
            settings: &["rate"],
            options: &["procs", "rate", "seconds"],
            quantities: &QUANTITIES,
            depends_on_distance: true,
        }]
    }

    fn asked(asked: &Asked, options: &Options) -> anyhow::Result<Vec<Spec>> {
        let rate = options.rate.unwrap_or(USUAL_RATE);
        let time = if asked.is_given("seconds") { asked.time } else { USUAL_TIME };
        let specs = specs(&asked.variants(&Variant::ALL), &asked.workers, rate, time, PATIENCE);
        let events = specs.first().map_or(0, Spec::events);
        match events {
            0 => Err(Usage(format!("no wake in {time:?}: raise --seconds or --rate")).into()),
            1..=MOST_EVENTS => Ok(specs),
            _ => {
                let most = count(MOST_EVENTS, "wake");
                let why = format!("{}: the most are {most}", count(events, "wake"));
                Err(Usage(why).into())
            }
        }
    }

    fn plan(effort: Effort, cores: usize) -> Vec<Spec> {
        let (workers, time, patience) = match effort {
            Effort::Quick => (vec![cores], effort.time(), Duration::from_millis(200)),
            Effort::Usual => (vec![cores], Duration::from_millis(500), Duration::from_millis(500)),
            Effort::Full => (processor_counts(cores), USUAL_TIME, PATIENCE),
        };
        specs(&Variant::ALL, &workers, USUAL_RATE, time, patience)
    }

    fn rounds(effort: Effort) -> usize {
        // A run takes four times as long as one of most experiments.
        effort.repeats().min(5)
    }

    fn found(&self) -> anyhow::Result<Found<Peer>> {
        Ok(Found::by(&Peer::ALL, foreign::look))
    }

    fn has(_: Peer, _: &Spec) -> Has {
        Has::Yes
    }

    fn build(&self, peers: &[Peer]) -> anyhow::Result<()> {
        for peer in peers {
            if self.lock().contains_key(peer.name()) {
                continue;
            }
            if let Some(program) = Program::build(*peer)? {
                note!("built the program of {peer}");
                self.lock().insert(peer.name(), program);
            }
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
            Peer::Tokio => run::<TokioNative>(&spec),
            Peer::Go | Peer::Java => {
                let programs = self.lock();
                programs.get(peer.name()).context("the peer is not built")?.run(&spec)
            }
        }?;
        Ok(ran(&outcome))
    }

    fn remarks(rows: &[Row<'_>]) -> Vec<String> {
        let runs = rows.iter().flat_map(|row| &row.cells).flat_map(|cell| &cell.runs);
        let unfinished = runs.filter(|run| run.dnc).count();
        if unfinished == 0 {
            return Vec::new();
        }
        let runs = count(unfinished, "run");
        vec![format!(
            "{runs} did not complete (DNC): some light tasks had not run a while after the last \
             send, and ran when the load was told to end. Such tasks are later than any that ran.",
        )]
    }

    fn pictures(rows: &[Row<'_>]) -> Vec<Picture> {
        pictures::of(rows)
    }
}

impl Latency {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<&'static str, Program>> {
        self.programs.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl family::Spec for Spec {
    fn case(&self) -> Case {
        Case::new(NAME, self.variant.name(), self.workers).with("rate", self.rate)
    }
}

/// Each variant at each number of workers.
fn specs(
    variants: &[Variant],
    workers: &[usize],
    rate: u32,
    time: Duration,
    patience: Duration,
) -> Vec<Spec> {
    let spec = |variant, workers| Spec { variant, workers, rate, time, patience, seed: 1 };
    let of = |&variant| workers.iter().map(move |&workers| spec(variant, workers));
    variants.iter().flat_map(of).collect()
}

/// The result of a run, which is complete if all light tasks have run.
fn ran(outcome: &Outcome) -> Ran {
    let Outcome { seconds, wakes, spawns, sender_us } = outcome;
    let (never, all) = (wakes.never + spawns.never, wakes.count + spawns.count);
    let figures = Fields::new().with("seconds", *seconds);
    let figures = with(figures, "wake_us", wakes);
    let figures = with(figures, "spawn_us", spawns)
        .with("never_percent", never as f64 * 100.0 / all.max(1) as f64)
        .with_some("sender_us_p999", *sender_us);
    if never > 0 { Ran::Unfinished(figures) } else { Ran::Done(figures) }
}

/// Adds the percentiles that have a value.
fn with(figures: Fields, of: &str, delays: &Delays) -> Fields {
    let Delays { p50, p99, p999, max, .. } = *delays;
    let all = [("p50", p50), ("p99", p99), ("p999", p999), ("max", max)];
    let there = all.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let figures =
        there.fold(figures, |figures, (name, value)| figures.with(format!("{of}_{name}"), value));
    figures.with(format!("{of}{HEAT}"), heat::list(&delays.heat))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(never: usize) -> Outcome {
        let sent = |never| {
            let ran = (1..=2_000 - never).map(|micros| (0, Some(micros as u64 * 1_000)));
            ran.chain((0..never).map(|_| (0, None))).collect::<Vec<_>>()
        };
        let (wakes, spawns) = (Delays::of(&sent(never), 1), Delays::of(&sent(0), 1));
        Outcome { seconds: 2.0, wakes, spawns, sender_us: Some(80.0) }
    }

    #[test]
    fn a_run_in_which_a_task_never_ran_did_not_complete_and_keeps_its_figures() {
        let Ran::Done(all) = ran(&outcome(0)) else { panic!("it completed") };
        assert_eq!(all.number("wake_us_p999"), Some(1_998.0));
        assert_eq!(all.number("never_percent"), Some(0.0));
        let Ran::Unfinished(some) = ran(&outcome(100)) else { panic!("some never ran") };
        assert_eq!(some.number("never_percent"), Some(2.5));
        assert_eq!(some.number("wake_us_p50"), Some(1_000.0));
        assert_eq!(some.get("wake_us_p99"), None);
        assert_eq!(some.number("spawn_us_p999"), Some(1_998.0));
    }

    #[test]
    fn a_user_has_enough_wakes_for_the_rarest_figure_and_a_session_for_the_one_compared() {
        let events = |effort| Latency::plan(effort, 2)[0].events();
        assert!(events(Effort::Full) >= 1_000 && events(Effort::Usual) >= 100);
        assert!(events(Effort::Quick) >= 100);
        assert_eq!(Latency::plan(Effort::Full, 4).len(), 2 * Variant::ALL.len());
    }
}
