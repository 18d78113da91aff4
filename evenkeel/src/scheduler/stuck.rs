//! Workers that are stuck in a poll, and the relief's search for them.
//!
//! A worker inside a poll polls no other task, and neither does a worker that runs a job of that
//! poll. So one task can occupy all workers, and then the relief has to poll the others. When a job
//! is stolen, neither host nor thief knows how long the poll will last, and a fork must not cost
//! more because of it. So the relief looks.
//!
//! # Roles
//! A *host* is a worker that forks inside a poll. A *thief* comes from its loop and steals a job of
//! the host. The *relief* looks.
//!
//! # States
//! A worker is *inside a fork* while a place of its deque is in use, or while it waits. It waits
//! for a half, a scope, a broadcast or another runtime; the count of its waits is in its
//! [absence](crate::idle). The place of a stolen half is in use until the half is over. The place
//! of a boxed job is free once the thief has begun: then the owner waits at the end of its scope.
//!
//! # Protocol
//! - *Thief*: once it is away, and before it runs the job, it asks the relief to look, unless the
//!   host is away itself. It calls the relief if that does not look already.
//! - *Host, waiting*: when it begins to wait, it counts the wait, makes a full fence, and asks in
//!   the same way, unless it is away.
//! - *Relief*: it looks at all workers and naps, in turn, as long as a look finds a worker inside a
//!   fork, or a thief or host has asked since the last look. A worker that is inside a fork at two
//!   looks, in the same poll, and for [long enough](forking::is_stuck), is *stuck*: the relief
//!   counts it as [away](crate::idle). Then it follows the protocol of [`relief`](super::relief).
//! - *Host, back*: at the end of its batch, before and after its sleep, and when it goes away
//!   itself, it looks whether it has been counted, and counts itself out.
//!
//! # Why the relief comes
//! Suppose that no worker comes to its loop. Take a host that is inside a fork in its poll: either
//! a thief has a half of it, or it waits. The asker is the thief in the one case and the host in
//! the other, and until the half or the wait is over the host is inside the fork. The request and
//! the look meet in one word, with a full fence on either side. The asker's fence is between the
//! steal, or the count of the wait, and its look at the word. The relief's fence is between its
//! store that it looks, and the look. So the look sees the host inside the fork, and the relief
//! goes on until the host is stuck; or the asker leaves its request. Then the relief sees the
//! request at its next look, or it has stored that its looks are over, and the asker calls it. So
//! all workers are away except those in polls that neither wait nor have lost a half to a thief.
//! The relief counts those too if they fork, as long as it looks.
//!
//! # When it does not come
//! To a poll that does not fork, and to one that forks while no thief has a half of it: with one
//! worker, or where every worker is in such a poll. Then no worker asks. To the body of a scope
//! that computes on while thieves run its jobs: not before it waits. Nor does the relief look while
//! it is inside a long poll itself.
//!
//! # Cost
//! A fork: nothing. A thief: a load of the host's state, and an exchange of its own when it goes
//! away. A wait: a locked instruction, and the same load. A worker: a load of its own state for
//! each batch. A worker that is found stuck: one heavy fence. Short polls that fork, even where no
//! other task or timer exists: the first thief, or the host that waits, wakes the relief, some 5 µs
//! before the thief runs the job. The very first call starts the relief's thread, which takes some
//! tens of microseconds. Then the relief wakes by itself after each nap, which grows up to a
//! millisecond, until no worker is inside a fork at two looks. So forks that are rarer than that
//! pay for a wake-up each.
//!
//! # Rejected
//! The thief counts the host in when it steals: where a task is ready, each short join would call
//! the relief. Only the host asks, when it waits: two long halves do not wait. The thief asks only
//! if there is a task or a timer: the pusher of a later task knows of no thief. A look at the time
//! in each fork: a fork must cost nothing more.

use super::worker::Worker;
use crate::idle::{Absence, Idle};
use crate::policy::forking;
use crate::processor::context::Context;

/// Counts a worker's wait inside fork-join for as long as it lives.
#[derive(Debug)]
pub(crate) struct Waiting<'a>(&'a Absence);

impl<'a> Waiting<'a> {
    /// Counts a wait of the caller, and asks the relief to look at it.
    pub(crate) fn begin(context: &'a Context) -> Self {
        let absence = &context.seat.processor().absence;
        absence.begin_wait();
        context.shared().look_after(context.seat.me());
        Self(absence)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.end_wait();
    }
}

/// The relief's memory from one look to the next.
#[derive(Debug, Default)]
pub(super) struct Lookout {
    /// What the relief has seen of each worker; empty before the first look.
    pub(super) seen: Vec<Option<Seen>>,
    /// When the next look is due.
    due: u64,
    /// The length of the last nap.
    nap: u64,
}

/// A worker inside a fork.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// The count of departures, which identifies the poll.
    departures: usize,
    /// When the relief first saw that count.
    since: u64,
}

impl Lookout {
    /// Notes that a worker is inside a fork. Returns for how long it has been inside the same poll,
    /// from the first look on; it may have been between two forks at the looks in between.
    fn see(&mut self, worker: usize, departures: usize, now: u64) -> u64 {
        let seen = &mut self.seen[worker];
        let same = seen.filter(|seen| seen.departures == departures);
        let since = seen.insert(same.unwrap_or(Seen { departures, since: now })).since;
        now.saturating_sub(since)
    }

    /// Returns when the next look is due, if there has to be one.
    pub(super) fn due(&self, idle: &Idle) -> Option<u64> {
        idle.is_to_look().then_some(self.due)
    }
}

impl Worker<'_> {
    /// Looks for stuck workers, if the relief has to look and a look is due. Returns true if it has
    /// found one with tasks that no woken sleeper will take.
    pub(super) fn look_out(&self, lookout: &mut Lookout) -> bool {
        let (idle, now) = (&self.shared.idle, self.context.now.get());
        if lookout.due(idle).is_none_or(|due| now < due) {
            return false;
        }
        let is_asked = idle.begin_look();
        let (mut are_suspect, mut is_to_take) = (false, false);
        lookout.seen.resize(self.shared.workers, None);
        for worker in 0..self.shared.workers {
            let processor = &self.shared.processors[worker];
            let absence = &processor.absence;
            let is_in_fork = processor.deque.is_in_use() || absence.is_waiting();
            if absence.is_away() || !is_in_fork {
                continue;
            }
            match lookout.see(worker, processor.published.departures(), now) {
                // After a failed heavy fence the relief looks once more.
                lasts if forking::is_stuck(lasts) => {
                    are_suspect |= !idle.find_stuck(worker, absence);
                    if processor.look(now, &mut 0).has_work() {
                        is_to_take |= idle.counts().sleeping == 0 || !idle.wake_one();
                    }
                }
                _ => are_suspect = true,
            }
        }
        let looks_on = is_asked || are_suspect || !idle.end_looks();
        lookout.nap = if looks_on { forking::next_nap(lookout.nap) } else { 0 };
        lookout.due = now + lookout.nap;
        is_to_take
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_worker_lasts_in_one_poll_from_the_first_look_at_it_on() {
        let mut lookout = Lookout { seen: vec![None; 2], ..Lookout::default() };
        assert_eq!(lookout.see(1, 3, 10), 0);
        assert_eq!(lookout.see(0, 3, 15), 0, "another worker");
        assert_eq!(lookout.see(1, 3, 17), 7);
        assert_eq!(lookout.see(1, 4, 20), 0, "another poll");
        assert_eq!(lookout.see(1, 4, 30), 10);
    }
}
