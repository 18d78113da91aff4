//! Trials: a thief tests whether a steal of quick tasks pays, and undoes it if not.
//!
//! # Protocol
//! 1. A thief that has taken quick tasks notes the mean length of a poll at the victim before.
//! 2. After [`together::TRIAL`] it compares. If the two processors make fewer polls than the one
//!    did, it marks the victim's queue to be left together for a while, and [gives the tasks
//!    back](super::gathering). Tasks that have waited long stay: there their wait would begin anew.
//!
//! The mark is among the victim's published figures: a hint, which any thief may overwrite and on
//! which nothing relies. A thief that runs out of work before [`together::TRIAL`] has passed makes
//! no comparison.

use super::polls::Trial;
use super::worker::Worker;
use crate::policy::{Look, together};

impl Worker<'_> {
    /// Begins a trial if the stolen tasks are quick: `victim` looked like `before` before the
    /// steal.
    pub(super) fn begin_trial(&mut self, victim: usize, before: &Look, now: u64) {
        if together::is_trial(before) {
            let until = now.saturating_add(together::TRIAL);
            let polls = self.begin_polls(victim, now);
            self.trial = Some(Trial { victim, before: before.mean_poll, until, polls });
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
        let (own, theirs) = self.mean_polls(&trial.polls, trial.victim, now);
        let mark = together::judge(trial.before, own, theirs, now, failures);
        self.view.tried(trial.victim, mark.is_none());
        if let Some(mark) = mark {
            self.shared.processors[trial.victim].published.leave_together(mark);
            self.give_to(trial.victim, now);
        }
    }
}
