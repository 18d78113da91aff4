//! Guards of parties that take turns on their thread.
//!
//! An object's word names the thread that is inside. A task's guard is gone before the thread polls
//! anything else, because the guard is not `Send` and a task is. So a task that finds its own
//! thread inside is inside itself. The future of `block_on` and local tasks keep their guards
//! across awaits, and their thread polls others meanwhile: for each such guard the thread notes
//! which [`party`] has it.

use crate::primitives::thread::thread_local;
use crate::raw_task::id::Id;
use crate::raw_task::party;
use std::cell::RefCell;

thread_local! {
    /// The objects that this thread is inside by such guards, by the addresses of their doors.
    static HELD: RefCell<Vec<(usize, Id)>> = const { RefCell::new(Vec::new()) };
}

/// Notes that the present party has a guard, if its thread has others. Returns whether it did.
#[inline]
pub(super) fn note(door: usize) -> bool {
    let party = party::present();
    party != Id::NONE && hold(door, party)
}

#[cold]
fn hold(door: usize, party: Id) -> bool {
    HELD.try_with(|held| held.borrow_mut().push((door, party))).is_ok()
}

/// Forgets a guard that was noted, on the same thread.
#[cold]
pub(super) fn forget(door: usize) {
    let _ = HELD.try_with(|held| {
        let mut held = held.borrow_mut();
        if let Some(place) = held.iter().rposition(|(other, _)| *other == door) {
            held.swap_remove(place);
        }
    });
}

/// Returns whether a party of this thread other than `holder` has a guard of the object.
#[cold]
pub(super) fn is_with_another(door: usize, holder: u64) -> bool {
    let is_other = |held: &RefCell<Vec<(usize, Id)>>| {
        held.borrow().iter().any(|&(other, party)| other == door && party.get() != holder)
    };
    HELD.try_with(is_other).unwrap_or(false)
}
