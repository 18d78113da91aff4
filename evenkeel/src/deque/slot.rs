//! The places of a deque: slots, each of which holds a job.
//!
//! # States
//! A slot is *free*; *in use*, from a push to the pop; or *stolen*, from a thief's CAS until its
//! owner retires it.
//!
//! # Protocol
//! The owner writes the job into a free slot and pushes it. The owner or the thief that takes the
//! job out of the deque reads it from there. A thief sets the slot's latch when it is done with the
//! slot: after it has written the result there or, if no owner waits for a result, after it has
//! read the job. The owner then takes the result, resets latch and note, and uses the slot again.
//! So a free slot has a latch that is pending and no note, and a push stores neither.
//!
//! # Source
//! Lace has slots of one cache line that hold the tasks themselves. A job in a slot needs no
//! address of its own: a fork stores its closure and the function that runs it, and no part of the
//! job lies on the stack.

#![allow(unsafe_code, reason = "a slot holds jobs of all types")]

use super::Deque;
use super::latch::Latch;
use crate::primitives::atomic::{AtomicU32, Ordering};
use crate::primitives::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;

/// Bytes of a slot for the body of the job, aligned to 16.
const BODY: usize = 48;

/// The function that runs a job, with its type erased: the deque does not know workers, and only
/// keeps the function. The scheduler's `job` erases the type and restores it.
pub(crate) type Code = unsafe fn();

/// One cache line.
#[repr(C, align(64))]
pub(crate) struct Slot {
    run: UnsafeCell<MaybeUninit<Code>>,
    pub(crate) latch: Latch,
    note: AtomicU32,
    body: UnsafeCell<MaybeUninit<[u128; BODY / size_of::<u128>()]>>,
}

#[cfg(not(any(loom, shuttle)))]
const _: () = assert!(size_of::<Slot>() == 64);

// SAFETY: one thread at a time accesses the cells, as the protocol says; the code that puts a job
// in guarantees that another thread may take it out.
unsafe impl Send for Slot {}
// SAFETY: as above.
unsafe impl Sync for Slot {}

impl Slot {
    /// Returns a free slot.
    pub(crate) fn new() -> Self {
        Self {
            run: UnsafeCell::new(MaybeUninit::uninit()),
            latch: Latch::new(),
            note: AtomicU32::new(0),
            body: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Sets the function that runs the job.
    ///
    /// # Safety
    /// The caller is the owner, and the slot is free.
    #[inline(always)]
    pub(crate) unsafe fn set_run(&self, run: Code) {
        self.run.with_mut(|place| {
            // SAFETY: the caller's promise: no other thread reads or writes it.
            unsafe { (*place).write(run) };
        });
    }

    /// Returns the function that runs the job.
    ///
    /// # Safety
    /// The caller has taken the job out of the deque.
    pub(crate) unsafe fn run(&self) -> Code {
        self.run.with(|place| {
            // SAFETY: the caller's promise: no other thread writes it.
            let run = unsafe { *place };
            // SAFETY: the owner has written it before the push.
            unsafe { run.assume_init() }
        })
    }

    /// Returns the slot's place.
    pub(crate) fn place(&self) -> Place {
        Place(ptr::from_ref(self).cast_mut())
    }

    /// Returns whether the body of a job has room for a `T`.
    pub(crate) const fn fits<T>() -> bool {
        size_of::<T>() <= BODY && align_of::<T>() <= align_of::<u128>()
    }

    /// Calls `f` with the address of the body of the job, as a `T`, which [fits](Self::fits). The
    /// caller, which has the slot, is responsible for each access through the address.
    #[inline(always)]
    pub(crate) fn with_body<T, R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        debug_assert!(Self::fits::<T>());
        self.body.with_mut(|body| f(body.cast()))
    }

    /// Returns the note, which thieves read before they take or ask for anything. Zero is none.
    pub(crate) fn note(&self) -> u32 {
        self.note.load(Ordering::Relaxed)
    }

    pub(crate) fn set_note(&self, note: u32) {
        self.note.store(note, Ordering::Relaxed);
    }
}

/// A place in a deque, as its owner counts: the address of a slot, or of the end of the slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(pub(crate) *mut Slot);

impl Place {
    #[inline(always)]
    pub(crate) fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    #[inline(always)]
    pub(crate) fn previous(self) -> Self {
        Self(self.0.wrapping_sub(1))
    }

    /// Returns the deque of this place.
    ///
    /// # Safety
    /// The deque outlives the result, and this is not its end.
    #[inline(always)]
    pub(crate) unsafe fn deque<'a>(self) -> &'a Deque {
        let deque = ptr::with_exposed_provenance::<Deque>(
            self.0.expose_provenance() & !(align_of::<Deque>() - 1),
        );
        // SAFETY: the caller's promise; a deque's size is its alignment, so it begins at a multiple
        // of it.
        unsafe { &*deque }
    }

    /// Returns the slot.
    ///
    /// # Safety
    /// The place is in a deque that outlives the result, and is not the deque's end.
    #[inline(always)]
    pub(crate) unsafe fn slot<'a>(self) -> &'a Slot {
        // SAFETY: the caller's promise.
        unsafe { &*self.0 }
    }
}
