//! What a worker knows of how often its sockets are ready.

use crate::policy::readiness::{Catch, Prospect, Traffic};

/// The counts of one worker.
#[derive(Debug, Default)]
pub(super) struct Catches {
    /// Whether a look at the sockets before a sleep is worth while.
    pub(super) prospect: Prospect,
    /// How many sockets it finds ready for each sleep, and the notes in its set at the last one.
    catch: Catch,
    noted: u64,
    /// The same at the end of its last sleep, whatever ended it.
    served: u64,
    /// The notes in its set, beside those in the set where sockets gather.
    pub(super) traffic: Traffic,
}

impl Catches {
    /// Counts the `notes` in its set, if `least` or more have come since the last count. Returns
    /// whether it then finds few sockets for each sleep.
    pub(super) fn note(&mut self, notes: u64, least: u64) -> Option<bool> {
        if notes.saturating_sub(self.noted) < least {
            return None;
        }
        self.catch.note(notes - self.noted);
        self.noted = notes;
        Some(self.catch.is_sparse())
    }

    /// Returns whether any of the `notes` in its set have come since the last call.
    pub(super) fn has_served(&mut self, notes: u64) -> bool {
        std::mem::replace(&mut self.served, notes) != notes
    }
}
