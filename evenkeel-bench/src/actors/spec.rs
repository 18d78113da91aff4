//! What a run is asked for, and what it gives.

use super::bench::{Bench, Variant};
use crate::mixed::latency::Latencies;

/// One run, as it is asked for. Each experiment reads what it has.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// What to run.
    pub(crate) bench: Bench,
    /// Which way.
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
    /// actor_spawn and actor_memory: actors in all.
    pub(crate) actors: usize,
    /// Savina: rounds, as [`rounds`](super::savina::Program::rounds) counts them.
    pub(crate) rounds: u32,
    /// Where the random choices begin.
    pub(crate) seed: u64,
}

/// Actors of a wave of actor_spawn.
pub(crate) const WAVE: usize = 1_000;

/// Sizes that a user may change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    /// Actors for each worker of latency_probe.
    pub(crate) actors_per_worker: Option<usize>,
    /// Pings of an actor of latency_probe, or of a pair of pingpong.
    pub(crate) pings: Option<u32>,
    /// Pairs of pingpong.
    pub(crate) pairs: Option<usize>,
    /// Pings of a pair of pingpong that are under way at once.
    pub(crate) in_flight: Option<u32>,
    /// Producers of fanin.
    pub(crate) producers: Option<usize>,
    /// Messages of each producer of fanin.
    pub(crate) messages: Option<u32>,
    /// Actors of actor_spawn and actor_memory.
    pub(crate) actors: Option<usize>,
    /// Rounds of the programs of Savina.
    pub(crate) rounds: Option<u32>,
}

impl Spec {
    /// The published sizes, or about half a second where none is published.
    pub(crate) fn new(bench: Bench, variant: Variant, workers: usize, sizes: Sizes) -> Spec {
        let (pings, actors) = match bench {
            // EVENT_COUNT of the post.
            Bench::LatencyProbe => (40_000, 0),
            Bench::Pingpong => (2_000_000, 0),
            Bench::Fanin => (0, 0),
            Bench::Spawn => (0, 200_000),
            Bench::Memory => (0, 1_000_000),
            Bench::Savina(_) => (0, 0),
        };
        let rounds = match bench {
            Bench::Savina(program) => program.rounds(),
            _ => 0,
        };
        Spec {
            bench,
            variant,
            workers,
            actors_per_worker: sizes.actors_per_worker.unwrap_or(100),
            pings: sizes.pings.unwrap_or(pings),
            pairs: sizes.pairs.unwrap_or(workers),
            in_flight: sizes.in_flight.unwrap_or(1_000),
            producers: sizes.producers.unwrap_or(8 * workers),
            messages_each: sizes.messages.unwrap_or(500_000),
            actors: sizes.actors.unwrap_or(actors),
            rounds: sizes.rounds.unwrap_or(rounds),
            seed: 1,
        }
    }

    /// A tenth of it, to warm up.
    pub(crate) fn warm_up(&self) -> Spec {
        const SHARE: u32 = 10;
        Spec {
            pings: (self.pings / SHARE).max(1),
            messages_each: (self.messages_each / SHARE).max(1),
            actors: (self.actors / SHARE as usize).max(1),
            rounds: (self.rounds / SHARE).max(1),
            ..self.clone()
        }
    }

    /// Actors that it has.
    pub(crate) fn actors(&self) -> usize {
        match self.bench {
            Bench::LatencyProbe => self.workers * self.actors_per_worker,
            Bench::Pingpong => 2 * self.pairs,
            Bench::Fanin => self.producers + 1,
            Bench::Spawn | Bench::Memory => self.actors,
            Bench::Savina(program) => program.actors(self.rounds),
        }
    }

    /// Messages that it sends, replies among them.
    pub(crate) fn messages(&self) -> u64 {
        match (self.bench, self.variant) {
            (Bench::LatencyProbe, _) => 2 * self.actors() as u64 * u64::from(self.pings),
            (Bench::Pingpong, _) => 2 * self.pairs as u64 * u64::from(self.pings),
            (Bench::Fanin, _) => self.producers as u64 * u64::from(self.messages_each),
            (Bench::Memory, Variant::Idle) => 0,
            (Bench::Spawn | Bench::Memory, _) => self.actors as u64,
            (Bench::Savina(program), _) => program.messages(self.rounds),
        }
    }
}

/// What a run measured.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Time from right before the first message until the last actor is done.
    pub(crate) seconds: f64,
    /// latency_probe, sampled runs: round trips.
    pub(crate) trips: Option<Latencies>,
    /// actor_memory: growth of the resident set per actor.
    pub(crate) bytes_per_actor: Option<f64>,
    /// actor_memory: the same by the system's own account of its heap, if it has one.
    pub(crate) heap_bytes_per_actor: Option<f64>,
}
