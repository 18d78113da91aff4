//! The few messages that lie in the mailbox itself.
//!
//! # Protocol
//! One queue with a fixed number of places. *Putting* is for whoever holds the mailbox's lock, *taking* for the actor, without it. `tail` counts what has been put,
//! `head` what has been taken; place `n` is that of the messages whose number is `n` modulo the places. Whoever puts reads `head` with acquire ordering, writes
//! the place, and then `tail` with release ordering; the actor reads `tail` with acquire, reads the place, and then writes `head` with release. So
//! a place is written when the message before has been read, and read when it has been written.
//!
//! # Rejected
//! Taking under the lock: a locked instruction more for each message. Places outside of the mailbox: a cache line more, an allocation more per actor that ever had
//! a message.

#![allow(unsafe_code, reason = "places are written and read by two parties in turn")]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};

/// Room for messages: four small ones.
const BYTES: usize = 32;

#[derive(Debug)]
#[repr(C)]
pub(crate) struct Slots<T> {
    head: AtomicU32,
    tail: AtomicU32,
    places: UnsafeCell<MaybeUninit<[u64; BYTES / 8]>>,
    values: std::marker::PhantomData<T>,
}

// SAFETY: values are moved in by one thread and out by another.
unsafe impl<T: Send> Send for Slots<T> {}
// SAFETY: as above, and by one at a time each, as the protocol says.
unsafe impl<T: Send> Sync for Slots<T> {}

impl<T> Slots<T> {
    /// How many places there are: none for large messages.
    pub(crate) const PLACES: u32 = {
        if align_of::<T>() > 8 {
            0
        } else if size_of::<T>() == 0 {
            4
        } else {
            let places = BYTES / size_of::<T>();
            if places == 0 { 0 } else { 1 << places.ilog2() }
        }
    };

    pub(crate) const fn new() -> Self {
        Self {
            head: AtomicU32::new(0),
            tail: AtomicU32::new(0),
            places: UnsafeCell::new(MaybeUninit::uninit()),
            values: std::marker::PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> u32 {
        self.tail.load(Ordering::Acquire).wrapping_sub(self.head.load(Ordering::Acquire))
    }

    /// How many there have been, as far as 32 bits tell.
    pub(crate) fn received(&self) -> u32 {
        self.tail.load(Ordering::Acquire)
    }

    /// # Safety
    /// There are places.
    #[inline(always)]
    unsafe fn place(&self, number: u32) -> *mut T {
        let index = number % if Self::PLACES == 0 { 1 } else { Self::PLACES };
        // SAFETY: the index is below the number of places, which lie within the bytes.
        unsafe { self.places.get().cast::<T>().add(index as usize) }
    }

    /// Puts a value in, if there is room.
    ///
    /// # Safety
    /// The caller holds the mailbox's lock.
    #[inline(always)]
    pub(crate) unsafe fn put(&self, value: T) -> Result<(), T> {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail.wrapping_sub(self.head.load(Ordering::Acquire)) >= Self::PLACES {
            return Err(value);
        }
        // SAFETY: there is room, so there are places.
        let place = unsafe { self.place(tail) };
        // SAFETY: what was there has been taken, and only the holder of the lock puts something there.
        unsafe { place.write(value) };
        self.tail.store(tail.wrapping_add(1), Ordering::Release);
        Ok(())
    }

    /// Takes the oldest.
    ///
    /// # Safety
    /// The caller is the actor.
    #[inline(always)]
    pub(crate) unsafe fn take(&self) -> Option<T> {
        let head = self.head.load(Ordering::Relaxed);
        if Self::PLACES == 0 || self.tail.load(Ordering::Acquire) == head {
            return None;
        }
        // SAFETY: there is a value, so there are places.
        let place = unsafe { self.place(head) };
        // SAFETY: it has been put there, and is read once.
        let value = unsafe { place.read() };
        self.head.store(head.wrapping_add(1), Ordering::Release);
        Some(value)
    }
}

impl<T> Drop for Slots<T> {
    fn drop(&mut self) {
        // SAFETY: nobody else is left.
        while let Some(value) = unsafe { self.take() } {
            drop(value);
        }
    }
}
