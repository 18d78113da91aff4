//! Jobs of a scope in the deque of a worker. If the worker works for the scope, the scope's count
//! covers the worker, and the jobs are not counted themselves.
//!
//! # Roles
//! The *host* is the worker that has the job in its deque: the owner of the scope, or a worker that
//! runs a stolen job of it. *Thieves* take the job.
//!
//! # Protocol
//! The host counts nothing when it spawns, and nothing when it takes the job back and runs it: the
//! host is counted itself until its deque is empty down to where it began. A thief counts itself
//! into the scope, then says that it has read the slot. It becomes the host of what the job leaves
//! in its deque: it runs the job and all of that, and counts itself out.
//!
//! A worker that does not work for the scope counts the job in when it spawns it. So does a host
//! with a full deque, since the [overflow](crate::deque) does not say that a job was stolen from
//! it. The worker that runs such a job counts it out; if the job was stolen, it does so after all
//! that the job leaves in the thief's deque.
//!
//! # Why the count is right
//! The host finds out that a job has been stolen when it comes down to the job's slot. It goes on
//! once the thief has said that it has read the slot (release, acquire), and so after the thief has
//! counted itself in. Then the host counts itself out; the owner looks at the count instead. So
//! whenever the count is zero and the owner has come down to where the scope began, no member is
//! left. The scope exists when a thief counts itself in, because the host has not got past that
//! job.
//!
//! # Rejected
//! A count for each job, as jobs from elsewhere have it: two locked instructions for each job, by
//! all workers, on one line. In a tree of spawns two workers took twice as long as one (`scope,
//! tree of spawns` in the comparison of `evenkeel-rayon`). Shares of a count that are split with
//! each spawn (Huang, "Detecting termination of distributed computations by external agents",
//! 1989): one locked instruction for each job is left.

#![allow(unsafe_code, reason = "a slot has the address of a box, and the box that of the scope")]

use super::scope::Scope;
use super::spawned::push_address;
use crate::deque::slot::Slot;
use crate::processor::context::Context;
use crate::scheduler::job;

/// A job in a box. Its slot has the box's address.
struct Member<'scope, F> {
    scope: *const Scope<'scope>,
    /// Whether the job has been counted in, because the worker that has spawned it is not counted,
    /// or has no slot for it.
    is_counted: bool,
    body: F,
}

/// Puts a job of the scope into the worker's deque.
///
/// # Safety
/// What the body borrows outlives the scope. If `is_served`, the scope's count covers the worker
/// until its deque is as it was when the worker was counted in.
pub(super) unsafe fn push<'scope, F: FnOnce() + Send>(
    context: &Context,
    scope: &Scope<'scope>,
    is_served: bool,
    body: F,
) {
    let is_counted = !is_served || context.seat.processor().deque.is_full();
    if is_counted {
        scope.count_in(scope.weight_in_deque());
    }
    let member = Box::into_raw(Box::new(Member { scope, is_counted, body }));
    // A worker that serves the scope takes the job back before it goes on anyway.
    push_address(context, !is_served, member, Member::<'scope, F>::run);
}

impl<F: FnOnce() + Send> Member<'_, F> {
    /// # Safety
    /// As [`Run`](crate::scheduler::job::Run) says; the slot is one that [`push`] has filled.
    unsafe fn run(slot: &Slot, context: &Context, victim: Option<usize>) {
        // SAFETY: the slot is the caller's.
        let this = slot.with_body(|place: *mut *mut Self| unsafe { place.read() });
        // SAFETY: it comes from a box, which is the caller's.
        let Self { scope: address, is_counted, body } = *unsafe { Box::from_raw(this) };
        // SAFETY: the scope exists for as long as one of its jobs does.
        let scope = unsafe { &*address };
        let is_stolen = victim.is_some_and(|victim| victim != context.seat.me());
        let weight = scope.weight_in_deque();
        if is_stolen && !is_counted {
            // Before the host can see that the job was stolen.
            scope.count_in(weight);
        }
        job::release_slot(slot, victim);
        job::run_spawned(context, victim, scope.id(), || scope.run_job(body));
        if is_stolen || is_counted {
            // Not earlier: what a stolen job leaves in this worker's deque is not counted. SAFETY:
            // the job has been counted in, above or before the push. Nothing of the scope is used
            // after it.
            unsafe { Scope::count_out(address, weight) };
        }
    }
}
