//! The actor systems under test: one file for each that runs in this process. The others are [programs](foreign).

pub(crate) mod actix;
pub(crate) mod evenkeel;
pub(crate) mod kameo;
pub(crate) mod ractor;
pub(crate) mod tokio;

use std::fmt;
use std::str::FromStr;

use super::bench::Bench;
use super::foreign;
use crate::named::Unknown;

/// Messages after which a sender to a mailbox without a bound waits for its credit. A page of queue entries; an estimate,
/// no benchmark sets it.
const CREDIT: u32 = 256;

/// One column of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// This project.
    Evenkeel,
    /// actix.
    Actix,
    /// ractor.
    Ractor,
    /// kameo.
    Kameo,
    /// A Tokio task that receives message by message.
    Tokio,
    /// A Tokio task that receives up to 64 messages at once.
    TokioBatch,
    /// A program of another language.
    Foreign(foreign::Name),
}

impl Peer {
    /// All of them, in the order of the tables.
    pub(crate) const ALL: [Peer; 10] = [
        Peer::Evenkeel,
        Peer::Actix,
        Peer::Ractor,
        Peer::Kameo,
        Peer::Tokio,
        Peer::TokioBatch,
        Peer::Foreign(foreign::Name::Pekko),
        Peer::Foreign(foreign::Name::Erlang),
        Peer::Foreign(foreign::Name::Caf),
        Peer::Foreign(foreign::Name::Go),
    ];

    /// Whether it has an experiment: eight programs on every system would take the compiler longer than the rest of the suite, so the
    /// programs of Savina stand beside one peer of each kind.
    pub(crate) fn has(self, bench: Bench) -> bool {
        !matches!(bench, Bench::Savina(_))
            || matches!(self, Peer::Evenkeel | Peer::Actix | Peer::Tokio)
    }

    /// The program that runs it, if it does not run in this process.
    pub(crate) fn foreign(self) -> Option<foreign::Name> {
        match self {
            Peer::Foreign(name) => Some(name),
            _ => None,
        }
    }

    /// The name on the command line and in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Peer::Evenkeel => "evenkeel",
            Peer::Actix => "actix",
            Peer::Ractor => "ractor",
            Peer::Kameo => "kameo",
            Peer::Tokio => "tokio",
            Peer::TokioBatch => "tokio-batch",
            Peer::Foreign(name) => name.name(),
        }
    }

    /// What it is, in half a line.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Peer::Evenkeel => "this project's actors",
            Peer::Actix => "actix, one arbiter for each worker",
            Peer::Ractor => "ractor's actors on Tokio",
            Peer::Kameo => "kameo's actors on Tokio",
            Peer::Tokio => "a Tokio task with an mpsc channel, message by message",
            Peer::TokioBatch => "the same with up to 64 messages at once",
            Peer::Foreign(foreign::Name::Pekko) => "Pekko's classic actors, by a program in Java",
            Peer::Foreign(foreign::Name::Erlang) => "Erlang's processes",
            Peer::Foreign(foreign::Name::Caf) => "the C++ Actor Framework",
            Peer::Foreign(foreign::Name::Go) => "Go's goroutines with a channel each",
        }
    }

    /// Actors of actor_memory, unless the user says otherwise: fewer of those that weigh kilobytes.
    pub(crate) fn idle_actors(self) -> usize {
        match self {
            Peer::Ractor | Peer::Kameo | Peer::Foreign(_) => 200_000,
            Peer::Evenkeel | Peer::Actix | Peer::Tokio | Peer::TokioBatch => 1_000_000,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Peer {
    type Err = Unknown;

    fn from_str(name: &str) -> Result<Self, Unknown> {
        let found = Peer::ALL.into_iter().find(|peer| peer.name() == name);
        found.ok_or_else(|| Unknown {
            what: "actor system",
            name: name.to_owned(),
            known: Peer::ALL.map(Peer::name).to_vec(),
        })
    }
}
