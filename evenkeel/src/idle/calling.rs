//! The calling of the relief on duty, and of the lookout.
//!
//! [`relief`](crate::scheduler::relief) and [`lookout`](crate::scheduler::lookout) have the
//! protocols, and the proofs that no task waits. This file has their steps on shared state:
//! *calling*, the relief's *resting*, the change of the relief on duty, and the rounds of the
//! lookout. [`absence`](super::absence) has the changes of the word that pushers look at.
//!
//! # What orders what
//! Only `called` passes anything from thread to thread. A caller that finds it false has seen a
//! relief clear it, and so sees that a relief is `up`, and its thread. The relief that clears it,
//! or sees it set, sees what the callers did before. `duty` is a hint: a task that is left to a
//! relief off duty is found by the relief on duty. `looking` passes nothing on: each asker makes a
//! full fence before its request, and the lookout makes one between its store and its look.

use super::Idle;
use super::counts::UNWATCHED;
use crate::primitives::atomic::{
    AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Edge, Ordering, edge,
};
use crate::primitives::thread::{self, Thread};
use crate::primitives::{Mutex, fence, lock};
use std::time::Duration;

/// The shared state of reliefs, the lookout and their callers.
#[derive(Debug)]
pub(super) struct Calling {
    /// Whether the relief on duty has been called and has not announced a rest since.
    pub(super) called: AtomicBool,
    /// Whether a relief runs.
    up: AtomicBool,
    /// Whether a relief that was appointed has not begun.
    appointing: AtomicBool,
    /// The number of the relief on duty.
    duty: AtomicUsize,
    /// The latest end of its rest, by the machine's clock; `u64::MAX` is no bound.
    rests_until: AtomicU64,
    /// Whether the lookout makes rounds: [`RESTS`], [`LOOKS`] or [`ASKED`].
    looking: AtomicU8,
    /// The latest end of the lookout's rest, likewise.
    watches_from: AtomicU64,
    lookout: Mutex<Lookout>,
}

/// The lookout's thread.
#[derive(Debug)]
enum Lookout {
    /// No thread has been asked for.
    Missing,
    /// It is about to begin, or the system has refused it.
    Asked,
    Running(Thread),
}

/// The lookout makes no rounds.
const RESTS: u8 = 0;
/// The lookout looks once more within a nap.
const LOOKS: u8 = 1;
/// The same, and a thread has asked for it since the last look began.
const ASKED: u8 = 2;

impl Calling {
    pub(super) fn new(first: usize) -> Self {
        Self {
            called: AtomicBool::new(false),
            up: AtomicBool::new(false),
            appointing: AtomicBool::new(false),
            duty: AtomicUsize::new(first),
            rests_until: AtomicU64::new(u64::MAX),
            looking: AtomicU8::new(RESTS),
            watches_from: AtomicU64::new(u64::MAX),
            lookout: Mutex::new(Lookout::Missing),
        }
    }
}

/// The result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Called {
    /// The thread comes, or the runtime has none.
    Done,
    /// It does not exist yet: this caller, and no other, has to start it.
    Start,
}

/// The relief that the lookout has appointed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Appointed {
    /// A relief in reserve, which comes.
    Reserve,
    /// The relief with this number, which has no thread: the lookout has to start one.
    New(usize),
    /// There is none left.
    Nobody,
}

impl Idle {
    /// Calls the relief on duty.
    pub(crate) fn call(&self) -> Called {
        let order = edge(Edge::ReliefCall, Ordering::AcqRel);
        if !self.has_reliefs() || self.calling.called.swap(true, order) {
            return Called::Done;
        }
        if !self.is_up() {
            // No other caller gets here, but the lookout may have appointed the relief meanwhile.
            let is_taken = self.seats[self.workers].taken.swap(true, Ordering::Acquire);
            return if is_taken { Called::Done } else { Called::Start };
        }
        self.unpark(self.duty());
        Called::Done
    }

    /// Returns whether the runtime may have reliefs.
    pub(crate) fn has_reliefs(&self) -> bool {
        self.seats.len() > self.workers
    }

    /// Returns whether a relief runs: then one finds tasks that are left to it.
    pub(crate) fn is_up(&self) -> bool {
        self.calling.up.load(Ordering::Acquire)
    }

    /// Returns the number of the relief on duty. A hint, but for the processor, which exists if a
    /// relief is [up](Self::is_up).
    pub(crate) fn duty(&self) -> usize {
        self.calling.duty.load(Ordering::Acquire)
    }

