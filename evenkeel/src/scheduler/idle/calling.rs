//! The calling of the relief.
//!
//! [`relief`](crate::scheduler::relief) has the protocol, and why no task waits. Here are its steps on what threads share: *going away*
//! and coming back, which are changes of the word that pushers look at; *calling*; and the relief's *resting*.

use super::Idle;
use super::counts::{AWAY, Counts};
use crate::primitives::atomic::{AtomicBool, Edge, Ordering};
use crate::primitives::{fence, thread};

/// How the relief and those who call it find each other.
#[derive(Debug)]
pub(super) struct Calling {
    /// Whether the relief has been called and has not found out since that there is nothing to do.
    called: AtomicBool,
    /// Whether the relief runs.
    up: AtomicBool,
}

impl Calling {
    pub(super) fn new() -> Self {
        Self { called: AtomicBool::new(false), up: AtomicBool::new(false) }
    }
}

/// What a call of the relief has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Called {
    /// It comes, or there is none.
    Done,
    /// It has no thread yet: the caller, and nobody else, is to start one.
    Start,
}

impl Idle {
    /// Counts a worker in that goes into fork-join, up to and with the fence. A look at every queue has to follow if
    /// that says that all are there, and a [call](Self::call) if there is anything.
    pub(crate) fn go_away(&self) -> Counts {
        let word = self.word.fetch_add(AWAY, Ordering::AcqRel).wrapping_add(AWAY);
        fence::after_read_modify_write(Edge::IdleSleep);
        Counts::of(word)
    }

    /// Counts it out again.
    pub(crate) fn come_back(&self) {
        self.word.fetch_sub(AWAY, Ordering::AcqRel);
    }

    /// Calls the relief.
    pub(crate) fn call(&self) -> Called {
        if self.seats.len() == self.workers || self.calling.called.swap(true, Ordering::AcqRel) {
            return Called::Done;
        }
        if !self.is_up() {
            return Called::Start;
        }
        self.unpark(self.workers);
        Called::Done
    }

    /// Whether the relief runs: what it is left it will find.
    pub(crate) fn is_up(&self) -> bool {
        self.calling.up.load(Ordering::Acquire)
    }

    /// Says that the caller is the relief's thread. It goes on as if it had been called.
    pub(crate) fn begin_relief(&self) {
        self.sit(self.workers);
        self.calling.up.store(true, Ordering::Release);
    }

    /// Says that the relief is about to rest, up to and with the fence. Its last look has to follow, then
    /// [`rest`](Self::rest).
    pub(crate) fn announce_rest(&self) {
        self.calling.called.swap(false, Ordering::AcqRel);
        fence::after_read_modify_write(Edge::IdleSleep);
    }

    /// Waits for a call.
    pub(crate) fn rest(&self) {
        while !self.calling.called.load(Ordering::Acquire) {
            thread::park(None);
        }
    }
}
