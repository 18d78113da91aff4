//! The actor systems under test: one file for each that runs in this process.

pub(crate) mod actix;
pub(crate) mod evenkeel;
pub(crate) mod kameo;
pub(crate) mod ractor;
pub(crate) mod tokio;

use std::fmt;
use std::str::FromStr;

use super::bench::Unknown;

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
}

impl Peer {
    /// All of them, in the order of the tables.
    pub(crate) const ALL: [Peer; 6] =
        [Peer::Evenkeel, Peer::Actix, Peer::Ractor, Peer::Kameo, Peer::Tokio, Peer::TokioBatch];

    /// The name on the command line and in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Peer::Evenkeel => "evenkeel",
            Peer::Actix => "actix",
            Peer::Ractor => "ractor",
            Peer::Kameo => "kameo",
            Peer::Tokio => "tokio",
            Peer::TokioBatch => "tokio-batch",
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
        }
    }

    /// Actors of actor_memory, unless the user says otherwise: fewer of those that weigh kilobytes.
    pub(crate) fn idle_actors(self) -> usize {
        match self {
            Peer::Ractor | Peer::Kameo => 200_000,
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
