//! Trials: whether a steal of quick tasks has paid, and what follows if it has not.
//!
//! # Protocol
//! 1. A thief that has been given quick tasks notes what a poll took at the victim before.
//! 2. After [`together::TRIAL`] it compares. If the two make fewer polls than the one did, it marks
//!    the victim's queue as one to be left together for a while, and sends what is in its own queue
//!    back, through the victim's inbox, but for tasks that have waited long: there they would begin
//!    anew.
//! 3. It is then without work, and searches and sleeps as anybody. Tasks that still wait for
//!    something are woken by those at the victim, and so come to run there too.
//!
//! The mark stands among the victim's published figures: a hint, which anybody may overwrite and
//! nothing relies on. A thief that runs out of work before the time has come makes no comparison.

use super::wake;
use super::worker::Worker;
use crate::policy::{Look, stealing, together};
use crate::processor::context::Context;
use crate::queue::ring::Entry;

/// A steal on trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    victim: usize,
    /// What a poll took at the victim, in nanoseconds.
    before: u64,
    until: u64,
}

impl Worker<'_> {
    /// Notes that tasks have been stolen from `victim`, which looked so before.
    pub(super) fn begin_trial(&mut self, victim: usize, before: &Look, now: u64) {
        if together::is_trial(before) {
            let until = now.saturating_add(together::TRIAL);
            self.trial = Some(Trial { victim, before: before.mean_poll, until });
        }
    }

    /// Judges the trial that is under way, if its time has come.
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
            // It stands still or sleeps: there is nothing to compare with.
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

/// Sends what is in the queue to another processor, but for what has waited long.
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
