//! Trials: a thief tests whether a steal of quick tasks pays, and undoes it if not.
//!
//! # Protocol
//! 1. A thief that has taken quick tasks notes the mean length of a poll at the victim before.
//! 2. After [`together::TRIAL`] it compares. If the two processors make fewer polls than the one
//!    did, it marks the victim's queue to be left together for a while. It sends the tasks in its
//!    own queue back through the victim's inbox, except tasks that have waited long: there their
//!    wait would begin anew.
//! 3. It is then without work, and searches and sleeps like any worker. Tasks at the victim wake
//!    those that still wait, so these too run there.
//!
//! The mark is among the victim's published figures: a hint, which any thief may overwrite and on
//! which nothing relies. A thief that runs out of work before [`together::TRIAL`] has passed makes
//! no comparison.

use super::wake;
use super::worker::Worker;
use crate::policy::{Look, stealing, together};
use crate::processor::context::Context;
use crate::queue::ring::Entry;

/// A steal on trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    victim: usize,
    /// The mean length of a poll at the victim before the steal, in nanoseconds.
    before: u64,
    until: u64,
}

impl Worker<'_> {
    /// Begins a trial if the stolen tasks are quick: `victim` looked like `before` before the
    /// steal.
    pub(super) fn begin_trial(&mut self, victim: usize, before: &Look, now: u64) {
        if together::is_trial(before) {
            let until = now.saturating_add(together::TRIAL);
            self.trial = Some(Trial { victim, before: before.mean_poll, until });
        }
    }

    /// Judges the present trial, if its time is over.
    #[inline]
    pub(super) fn end_trial(&mut self, now: u64) {
        if let Some(trial) = self.trial.take_if(|trial| trial.until <= now) {
            self.judge(trial, now);
        }
    }

    #[cold]
    fn judge(&mut self, trial: Trial, now: u64) {
        let Some(theirs) = self.view.look(&self.shared, trial.victim, now) else { return };
        if !theirs.switched {
            // The victim stands still or sleeps: there is nothing to compare with.
            return;
        }
        let failures = self.view.failed_trials(trial.victim);
        let own = self.mean_poll;
        let mark = together::judge(trial.before, own, theirs.mean_poll, now, failures);
        self.view.tried(trial.victim, mark.is_none());
        if let Some(mark) = mark {
            self.shared.processors[trial.victim].published.leave_together(mark);
            give_back(self.context, trial.victim, now);
        }
    }
}

/// Sends the tasks in the queue to another processor, except those that have waited long.
pub(super) fn give_back(context: &Context, victim: usize, now: u64) {
    context.counters().splits_undone.add(1);
    let mut entries = Vec::new();
    context.seat.split(usize::MAX, &mut entries);
    let old = |entry: &Entry| now.saturating_sub(entry.since) >= stealing::OLD_HEAD;
    let (mut old, young): (Vec<_>, Vec<_>) = entries.into_iter().partition(old);
    context.seat.take_in(&mut old);
    for entry in young {
        wake::leave(context.shared(), victim, entry.task);
    }
}
