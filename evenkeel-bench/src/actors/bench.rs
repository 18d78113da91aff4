//! The experiments and their variants.

use std::fmt;
use std::str::FromStr;

use super::savina::Program;
use crate::named::{Unknown, named};

/// An experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bench {
    /// One ping in flight for each actor, to a random one of all.
    LatencyProbe,
    /// Pairs with many pings in flight.
    Pingpong,
    /// Many producers and one consumer.
    Fanin,
    /// Spawn, one message, stop.
    Spawn,
    /// Resident memory of idle actors.
    Memory,
    /// A program of the Savina suite.
    Savina(Program),
}

named! {
    /// One way of running an experiment.
    enum Variant as "variant" {
        /// The only one.
        Only = "-",
        /// All actors are alive before the first message is sent.
        Alive = "alive",
        /// A thousand at a time.
        Waves = "waves",
        /// Actors that were never sent a message.
        Idle = "idle",
        /// Actors that have handled one message.
        Used = "used",
    }
}

impl Bench {
    /// All of them, in the order of the tables.
    pub(crate) const ALL: [Bench; 13] = [
        Bench::LatencyProbe,
        Bench::Pingpong,
        Bench::Fanin,
        Bench::Spawn,
        Bench::Memory,
        Bench::Savina(Program::Big),
        Bench::Savina(Program::Threadring),
        Bench::Savina(Program::Count),
        Bench::Savina(Program::Fjcreate),
        Bench::Savina(Program::Chameneos),
        Bench::Savina(Program::Banking),
        Bench::Savina(Program::Bndbuffer),
        Bench::Savina(Program::Philosopher),
    ];

    /// The name on the command line and in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Bench::LatencyProbe => "latency_probe",
            Bench::Pingpong => "pingpong",
            Bench::Fanin => "fanin",
            Bench::Spawn => "actor_spawn",
            Bench::Memory => "actor_memory",
            Bench::Savina(program) => program.name(),
        }
    }

    /// What is measured, in one line.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Bench::LatencyProbe => "actors with one ping in flight each, to a random one of all",
            Bench::Pingpong => "pairs of actors with many pings in flight",
            Bench::Fanin => "many actors send to one, in order, as fast as it lets them",
            Bench::Spawn => "actors that are spawned, handle one message and stop",
            Bench::Memory => "resident memory per idle actor, its reference included",
            Bench::Savina(program) => program.describe(),
        }
    }

    /// The variants, in the order of the tables.
    pub(crate) fn variants(self) -> &'static [Variant] {
        match self {
            Bench::LatencyProbe | Bench::Pingpong | Bench::Fanin | Bench::Savina(_) => {
                &[Variant::Only]
            }
            Bench::Spawn => &[Variant::Alive, Variant::Waves],
            Bench::Memory => &[Variant::Idle, Variant::Used],
        }
    }
}

impl fmt::Display for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Bench {
    type Err = Unknown;

    fn from_str(name: &str) -> Result<Self, Unknown> {
        let found = Bench::ALL.into_iter().find(|bench| bench.name() == name);
        found.ok_or_else(|| Unknown {
            what: "experiment",
            name: name.to_owned(),
            known: Bench::ALL.map(Bench::name).to_vec(),
        })
    }
}
