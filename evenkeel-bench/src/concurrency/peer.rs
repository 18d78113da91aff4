//! The columns of the tables: this project, and what does the same elsewhere.

use std::fmt;
use std::str::FromStr;

use super::program::Language;
use crate::named::Unknown;

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// This project.
    Evenkeel,
    /// Tokio.
    Tokio,
    /// Tokio's `Notify` without a monitor.
    TokioNotify,
    /// async-lock and event-listener.
    AsyncLock,
    /// flume.
    Flume,
    /// genawaiter.
    Genawaiter,
    /// corosensei.
    Corosensei,
    /// parking_lot.
    ParkingLot,
    /// The standard library.
    Std,
    /// Plain calls.
    Call,
    /// POSIX threads from C.
    Pthread,
    /// Go.
    Go,
}

impl Peer {
    /// All of them, in the order of the tables.
    pub(crate) const ALL: [Peer; 12] = [
        Peer::Evenkeel,
        Peer::Tokio,
        Peer::TokioNotify,
        Peer::AsyncLock,
        Peer::Flume,
        Peer::Genawaiter,
        Peer::Corosensei,
        Peer::ParkingLot,
        Peer::Std,
        Peer::Call,
        Peer::Pthread,
        Peer::Go,
    ];

    /// The name on the command line and in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Peer::Evenkeel => "evenkeel",
            Peer::Tokio => "tokio",
            Peer::TokioNotify => "tokio-notify",
            Peer::AsyncLock => "async-lock",
            Peer::Flume => "flume",
            Peer::Genawaiter => "genawaiter",
            Peer::Corosensei => "corosensei",
            Peer::ParkingLot => "parking_lot",
            Peer::Std => "std",
            Peer::Call => "call",
            Peer::Pthread => "pthread",
            Peer::Go => "go",
        }
    }

    /// What it is, in half a line.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Peer::Evenkeel => "this project's tasks, coroutines and monitors",
            Peer::Tokio => "Tokio's tasks, Mutex with Notify, mpsc with oneshot",
            Peer::TokioNotify => "two of Tokio's Notify in turns, without a monitor",
            Peer::AsyncLock => "async-lock's Mutex with event-listener, in Tokio's tasks",
            Peer::Flume => "flume's channel of capacity 0, in Tokio's tasks",
            Peer::Genawaiter => "genawaiter's coroutines",
            Peer::Corosensei => "corosensei's coroutines with stacks of their own",
            Peer::ParkingLot => "parking_lot's Mutex and Condvar, on threads",
            Peer::Std => "the standard library's Mutex, Condvar and threads",
            Peer::Call => "a call that enters nothing",
            Peer::Pthread => "POSIX threads, mutexes and condition variables in C",
            Peer::Go => "Go with goroutines, sync and unbuffered channels",
        }
    }

    /// What its programs are written in, if it does not run in this process.
    pub(crate) fn language(self) -> Option<Language> {
        match self {
            Peer::Pthread => Some(Language::C),
            Peer::Go => Some(Language::Go),
            _ => None,
        }
    }

    /// Whether it is no peer but what is left when monitors are free: it guards nothing.
    pub(crate) fn is_floor(self) -> bool {
        self == Peer::Call
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
            what: "runtime of these experiments",
            name: name.to_owned(),
            known: Peer::ALL.map(Peer::name).to_vec(),
        })
    }
}
