//! Jobs that lie in boxes or in queues: nobody waits for one, but a scope for all of its own.

#![allow(unsafe_code, reason = "a slot has the address of a box or of a queue")]

use crate::primitives::unwind;
use crate::scheduler::closures::erase;
use crate::scheduler::context::{self, Context};
use crate::scheduler::fifo::Fifo;
use crate::scheduler::job;
use crate::scheduler::slot::{Run, Slot};

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

/// Puts a closure, which does not panic and belongs to no scope, into the worker's deque, or runs it if that is full.
///
/// # Safety
/// What the closure borrows is there until it has been run.
pub(super) unsafe fn push<F: FnOnce() + Send>(context: &Context, closure: F) {
    let boxed = Box::into_raw(Box::new(Boxed(closure)));
    if !push_address(context, false, boxed, Boxed::<F>::run) {
        // SAFETY: nobody has the box.
        let boxed = unsafe { Box::from_raw(boxed) };
        unwind::never(boxed.0);
    }
}

/// Puts a job, which may be one of a scope, into a queue, and what runs the oldest of that into the worker's deque; or runs the oldest if
/// the deque is full.
///
/// # Safety
/// What the job borrows is there until it has been run, and the queue until all its jobs have been.
pub(super) unsafe fn push_fifo(
    context: &Context,
    is_scoped: bool,
    queue: &Fifo,
    job: impl FnOnce() + Send,
) {
    // SAFETY: the caller's promise.
    queue.push(unsafe { erase(job) });
    let address = std::ptr::from_ref(queue).cast_mut();
    if !push_address(context, is_scoped, address, Fifo::run) {
        unwind::never(queue.pop());
    }
}

/// Pushes a job that is no more than an address, and what runs it. It `is_scoped` if the owner of a scope waits for it, and nobody on this worker
/// is counted until it has been run. False, and nothing is done, if the deque is full.
pub(super) fn push_address<T>(
    context: &Context,
    is_scoped: bool,
    address: *mut T,
    run: Run,
) -> bool {
    let deque = &context.seat.processor().deque;
    let head = deque.head();
    let has_room = deque.has_room(head);
    if !has_room && !deque.prepare(head) {
        return false;
    }
    // SAFETY: the head has a slot, as the deque is not full.
    let slot = unsafe { head.slot() };
    // SAFETY: the slot is free.
    slot.with_body(|place: *mut *mut T| unsafe { place.write(address) });
    // SAFETY: as above.
    unsafe { slot.set_run(run) };
    deque.count_boxed(1);
    if is_scoped {
        context.note_scoped(head);
    }
    deque.push(head);
    if !has_room && deque.is_asked() {
        answer();
    }
    true
}

/// Publishes jobs after a push, because somebody has asked.
#[cold]
#[inline(never)]
pub(super) fn answer() {
    context::with_worker(|context| context.expect("jobs are pushed by workers").answer_thieves());
}
