//! The memory that a deque lies in, and the preparation of its slots.

#![allow(
    unsafe_code,
    reason = "a deque is made where it stays, and memory becomes slots as they are needed"
)]

use super::{ASKED, CHUNK, CachePadded, Deque, Overflow, Own, PLACES, Place, Slot, store};
use crate::primitives::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use crate::primitives::fence;
use crate::primitives::spin_lock::SpinLock;
use std::fmt;
use std::mem::offset_of;
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// A deque at an address to which its places lead. It is like a box, except that other pointers may
/// reach its inside, and that its memory comes from the [`store`].
pub(crate) struct Home(NonNull<Deque>);

// SAFETY: it owns a deque, as a box does.
unsafe impl Send for Home where Deque: Send {}
// SAFETY: as above.
unsafe impl Sync for Home where Deque: Sync {}

impl Home {
    /// Makes an empty deque. If memory is short, the process aborts, as it does for a box.
    pub(crate) fn new() -> Self {
        Self::publishing_all(!fence::is_asymmetric())
    }

    /// Makes a deque that is always full, for a processor without a worker: a fork there runs both
    /// halves on the spot.
    pub(crate) fn full() -> Self {
        Self::with_places(!fence::is_asymmetric(), 0)
    }

    pub(super) fn publishing_all(publishes_all: bool) -> Self {
        Self::with_places(publishes_all, PLACES)
    }

    pub(crate) fn with_places(publishes_all: bool, places: u32) -> Self {
        let room = store::take().cast::<Deque>();
        let deque = room.as_ptr();
        let own = Own {
            head: AtomicPtr::new(ASKED),
            fence: AtomicPtr::new(ASKED),
            limit: AtomicPtr::new(ASKED),
            prepared: AtomicU32::new(0),
            places,
            boxed: AtomicU32::new(0),
            publishes_all,
            lock: SpinLock::new(()),
        };
        // SAFETY: only this function has the room.
        let place = unsafe { &raw mut (*deque).own };
        // SAFETY: as above.
        unsafe { place.write(CachePadded::new(own)) };
        // SAFETY: as above.
        let place = unsafe { &raw mut (*deque).ends };
        // SAFETY: as above.
        unsafe { place.write(CachePadded::new(AtomicU64::new(0))) };
        // SAFETY: as above.
        let place = unsafe { &raw mut (*deque).overflow };
        // SAFETY: as above.
        unsafe { place.write(CachePadded::new(Overflow::default())) };
        // The rest of the room, the slots, need not be initialised.
        let home = Self(room);
        let floor = home.floor();
        home.own.head.store(floor.0, Ordering::Relaxed);
        home.open(0);
        home.prepare(floor);
        home.own.limit.store(home.usual_limit(), Ordering::Relaxed);
        home
    }
}

impl Deque {
    /// Returns the place below all others.
    pub(crate) fn floor(&self) -> Place {
        self.place(0)
    }

    /// Returns the place with this number, or the end.
    pub(super) fn place(&self, index: u32) -> Place {
        // Derived from the address of the deque, so that a place leads to its deque.
        let first = ptr::from_ref(self).wrapping_byte_add(offset_of!(Self, slots));
        Place(first.cast::<Slot>().cast_mut().wrapping_add(index as usize))
    }

    /// Returns the number of a place.
    pub(super) fn index(&self, place: Place) -> u32 {
        ((place.0.addr() - self.slots.as_ptr().addr()) / size_of::<Slot>()) as u32
    }

    /// Returns the slot with this number, which has been prepared. If another thread prepared it,
    /// the caller has synchronised with that.
    pub(crate) fn slot(&self, index: u32) -> &Slot {
        assert!(index < self.own.prepared.load(Ordering::Relaxed), "places in use are slots");
        // SAFETY: `index` is below the number of initialised slots.
        unsafe { self.slots[index as usize].assume_init_ref() }
    }

    /// Returns the number of prepared slots: memory beyond them is untouched.
    #[cfg(not(any(loom, shuttle)))]
    pub(super) fn prepared(&self) -> u32 {
        self.own.prepared.load(Ordering::Relaxed)
    }

    /// Prepares slots from the place `head` on, if there are none. Returns false if the deque is
    /// full. The caller is the owner.
    pub(crate) fn prepare(&self, head: Place) -> bool {
        let index = self.index(head);
        let prepared = self.own.prepared.load(Ordering::Relaxed);
        if index < prepared {
            return true;
        }
        if index >= self.own.places {
            return false;
        }
        let (before, end) = (self.usual_limit(), self.own.places.min(prepared + CHUNK));
        for index in prepared..end {
            // SAFETY: no thread accesses the slot before it has been prepared, and it lies in the
            // deque.
            unsafe { self.place(index).0.write(Slot::new()) };
        }
        // Release ordering, for thieves that read notes. No model shows its loss: for loom, an
        // atomic of a slot is there for all threads once it is made.
        self.own.prepared.store(end, Ordering::Release);
        // The exchange fails if a thief has asked: then the limit stays.
        let (limit, ignored) = (self.usual_limit(), Ordering::Relaxed);
        let _ = self.own.limit.compare_exchange(before, limit, ignored, ignored);
        true
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
impl Home {
    pub(super) fn address(&self) -> usize {
        self.0.addr().get()
    }

    /// Returns the deque, which the caller has to end.
    pub(super) fn into_deque(self) -> NonNull<Deque> {
        std::mem::ManuallyDrop::new(self).0
    }
}

impl Deref for Home {
    type Target = Deque;

    #[inline(always)]
    fn deref(&self) -> &Deque {
        // SAFETY: the deque lives as long as its home.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // SAFETY: the deque lies in room from the store; `&mut self` excludes other users, and no
        // job is left in it.
        let _ = unsafe { store::put(self.0) };
    }
}

impl fmt::Debug for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
