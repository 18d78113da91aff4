//! The processors of a runtime, side by side. Those of workers are made with the runtime, and those
//! of reliefs when they are first needed.
//!
//! # Roles and protocol
//! A *maker* holds the lock `growing`. It writes the place behind the last processor, and then
//! raises `made` with release ordering. A *reader* loads `made` with acquire ordering, and so sees
//! the processors before that. Places do not move, and no processor is dropped before the row: the
//! headers of tasks hold addresses of processors.
//!
//! # Rejected
//! All processors from the start: 64 reliefs are 120 KiB for each runtime, and most runtimes need
//! none. A box for each: a wake compares the address of a task's home with the range of the row.

#![allow(unsafe_code, reason = "memory becomes processors as they are needed")]

use super::Processor;
use crate::primitives::{Mutex, lock};
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::{Deref, Range};
use std::ptr::NonNull;
// The checkers have nothing to find in one release and one acquire, and would explore each access.
use std::sync::atomic::{AtomicUsize, Ordering};

/// The processors of a runtime.
pub(crate) struct Row {
    places: NonNull<Processor>,
    capacity: usize,
    made: AtomicUsize,
    growing: Mutex<()>,
}

// SAFETY: it owns processors, as a slice in a box does.
unsafe impl Send for Row where Processor: Send {}
// SAFETY: as above; places are written under a lock, before any other thread reaches them.
unsafe impl Sync for Row where Processor: Sync {}

impl Row {
    /// Makes a row with room for `capacity` processors.
    pub(crate) fn new(capacity: usize) -> Self {
        let places = Box::<[Processor]>::new_uninit_slice(capacity);
        Self {
            places: NonNull::from(Box::leak(places)).cast(),
            capacity,
            made: AtomicUsize::new(0),
            growing: Mutex::new(()),
        }
    }

    /// Returns the number of processors for which there is room.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the addresses of all places.
    pub(crate) fn addresses(&self) -> Range<usize> {
        let start = self.places.addr().get();
        start..start + self.capacity * size_of::<Processor>()
    }

    /// Makes processors by `make`, which gets their numbers, until there are `count`.
    ///
    /// # Panics
    /// If there is no room.
    pub(crate) fn grow(&self, count: usize, make: impl Fn(usize) -> Processor) {
        assert!(count <= self.capacity, "a row of {} has no place {count}", self.capacity);
        let _growing = lock(&self.growing);
        for number in self.made.load(Ordering::Relaxed)..count {
            // SAFETY: the place is one of the row's.
            let place = unsafe { self.places.add(number) };
            // SAFETY: only the holder of the lock writes places, and no reader reaches this one.
            unsafe { place.write(make(number)) };
            self.made.store(number + 1, Ordering::Release);
        }
    }
}

impl Deref for Row {
    type Target = [Processor];

    #[inline(always)]
    fn deref(&self) -> &[Processor] {
        let made = self.made.load(Ordering::Acquire);
        // SAFETY: the first `made` places have been written, and are only shared from then on.
        unsafe { NonNull::slice_from_raw_parts(self.places, made).as_ref() }
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        let made = *self.made.get_mut();
        let processors = NonNull::slice_from_raw_parts(self.places, made);
        // SAFETY: these places have been written, and no borrow is left.
        unsafe { processors.drop_in_place() };
        let places = self.places.cast::<MaybeUninit<Processor>>();
        let places = NonNull::slice_from_raw_parts(places, self.capacity);
        // SAFETY: `new` has leaked this box.
        drop(unsafe { Box::from_raw(places.as_ptr()) });
    }
}

impl Default for Row {
    fn default() -> Self {
        Self::new(0)
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
