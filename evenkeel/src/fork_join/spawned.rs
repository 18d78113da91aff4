//! Jobs that lie in boxes or in queues: no frame waits for a single one of them, but a scope waits
//! for all of its own.

#![allow(unsafe_code, reason = "a slot has the address of a box or of a queue")]

use crate::deque::closures::erase;
use crate::deque::fifo::Fifo;
use crate::deque::slot::Slot;
use crate::deque::{Deque, Spilled};
use crate::processor::context::Context;
use crate::processor::entered;
use crate::scheduler::job;
use crate::scheduler::job::Run;

/// A job in a box. Its slot has the box's address.
struct Boxed<F>(F);

impl<F: FnOnce()> Boxed<F> {
    /// # Safety
    /// As [`Run`] says; the slot is one that [`push`] has filled.
    unsafe fn run(slot: &Slot, context: &Context, victim: Option<usize>) {
        // SAFETY: the slot is the caller's.
        let this = slot.with_body(|place: *mut *mut Self| unsafe { place.read() });
        // SAFETY: it comes from a box, which is the caller's.
        let this = unsafe { Box::from_raw(this) };
        job::release_slot(slot, victim);
        job::run_spawned(context, victim, 0, this.0);
    }
}

/// Puts a closure, which does not panic and belongs to no scope, into the worker's deque.
///
/// # Safety
/// What the closure borrows exists until the closure has been run.
pub(super) unsafe fn push<F: FnOnce() + Send>(context: &Context, closure: F) {
    let boxed = Box::into_raw(Box::new(Boxed(closure)));
    push_address(context, false, boxed, Boxed::<F>::run);
}

/// Puts a job, which may belong to a scope, into a queue, and a job that runs the oldest of that
/// queue into the worker's deque.
///
/// # Safety
/// What the job borrows exists until the job has been run, and the queue until all its jobs have
/// been.
pub(super) unsafe fn push_fifo(
    context: &Context,
    is_scoped: bool,
    queue: &Fifo,
    job: impl FnOnce() + Send,
) {
    // SAFETY: the caller's promise.
    queue.push(unsafe { erase(job) });
    let address = std::ptr::from_ref(queue).cast_mut();
    push_address(context, is_scoped, address, job::run_oldest);
}

/// Pushes a job that is just an address, and the function that runs it, into the worker's deque,
/// or, if that is full, into its overflow. It `is_scoped` if the owner of a scope waits for it, and
/// nothing on this worker is counted until it has been run.
pub(super) fn push_address<T>(context: &Context, is_scoped: bool, address: *mut T, run: Run) {
    let deque = &context.seat.processor().deque;
    let head = deque.head();
    let has_room = deque.has_room(head);
    if is_scoped {
        context.forks.note_scoped(deque);
    }
    if has_room || deque.prepare(head) {
        // SAFETY: the head has a slot, as the deque is not full.
        let slot = unsafe { head.slot() };
        // SAFETY: the slot is free.
        slot.with_body(|place: *mut *mut T| unsafe { place.write(address) });
        // SAFETY: as above.
        unsafe { slot.set_run(job::code(run)) };
        deque.count_boxed(1);
        deque.push(head);
    } else {
        deque.spill(Spilled::new(address, job::code(run)));
    }
    if !has_room && deque.is_asked() {
        answer(deque);
    }
}

/// Publishes jobs after a push, because a thief has asked.
#[cold]
#[inline(never)]
pub(super) fn answer(deque: &Deque) {
    entered::with_owner(deque, Context::answer_thieves);
}
