//! The worker's part in journeys: tasks that travel from it, and visitors that have come.

use crate::policy::forking;
use crate::primitives::atomic::Ordering;
use crate::processor::context::Context;
use crate::processor::shared::Shared;
use crate::raw_task::berth::After;
use crate::raw_task::rights::Runnable;
use std::ptr;

impl Context {
    /// Notes that the polled task is inside an object at home here.
    #[inline(always)]
    pub(crate) fn note_visit(&self) {
        self.journeys.visitor.set(self.polled());
    }

    /// Makes the polled task go to the back of the queue after its poll: the visitors' queue if it
    /// is a visitor.
    #[inline(always)]
    pub(crate) fn go_again(&self) {
        if self.after() == After::Visit && self.journeys.target.get() != self.seat.me() {
            // Another part of the task is on its way elsewhere, which gives the others a turn too.
            return;
        }
        // The thread polls a task, so this does not compare two null pointers.
        let visits = ptr::eq(self.journeys.visitor.get(), self.polled());
        self.set_after(if visits { self.stay() } else { After::Again });
    }

    #[cold]
    fn stay(&self) -> After {
        self.journeys.visitor.set(ptr::null_mut());
        self.journeys.target.set(self.seat.me());
        // From a single worker no thief takes tasks.
        if self.shared().workers > 1 { After::Visit } else { After::Again }
    }

    /// Returns the other worker that a note has for the object at this address, if the thread polls
    /// a task, which may travel there.
    #[inline(always)]
    pub(crate) fn whereabouts_of(&self, address: usize) -> Option<usize> {
        let moves = || self.shared().moves.load(Ordering::Relaxed);
        self.journeys.whereabouts.find(address, moves).filter(|_| !self.polled().is_null())
    }

    /// Notes that the object at this address is at home at another worker.
    pub(crate) fn note_whereabouts(&self, address: usize, number: usize) {
        let moves = self.shared().moves.load(Ordering::Relaxed);
        self.journeys.whereabouts.note(address, number, moves);
    }

    /// Makes the polled task travel to processor `target` after its poll.
    pub(crate) fn travel(&self, target: usize) {
        self.journeys.target.set(target);
        self.set_after(After::Visit);
    }

    /// Returns whether the polled task was sent here. If not, a thief has taken it on its way to
    /// another processor, where another part of it wants to go.
    pub(crate) fn was_sent_here(&self) -> bool {
        self.seat.has_come(self.polled())
    }

    /// Makes the task that was just polled join the visitors of its target.
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

/// Wakes the receiver of the tasks that were sent to processor `target`: its worker, another one,
/// or the relief.
#[cold]
pub(crate) fn announce(shared: &Shared, target: usize) {
    let counts = shared.idle.counts();
    let away = shared.is_away(target);
    if counts.all_away || forking::relieve(away, counts.sleeping) {
        shared.call_relief();
    } else if counts.is_unwatched {
        shared.watch();
    } else if counts.sleeping > 0 && !shared.idle.wake(target) {
        if away {
            shared.wake_one();
        }
        // If the target is stuck, or stays away, the watch finds the tasks once they are stranded:
        // a thread that comes at once leaves them.
        shared.arm();
    }
}
