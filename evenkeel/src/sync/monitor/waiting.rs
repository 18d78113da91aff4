//! What all futures of monitors do with a waiting node.

#![allow(unsafe_code, reason = "a waiting node is reached under its core's lock")]

use super::cores::CoreRef;
use super::node::{Node, Place};
use super::reservation::Reservation;
use super::state::State;
use super::urgent::Urgent;
use crate::detect;
use crate::task::word_waker::WordWaker;
use std::ptr;
use std::sync::Arc;
use std::task::Waker;

/// Renews the waker of a node that waits with the lock of `core`. Returns true if the node has been
/// granted meanwhile.
///
/// # Safety
/// The monitor of the core is borrowed, and the caller is the node's future.
#[cold]
pub(super) unsafe fn renew(node: &Node, core: CoreRef, waker: &Waker) -> bool {
    // SAFETY: the caller's promise.
    let core = unsafe { core.get() };
    let tell = |fresh: &WordWaker| {
        detect::renewed(ptr::from_ref(node).cast(), || fresh.waiting());
    };
    // SAFETY: the caller's promise.
    unsafe { node.word.renew(waker, || core.lock(), tell) }
}

/// The list from which a node that gives up is taken.
pub(super) enum At<'a> {
    /// The entry queue of the core.
    Entry(&'a mut State),
    /// The queue of a condition.
    Condition,
    /// The urgent list of the core or of a reservation.
    Urgent(&'a mut Urgent),
}

/// Gives up the wait of a node that waits with the lock of `core`: `remove` takes it out of its
/// list. Returns false if the node has been granted already.
///
/// # Safety
/// As [`renew`]; the node is not an acceptor that waits for a call, and `remove` leaves it in no
/// queue.
pub(super) unsafe fn leave(node: &Node, core: CoreRef, remove: impl Fn(At<'_>)) -> bool {
    let mut reservation = None::<Arc<Reservation>>;
    loop {
        // SAFETY: the caller's promise.
        match unsafe { try_leave(node, core, reservation.as_deref(), &remove) } {
            Ok(left) => return left,
            // The reservation's lock comes before the core's: the leaver takes both in that order,
            // and looks again where the node is.
            Err(there) => reservation = Some(there),
        }
    }
}

/// The same, unless the node is in another reservation than this one: then returns that
/// reservation.
///
/// # Safety
/// As [`leave`].
unsafe fn try_leave(
    node: &Node,
    core: CoreRef,
    reservation: Option<&Reservation>,
    remove: &impl Fn(At<'_>),
) -> Result<bool, Arc<Reservation>> {
    // SAFETY: the caller's promise.
    let core = unsafe { core.get() };
    let mut desk = reservation.map(|own| (own, own.lock()));
    let mut state = core.lock();
    if node.is_over() {
        return Ok(false);
    }
    // SAFETY: the node waits, and this thread has the lock.
    let (place, there) = unsafe { node.with(|ticket| (ticket.place, ticket.reservation)) };
    let mut vacant = None;
    match (place, &mut desk) {
        (Place::Entry, _) => remove(At::Entry(&mut state)),
        (Place::Condition | Place::Chosen, _) => remove(At::Condition),
        (Place::Urgent, _) => {
            remove(At::Urgent(&mut state.urgent));
            core.note_urgent(&state);
        }
        (Place::Reserved, Some((own, desk))) if ptr::eq(*own, there) => {
            remove(At::Urgent(desk.urgent()));
            // SAFETY: this thread has the leader's lock, and the node's future borrows the set.
            vacant = unsafe { own.after_one_has_left(desk) };
        }
        // SAFETY: the node is on its list, and this thread has the leader's lock.
        (Place::Reserved, _) => return Err(unsafe { Reservation::share(there) }),
        (Place::Mask, _) => unreachable!("a node that waits is in a queue"),
    }
    // SAFETY: it is in no queue any more, and this thread has the lock.
    let waker = unsafe { node.give_up() };
    drop(state);
    drop(desk);
    drop(waker);
    if let Some(vacant) = vacant {
        // SAFETY: the node's set borrows the monitors.
        unsafe { vacant.release() };
    }
    Ok(true)
}

/// Gives up the wait of a node that has given its hold away and would come back. If its hold is a
/// call that breaks off, the call's acceptor learns it. Returns false if the node has been granted
/// already.
///
/// # Safety
/// As [`renew`], and the node is on an urgent list unless it has been granted.
pub(super) unsafe fn leave_urgent(node: &Node, leader: CoreRef) -> bool {
    let remove = |at: At<'_>| {
        let At::Urgent(urgent) = at else { unreachable!("it has given its hold away") };
        // SAFETY: that is where it is.
        unsafe { urgent.remove(node) };
    };
    // SAFETY: the caller's promise.
    unsafe { leave(node, leader, remove) }
}