    /// Registers the calling thread as that of relief `me`, and puts it on duty, up to and
    /// including the fence. It goes on as if it had been called, and has the lookout make rounds
    /// next.
    pub(crate) fn begin_relief(&self, me: usize) {
        self.sit(me);
        self.put_on_duty(me);
        self.calling.up.store(true, Ordering::Release);
        self.calling.appointing.store(false, Ordering::Relaxed);
        fence::full(Edge::StuckWait);
    }

    /// Puts relief `me`, which has a thread, on duty, and unparks the former one, which may rest.
    pub(crate) fn put_on_duty(&self, me: usize) {
        let former = self.calling.duty.swap(me, Ordering::AcqRel);
        if former != me {
            self.unpark(former);
        }
    }

    /// Returns whether a relief that was appointed has not begun.
    pub(crate) fn is_appointing(&self) -> bool {
        self.calling.appointing.load(Ordering::Relaxed)
    }

    /// Returns whether the relief has been called, and the system has refused its thread.
    pub(crate) fn lacks_relief(&self) -> bool {
        !self.is_up()
            && self.calling.called.load(Ordering::Relaxed)
            && !self.seats[self.workers].taken.load(Ordering::Relaxed)
    }

    /// Returns whether no relief polls, or is about to: each has no thread, is in reserve, or is on
    /// duty and rests.
    pub(crate) fn do_reliefs_rest(&self) -> bool {
        let is_idle = |number: usize| {
            let seat = &self.seats[number];
            !seat.taken.load(Ordering::Acquire)
                || seat.asleep.load(Ordering::Acquire)
                || (number == self.duty() && self.is_resting())
        };
        (self.workers..self.seats.len()).all(is_idle)
    }

    /// Announces that the relief on duty is about to rest, up to and including the fence. Its last
    /// look has to follow, then [`rest`](Self::rest).
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

    /// Returns whether no relief has a thread, or the one on duty has not been called since it
    /// announced its rest. Then the caller sees what the relief did before it announced that.
    pub(crate) fn is_resting(&self) -> bool {
        !self.is_up() || !self.calling.called.load(edge(Edge::ReliefResting, Ordering::Acquire))
    }

    /// Waits until the relief on duty is called or unparked, for at most `limit`.
    pub(crate) fn rest(&self, limit: Option<Duration>) {
        // Relaxed: `end_rest` acquires.
        if !self.calling.called.load(Ordering::Relaxed) {
            thread::park(limit);
        }
    }

    /// Says that the relief does not rest, up to and including the fence. Returns whether it was
    /// called. It has the lookout make rounds next.
    pub(crate) fn end_rest(&self) -> bool {
        // Acquire ordering: the relief sees what it was called for.
        let is_called = self.calling.called.swap(true, edge(Edge::ReliefCalled, Ordering::AcqRel));
        fence::after_read_modify_write(Edge::StuckWait);
        is_called
    }
}

/// Reliefs off duty.
impl Idle {
    /// Announces that relief `me`, which is off duty, goes into the reserve, up to and including
    /// the fence. It looks at its own inbox next, and then [waits](Self::wait_in_reserve).
    pub(crate) fn enter_reserve(&self, me: usize) {
        self.seats[me].asleep.swap(true, Ordering::AcqRel);
        fence::after_read_modify_write(Edge::IdleSleep);
    }

    /// Takes relief `me` out of the reserve. Returns false if it has been appointed, and so is out
    /// of it already.
    pub(crate) fn leave_reserve(&self, me: usize) -> bool {
        self.seats[me].asleep.swap(false, Ordering::AcqRel)
    }

    /// Waits in the reserve for at most `limit`, until the relief is appointed or unparked.
    pub(crate) fn wait_in_reserve(&self, me: usize, limit: Duration) {
        if self.seats[me].asleep.load(Ordering::Relaxed) {
            thread::park(Some(limit));
        }
    }

    /// Says that relief `me` has no thread any more, or that the system has refused it: another
    /// thread may have the number next. The caller has finished with its seat.
    pub(crate) fn retire(&self, me: usize) {
        *lock(&self.seats[me].thread) = None;
        self.seats[me].taken.store(false, Ordering::Release);
        self.calling.appointing.store(false, Ordering::Relaxed);
    }

