//! The settings of a run, and its outcome.

use clap::value_parser;

use super::bench::{Bench, Variant};
use super::peer::Peer;
use suite::kit::latency::Latencies;

/// The settings of one run. Each experiment reads its own fields.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// The experiment.
    pub(crate) bench: Bench,
    /// Its variant.
    pub(crate) variant: Variant,
    /// Workers: threads or schedulers that run actors.
    pub(crate) workers: usize,
    /// latency_probe: actors for each worker.
    pub(crate) actors_per_worker: usize,
    /// latency_probe: pings of each actor; pingpong: pings of each pair.
    pub(crate) pings: u32,
    /// pingpong: pairs in all.
    pub(crate) pairs: usize,
    /// pingpong: pings of a pair that are under way at once.
    pub(crate) in_flight: u32,
    /// fanin: actors that send.
    pub(crate) producers: usize,
    /// fanin: messages of each.
    pub(crate) messages_each: u32,
    /// actor_spawn and actor_memory: actors in all; `None` if each [system](Peer::idle_actors)
    /// chooses for actor_memory.
    pub(crate) actors: Option<usize>,
    /// Savina: rounds, as [`rounds`](super::savina::Program::rounds) counts them.
    pub(crate) rounds: u32,
    /// Whether systems in other languages run it too.
    pub(crate) everywhere: bool,
    /// The seed of the random choices.
    pub(crate) seed: u64,
}

/// Actors of a wave of actor_spawn.
pub(crate) const WAVE: usize = 1_000;

/// The most actors for each worker, of latency_probe, and the most pairs and producers.
const MOST_ACTORS: i64 = 100_000;
/// The most messages of one actor.
const MOST_MESSAGES: i64 = 1_000_000_000;
/// The most actors of actor_spawn and actor_memory: beyond it a mistyped number would exhaust the
/// memory.
const MOST_SPAWNED: i64 = 100_000_000;
/// The most pings in flight, and the most rounds of a Savina program: mailboxes without
/// back-pressure have room for as many.
const MOST_ROUNDS: i64 = 1_000_000;

/// Sizes that a user may change.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Sizes {
    /// latency_probe: actors for each worker [default: 100]
    #[arg(long, value_name = "A", value_parser = value_parser!(u32).range(1..=MOST_ACTORS))]
    pub(crate) actors_per_worker: Option<u32>,
    /// latency_probe: pings of each actor [default: 40,000]; pingpong: pings of each pair [default:
    /// 2,000,000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_MESSAGES))]
    pub(crate) pings: Option<u32>,
    /// pingpong: pairs in all [default: one for each worker]
    #[arg(long, value_name = "P", value_parser = value_parser!(u32).range(1..=MOST_ACTORS))]
    pub(crate) pairs: Option<u32>,
    /// pingpong: pings of a pair that are under way at once [default: 1,000]
    #[arg(long, value_name = "F", value_parser = value_parser!(u32).range(1..=MOST_ROUNDS))]
    pub(crate) in_flight: Option<u32>,
    /// fanin: actors that send, in all [default: 8 for each worker]
    #[arg(long, value_name = "P", value_parser = value_parser!(u32).range(2..=MOST_ACTORS))]
    pub(crate) producers: Option<u32>,
    /// fanin: messages of each producer [default: 500,000]
    #[arg(long, value_name = "M", value_parser = value_parser!(u32).range(1..=MOST_MESSAGES))]
    pub(crate) messages: Option<u32>,
    /// actor_spawn: actors in all [default: 200,000]; actor_memory: idle actors [default:
    /// 1,000,000, of heavy systems 200,000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_SPAWNED))]
    pub(crate) actors: Option<u32>,
    /// Savina: rounds, which are pings of each actor, passes, increments, actors, meetings,
    /// transfers, items of each producer, meals of each [default: as published]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_ROUNDS))]
    pub(crate) rounds: Option<u32>,
}

impl Spec {
    /// The given sizes; the others are the published ones, or take about half a second where none
    /// is published.
    pub(crate) fn new(bench: Bench, variant: Variant, workers: usize, sizes: &Sizes) -> Spec {
        let count = |said: Option<u32>, usual| said.map_or(usual, |said| said as usize);
        // EVENT_COUNT of the post.
        let pings = if bench == Bench::LatencyProbe { 40_000 } else { 2_000_000 };
        let actors = (bench == Bench::Spawn).then_some(200_000);
        let rounds = bench.program().map_or(0, |program| program.rounds());
        Spec {
            bench,
            variant,
            workers,
            actors_per_worker: count(sizes.actors_per_worker, 100),
            pings: sizes.pings.unwrap_or(pings),
            pairs: count(sizes.pairs, workers),
            in_flight: sizes.in_flight.unwrap_or(1_000),
            producers: count(sizes.producers, 8 * workers),
            messages_each: sizes.messages.unwrap_or(500_000),
            actors: sizes.actors.map(|actors| actors as usize).or(actors),
            rounds: sizes.rounds.unwrap_or(rounds),
            everywhere: true,
            seed: 1,
        }
    }

    /// What a system runs of it, with random choices from `seed`.
    pub(crate) fn of(&self, peer: Peer, seed: u64) -> Spec {
        let actors = Some(self.actors.unwrap_or(peer.idle_actors()));
        Spec { actors, seed, ..self.clone() }
    }

    /// A tenth of the case, to warm up.
    pub(crate) fn warm_up(&self) -> Spec {
        const SHARE: u32 = 10;
        Spec {
            pings: (self.pings / SHARE).max(1),
            messages_each: (self.messages_each / SHARE).max(1),
            actors: self.actors.map(|actors| (actors / SHARE as usize).max(1)),
            rounds: (self.rounds / SHARE).max(1),
            ..self.clone()
        }
    }

    /// A quarter of the case, in which round trips are timed.
    pub(crate) fn twin(&self) -> Spec {
        Spec { pings: (self.pings / 4).max(1), ..self.clone() }
    }

    /// The number of actors.
    pub(crate) fn actors(&self) -> usize {
        match self.bench {
            Bench::LatencyProbe => self.workers * self.actors_per_worker,
            Bench::Pingpong => 2 * self.pairs,
            Bench::Fanin => self.producers + 1,
            _ => match self.bench.program() {
                Some(program) => program.actors(self.rounds),
                None => self.actors.unwrap_or_default(),
            },
        }
    }

    /// The number of messages, replies included.
    pub(crate) fn messages(&self) -> u64 {
        match (self.bench, self.variant) {
            (Bench::LatencyProbe, _) => 2 * self.actors() as u64 * u64::from(self.pings),
            (Bench::Pingpong, _) => 2 * self.pairs as u64 * u64::from(self.pings),
            (Bench::Fanin, _) => self.producers as u64 * u64::from(self.messages_each),
            (Bench::Memory, Variant::Idle) => 0,
            _ => match self.bench.program() {
                Some(program) => program.messages(self.rounds),
                None => self.actors() as u64,
            },
        }
    }
}

/// The measurements of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Time from just before the first message until the last actor is done; for actor_memory, of
    /// the whole run.
    pub(crate) seconds: f64,
    /// latency_probe, sampled runs: round trips.
    pub(crate) trips: Option<Latencies>,
    /// actor_memory: growth of the resident set per actor, its reference included.
    pub(crate) bytes_per_actor: Option<f64>,
    /// actor_memory: the same by the system's own account of its heap, if it has one.
    pub(crate) heap_bytes_per_actor: Option<f64>,
}
