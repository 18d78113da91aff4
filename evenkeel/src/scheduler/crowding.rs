//! Two workers on one hardware thread, while another is free.
//!
//! An operating system puts a thread that wakes where it thinks best, and a thread that searches
//! for work counts as busy like any other. So of two workers the second may find itself where the
//! first one is; then it takes half of the first one's work, and the two take turns on one core,
//! for as long as it takes the system to balance its load, some milliseconds. A worker that
//! searches therefore looks around: where another one is it goes elsewhere. It stays at its first
//! look, because the system has just put its new thread there, and once its runtime has begun to
//! end: a pool that lives for a moment would spend much of that on moves.
//!
//! What Linux keeps of such a move: a thread whose affinity has been set is confined to that from
//! then on, even if its cpuset grows later. Hence
//! [`Builder::keep_apart`](crate::Builder::keep_apart).
//!
//! Places are hints, plain stores of each worker about itself: a wrong one costs a move.
//!
//! # Rejected
//! To pin workers from the beginning: on a machine that others use, a pinned worker waits behind
//! whoever is on its core ([`Builder::pin`](crate::Builder::pin) is for machines of one's own). To
//! fall asleep instead, and leave it to the next wake-up: that looks for a free core only among
//! those that share the last-level cache.

use super::worker::Worker;
use crate::policy::placement;
use crate::primitives::cpu;
use crate::processor::shared::Phase;

impl Worker<'_> {
    /// Looks where this worker is, and goes to another hardware thread if another worker is on this
    /// one and a third place is free.
    pub(super) fn keep_apart(&mut self, now: u64) {
        let shared = self.context.shared();
        // One whose runtime is about to end mostly has nothing left to do.
        if !shared.hooks.keep_apart || shared.phase() > Phase::Running {
            return;
        }
        let Some(here) = cpu::current() else { return };
        let own = &self.context.seat.processor().cpu;
        own.take(here);
        let others = &shared.neighbours[self.me].others;
        let is_taken = |cpu| others.iter().any(|&other| shared.processors[other].cpu.is(cpu));
        let is_first_look = !std::mem::replace(&mut self.has_looked_around, true);
        let since = now.saturating_sub(self.moved);
        if !is_taken(here) || !placement::may_move(is_first_look, since) {
            return;
        }
        self.moved = now;
        if let Some(there) = cpu::leave_for(|cpu| !is_taken(cpu)) {
            own.take(there);
            self.context.counters().moves.add(1);
        }
    }
}
