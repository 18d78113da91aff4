//! Jobs that lie in boxes: nobody waits for one, but a scope for all of its own.

#![allow(unsafe_code, reason = "a box goes through a deque as its address")]

use crate::primitives::atomic::Ordering;
use crate::primitives::unwind;
use crate::scheduler::context::{self, Context};
use crate::scheduler::job;
use crate::scheduler::slot::Slot;

/// A job in a box. Its slot has the box's address.
struct Boxed<F> {
    /// What it belongs to.
    root: u64,
    closure: F,
}

impl<F: FnOnce()> Boxed<F> {
    /// # Safety
    /// As [`Run`](crate::scheduler::slot::Run) says; the slot is one that [`push`] has filled.
    unsafe fn run(slot: &Slot, context: &Context, victim: usize) {
        // SAFETY: the slot is the caller's.
        let this = slot.with_body(|place: *mut *mut Self| unsafe { place.read() });
        // SAFETY: it comes from a box, which is the caller's.
        let this = unsafe { Box::from_raw(this) };
        if victim == context.seat.me() {
            return unwind::never(this.closure);
        }
        // Nobody waits for the job here, but the owner for its slot.
        slot.latch.complete();
        // Stolen, and so the root of all that is in this worker's deque until that is empty again.
        let processor = context.seat.processor();
        let before = processor.root.load(Ordering::Relaxed);
        processor.root.store(this.root, Ordering::Relaxed);
        let floor = processor.deque.head();
        unwind::never(this.closure);
        job::run_above(context, floor);
        processor.root.store(before, Ordering::Relaxed);
    }
}

/// Puts a closure, which does not panic, into the worker's deque, or runs it if that is full.
///
/// # Safety
/// What the closure borrows is there until it has been run.
pub(super) unsafe fn push<F: FnOnce() + Send>(context: &Context, root: u64, closure: F) {
    let deque = &context.seat.processor().deque;
    let head = deque.head();
    let has_room = deque.has_room(head);
    if !has_room && !deque.prepare(head) {
        return unwind::never(closure);
    }
    let boxed = Box::into_raw(Box::new(Boxed { root, closure }));
    // SAFETY: the head has a slot, as the deque is not full.
    let slot = unsafe { head.slot() };
    // SAFETY: the slot is free.
    slot.with_body(|place: *mut *mut Boxed<F>| unsafe { place.write(boxed) });
    // SAFETY: as above.
    unsafe { slot.set_run(Boxed::<F>::run) };
    deque.count_boxed(1);
    deque.push(head);
    if !has_room && deque.is_asked() {
        answer();
    }
}

/// Publishes jobs after a push, because somebody has asked.
#[cold]
#[inline(never)]
pub(super) fn answer() {
    context::with(|context| context.expect("jobs are pushed by workers").answer_thieves());
}
