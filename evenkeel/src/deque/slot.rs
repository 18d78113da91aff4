//! The places of a deque: slots, each of which holds a job.
//!
//! # States
//! A slot is *free*; *in use*, from a push to the pop; or *stolen*, from a thief's CAS until its
//! owner retires it.
//!
//! # Protocol
//! The owner writes the job into a free slot and pushes it. Whoever takes the job out of the deque,
//! the owner or a thief, reads it from there. A thief says by the slot's latch that it is done with
//! the slot: after the result is in it, or, where nobody waits for one, after the job has been
//! read. The owner then takes the result, resets latch and note, and uses the slot again. So a free
//! slot has a latch that is pending and no note, and a push stores neither.
//!
//! # Source
//! Lace has slots of one cache line that hold the tasks themselves. A job in a slot needs no
//! address of its own: a fork stores its closure and what runs it, and nothing of it lies on the
//! stack.

#![allow(unsafe_code, reason = "a slot holds jobs of all types")]

use super::Deque;
use super::latch::Latch;
use crate::primitives::atomic::{AtomicU32, Ordering};
use crate::primitives::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;

/// Bytes of a slot that the job has for itself, aligned to 16.
const BODY: usize = 48;

/// The function that runs a job, without its type: the deque does not know workers, and only keeps
/// it. The scheduler's `job` makes one of a function, and gives it its type back.
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

// SAFETY: one thread at a time has the cells, as the protocol says; whoever puts a job in answers
// for its coming out on another thread.
unsafe impl Send for Slot {}
// SAFETY: as above.
unsafe impl Sync for Slot {}

impl Slot {
    /// A free one.
    pub(crate) fn new() -> Self {
        Self {
            run: UnsafeCell::new(MaybeUninit::uninit()),
            latch: Latch::new(),
            note: AtomicU32::new(0),
            body: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Says what runs the job.
    ///
    /// # Safety
    /// The caller is the owner, and the slot is free.
    #[inline(always)]
    pub(crate) unsafe fn set_run(&self, run: Code) {
        self.run.with_mut(|place| {
            // SAFETY: the caller's promise: nobody else reads or writes it.
            unsafe { (*place).write(run) };
        });
    }

    /// What runs the job.
    ///
    /// # Safety
    /// The caller has taken the job out of the deque.
    pub(crate) unsafe fn run(&self) -> Code {
        self.run.with(|place| {
            // SAFETY: the caller's promise: nobody else writes it.
            let run = unsafe { *place };
            // SAFETY: the owner has written it before the push.
            unsafe { run.assume_init() }
        })
    }

    /// Where it is.
    pub(crate) fn place(&self) -> Place {
        Place(ptr::from_ref(self).cast_mut())
    }

    /// Whether a job has room for a `T`.
    pub(crate) const fn fits<T>() -> bool {
        size_of::<T>() <= BODY && align_of::<T>() <= align_of::<u128>()
    }

    /// Calls `f` with the address of what the job has for itself, as a `T`, which
    /// [fits](Self::fits). Following it is the caller's business, who has the slot.
    #[inline(always)]
    pub(crate) fn with_body<T, R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        debug_assert!(Self::fits::<T>());
        self.body.with_mut(|body| f(body.cast()))
    }

    /// A word to others, who read it before they take or ask for anything. Zero is none.
    pub(crate) fn note(&self) -> u32 {
        self.note.load(Ordering::Relaxed)
    }

    pub(crate) fn set_note(&self, note: u32) {
        self.note.store(note, Ordering::Relaxed);
    }
}

/// A place in a deque, as its owner counts: the address of a slot, or of the end of all.
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

    /// The deque that it is a place of.
    ///
    /// # Safety
    /// The deque is there for as long as the result, and this is not its end.
    #[inline(always)]
    pub(crate) unsafe fn deque<'a>(self) -> &'a Deque {
        let deque = ptr::with_exposed_provenance::<Deque>(
            self.0.expose_provenance() & !(align_of::<Deque>() - 1),
        );
        // SAFETY: the caller's promise; a deque begins where the alignment says.
        unsafe { &*deque }
    }

    /// The slot.
    ///
    /// # Safety
    /// The place is one of a deque that is there for as long as the result, and not its end.
    #[inline(always)]
    pub(crate) unsafe fn slot<'a>(self) -> &'a Slot {
        // SAFETY: the caller's promise.
        unsafe { &*self.0 }
    }
}
