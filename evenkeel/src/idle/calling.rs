//! The calling of the relief.
//!
//! [`relief`](crate::scheduler::relief) has the protocol, and why no task waits. Here are its steps
//! on what threads share: *calling*, and the relief's *resting*. [`absence`](super::absence) has
//! the changes of the word that pushers look at. And here is the word by which thieves have the
//! relief look for [stuck](crate::scheduler::stuck) workers.

use super::Idle;
use crate::primitives::atomic::{AtomicBool, AtomicU8, AtomicU64, Edge, Ordering};
use crate::primitives::{fence, thread};
use std::time::Duration;

/// How the relief and those who call it find each other.
#[derive(Debug)]
pub(super) struct Calling {
    /// Whether the relief has been called and has not found out since that there is nothing to do.
    called: AtomicBool,
    /// Whether the relief runs.
    up: AtomicBool,
    /// Until when the relief rests at most, by the machine's clock: never is without a bound.
    rests_until: AtomicU64,
    /// Whether the relief looks for stuck workers: [`RESTS`], [`LOOKS`] or [`ASKED`].
    looking: AtomicU8,
}

/// It does not look.
const RESTS: u8 = 0;
/// It looks once more within a nap.
const LOOKS: u8 = 1;
/// The same, and it has been asked to since the last look began.
const ASKED: u8 = 2;

impl Calling {
    pub(super) fn new() -> Self {
        Self {
            called: AtomicBool::new(false),
            up: AtomicBool::new(false),
            rests_until: AtomicU64::new(u64::MAX),
            looking: AtomicU8::new(RESTS),
        }
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

    /// Asks the relief to look for stuck workers. True if it has to be [called](Self::call) for
    /// that. The caller has stolen a job and then [gone away](Self::go_away), with a fence: if it
    /// finds that the relief has been asked already, the look is yet to come, and sees the job.
    pub(crate) fn ask_to_look(&self) -> bool {
        let looking = &self.calling.looking;
        // In a runtime without a relief it stays asked.
        looking.load(Ordering::Relaxed) != ASKED && looking.swap(ASKED, Ordering::AcqRel) == RESTS
    }

    /// Whether the relief is to look for stuck workers.
    pub(crate) fn is_to_look(&self) -> bool {
        self.calling.looking.load(Ordering::Relaxed) != RESTS
    }

    /// Says that the relief looks for stuck workers now, up to and with the fence. True if it has
    /// been asked to since the last look began.
    pub(crate) fn begin_look(&self) -> bool {
        let is_asked = self.calling.looking.swap(LOOKS, Ordering::AcqRel) == ASKED;
        fence::after_read_modify_write(Edge::StuckLook);
        is_asked
    }

    /// Says that the relief looks no more. False if it has been asked to meanwhile.
    pub(crate) fn end_looks(&self) -> bool {
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        self.calling.looking.compare_exchange(LOOKS, RESTS, success, failure).is_ok()
    }

    /// Says that the caller is the relief's thread. It goes on as if it had been called.
    pub(crate) fn begin_relief(&self) {
        self.sit(self.workers);
        self.calling.up.store(true, Ordering::Release);
    }

    /// Says that the relief is about to rest, up to and with the fence. Its last look has to
    /// follow, then [`rest`](Self::rest).
    pub(crate) fn announce_rest(&self) {
        self.calling.rests_until.store(u64::MAX, Ordering::Relaxed);
        self.calling.called.swap(false, Ordering::AcqRel);
        fence::after_read_modify_write(Edge::IdleSleep);
    }

    /// Says until when the relief is about to rest at most, after its last look.
    pub(crate) fn rest_until(&self, until: u64) {
        self.calling.rests_until.store(until, Ordering::Relaxed);
    }

    /// Until when it rests at most. Whoever knows of an earlier timer [calls](Self::call).
    pub(crate) fn rests_until(&self) -> u64 {
        self.calling.rests_until.load(Ordering::Relaxed)
    }

    /// Whether the relief does nothing, and is not about to.
    pub(crate) fn is_resting(&self) -> bool {
        !self.is_up() || !self.calling.called.load(Ordering::Acquire)
    }

    /// Waits for a call, for at most `limit`. True if there was one.
    pub(crate) fn rest(&self, limit: Option<Duration>) -> bool {
        let called = &self.calling.called;
        while !called.load(Ordering::Acquire) {
            thread::park(limit);
            if limit.is_some() {
                return called.load(Ordering::Acquire);
            }
        }
        true
    }
}
