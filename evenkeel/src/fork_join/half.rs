//! The second half of a `join`: its closure and its result.

#![allow(unsafe_code, reason = "a slot holds halves of all types")]

use crate::deque::Deque;
use crate::deque::latch::Latch;
use crate::deque::slot::{Place, Slot};
use crate::primitives::cell::UnsafeCell;
use crate::processor::context::Context;
use crate::scheduler::job;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::thread;

/// Where a half runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here<'a> {
    /// The deque of the worker that runs the half, and its head.
    pub(super) deque: &'a Deque,
    pub(super) head: Place,
    /// Whether that is not the worker that has forked the half.
    pub(super) migrated: bool,
}

/// What a half consists of: its closure, and after it has run its result.
union Body<F, R> {
    closure: ManuallyDrop<F>,
    result: ManuallyDrop<thread::Result<R>>,
}

/// Space in the owner's frame for a body that is too large for a slot. The owner does not leave the
/// frame before the half is back or complete.
pub(super) struct Room<F, R>(MaybeUninit<UnsafeCell<Body<F, R>>>);

impl<F, R> Room<F, R> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self(MaybeUninit::uninit())
    }
}

/// A second half, by its location: its body is in the slot at `place`, or in `room`, and then the
/// slot has the room's address.
pub(super) struct Half<F, R> {
    pub(super) place: Place,
    /// Null if the slot is large enough: a stack variable that can be reached from elsewhere would
    /// keep the compiler from making tail calls.
    room: *const UnsafeCell<Body<F, R>>,
}

impl<F, R> Clone for Half<F, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, R> Copy for Half<F, R> {}

impl<F, R> Half<F, R>
where
    F: FnOnce(Here<'_>) -> R,
{
    /// Whether a slot is large enough.
    const FITS: bool = Slot::fits::<Body<F, R>>();

    /// Puts a half into the slot at `place`, or into `room`.
    ///
    /// # Safety
    /// The place is the head of the caller's own deque, which has a slot there. The room is not
    /// moved before the half is at its end.
    #[inline(always)]
    pub(super) unsafe fn put(place: Place, room: &mut Room<F, R>, closure: F) -> Self {
        // SAFETY: the caller's promise.
        let slot = unsafe { place.slot() };
        let body = Body { closure: ManuallyDrop::new(closure) };
        let room = if Self::FITS {
            slot.with_body(|place: *mut Body<F, R>| {
                // SAFETY: the slot is free, and large enough.
                unsafe { place.write(body) };
            });
            ptr::null()
        } else {
            let room = ptr::from_ref(room.0.write(UnsafeCell::new(body)));
            slot.with_body(|place: *mut *const UnsafeCell<Body<F, R>>| {
                // SAFETY: the slot is free.
                unsafe { place.write(room) };
            });
            room
        };
        // SAFETY: the slot is free.
        unsafe { slot.set_run(job::code(Self::run_stolen)) };
        Self { place, room }
    }

    /// The slot.
    ///
    /// # Safety
    /// The half is not at its end.
    #[inline(always)]
    unsafe fn slot<'a>(self) -> &'a Slot {
        // SAFETY: it was put there, and the owner's deque outlives the fork.
        unsafe { self.place.slot() }
    }

    /// The latch by which the owner learns that a stolen half is complete.
    ///
    /// # Safety
    /// The half is not at its end.
    pub(super) unsafe fn latch<'a>(self) -> &'a Latch {
        // SAFETY: the caller's promise.
        &unsafe { self.slot() }.latch
    }

    /// Calls `f` with the address of the body.
    ///
    /// # Safety
    /// The half is not at its end.
    #[inline(always)]
    unsafe fn with_body<T>(self, f: impl FnOnce(*mut Body<F, R>) -> T) -> T {
        if Self::FITS {
            // SAFETY: the caller's promise.
            unsafe { self.slot() }.with_body(f)
        } else {
            // SAFETY: the room exists until the half is at its end.
            unsafe { &*self.room }.with_mut(f)
        }
    }

    /// Takes the closure.
    ///
    /// # Safety
    /// The caller has taken the half out of the deque, and takes the closure once.
    #[inline(always)]
    unsafe fn take_closure(self) -> F {
        let take = |body: *mut Body<F, R>| {
            // SAFETY: the caller has taken the half, and no other thread uses it.
            let closure = unsafe { &raw const (*body).closure };
            // SAFETY: the closure is there until it is taken, which happens once.
            ManuallyDrop::into_inner(unsafe { closure.read() })
        };
        // SAFETY: the caller's promise.
        unsafe { self.with_body(take) }
    }

    /// Runs the half on its owner; `migrated` says whether the fork was called on another worker,
    /// or on none.
    ///
    /// # Safety
    /// The caller is the owner and has popped the half.
    #[inline(always)]
    pub(super) unsafe fn run(self, deque: &Deque, migrated: bool) -> R {
        // SAFETY: the caller's promise.
        let closure = unsafe { self.take_closure() };
        closure(Here { deque, head: self.place, migrated })
    }

    /// Takes the result that a thief has left.
    ///
    /// # Safety
    /// The half is complete, and the caller, its owner, takes the result once, before it retires
    /// the place.
    pub(super) unsafe fn take_result(self) -> thread::Result<R> {
        let take = |body: *mut Body<F, R>| {
            // SAFETY: the half is complete, so the thief does not touch it any more.
            let result = unsafe { &raw const (*body).result };
            // SAFETY: a complete half has its result, which is taken once.
            ManuallyDrop::into_inner(unsafe { result.read() })
        };
        // SAFETY: the caller's promise.
        unsafe { self.with_body(take) }
    }

    /// Runs the half on a thief.
    ///
    /// # Safety
    /// As [`Run`](job::Run) says; the slot is one that [`put`](Self::put) has
    /// filled.
    unsafe fn run_stolen(slot: &Slot, thief: &Context, victim: Option<usize>) {
        slot.latch.take(thief.seat.me());
        let room = if Self::FITS {
            ptr::null()
        } else {
            // SAFETY: the slot has the room's address, and the thief, which has the half, is its
            // only user.
            slot.with_body(|room: *mut *const UnsafeCell<Body<F, R>>| unsafe { room.read() })
        };
        let this = Self { place: slot.place(), room };
        // SAFETY: the thief has taken the half out of a deque.
        let closure = unsafe { this.take_closure() };
        let deque = &thief.seat.processor().deque;
        let here = Here { deque, head: deque.head(), migrated: true };
        let result = catch_unwind(AssertUnwindSafe(|| closure(here)));
        let leave = |body: *mut Body<F, R>| {
            let whole = Body { result: ManuallyDrop::new(result) };
            // SAFETY: the half is not complete, so its body is the thief's.
            unsafe { body.write(whole) };
        };
        // SAFETY: the owner does not leave the half before it is complete.
        unsafe { this.with_body(leave) };
        if slot.latch.complete()
            && let Some(victim) = victim
        {
            thief.shared().unpark(victim);
        }
    }
}