    /// Appoints another relief than the one on duty. The caller is the lookout.
    pub(crate) fn appoint(&self) -> Appointed {
        let numbers = self.workers..self.seats.len();
        for number in numbers.clone() {
            if self.leave_reserve(number) {
                self.put_on_duty(number);
                self.unpark(number);
                return Appointed::Reserve;
            }
        }
        let is_free = |&number: &usize| !self.seats[number].taken.swap(true, Ordering::Acquire);
        let Some(number) = numbers.into_iter().find(is_free) else { return Appointed::Nobody };
        self.calling.appointing.store(true, Ordering::Relaxed);
        Appointed::New(number)
    }
}

/// The lookout.
impl Idle {
    /// Asks the lookout to look at the workers. Returns true if the caller has to
    /// [call](Self::call_lookout) it for that. The caller has made a full fence: if it finds that
    /// the lookout has been asked already, the look is yet to come, and sees what the caller did
    /// before.
    pub(crate) fn ask_to_look(&self) -> bool {
        let looking = &self.calling.looking;
        // In a runtime without a lookout, or whose lookout the system refuses, the word stays
        // `ASKED`.
        if looking.load(Ordering::Relaxed) == ASKED {
            return false;
        }
        let is_to_call = looking.swap(ASKED, Ordering::AcqRel) == RESTS;
        if is_to_call {
            self.word.fetch_and(!UNWATCHED, Ordering::AcqRel);
        }
        is_to_call
    }

    /// Calls the lookout.
    pub(crate) fn call_lookout(&self) -> Called {
        let mut lookout = lock(&self.calling.lookout);
        match &*lookout {
            _ if !self.has_reliefs() => {}
            Lookout::Running(thread) => thread.unpark(),
            Lookout::Asked => {}
            Lookout::Missing => {
                *lookout = Lookout::Asked;
                return Called::Start;
            }
        }
        Called::Done
    }

    /// Registers the calling thread as the lookout.
    pub(crate) fn begin_lookout(&self) {
        *lock(&self.calling.lookout) = Lookout::Running(thread::current());
    }

    /// Unparks the lookout, if there is one.
    pub(crate) fn unpark_lookout(&self) {
        if let Lookout::Running(thread) = &*lock(&self.calling.lookout) {
            thread.unpark();
        }
    }

    /// Returns whether the lookout makes rounds.
    pub(crate) fn is_to_look(&self) -> bool {
        self.calling.looking.load(Ordering::Relaxed) != RESTS
    }

    /// Begins a look of the lookout, up to and including the fence. Returns true if a thread has
    /// asked for it since the last look began.
    pub(crate) fn begin_look(&self) -> bool {
        let is_asked = self.calling.looking.swap(LOOKS, Ordering::AcqRel) == ASKED;
        if self.word.load(Ordering::Relaxed) & UNWATCHED != 0 {
            // The asker has cleared it before the lookout has set it.
            self.word.fetch_and(!UNWATCHED, Ordering::AcqRel);
        }
        fence::full(Edge::StuckLook);
        is_asked
    }

    /// Ends the rounds of the lookout, up to and including the heavy fence. Its last look has to
    /// follow. Returns false, and ends nothing, if a thread has asked for a look meanwhile.
    pub(crate) fn end_looks(&self) -> bool {
        self.calling.watches_from.store(u64::MAX, Ordering::Relaxed);
        let order = Ordering::Relaxed;
        if self.calling.looking.compare_exchange(LOOKS, RESTS, order, order).is_err() {
            return false;
        }
        self.word.fetch_or(UNWATCHED, Ordering::AcqRel);
        // A lone worker pushes behind a light fence.
        if fence::heavy(Edge::WatchEnd) {
            return true;
        }
        fence::full(Edge::WatchEnd);
        if fence::is_asymmetric() {
            // The kernel has refused the fence.
            _ = self.ask_to_look();
            return false;
        }
        true
    }

    /// Publishes the latest end of the lookout's coming rest, after its last look.
    pub(crate) fn watch_from(&self, from: u64) {
        self.calling.watches_from.store(from, Ordering::Relaxed);
    }

    /// Returns the latest end of the lookout's rest.
    pub(crate) fn watches_from(&self) -> u64 {
        self.calling.watches_from.load(Ordering::Relaxed)
    }

    /// Waits until the lookout is asked to look, for at most `limit`.
    pub(crate) fn rest_lookout(&self, limit: Option<Duration>) {
        if !self.is_to_look() {
            thread::park(limit);
        }
    }
}
