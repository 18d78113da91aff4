//! Gathering: a worker gives its quick tasks to another, to see whether one polls them faster than
//! two.
//!
//! # Roles
//! The *giver* is a worker with quick polls beside another one. The *taker* is the nearest worker
//! with a lower number, so no two workers give to each other at once.
//!
//! # Protocol
//! 1. Every so often the giver counts the polls of both for [`together::COUNT`].
//! 2. It marks the taker's queue to be left together, by the longest mean poll with which the taker
//!    alone is faster. It ends the polls of the tasks that it [keeps](super::keeping), so that no
//!    wake leads to it, and sends the tasks in its queue through the taker's inbox. So does a thief
//!    whose trial has failed.
//! 3. It is then without work, and searches and sleeps like any worker. Tasks that come to it
//!    nevertheless, from timers or from outside, it sends on after each batch, while the mark
//!    holds and the taker comes to its queue. While the taker is inside a long poll, the giver
//!    polls them itself: `evenkeel-bench run --bench transfer --procs 2` takes a fifth of the time.
//! 4. The taker counts its polls for [`together::TRIAL`] at a time, and ends the mark if that has
//!    failed ([`Mark::has_failed`]). Its backlog then wakes a sleeper, as always.
//! 5. When the mark's time is over, a thief takes tasks, on trial. If the mark has held until then,
//!    the giver counts again soon, and the next mark lasts twice as long ([`together::Past`]).
//!
//! The mark is a hint, on which nothing relies: thieves take tasks that have waited, and those
//! behind a long poll. Every task moves by a push into an inbox.
//!
//! # Cost
//! A giver whose mark fails at once has had its tasks on one worker for some 400 µs: once in 10 ms
//! at first, and half as often after each failure, down to once in a second. Between marks that
//! hold the tasks are on two workers for some 2 ms: once in 10 ms at first, later once in 160.
//!
//! # Rejected
//! Judging by the moving averages of both workers: the operating system takes a core away for tens
//! of microseconds every now and then, and a mark that fails by one such pause fails soon.

use super::polls::{Marked, Polls, Step};
use super::wake;
use super::worker::Worker;
use crate::policy::together::{self, Mark};
use crate::policy::{Look, stealing};
use crate::processor::context::Context;
use crate::queue::ring::Entry;
use std::mem;

impl Worker<'_> {
    /// Takes the giver's next step, if it is due.
    #[inline]
    pub(super) fn tend_gathering(&mut self, now: u64) {
        if now >= self.gathering.next {
            self.gather(now);
        }
    }

    #[cold]
    fn gather(&mut self, now: u64) {
        match mem::take(&mut self.gathering.step) {
            Step::Apart if self.gathering.next > 0 => {
                if let Some(taker) = self.taker().filter(|&taker| self.may_gather(taker, now)) {
                    self.gathering.step = Step::Counts(taker, self.begin_polls(taker, now));
                    self.gathering.next = now.saturating_add(together::COUNT);
                    return;
                }
            }
            // A worker does not begin with it: many a runtime is over after some milliseconds.
            Step::Apart => {}
            Step::Counts(taker, polls) if self.may_gather(taker, now) => {
                let (own, theirs) = self.mean_polls(&polls, taker, now);
                let mark = together::gather(own, theirs, now, self.gathering.past);
                self.shared.processors[taker].published.leave_together(mark);
                return self.give_to(taker, now);
            }
            Step::Counts(..) => {}
            Step::Gathered(taker) => {
                let published = &self.shared.processors[taker].published;
                if published.are_together(now) {
                    if self.comes(taker, now) {
                        return self.give_to(taker, now);
                    }
                    // The tasks would lie behind its poll: they are polled here until it is over.
                    self.gathering.step = Step::Gathered(taker);
                    return;
                }
                let has_held = published.mark() != Mark::default();
                let pause = self.gathering.past.add(has_held);
                self.gathering.next = now.saturating_add(pause);
                return;
            }
        }
        self.gathering.next = now.saturating_add(self.gathering.past.pause());
    }

    /// Begins to count the polls of this worker and of another one.
    pub(super) fn begin_polls(&self, other: usize, now: u64) -> Polls {
        Polls::begin(self.context.seat.processor(), &self.shared.processors[other], now)
    }

    /// Returns the time per poll of both since the count began.
    pub(super) fn mean_polls(&self, polls: &Polls, other: usize, now: u64) -> (u64, u64) {
        polls.means(self.context.seat.processor(), &self.shared.processors[other], now)
    }

    fn taker(&self) -> Option<usize> {
        let others = &self.shared.neighbours(self.me)?.others;
        others.iter().copied().find(|&other| other < self.me)
    }

    fn may_gather(&mut self, taker: usize, now: u64) -> bool {
        let own = self.context.seat.processor().look(now, &mut 0);
        // A look at oneself does not tell.
        let own = Look { switched: true, ..own };
        let theirs = self.view.look(&self.shared, taker, now);
        theirs.is_some_and(|theirs| together::may_gather(&own, &theirs))
    }

    /// Returns whether a taker has polled a task since this worker last looked, or can be woken.
    fn comes(&mut self, taker: usize, now: u64) -> bool {
        let look = self.view.look(&self.shared, taker, now);
        look.is_some_and(|look| look.switched) || self.shared.idle.is_asleep(taker)
    }

    /// Gives all tasks to a taker, now and after each batch for as long as they are together there.
    pub(super) fn give_to(&mut self, taker: usize, now: u64) {
        // A steal before it is no longer on trial.
        self.trial = None;
        self.gathering.step = Step::Gathered(taker);
        self.gathering.next = now;
        self.context.seat.settle(now);
        give_back(self.context, taker, now);
    }

    /// Ends the mark on this worker's queue if it has failed.
    #[inline]
    pub(super) fn tend_mark(&mut self, now: u64) {
        let published = &self.context.seat.processor().published;
        if published.are_together(now) && now >= self.marked.since.saturating_add(together::TRIAL) {
            self.judge_mark(now);
        }
    }

    #[cold]
    fn judge_mark(&mut self, now: u64) {
        let published = &self.context.seat.processor().published;
        let Mark { until, .. } = published.mark();
        let polls = self.context.counters().polls.get();
        let last = mem::replace(&mut self.marked, Marked { until, since: now, polls, before: 0 });
        if last.until != until {
            // It is new: the count begins.
            return;
        }
        let (nanos, polls) = (now.saturating_sub(last.since), polls.saturating_sub(last.polls));
        self.marked.before = together::mean(nanos, polls);
        if published.mark().has_failed([last.before, self.marked.before]) {
            published.leave_together(Mark::default());
        }
    }
}

/// Sends the tasks in the queue to another processor, except those that have waited long: there
/// their wait would begin anew.
pub(super) fn give_back(context: &Context, victim: usize, now: u64) {
    let mut entries = Vec::new();
    context.seat.split(usize::MAX, &mut entries);
    let old = |entry: &Entry| now.saturating_sub(entry.since) >= stealing::OLD_SMALL_HEAD;
    let (mut old, young): (Vec<_>, Vec<_>) = entries.into_iter().partition(old);
    context.seat.take_in(&mut old);
    context.counters().splits_undone.add(u64::from(!young.is_empty()));
    for entry in young {
        wake::leave(context.shared(), victim, entry.task);
    }
}
