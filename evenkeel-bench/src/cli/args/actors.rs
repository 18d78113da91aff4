//! Sizes of the experiments on actors.

use clap::{Args, value_parser};

use super::MOST_TASKS;
use crate::actors::Bench;
use crate::actors::savina::Program;
use crate::actors::spec::Sizes;

/// The most actors for each worker, of latency_probe, and the most pairs and producers.
const MOST_ACTORS: i64 = 100_000;
/// The most messages of one actor.
const MOST_MESSAGES: i64 = 1_000_000_000;
/// The most actors of actor_spawn and actor_memory: above it a mistyped number exhausts the memory.
const MOST_SPAWNED: i64 = 100 * MOST_TASKS;

/// The most rounds of a program of Savina: mailboxes that hold nobody back have room for as many.
const MOST_ROUNDS: i64 = 1_000_000;

/// The programs of Savina.
pub(in crate::cli) const SAVINA: [Bench; Program::ALL.len()] = {
    let mut all = [Bench::Savina(Program::ALL[0]); Program::ALL.len()];
    let mut place = 0;
    while place < all.len() {
        all[place] = Bench::Savina(Program::ALL[place]);
        place += 1;
    }
    all
};

/// Sizes of the experiments on actors.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Options {
    /// latency_probe: actors for each worker [default: 100]
    #[arg(long, value_name = "A", value_parser = value_parser!(u32).range(1..=MOST_ACTORS))]
    actors_per_worker: Option<u32>,
    /// latency_probe: pings of each actor [default: 40,000]; pingpong: pings of each pair [default: 2,000,000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_MESSAGES))]
    pings: Option<u32>,
    /// pingpong: pairs in all [default: one for each worker]
    #[arg(long, value_name = "P", value_parser = value_parser!(u32).range(1..=MOST_ACTORS))]
    pairs: Option<u32>,
    /// pingpong: pings of a pair that are under way at once [default: 1,000]
    #[arg(long, value_name = "F", value_parser = value_parser!(u32).range(1..=MOST_TASKS))]
    in_flight: Option<u32>,
    /// fanin: actors that send, in all [default: 8 for each worker]
    #[arg(long, value_name = "P", value_parser = value_parser!(u32).range(2..=MOST_ACTORS))]
    producers: Option<u32>,
    /// fanin: messages of each producer [default: 500,000]
    #[arg(long, value_name = "M", value_parser = value_parser!(u32).range(1..=MOST_MESSAGES))]
    messages: Option<u32>,
    /// actor_spawn: actors in all [default: 200,000]; actor_memory: idle actors [default: 1,000,000, of heavy systems 200,000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_SPAWNED))]
    actors: Option<u32>,
    /// Savina: rounds, which are pings of each actor, passes, increments, actors, meetings, transfers, items of each producer, meals of each [default: as published]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_ROUNDS))]
    rounds: Option<u32>,
}

impl Options {
    /// The options that are given, with the experiments that have them.
    pub(in crate::cli) fn given(&self) -> impl Iterator<Item = (&'static str, &'static [Bench])> {
        use Bench::{Fanin, LatencyProbe, Memory, Pingpong, Spawn};
        let all: [(&str, bool, &[Bench]); 8] = [
            ("--actors-per-worker", self.actors_per_worker.is_some(), &[LatencyProbe]),
            ("--pings", self.pings.is_some(), &[LatencyProbe, Pingpong]),
            ("--pairs", self.pairs.is_some(), &[Pingpong]),
            ("--in-flight", self.in_flight.is_some(), &[Pingpong]),
            ("--producers", self.producers.is_some(), &[Fanin]),
            ("--messages", self.messages.is_some(), &[Fanin]),
            ("--actors", self.actors.is_some(), &[Spawn, Memory]),
            ("--rounds", self.rounds.is_some(), &SAVINA),
        ];
        all.into_iter().filter(|(_, given, _)| *given).map(|(name, _, benches)| (name, benches))
    }

    /// The sizes, as the experiments take them.
    pub(in crate::cli) fn sizes(&self) -> Sizes {
        let count = |number: Option<u32>| number.map(|number| number as usize);
        Sizes {
            actors_per_worker: count(self.actors_per_worker),
            pings: self.pings,
            pairs: count(self.pairs),
            in_flight: self.in_flight,
            producers: count(self.producers),
            messages: self.messages,
            actors: count(self.actors),
            rounds: self.rounds,
        }
    }
}
