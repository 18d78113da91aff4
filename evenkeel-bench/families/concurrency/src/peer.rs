//! The columns of the tables: this project, and its counterparts.

use super::program::Language;
use suite::named;
use suite::peer::{self, Role};

named! {
    /// One column.
    pub(crate) enum Peer as "runtime of these experiments" {
        /// This project.
        Evenkeel = "evenkeel": "this project's tasks, coroutines and monitors",
        /// Tokio.
        Tokio = "tokio": "Tokio's tasks, Mutex with Notify, mpsc with oneshot; yields by hand",
        /// Tokio's `Notify` without a monitor.
        TokioNotify = "tokio-notify": "two of Tokio's Notify in turns, without a monitor",
        /// async-lock and event-listener.
        AsyncLock = "async-lock": "async-lock's Mutex with event-listener, in this project's tasks",
        /// flume.
        Flume = "flume": "flume's channel of capacity 0, in this project's tasks",
        /// genawaiter.
        Genawaiter = "genawaiter": "genawaiter's coroutines",
        /// corosensei.
        Corosensei = "corosensei": "corosensei's coroutines with stacks of their own",
        /// parking_lot.
        ParkingLot = "parking_lot": "parking_lot's Mutex and Condvar, on threads",
        /// The standard library.
        Std = "std": "the standard library's Mutex, Condvar and threads",
        /// Plain calls.
        Call = "call": "a call that enters nothing",
        /// POSIX threads from C.
        Pthread = "pthread": "POSIX threads, mutexes and condition variables in C",
        /// Go.
        Go = "go": "Go with goroutines, sync and unbuffered channels",
    }
}

impl peer::Peer for Peer {
    fn role(self) -> Role {
        match self {
            Peer::Evenkeel => Role::Subject,
            // It guards nothing: the cost that remains when monitors are free of charge.
            Peer::Call => Role::Floor,
            _ => Role::Peer,
        }
    }
}

impl Peer {
    /// The language of its programs, if it does not run in this process.
    pub(crate) fn language(self) -> Option<Language> {
        match self {
            Peer::Pthread => Some(Language::C),
            Peer::Go => Some(Language::Go),
            _ => None,
        }
    }
}
