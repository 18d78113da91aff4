//! Where an object is at home, and how that changes: [`door`](super) says who may change it, and why that is safe.

use super::{CLOSED, Door, FLAGS, LOCKED, POISONED, SHARED};
use crate::primitives::atomic::{Edge, Ordering, edge};
use crate::scheduler::context::Context;

/// The bits beside the address that an object takes to another home: its host there is not the one that was stuck.
const KEPT: usize = LOCKED | POISONED | SHARED | CLOSED;

impl Door {
    /// The address of the home's processor; zero without one.
    pub(in crate::object) fn home(&self) -> usize {
        self.place.load(Ordering::Relaxed) & !FLAGS
    }

    /// Changes the home. The caller is inside by the lock.
    pub(in crate::object) fn set_home(&self, home: usize) {
        let place = self.place.load(Ordering::Relaxed);
        self.place.store(place & KEPT | home, Ordering::Relaxed);
    }

    /// Changes the home, which is `from`, of an object that nobody is inside of by the lock. The caller is the worker of the present one, or there is none. False if it is not to be changed now, or is another one.
    pub(in crate::object) fn move_home(
        &self,
        context: Option<&Context>,
        from: usize,
        to: usize,
    ) -> bool {
        let place = self.place.load(Ordering::Relaxed);
        if place & !FLAGS != from {
            return false;
        }
        let may = from == 0
            || context.is_some_and(|context| {
                context.seat.home().addr() == from
                    && !context.seat.processor().inside.has(self.address())
            });
        let order = edge(Edge::ObjectUnlock, Ordering::Release);
        may && place & LOCKED == 0
            && self
                .place
                .compare_exchange(place, place & KEPT | to, order, Ordering::Relaxed)
                .is_ok()
    }
}
