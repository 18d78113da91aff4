//! What monitors report to [`detect`].

#![allow(unsafe_code, reason = "a set's monitors are reached by their addresses")]

use super::core::Core;
use super::cores::{CoreRef, Cores};
use super::members::Members;
use super::node::Node;
use super::set::Set;
use crate::detect::{self, Awaited, Object};
use std::ptr;

/// Calls `f` with the identity of each of these cores.
///
/// # Safety
/// Their monitors are borrowed.
#[inline(always)]
unsafe fn each(cores: &[CoreRef], f: impl Fn(&Object)) {
    for core in cores {
        // SAFETY: the caller's promise.
        f(&unsafe { core.get() }.object);
    }
}

/// Whether `detect` is compiled out: then these functions do not even look for the cores.
const IDLE: bool = size_of::<Object>() == 0;

/// The caller holds this set.
///
/// # Safety
/// The monitors are borrowed.
#[inline(always)]
pub(super) unsafe fn entered<S: Set>(members: &Members<S>) {
    if !IDLE {
        // SAFETY: the caller's promise.
        unsafe { each(members.written().as_ref(), Object::entered) }
    }
}

/// The caller is about to give this set up, or to wait with it.
///
/// # Safety
/// The monitors are borrowed.
#[inline(always)]
pub(super) unsafe fn left<S: Set>(members: &Members<S>) {
    if !IDLE {
        // SAFETY: the caller's promise.
        unsafe { each(members.written().as_ref(), Object::left) }
    }
}

/// The caller is about to give up the first `count` of these, by address.
///
/// # Safety
/// The monitors are borrowed.
pub(super) unsafe fn left_some(cores: Cores<'_>, count: usize) {
    if !IDLE {
        // SAFETY: the caller's promise.
        (0..count).for_each(|index| unsafe { each(&[cores.get(index)], Object::left) });
    }
}

/// The caller is about to give this one up.
///
/// # Safety
/// Its monitor is borrowed.
pub(super) unsafe fn left_one(core: CoreRef) {
    // SAFETY: the caller's promise.
    unsafe { each(&[core], Object::left) }
}

/// The node is the first of a reservation: it waits for a `missing` core, and keeps one that has
/// come back. Neither the leader nor the missing monitor needs to be there.
///
/// # Safety
/// The node waits, and the caller has the lock of the reservation.
pub(super) unsafe fn reserved(node: &Node, back: &Core, missing: Awaited) {
    if IDLE {
        return;
    }
    let address = ptr::from_ref(node).cast();
    // SAFETY: the caller's promise.
    missing.by(address, node.site, false, || unsafe { node.waiting() });
    back.object.held_meanwhile(address);
}

/// The node is in the entry queue of `core`, and its future holds the cores of its set that come
/// before.
///
/// # Safety
/// The node waits, the caller has the lock of that core, and the monitors are borrowed.
#[inline(always)]
pub(super) unsafe fn queued(node: &Node, cores: Cores<'_>, core: &Core) {
    if IDLE {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { waits(node, core, false) };
    let before = (0..cores.len()).take_while(|index| cores.get(*index) != CoreRef::of(core));
    for index in before {
        // SAFETY: the caller's promise.
        unsafe {
            each(&[cores.get(index)], |object| object.held_meanwhile(ptr::from_ref(node).cast()))
        };
    }
}

/// The node waits for the set that `leader` leads; with `open`, for a signal first.
///
/// # Safety
/// The node waits, and the caller has the leader's lock.
#[inline(always)]
pub(super) unsafe fn waits(node: &Node, leader: &Core, open: bool) {
    // SAFETY: the caller's promise.
    let waiting = || unsafe { node.waiting() };
    leader.object.awaited().by(ptr::from_ref(node).cast(), node.site, open, waiting);
}

/// The node has been signalled.
#[inline(always)]
pub(super) fn signalled(node: &Node) {
    detect::signalled(ptr::from_ref(node).cast());
}
