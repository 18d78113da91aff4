//! A worker: the state that it keeps from one batch to the next.
//!
//! [`work`](super::work) has its loop. Its methods for sleeping, timers, trials, reliefs and the
//! rest are in files of these names.

use super::catches::Catches;
use super::handover::Request;
use super::job::{Stolen, Victim};
use super::leave::Leave;
use super::pace::Pace;
use super::polls::{Gathering, Marked, Trial};
use super::view::View;
use crate::deque::Level;
use crate::policy::helping::Looks;
use crate::policy::locality::Restraint;
use crate::policy::random::Random;
use crate::policy::searching::Lulls;
use crate::processor::context::Context;
use crate::processor::shared::Shared;
use std::sync::Arc;

/// Counts a thread as left when it is dropped, also by a panic.
pub(super) struct Left<'a> {
    pub(super) shared: &'a Shared,
    pub(super) is_worker: bool,
}

impl Drop for Left<'_> {
    fn drop(&mut self) {
        self.shared.note_left(self.is_worker);
    }
}

/// What a worker knows of the use of its keep.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    /// When the present period, or the present pause, is over.
    pub(super) until: u64,
    /// The length of the last pause.
    pub(super) pause: u64,
    /// The kept tasks of the present period that were signalled by other threads.
    pub(super) ended: u64,
    /// The count of polls at its beginning.
    pub(super) since: u64,
}

pub(super) struct Worker<'a> {
    pub(super) context: &'a Context,
    pub(super) shared: Arc<Shared>,
    pub(super) me: usize,
    /// When the worker, which is a driver, leaves the loop.
    pub(super) leave: Option<Leave<'a>>,
    /// The count of polls before which a driver does not leave, as long as tasks are ready.
    pub(super) behind: u64,
    pub(super) random: Random,
    pub(super) turn: u64,
    /// The worker's memory of the other processors.
    pub(super) view: View,
    /// The pending request, if any.
    pub(super) request: Option<Request>,
    /// What it knows of the fork-join jobs of others, by their numbers; empty before its first
    /// look. A driver that only polls its future makes none.
    pub(super) victims: Vec<Victim>,
    /// Since when it has left all jobs that it found to workers near their data.
    pub(super) restraint: Restraint,
    /// The fork-join job that it has found, if any.
    pub(super) stolen: Option<Stolen>,
    /// The steal on trial, if any.
    pub(super) trial: Option<Trial>,
    /// Its tasks' way to another worker, and what comes of those of others here.
    pub(super) gathering: Gathering,
    pub(super) marked: Marked,
    /// How long its polls take.
    pub(super) pace: Pace,
    /// Its looks at others, between batches.
    pub(super) looks: Looks,
    /// What it knows of the use of its keep.
    pub(super) keeping: Keeping,
    /// When it last moved apart from another worker.
    pub(super) moved_at: u64,
    /// Whether it has looked at its hardware thread since its own thread began.
    pub(super) has_looked_around: bool,
    /// When it has run out of work or, if it has slept since, woken up; and the count of its polls
    /// then, or `u64::MAX` if it has run anything else since, or a search has found it work.
    pub(super) out_since: u64,
    pub(super) out_after: u64,
    /// How long it has been without work each time.
    pub(super) lulls: Lulls,
    /// Whether it has seen tasks, as the watch, that it may take after a while of searching.
    pub(super) is_to_search: bool,
    /// Whether it has taken tasks that sockets wake since it last ran out of work.
    pub(super) has_taken_served: bool,
    /// How often its sockets are ready.
    pub(super) catches: Catches,
    /// Whether the tasks of this processor have been aborted.
    pub(super) aborted: bool,
    /// The value of the bell of [arrivals](crate::travel) when the worker was last without work.
    pub(super) heard: u64,
}

impl<'a> Worker<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        let shared = context.shared().clone();
        let me = context.seat.me();
        Self {
            context,
            me,
            leave: None,
            behind: 0,
            random: Random::new(me as u64),
            turn: Random::new(me as u64).next(),
            view: View::new(shared.processors.capacity()),
            request: None,
            victims: Vec::new(),
            restraint: Restraint::default(),
            stolen: None,
            trial: None,
            gathering: Gathering::default(),
            marked: Marked::default(),
            pace: Pace::new(),
            looks: Looks::default(),
            keeping: Keeping::default(),
            moved_at: 0,
            has_looked_around: false,
            out_since: 0,
            out_after: u64::MAX,
            lulls: Lulls::default(),
            is_to_search: false,
            has_taken_served: false,
            catches: Catches::default(),
            aborted: false,
            heard: 0,
            shared,
        }
    }

    /// Returns bits that choose the processor to look at: multiples of the golden ratio, which
    /// spread looks more evenly over the others than random bits do (Weyl; Knuth, "The Art of
    /// Computer Programming", 6.4).
    pub(super) fn next_turn(&mut self) -> u64 {
        self.turn = self.turn.wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.turn
    }

    /// Returns whether there is a closure for this worker, or for any.
    pub(super) fn any_errands(&self) -> bool {
        (!self.context.seat.processor().parts.is_empty() || !self.shared.errands.is_empty())
            && !self.context.is_relief()
    }

    /// Returns whether there are tasks or jobs to run here. A waker that is a caller's may spawn
    /// either: whatever calls wakers between two batches asks afterwards.
    pub(super) fn has_any(&self) -> bool {
        self.context.ready() > 0 || self.has_jobs()
    }

    pub(super) fn has_jobs(&self) -> bool {
        self.context.seat.processor().deque.level() > Level::FLOOR
    }
}
