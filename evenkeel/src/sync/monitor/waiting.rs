//! What all futures here do with a node that waits.

#![allow(unsafe_code, reason = "a waiting node is reached under its core's lock")]

use super::core::Core;
use super::cores::CoreRef;
use super::node::{Node, Place};
use super::state::State;
use crate::task::word_waker::WordWaker;
use std::task::Waker;

/// Renews the waker of a node that waits with the lock of `core`. True if it has been granted meanwhile.
///
/// # Safety
/// The monitor of the core is borrowed, and the caller is the node's future.
#[cold]
pub(super) unsafe fn renew(node: &Node, core: CoreRef, waker: &Waker) -> bool {
    // SAFETY: the caller's promise.
    let core = unsafe { core.get() };
    let mut fresh = None;
    loop {
        let state = core.lock();
        if node.is_granted() {
            return true;
        }
        // SAFETY: the node waits, and this thread has the lock.
        if unsafe { node.has_left(waker) } {
            return false;
        }
        if let Some(fresh) = fresh.take() {
            // SAFETY: as above.
            let before = unsafe { node.renew(fresh) };
            drop(state);
            drop(before);
            return false;
        }
        drop(state);
        // What a waker's clone does is a caller's code, which has no place under the lock.
        fresh = Some(WordWaker::of_task(waker).unwrap_or_else(|| WordWaker::boxed(waker)));
    }
}

/// Gives up the wait of a node, which waits with the lock of `core`, if it still does: `remove` takes it out of where it is. False if it has been granted.
///
/// # Safety
/// As [`renew`], and `remove` leaves it in no queue.
pub(super) unsafe fn leave(
    node: &Node,
    core: CoreRef,
    remove: impl FnOnce(&Core, &mut State, Place),
) -> bool {
    // SAFETY: the caller's promise.
    let core = unsafe { core.get() };
    let mut state = core.lock();
    if node.is_granted() {
        return false;
    }
    // SAFETY: the node waits, and this thread has the lock.
    let place = unsafe { node.with(|ticket| ticket.place) };
    remove(core, &mut state, place);
    // SAFETY: it is in no queue any more, and this thread has the lock.
    let waker = unsafe { node.give_up() };
    drop(state);
    drop(waker);
    true
}
