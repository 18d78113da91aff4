//! Calls for the threads beside the workers: the relief, and spares.
//!
//! `scheduler/relief.rs` and `scheduler/spare.rs` have the protocols.

use super::shared::{Shared, Starter};
use crate::idle::Called;

impl Shared {
    /// Calls the relief, if the runtime has one. The first call starts its thread.
    #[cold]
    pub(crate) fn call_relief(&self) {
        if self.idle.call() == Called::Start
            && let Some(Starter(start)) = self.relief_starter.get()
            && let Some(shared) = self.processors[0].shared.upgrade()
            && shared.note_start()
            && !start(shared, self.workers)
        {
            self.note_left();
        }
    }

    /// Asks the relief to look at worker `host`. The caller is away and runs a job of that worker,
    /// or it is that worker and waits.
    pub(crate) fn look_after(&self, host: usize) {
        // Spares poll no tasks.
        if host < self.workers && !self.is_away(host) && self.idle.ask_to_look() {
            self.call_relief();
        }
    }

    /// Calls a spare for an errand that was sent while no worker slept or searched, if a spare can
    /// run it at once.
    pub(crate) fn offer_to_spare(&self) {
        if self.spares.has_waiter() && self.are_all_away() {
            self.call_spare();
        }
    }

    /// Calls a spare, if there is a waiter without one.
    #[cold]
    pub(crate) fn call_spare(&self) {
        let Some(Starter(start)) = self.spare_starter.get() else { return };
        let Some(shared) = self.processors[0].shared.upgrade() else { return };
        self.spares.call(|number| start(shared, number));
    }
}
