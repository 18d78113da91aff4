//! The calling of the relief.
//!
//! [`relief`](crate::scheduler::relief) has the protocol, and the proof that no task waits. This
//! file has its steps on shared state: *calling*, and the relief's *resting*. It also has the word
//! by which thieves ask the relief to look for [stuck](crate::scheduler::stuck) workers.
//! [`absence`](super::absence) has the changes of the word that pushers look at.
//!
//! # What orders what
//! Only `called` passes anything from thread to thread. A caller that finds it false has seen the
//! relief clear it, and so sees that the relief is `up`, and its thread. The relief that clears it,
//! or sees it set, sees what the callers did before. `looking` passes nothing on: each asker makes
//! a full fence before its request, and the relief makes one between its store and its look.

use super::Idle;
use crate::primitives::atomic::{AtomicBool, AtomicU8, AtomicU64, Edge, Ordering, edge};
use crate::primitives::{fence, thread};
use std::time::Duration;

/// The shared state of the relief and its callers.
#[derive(Debug)]
pub(super) struct Calling {
    /// Whether the relief has been called and has not announced a rest since.
    called: AtomicBool,
    /// Whether the relief runs.
    up: AtomicBool,
    /// The latest end of the relief's rest, by the machine's clock; `u64::MAX` is no bound.
    rests_until: AtomicU64,
    /// Whether the relief looks for stuck workers: [`RESTS`], [`LOOKS`] or [`ASKED`].
    looking: AtomicU8,
}

/// The relief does not look.
const RESTS: u8 = 0;
/// The relief looks once more within a nap.
const LOOKS: u8 = 1;
/// The same, and a thief has asked for it since the last look began.
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

/// The result of a call of the relief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Called {
    /// The relief comes, or the runtime has none.
    Done,
    /// The relief has no thread yet: this caller, and no other, has to start one.
    Start,
}

impl Idle {
    /// Calls the relief.
    pub(crate) fn call(&self) -> Called {
        let order = edge(Edge::ReliefCall, Ordering::AcqRel);
        if self.seats.len() == self.workers || self.calling.called.swap(true, order) {
            return Called::Done;
        }
        if !self.is_up() {
            return Called::Start;
        }
        self.unpark(self.workers);
        Called::Done
    }

    /// Returns whether the relief runs: then it finds tasks that are left to it.
    pub(crate) fn is_up(&self) -> bool {
        self.calling.up.load(Ordering::Relaxed)
    }

    /// Asks the relief to look for stuck workers. Returns true if the caller has to
    /// [call](Self::call) it for that. The caller has stolen a job and then [gone
    /// away](Self::go_away), with a fence: if it finds that the relief has been asked already, the
    /// look is yet to come, and sees the job.
    pub(crate) fn ask_to_look(&self) -> bool {
        let looking = &self.calling.looking;
        // In a runtime without a relief the word stays `ASKED`.
        looking.load(Ordering::Relaxed) != ASKED && looking.swap(ASKED, Ordering::AcqRel) == RESTS
    }

    /// Returns whether the relief has to look for stuck workers.
    pub(crate) fn is_to_look(&self) -> bool {
        self.calling.looking.load(Ordering::Relaxed) != RESTS
    }

    /// Begins a look for stuck workers by the relief, up to and including the fence. Returns true
    /// if a thief has asked for it since the last look began.
    pub(crate) fn begin_look(&self) -> bool {
        let is_asked = self.calling.looking.swap(LOOKS, Ordering::AcqRel) == ASKED;
        fence::after_read_modify_write(Edge::StuckLook);
        is_asked
    }

    /// Ends the relief's looks. Returns false if a thief has asked for one meanwhile.
    pub(crate) fn end_looks(&self) -> bool {
        let order = Ordering::Relaxed;
        self.calling.looking.compare_exchange(LOOKS, RESTS, order, order).is_ok()
    }

    /// Registers the calling thread as the relief's. It goes on as if it had been called.
    pub(crate) fn begin_relief(&self) {
        self.sit(self.workers);
        self.calling.up.store(true, Ordering::Relaxed);
    }

    /// Announces that the relief is about to rest, up to and including the fence. Its last look has
    /// to follow, then [`rest`](Self::rest).
    pub(crate) fn announce_rest(&self) {
        self.calling.rests_until.store(u64::MAX, Ordering::Relaxed);
        // Acquire ordering: for what a pusher has left before it found the relief called.
        self.calling.called.swap(false, edge(Edge::ReliefRest, Ordering::AcqRel));
        fence::after_read_modify_write(Edge::IdleSleep);
    }

    /// Publishes the latest end of the relief's coming rest, after its last look.
    pub(crate) fn rest_until(&self, until: u64) {
        self.calling.rests_until.store(until, Ordering::Relaxed);
    }

    /// Returns the latest end of the relief's rest. A thread that knows of an earlier timer
    /// [calls](Self::call) it.
    pub(crate) fn rests_until(&self) -> u64 {
        self.calling.rests_until.load(Ordering::Relaxed)
    }

    /// Returns whether the relief has no thread, or has not been called since it announced its
    /// rest. Then the caller sees what the relief did before it announced that.
    pub(crate) fn is_resting(&self) -> bool {
        !self.is_up() || !self.calling.called.load(edge(Edge::ReliefResting, Ordering::Acquire))
    }

    /// Waits for a call, for at most `limit`. Returns whether there was one.
    pub(crate) fn rest(&self, limit: Option<Duration>) -> bool {
        // Acquire ordering: the relief sees what it was called for.
        let order = edge(Edge::ReliefCalled, Ordering::Acquire);
        let called = || self.calling.called.load(order);
        while !called() {
            thread::park(limit);
            if limit.is_some() {
                return called();
            }
        }
        true
    }
}
