//! The workers' part in [readiness](crate::readiness): when they look at sockets, their own and
//! those of others.

use super::worker::Worker;
use crate::policy::readiness::{self, Catch};
use crate::readiness::Set;

impl Worker<'_> {
    /// Looks at this processor's sockets between two batches, if it is time.
    #[inline(always)]
    pub(super) fn tend_sockets(&mut self, now: u64) {
        if let Some(set) = self.shared.idle.set(self.me).get()
            && readiness::is_due(now, set.looked())
            && set.is_used()
        {
            self.tend(now);
        }
    }

    /// Looks at this processor's sockets. Returns whether it has woken any operation.
    fn tend(&mut self, now: u64) -> bool {
        self.claim_gathering();
        self.note_catch(Catch::MANY);
        self.shared.idle.set(self.me).get().is_some_and(|set| set.tend(now))
    }

    /// Notes how many sockets were ready since the last sleep, if they are `least` or more.
    fn note_catch(&mut self, least: u64) {
        let notes = self.notes(self.me);
        if let Some(is_sparse) = self.catches.note(notes, least) {
            self.context.catches_few.set(is_sparse);
        }
    }

    /// Has other sockets gather here from now on, if this processor's have most of the traffic.
    fn claim_gathering(&mut self) {
        let gatherer = self.shared.idle.gatherer();
        if gatherer == self.me {
            return;
        }
        let own = self.notes(self.me);
        if self.catches.traffic.is_due(own) {
            let theirs = self.notes(gatherer);
            if self.catches.traffic.leads(gatherer, own, theirs) {
                self.shared.idle.gather_at(self.me);
            }
        }
    }

    /// Returns how often sockets of processor `at` were found ready.
    fn notes(&self, at: usize) -> u64 {
        self.shared.idle.set(at).get().map_or(0, Set::notes)
    }

    /// Looks at this processor's sockets before a search or a sleep, if there is a prospect of
    /// finding any that is ready. Returns whether there is anything to run then.
    #[inline(always)]
    pub(super) fn may_look_at_sockets(&mut self) -> bool {
        if !self.catches.prospect.is_good() || !self.has_sockets() {
            return false;
        }
        let found = self.look_at_sockets();
        self.catches.prospect.note(found);
        found
    }

    /// Notes that sockets have ended a sleep of this length, which was a look.
    pub(super) fn note_sleep(&mut self, length: u64) {
        self.catches.prospect.note(length < readiness::AT_ONCE);
        self.note_catch(1);
        self.claim_gathering();
    }

    /// Looks at this processor's sockets. Returns whether there is anything to run then.
    #[inline(always)]
    pub(super) fn look_at_sockets(&mut self) -> bool {
        // The batch, or the search, has just read the clock.
        let now = self.context.now.get();
        self.has_sockets() && self.tend(now) && self.has_any()
    }

    /// Returns whether this processor has sockets: its worker is to sleep in their set soon.
    pub(super) fn has_sockets(&self) -> bool {
        self.shared.idle.set(self.me).get().is_some_and(|set| set.is_used())
    }

    /// Returns whether sockets here were ready since the last call.
    pub(super) fn has_served(&mut self) -> bool {
        let notes = self.notes(self.me);
        self.catches.has_served(notes)
    }

    /// Returns the sockets of another processor, if its worker does not come to them.
    fn overdue(&self, other: usize, now: u64) -> Option<&Set> {
        self.shared.idle.set(other).get().filter(|set| {
            set.is_used()
                && readiness::is_overdue(now, set.tended())
                && readiness::is_due(now, set.looked())
                && !self.shared.idle.is_asleep(other)
        })
    }

    /// Looks at these. Returns whether it has woken any operation.
    pub(super) fn look_for(&self, other: usize, now: u64) -> bool {
        self.overdue(other, now).is_some_and(|set| set.look(now))
    }

    /// Returns whether a look at those of any other worker finds something.
    pub(super) fn is_to_look_for_others(&self, now: u64) -> bool {
        let mut others = (0..self.shared.workers).filter(|&other| other != self.me);
        others.any(|other| self.overdue(other, now).is_some_and(Set::has_notes))
    }

    /// Looks at those of all other workers. Returns whether it has woken any operation.
    pub(super) fn look_for_others(&self, now: u64) -> bool {
        let others = (0..self.shared.workers).filter(|&other| other != self.me);
        others.fold(false, |any, other| self.look_for(other, now) | any)
    }
}
