//! Calls for the threads beside the workers: the relief, the lookout, and spares; and those that
//! the lookout makes.
//!
//! `scheduler/relief.rs`, `scheduler/lookout.rs` and `scheduler/spare.rs` have the protocols.

use super::shared::{Shared, Stalled, Starter};
use crate::idle::{Appointed, Called};
use std::sync::OnceLock;

impl Shared {
    /// Calls the relief on duty, if the runtime has one, and has the lookout make rounds. The first
    /// call starts the relief's thread.
    #[cold]
    pub(crate) fn call_relief(&self) {
        if self.idle.call() == Called::Start {
            self.start_relief(self.workers);
        }
        self.watch();
    }

    /// Appoints another relief than the one on duty. Returns false if there is none left.
    pub(crate) fn appoint_relief(&self) -> bool {
        match self.idle.appoint() {
            Appointed::Reserve => true,
            Appointed::New(number) => self.start_relief(number),
            Appointed::Nobody => false,
        }
    }

    /// Starts the thread of the relief with this number. If the system refuses it, the lookout
    /// tries again.
    fn start_relief(&self, number: usize) -> bool {
        let is_started = self.start(&self.relief_starter, number);
        if !is_started {
            self.idle.retire(number);
        }
        is_started
    }

    /// Has the lookout make rounds, if the runtime has one.
    #[cold]
    pub(crate) fn watch(&self) {
        if self.idle.has_reliefs()
            && self.idle.ask_to_look()
            && self.idle.call_lookout() == Called::Start
        {
            self.start(&self.lookout_starter, self.processors.capacity());
        }
    }

    /// Has the watch make its rounds or, if no worker sleeps any more, the lookout.
    #[cold]
    pub(crate) fn arm(&self) {
        if !self.idle.arm() {
            self.watch_if_unwatched();
        }
    }

    /// Wakes a sleeper as a searcher, unless there is a searcher. If no worker sleeps any more, has
    /// the lookout make rounds.
    #[cold]
    pub(crate) fn wake_one(&self) -> bool {
        let is_woken = self.idle.wake_one();
        if !is_woken {
            self.watch_if_unwatched();
        }
        is_woken
    }

    /// Has the lookout make rounds if no thread looks at the workers.
    pub(crate) fn watch_if_unwatched(&self) {
        if self.idle.counts().is_unwatched {
            self.watch();
        }
    }

    /// Has the relief on duty look, though another one may have taken its call.
    pub(crate) fn recall_relief(&self) {
        self.call_relief();
        self.idle.unpark(self.idle.duty());
    }

    /// Asks the lookout to look at worker `host`. The caller is away and runs a job of that worker,
    /// or it is that worker and waits.
    pub(crate) fn look_after(&self, host: usize) {
        // Spares poll no tasks.
        if host < self.workers && !self.is_away(host) {
            self.watch();
        }
    }

    /// Has the lookout make rounds while a worker polls, if long polls are to be reported.
    /// Otherwise it rests where a sleeper can take over from a stuck worker.
    pub(crate) fn watch_for_stalls(&self) {
        if self.hooks.stall.is_some() {
            self.watch();
        }
    }

    /// Counts a long poll, and reports it if a hook is set. The caller is the lookout.
    pub(crate) fn note_stall(&self, stalled: Stalled) {
        self.processors[stalled.processor].counters.stalls.add(1);
        if let (Some(hook), Some(shared)) = (&self.hooks.stall, self.me.upgrade()) {
            hook(&shared, stalled);
        }
    }

    /// Starts a thread that the end of the runtime waits for. Returns false if the system refuses
    /// it, or the runtime is over.
    fn start(&self, starter: &OnceLock<Starter>, number: usize) -> bool {
        let (Some(Starter(start)), Some(shared)) = (starter.get(), self.me.upgrade()) else {
            return false;
        };
        if !shared.note_start() {
            return false;
        }
        let is_started = start(shared, number);
        if !is_started {
            self.note_left(false);
        }
        is_started
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
        self.call_spare_beside(0);
    }

    /// Calls a spare, if there is a waiter, or one of the `stuck` threads, without one.
    #[cold]
    pub(crate) fn call_spare_beside(&self, stuck: usize) {
        let Some(Starter(start)) = self.spare_starter.get() else { return };
        let Some(shared) = self.me.upgrade() else { return };
        self.spares.call(stuck, |number| start(shared, number));
    }
}
