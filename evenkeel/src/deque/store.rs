//! The store: memory of former deques, which the next runtime takes.
//!
//! A deque has an alignment of 4 MiB. The system maps 8 MiB of addresses for it, and clears the
//! pages that are touched. Unmapping it blocks every other thread of the process that maps memory
//! or starts a thread, and interrupts each core that has run one. A pool that lives for a tenth of
//! a millisecond would pay more for that than for its threads (`pool` in `evenkeel-rayon/example`).
//! Only memory is kept: a new deque writes all that it reads.
//!
//! The cost: 8 KiB of memory for each kept deque, or 2 MiB where the system uses huge pages without
//! being asked, and 8 MiB of addresses, until the process ends.

#![allow(unsafe_code, reason = "a deque ends and its memory stays")]

use super::Deque;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// Room for a deque, allocated as a box.
pub(super) type Room = NonNull<MaybeUninit<Deque>>;

/// Takes room for a deque. If memory is short, the process aborts, as it does for a box.
pub(super) fn take() -> Room {
    kept::take().unwrap_or_else(|| NonNull::from(Box::leak(Box::new_uninit())))
}

/// Ends a deque, and keeps its memory if little of it has been touched. Returns whether it keeps
/// it.
///
/// # Safety
/// The deque lies in room from [`take`], and no thread uses it from here on.
pub(super) unsafe fn put(deque: NonNull<Deque>) -> bool {
    // SAFETY: the caller's promise: the deque is there.
    let is_worth = kept::is_worth(unsafe { deque.as_ref() });
    // SAFETY: the caller's promise: this is its end.
    unsafe { ptr::drop_in_place(deque.as_ptr()) };
    let room: Room = deque.cast();
    let is_kept = is_worth && kept::put(room);
    if !is_kept {
        // SAFETY: the room comes from a box, and no other code has it.
        drop(unsafe { Box::from_raw(room.as_ptr()) });
    }
    is_kept
}

#[cfg(not(any(loom, shuttle)))]
mod kept {
    use super::super::{CHUNK, Deque};
    use super::Room;
    use crate::primitives::{Mutex, lock};

    /// The most rooms that are kept: as many as a pool has threads on a large machine. An estimate;
    /// no benchmark sets it.
    const MOST: usize = 64;

    struct Kept(Vec<Room>);

    // SAFETY: the store owns the rooms, and uninitialised memory may go to any thread.
    unsafe impl Send for Kept {}

    static KEPT: Mutex<Kept> = Mutex::new(Kept(Vec::new()));

    /// Returns whether little of the deque's memory has been touched.
    pub(super) fn is_worth(deque: &Deque) -> bool {
        deque.prepared() <= CHUNK
    }

    pub(super) fn take() -> Option<Room> {
        lock(&KEPT).0.pop()
    }

    /// Keeps a room. Returns false if there are enough.
    pub(super) fn put(room: Room) -> bool {
        let rooms = &mut lock(&KEPT).0;
        let has_place = rooms.len() < MOST;
        if has_place {
            rooms.push(room);
        }
        has_place
    }
}

/// A checker's objects belong to one execution: no room is lent twice, and none is looked at as the
/// execution ends.
#[cfg(any(loom, shuttle))]
mod kept {
    use super::{Deque, Room};

    pub(super) fn is_worth(_deque: &Deque) -> bool {
        false
    }

    pub(super) fn take() -> Option<Room> {
        None
    }

    pub(super) fn put(_room: Room) -> bool {
        false
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::super::{CHUNK, Home, Level};
    use super::*;

    /// Other tests in this process take and put too, so one may need a few attempts.
    #[test]
    fn memory_of_which_little_has_been_touched_is_kept() {
        let is_kept = || {
            let deque = Home::publishing_all(false);
            // SAFETY: the deque lies in room from the store, and this is its end.
            unsafe { put(deque.into_deque()) }
        };
        assert!((0..1_000).any(|_| is_kept()), "none is kept");
    }

    /// Other tests take and put too, so it may need a few attempts.
    #[test]
    fn a_deque_in_memory_that_another_has_left_is_as_new() {
        let lies_where_one_lay = || {
            let before = Home::with_places(false, 8);
            let head = before.head();
            before.leave_note(head, 7);
            before.ask();
            before.count_boxed(1);
            let address = before.address();
            drop(before);
            let after = Home::with_places(false, 8);
            assert_eq!((after.level(), after.is_asked()), (Level::FLOOR, false));
            assert_eq!((after.slot(0).note(), after.has_boxed()), (0, false));
            assert!(!after.has_any() && after.prepare(after.head()));
            after.address() == address
        };
        assert!((0..1_000).any(|_| lies_where_one_lay()), "none lies where one has lain");
    }

    #[test]
    fn memory_that_a_deep_recursion_has_touched_is_given_back() {
        let deque = Home::publishing_all(false);
        assert!(deque.prepare(deque.place(CHUNK)));
        assert!(deque.prepared() > CHUNK);
        // SAFETY: the deque lies in room from the store, and this is its end.
        assert!(!unsafe { put(deque.into_deque()) });
    }
}
