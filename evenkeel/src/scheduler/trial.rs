//! Trials: whether a steal of quick tasks has paid, and what follows if it has not.
//!
//! # Protocol
//! 1. A thief that has been given quick tasks notes what a poll took at the victim before.
//! 2. After [`together::TRIAL`] it compares. If the two make fewer polls than the one did, it marks the victim's queue
//!    as one to be left together for a while, and sends all that is in its own queue back, through the victim's inbox.
//! 3. It is then without work, and searches and sleeps as anybody. Tasks that still wait for something are woken by
//!    those at the victim, and so come to run there too.
//!
//! The mark is a time in the victim's published figures: a hint, which anybody may overwrite and nothing relies on.
//! A thief that runs out of work before the time has come makes no comparison.

use super::context::Context;
use super::wake;
use super::worker::Worker;
use crate::policy::{Look, together};
use crate::primitives::atomic::Ordering;

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
        if before.switched && together::is_trial(before) {
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
        let pays = together::pays(trial.before, self.mean_poll, theirs.mean_poll);
        let failures = self.view.tried(trial.victim, pays);
        if pays {
            return;
        }
        let until = now.saturating_add(together::pause(failures));
        let published = &self.shared.processors[trial.victim].published;
        published.together_until.store(until, Ordering::Relaxed);
        give_back(self.context, trial.victim);
    }
}

/// Sends all that is in the queue to another processor.
pub(super) fn give_back(context: &Context, victim: usize) {
    context.counters().splits_undone.add(1);
    let mut entries = Vec::new();
    context.seat.split(usize::MAX, &mut entries);
    for entry in entries {
        wake::send(context.shared(), victim, entry.task);
    }
}
