//! Eight programs of the Savina suite (Imam and Sarkar, "Savina: an actor benchmark suite", AGERE
//! 2014), from their published rules and with their published sizes.
//!
//! Each checks its own result. The time is that of a published iteration: from the first spawn to
//! the end of the last actor, without the start of the workers. A message names an actor by its
//! place in a shared table, as in `latency_probe`, so that no message counts a reference.

mod banking;
mod big;
mod bndbuffer;
mod chameneos;
mod count;
mod fjcreate;
mod philosopher;
mod sequence;
mod stage;
mod threadring;

#[cfg(test)]
mod tests;

use std::time::Duration;

use super::system::System;
use suite::kit::fault::Fault;

/// A program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// One ping in flight for each of 120 actors.
    Big,
    /// A token in a ring of a hundred actors.
    Threadring,
    /// Increments from one actor to another.
    Count,
    /// Actors that handle one message each.
    Fjcreate,
    /// Meetings of a hundred creatures.
    Chameneos,
    /// Transfers between a thousand accounts.
    Banking,
    /// Producers and consumers with a manager between them.
    Bndbuffer,
    /// Twenty philosophers and an arbitrator.
    Philosopher,
}

impl Program {
    /// The published number of rounds: pings of each actor, passes, increments, actors, meetings,
    /// transfers, items of each producer, meals of each philosopher.
    pub(crate) fn rounds(self) -> u32 {
        match self {
            Program::Big => 20_000,
            Program::Threadring => 100_000,
            Program::Count => 1_000_000,
            Program::Fjcreate => 40_000,
            Program::Chameneos => 200_000,
            Program::Banking => 50_000,
            Program::Bndbuffer => 1_000,
            Program::Philosopher => 10_000,
        }
    }

    /// Rounds that take some hundredths of a second.
    pub(crate) fn brief(self) -> u32 {
        match self {
            Program::Big => 2_000,
            Program::Bndbuffer => 20,
            Program::Philosopher => 2_000,
            _ => self.rounds(),
        }
    }

    /// Actors in all.
    pub(crate) fn actors(self, rounds: u32) -> usize {
        match self {
            Program::Big => big::PINGERS + 1,
            Program::Threadring => threadring::RING,
            Program::Count => count::ACTORS,
            Program::Fjcreate => rounds as usize,
            Program::Chameneos => chameneos::CREATURES + 1,
            Program::Banking => banking::ACCOUNTS + 1,
            Program::Bndbuffer => bndbuffer::ACTORS,
            Program::Philosopher => philosopher::PHILOSOPHERS + 1,
        }
    }

    /// Messages that the rules prescribe.
    pub(crate) fn messages(self, rounds: u32) -> u64 {
        let rounds = u64::from(rounds);
        match self {
            Program::Big => big::messages(rounds),
            Program::Threadring => threadring::messages(rounds),
            Program::Count => count::messages(rounds),
            Program::Fjcreate => rounds,
            Program::Chameneos => chameneos::messages(rounds),
            Program::Banking => banking::messages(rounds),
            Program::Bndbuffer => bndbuffer::messages(rounds),
            Program::Philosopher => philosopher::messages(rounds),
        }
    }
}

/// Runs a program once.
pub(super) async fn run<S: System>(
    spawner: S::Spawner,
    program: Program,
    rounds: u32,
) -> Result<Duration, Fault> {
    match program {
        Program::Big => big::run::<S>(spawner, rounds).await,
        Program::Threadring => threadring::run::<S>(spawner, rounds).await,
        Program::Count => count::run::<S>(spawner, rounds).await,
        Program::Fjcreate => fjcreate::run::<S>(spawner, rounds).await,
        Program::Chameneos => chameneos::run::<S>(spawner, rounds).await,
        Program::Banking => banking::run::<S>(spawner, rounds).await,
        Program::Bndbuffer => bndbuffer::run::<S>(spawner, rounds).await,
        Program::Philosopher => philosopher::run::<S>(spawner, rounds).await,
    }
}
