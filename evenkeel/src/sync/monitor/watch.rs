//! What monitors tell [`detect`].

#![allow(unsafe_code, reason = "a set's monitors are reached by their addresses")]

use super::core::{Core, CoreRef};
use super::node::Node;
use crate::detect::{self, Object};
use std::ptr;

/// Calls `f` with what each of these is known by.
///
/// # Safety
/// Their monitors are borrowed.
#[inline(always)]
unsafe fn each(cores: &[CoreRef], f: impl Fn(&Object)) {
    if size_of::<Object>() == 0 {
        return;
    }
    for core in cores {
        // SAFETY: the caller's promise.
        f(&unsafe { core.get() }.object);
    }
}

/// The caller holds these.
///
/// # Safety
/// Their monitors are borrowed.
#[inline(always)]
pub(super) unsafe fn entered(cores: &[CoreRef]) {
    // SAFETY: the caller's promise.
    unsafe { each(cores, Object::entered) }
}

/// The caller is about to give these up, or to wait with them.
///
/// # Safety
/// Their monitors are borrowed.
#[inline(always)]
pub(super) unsafe fn left(cores: &[CoreRef]) {
    // SAFETY: the caller's promise.
    unsafe { each(cores, Object::left) }
}

/// The node is in the entry queue of `core`, and its future holds those of its cores that come before.
///
/// # Safety
/// The node waits, the caller has the lock of that core, and the monitors are borrowed.
#[inline(always)]
pub(super) unsafe fn queued(node: &Node, cores: &[CoreRef], core: &Core) {
    // SAFETY: the caller's promise.
    unsafe { waits(node, core, false) };
    let before = cores.iter().position(|own| *own == CoreRef::of(core)).unwrap_or(0);
    // SAFETY: the caller's promise.
    unsafe { each(&cores[..before], |object| object.held_meanwhile(ptr::from_ref(node).cast())) }
}

/// The node waits for the set that `leader` leads; with `open`, for a signal first.
///
/// # Safety
/// The node waits, and the caller has the leader's lock.
#[inline(always)]
pub(super) unsafe fn waits(node: &Node, leader: &Core, open: bool) {
    // SAFETY: the caller's promise.
    let waiting = || unsafe { node.waiting() };
    leader.object.awaited(ptr::from_ref(node).cast(), node.site, open, waiting);
}

/// The node has been signalled.
#[inline(always)]
pub(super) fn signalled(node: &Node) {
    detect::signalled(ptr::from_ref(node).cast());
}
