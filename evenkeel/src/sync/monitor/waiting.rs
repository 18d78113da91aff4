//! What all futures of monitors do with a waiting node.

#![allow(unsafe_code, reason = "a waiting node is reached under its core's lock")]

use super::core::Core;
use super::cores::CoreRef;
use super::held::breaks_off;
use super::members::Members;
use super::node::{Node, Place};
use super::reservation::{Desk, Left, Reservation};
use super::set::Set;
use super::state::{CONTINUES, State};
use super::urgent::Urgent;
use crate::detect;
use crate::task::word_waker::WordWaker;
use std::ptr;
use std::sync::Arc;
use std::task::Waker;

/// Calls `f` with the lock of `core`, with which the node waits or has waited. If it is on the list
/// of a reservation, `f` has that reservation's lock too.
///
/// # Safety
/// The monitor of the core is borrowed, and the caller is the node's future.
unsafe fn locked<R>(
    node: &Node,
    core: &Core,
    f: impl FnOnce(&mut State, Option<(&Reservation, &mut Desk)>) -> R,
) -> R {
    let mut reservation = None::<Arc<Reservation>>;
    loop {
        // A reservation's lock comes before the core's, so this thread takes both in that order,
        // and then looks again where the node is.
        let mut desk = reservation.as_deref().map(|own| (own, own.lock()));
        let mut state = core.lock();
        let there = if node.is_over() {
            ptr::null()
        } else {
            // SAFETY: the node waits, and this thread has the lock.
            unsafe { node.with(|ticket| ticket.reservation) }
        };
        if there.is_null() {
            drop(desk);
            return f(&mut state, None);
        }
        if let Some((own, desk)) = &mut desk
            && ptr::eq(*own, there)
        {
            return f(&mut state, Some((own, desk)));
        }
        // SAFETY: the node is on its list, and this thread has the leader's lock.
        let there = unsafe { Reservation::share(there) };
        drop(state);
        drop(desk);
        reservation = Some(there);
    }
}

/// Renews the waker of a node that waits with the lock of `core`. Returns true if the node has been
/// granted meanwhile, or is now, since its reservation is complete.
///
/// # Safety
/// As [`locked`], and the node's set borrows its monitors.
#[cold]
pub(super) unsafe fn renew(node: &Node, core: CoreRef, waker: &Waker) -> bool {
    // SAFETY: the caller's promise.
    let core = unsafe { core.get() };
    let with_locks = |look: &mut dyn FnMut()| {
        let look = |state: &mut State, reserved: Option<(&Reservation, &mut Desk)>| {
            let next = reserved.and_then(|(own, desk)| {
                // SAFETY: the node's set is borrowed, and the node is on the list.
                unsafe { own.take_over(desk, core, state) }
            });
            look();
            next
        };
        // The first task of a complete list has been woken, or is this one.
        // SAFETY: the caller's promise.
        drop(unsafe { locked(node, core, look) });
    };
    let tell = |fresh: &WordWaker| {
        detect::renewed(ptr::from_ref(node).cast(), || fresh.waiting());
    };
    // SAFETY: the caller's promise.
    unsafe { node.word.renew(waker, with_locks, tell) }
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
pub(super) unsafe fn leave(node: &Node, core: CoreRef, remove: impl FnOnce(At<'_>)) -> bool {
    // SAFETY: the caller's promise.
    let core = unsafe { core.get() };
    let leave = |state: &mut State, reserved: Option<(&Reservation, &mut Desk)>| {
        if node.is_over() {
            return None;
        }
        let mut left = Left::Waits;
        // SAFETY: the node waits, and this thread has the lock.
        match (unsafe { node.with(|ticket| ticket.place) }, reserved) {
            (Place::Entry, _) => remove(At::Entry(state)),
            (Place::Condition | Place::Chosen, _) => remove(At::Condition),
            (Place::Urgent, _) => {
                remove(At::Urgent(&mut state.urgent));
                core.note_urgent(state);
            }
            (Place::Reserved, Some((own, desk))) => {
                remove(At::Urgent(desk.urgent()));
                // SAFETY: the node's set is borrowed.
                left = unsafe { own.after_one_has_left(desk, core, state) };
            }
            (Place::Reserved, None) => unreachable!("a reserved node has a reservation"),
            (Place::Mask, _) => unreachable!("a node that waits is in a queue"),
        }
        // SAFETY: it is in no queue any more, and this thread has the lock.
        Some((unsafe { node.give_up() }, left))
    };
    // SAFETY: the caller's promise.
    let Some((waker, left)) = (unsafe { locked(node, core, leave) }) else { return false };
    drop(waker);
    match left {
        Left::Waits => {}
        Left::PassedOn(next) => next.wake(),
        // SAFETY: the node's set borrows the monitors.
        Left::Closed(vacant) => unsafe { vacant.release() },
    }
    true
}

/// Gives up the wait of a node that has given its hold of a set away and would come back. If its
/// hold is a call that breaks off, or continues one, the call's acceptor learns it. Returns false
/// if the node has been granted already.
///
/// # Safety
/// As [`renew`], and the node is on an urgent list unless it has been granted.
pub(super) unsafe fn leave_urgent<S: Set>(node: &Node, members: &Members<S>) -> bool {
    let leader = members.leader();
    if breaks_off() {
        // SAFETY: the caller's promise.
        unsafe { break_off(node, members) };
    }
    let remove = |at: At<'_>| {
        let At::Urgent(urgent) = at else { unreachable!("it has given its hold away") };
        // SAFETY: that is where it is.
        unsafe { urgent.remove(node) };
    };
    // SAFETY: the caller's promise.
    unsafe { leave(node, leader, remove) }
}

/// If the hold that a node has given away continues calls, notes in their reservations that they
/// have broken off. If the node has been granted, its future does that when it leaves.
///
/// # Safety
/// As [`leave_urgent`].
#[cold]
unsafe fn break_off<S: Set>(node: &Node, members: &Members<S>) {
    let leader = members.leader();
    let note = |state: &mut State, reserved: Option<(&Reservation, &mut Desk)>| {
        // SAFETY: the node waits, and this thread has the lock.
        if node.is_over() || unsafe { node.with(|ticket| ticket.call) } != Some(CONTINUES) {
            return;
        }
        // With these locks, the node stays on its list. Only here a thread takes a second core's
        // lock, and the leader is the first one by address: so no circle of threads comes about.
        let lent = reserved.map(|(own, _)| own);
        state.stack().break_off(lent);
        for core in members.written().as_ref().iter().filter(|core| **core != leader) {
            // SAFETY: the set borrows its monitors.
            unsafe { core.get() }.lock().stack().break_off(lent);
        }
    };
    // SAFETY: the node's set borrows its monitors.
    let core = unsafe { leader.get() };
    // SAFETY: the caller's promise.
    unsafe { locked(node, core, note) };
}
