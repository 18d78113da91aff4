//! Crowding: two workers on one hardware thread, while another hardware thread is free.
//!
//! An operating system puts a thread that wakes where it thinks best, and a thread that searches
//! for work counts as busy like any other. So a second worker may wake on the core of a first one.
//! Then it takes half of the first one's work, and the two take turns on one core until the system
//! balances its load, some milliseconds later. Therefore a worker that searches looks around, and
//! moves away from the hardware thread of another worker. It does not move at its first look,
//! because the system has just placed its new thread, nor once its runtime has begun to end. A pool
//! that lives for a moment would spend much of that on moves.
//!
//! A worker that is [away](crate::idle) does not count: as a rule it is blocked, and its core is
//! free. If it computes, the system separates the two. While such workers counted, each wake of the
//! other worker of two moved that one to another core, and light tasks beside one blocked worker
//! ran 32 µs after their wakes, not 11 (medians; 99 of 100 within 100 and 98).
//!
//! Such a move has a lasting effect on Linux: once its affinity has been set, a thread stays
//! confined to that mask, even if its cpuset grows later. Hence
//! [`Builder::keep_apart`](crate::Builder::keep_apart).
//!
//! The noted hardware threads are hints, which each worker stores plainly about itself: a wrong one
//! costs a move.
//!
//! # Rejected
//! Pinning workers from the beginning: on a shared machine, a pinned worker waits behind other
//! threads on its core ([`Builder::pin`](crate::Builder::pin) is for dedicated machines). Falling
//! asleep instead, and leaving the move to the next wake-up: the system then looks for a free core
//! only among those that share the last-level cache.

use super::worker::Worker;
use crate::policy::placement;
use crate::primitives::cpu;
use crate::processor::shared::Phase;

impl Worker<'_> {
    /// Looks on which hardware thread this worker is, and moves it to a free one if another worker
    /// is there too.
    pub(super) fn keep_apart(&mut self, now: u64) {
        let shared = self.context.shared();
        // A worker of a runtime that is about to end mostly has nothing left to do.
        if !shared.hooks.keep_apart || shared.phase() > Phase::Running {
            return;
        }
        let Some(here) = cpu::current() else { return };
        let own = &self.context.seat.processor().cpu;
        own.take(here);
        let others = shared.neighbours(self.me).map_or(&[][..], |me| &me.others);
        let at = |cpu| others.iter().filter(move |&&other| shared.processors[other].cpu.is(cpu));
        let is_crowded = at(here).any(|&other| !shared.is_away(other));
        let is_first_look = !std::mem::replace(&mut self.has_looked_around, true);
        let since = now.saturating_sub(self.moved_at);
        if !is_crowded || !placement::may_move(is_first_look, since) {
            return;
        }
        self.moved_at = now;
        if let Some(there) = cpu::leave_for(|cpu| at(cpu).next().is_none()) {
            own.take(there);
            self.context.counters().moves.add(1);
        }
    }
}
