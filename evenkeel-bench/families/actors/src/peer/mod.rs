//! The actor systems under test: one file for each that runs in this process. The others are
//! [programs](foreign).

pub(crate) mod actix;
pub(crate) mod evenkeel;
pub(crate) mod kameo;
pub(crate) mod ractor;
pub(crate) mod tokio;

use super::bench::Bench;
use super::foreign;
use suite::named;
use suite::peer;

/// Messages after which a sender to an unbounded mailbox waits for credit: a page of queue entries.
/// An estimate; no benchmark sets it.
const CREDIT: u32 = 256;

named! {
    /// An actor system.
    pub(crate) enum Peer as "actor system" {
        /// This project.
        Evenkeel = "evenkeel": "this project's actors",
        /// actix.
        Actix = "actix": "actix, one arbiter for each worker",
        /// ractor.
        Ractor = "ractor": "ractor's actors on Tokio",
        /// kameo.
        Kameo = "kameo": "kameo's actors on Tokio",
        /// A Tokio task that receives message by message.
        Tokio = "tokio": "a Tokio task with an mpsc channel, message by message",
        /// A Tokio task that receives up to 64 messages at once.
        TokioBatch = "tokio-batch": "the same with up to 64 messages at once",
        /// Classic actors of Pekko.
        Pekko = "pekko": "Pekko's classic actors, by a program in Java",
        /// Processes of Erlang.
        Erlang = "erlang": "Erlang's processes",
        /// The C++ Actor Framework.
        Caf = "caf": "the C++ Actor Framework",
        /// Goroutines with a channel each.
        Go = "go": "Go's goroutines with a channel each",
    }
}

impl Peer {
    /// Whether it has an experiment. Eight programs on every system would take the compiler longer
    /// than the rest of the suite. So Savina's programs have one peer of each kind, and both forms
    /// of the plainest.
    pub(crate) fn has(self, bench: Bench) -> bool {
        match self {
            Peer::Evenkeel | Peer::Actix | Peer::Tokio | Peer::TokioBatch => true,
            _ => bench.program().is_none(),
        }
    }

    /// The program that runs it, if it runs in a process of its own.
    pub(crate) fn foreign(self) -> Option<foreign::Name> {
        match self {
            Peer::Evenkeel | Peer::Actix | Peer::Ractor | Peer::Kameo => None,
            Peer::Tokio | Peer::TokioBatch => None,
            Peer::Pekko => Some(foreign::Name::Pekko),
            Peer::Erlang => Some(foreign::Name::Erlang),
            Peer::Caf => Some(foreign::Name::Caf),
            Peer::Go => Some(foreign::Name::Go),
        }
    }

    /// Actors of actor_memory, unless the user says otherwise: fewer where an actor takes
    /// kilobytes.
    pub(crate) fn idle_actors(self) -> usize {
        match self {
            Peer::Evenkeel | Peer::Actix | Peer::Tokio | Peer::TokioBatch => 1_000_000,
            _ => 200_000,
        }
    }
}

impl peer::Peer for Peer {}
