//! What a worker does about the tasks that travel from it, and with those that have come.

use crate::policy::forking;
use crate::primitives::atomic::Ordering;
use crate::processor::context::Context;
use crate::processor::shared::Shared;
use crate::raw_task::berth::After;
use crate::raw_task::rights::Runnable;
use std::ptr;

impl Context {
    /// Notes that the task which is being polled is inside an object at home here.
    #[inline(always)]
    pub(crate) fn note_visit(&self) {
        self.journeys.visitor.set(self.task.get());
    }

    /// Has the task that is being polled go to the back of the queue when it has been: to that of
    /// the visitors if it has been one.
    #[inline(always)]
    pub(crate) fn go_again(&self) {
        if self.after.get() == After::Visit && self.journeys.target.get() != self.seat.me() {
            // Another part of it is on its way: that gives the others a turn too.
            return;
        }
        // A task is being polled, so two that are null do not meet here.
        let visits = ptr::eq(self.journeys.visitor.get(), self.task.get());
        self.set_after(if visits { self.stay() } else { After::Again });
    }

    #[cold]
    fn stay(&self) -> After {
        self.journeys.visitor.set(ptr::null_mut());
        self.journeys.target.set(self.seat.me());
        // A single worker has nobody who would take its tasks away.
        if self.shared().workers > 1 { After::Visit } else { After::Again }
    }

    /// The other worker where an object at this address is known to be, which the task that is
    /// being polled may travel to.
    #[inline(always)]
    pub(crate) fn whereabouts_of(&self, address: usize) -> Option<usize> {
        let moves = || self.shared().moves.load(Ordering::Relaxed);
        self.journeys.whereabouts.find(address, moves).filter(|_| !self.task.get().is_null())
    }

    /// Notes that the object at this address is at home at another worker.
    pub(crate) fn note_whereabouts(&self, address: usize, number: usize) {
        let moves = self.shared().moves.load(Ordering::Relaxed);
        self.journeys.whereabouts.note(address, number, moves);
    }

    /// Has the task that is being polled travel to processor `target` when it has been.
    pub(crate) fn travel(&self, target: usize) {
        self.journeys.target.set(target);
        self.set_after(After::Visit);
    }

    /// Whether the task that is being polled has been sent here, so that it was not taken away on
    /// its way to somewhere else, where another part of it wants to go.
    pub(crate) fn was_sent_here(&self) -> bool {
        self.seat.has_come(self.task.get())
    }

    /// Has the task that has just been polled join the visitors where it has said.
    #[inline(never)]
    pub(crate) fn visit(&self, task: Runnable) {
        let target = self.journeys.target.get();
        self.seat.forget_visitor();
        if target == self.seat.me() {
            self.seat.push_visitor(task, self.now.get());
        } else {
            self.journeys.departed.set(true);
            self.counters().hops.add(1);
            if self.seat.depart(task, target) {
                announce(self.shared(), target);
            }
        }
    }

    /// Sends the tasks that have departed since the last call.
    #[inline(always)]
    pub(crate) fn send_departed(&self) {
        if self.journeys.departed.take() {
            self.seat.send_departed(|target| announce(self.shared(), target));
        }
    }
}

/// Wakes whoever is to receive what has been sent to processor `target`.
#[cold]
pub(crate) fn announce(shared: &Shared, target: usize) {
    let counts = shared.idle.counts();
    let away = shared.is_away(target);
    if counts.all_away || forking::relieve(away, counts.sleeping) {
        shared.call_relief();
    } else if counts.sleeping > 0 && !shared.idle.wake(target) {
        if away {
            shared.idle.wake_one();
        } else {
            // It is awake; should it be stuck, the watch sees to it.
            shared.idle.arm();
        }
    }
}
