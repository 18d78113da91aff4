//! Which of the parties that take turns on a thread is polled.
//!
//! A thread that polls tasks polls one party at a time: the task. Others take turns outside of
//! tasks: the future of `block_on`, and each local task. What they have in hand across their awaits
//! lies on one thread, and is not all one party's.

use super::id::Id;
use crate::primitives::thread::thread_local;
use std::cell::Cell;

thread_local! {
    /// The party that is polled outside of tasks, or [`Id::NONE`].
    static PRESENT: Cell<Id> = const { Cell::new(Id::NONE) };
}

/// Returns the party that this thread polls outside of tasks; [`Id::NONE`] if it polls none.
#[inline]
pub(crate) fn present() -> Id {
    // It has no destructor: a thread that ends has it too.
    PRESENT.try_with(Cell::get).unwrap_or(Id::NONE)
}

/// While it lives, this party is the present one.
pub(crate) struct Turn {
    before: Id,
}

impl Turn {
    #[inline]
    pub(crate) fn of(party: Id) -> Self {
        Self { before: PRESENT.try_with(|present| present.replace(party)).unwrap_or(Id::NONE) }
    }
}

impl Drop for Turn {
    #[inline]
    fn drop(&mut self) {
        let _ = PRESENT.try_with(|present| present.set(self.before));
    }
}
