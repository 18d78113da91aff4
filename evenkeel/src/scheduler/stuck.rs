//! Workers that are stuck in a poll, and how the relief finds them.
//!
//! A worker inside a poll polls no other task, and one that runs a job of that poll does not
//! either. So one task can keep all workers, and then the relief is to poll the others. How long
//! the poll lasts is known to neither of them when the job is stolen, and a fork must not cost more
//! for it. So the relief looks.
//!
//! # Roles
//! A *host* is a worker whose poll forks. A *thief* comes from its loop and steals a job of the
//! host's. The *relief* looks.
//!
//! # Protocol
//! *Thief*: once it is away, and before it runs the job, it asks the relief to look, unless the
//! host is away itself. It calls the relief if that does not look already.
//! *Relief*: it looks at all workers and naps, by turns, as long as a look finds a worker inside a
//! fork, or a thief has asked since the last look. A worker that is inside a fork at two looks, in
//! the same poll, and for [long enough](forking::is_stuck), is *stuck*: the relief counts it as
//! [away](super::idle). From then on it does what [`relief`] says.
//! *Host*: at the end of its batch, before it sleeps, and when it goes away itself, it looks
//! whether it has been counted, and counts itself out.
//!
//! # Why the relief comes
//! Suppose that no worker comes to its loop, and that one of them is a thief. Until the thief is
//! done, the job's place in the host's deque is in use, and the host's poll goes on. The request
//! and the look meet in one word, with a full fence on either side: the thief's between the steal
//! and its look at the word, the relief's between its word that it looks, and the look. So the look
//! sees the job, and the relief goes on until the host is stuck; or the thief leaves its request.
//! Then the relief sees that at its next look, or has said that it looks no more, and is called.
//! So all workers are away but those inside polls whose jobs no thief has. The relief counts them
//! if they fork, as long as it looks. Of other polls it knows nothing: see the promise. Nor does it
//! look while it is inside a long poll itself.
//!
//! # Cost
//! A thief: a load of the host's state, and an exchange of its own when it goes away. A worker: a
//! load of its own state for each batch. Short polls that fork: the first thief wakes the relief,
//! some 5 µs before it runs the job; then the relief wakes by itself after each nap, which grows up
//! to a millisecond.
//!
//! # Rejected
//! The thief counts the host in when it steals: where a task is ready, each short join would call
//! the relief. The host counts itself in when it waits: two long halves do not wait. A look at the
//! time in each fork: that is the path which may cost nothing.

use super::idle::Idle;
use super::relief;
use super::shared::Shared;
use super::worker::Worker;
use crate::policy::forking;

/// Has the relief look, because the caller, who is away, runs a job of `host`.
pub(super) fn look_after(shared: &Shared, host: usize) {
    // Spares poll nothing.
    if host < shared.workers && !shared.is_away(host) && shared.idle.ask_to_look() {
        relief::call(shared);
    }
}

/// What the relief knows from one look to the next.
#[derive(Debug, Default)]
pub(super) struct Lookout {
    /// What it has seen of each worker; empty before the first look.
    seen: Vec<Option<Seen>>,
    /// When the next look is due.
    due: u64,
    /// How long the last nap was.
    nap: u64,
}

/// A worker inside a fork.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// What tells its poll from others.
    departures: usize,
    /// When that was first seen.
    since: u64,
}

impl Lookout {
    /// Notes what a worker looks like that is inside a fork, if it is. Gives for how long it has
    /// looked like that.
    fn see(&mut self, worker: usize, departures: Option<usize>, now: u64) -> Option<u64> {
        let seen = &mut self.seen[worker];
        let Some(departures) = departures else {
            *seen = None;
            return None;
        };
        let same = seen.filter(|seen| seen.departures == departures);
        let since = seen.insert(same.unwrap_or(Seen { departures, since: now })).since;
        Some(now.saturating_sub(since))
    }

    /// When the next look is due, if there is to be one.
    pub(super) fn due(&self, idle: &Idle) -> Option<u64> {
        idle.is_to_look().then_some(self.due)
    }
}

impl Worker<'_> {
    /// Looks for workers that are stuck, if the relief is to look and it is time.
    pub(super) fn look_out(&self, lookout: &mut Lookout) {
        let (idle, now) = (&self.shared.idle, self.context.now.get());
        if lookout.due(idle).is_none_or(|due| now < due) {
            return;
        }
        let is_asked = idle.begin_look();
        let mut are_suspect = false;
        lookout.seen.resize(self.shared.workers, None);
        for worker in 0..self.shared.workers {
            let processor = &self.shared.processors[worker];
            let is_in_fork = !processor.absence.is_away() && processor.deque.is_in_use();
            let departures = is_in_fork.then(|| processor.published.departures());
            match lookout.see(worker, departures, now) {
                Some(lasts) if forking::is_stuck(lasts) => {
                    idle.find_stuck(worker, &processor.absence);
                }
                seen => are_suspect |= seen.is_some(),
            }
        }
        let looks_on = is_asked || are_suspect || !idle.end_looks();
        lookout.nap = if looks_on { forking::next_nap(lookout.nap) } else { 0 };
        lookout.due = now + lookout.nap;
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_worker_lasts_in_one_poll_from_the_first_look_at_it_on() {
        let mut lookout = Lookout { seen: vec![None; 2], ..Lookout::default() };
        assert_eq!(lookout.see(1, Some(3), 10), Some(0));
        assert_eq!(lookout.see(0, Some(3), 15), Some(0), "another worker");
        assert_eq!(lookout.see(1, Some(3), 17), Some(7));
        assert_eq!(lookout.see(1, Some(4), 20), Some(0), "another poll");
        assert_eq!(lookout.see(1, None, 25), None);
        assert_eq!(lookout.see(1, Some(4), 30), Some(0), "it has been out of forks");
    }
}
