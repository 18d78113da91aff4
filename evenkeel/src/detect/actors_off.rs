//! The hooks by which actors report to the graph, for builds without one: they do nothing.

use super::hooks::Waiting;
use crate::raw_task::id::Id;

#[inline(always)]
pub(crate) fn public_made(_task: Id, _amount: usize) {}

#[inline(always)]
pub(crate) fn public_gone(_task: Id) {}

/// Gives an actor's task a name for reports.
#[inline(always)]
pub fn name(_task: impl FnOnce() -> Id, _name: &str) {}

/// Notes that the caller is about to put a message into the mailbox of `actor`.
#[inline(always)]
pub fn sends(_actor: impl FnOnce() -> Id) {}

/// An asker's wait for a reply.
#[derive(Debug)]
pub struct Reply;

impl Reply {
    /// The wait for a reply of this actor.
    #[inline(always)]
    pub fn of(_actor: impl FnOnce() -> Id) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn wait(&self, _waiter: impl FnOnce() -> Option<Waiting>) {}

    #[inline(always)]
    pub(crate) fn wait_for_limit(&self, _waiter: impl FnOnce() -> Option<Waiting>) {}
}

/// A sender's wait for room in a mailbox.
#[derive(Debug)]
pub struct Room;

impl Room {
    /// Makes a wait that has not begun.
    #[allow(clippy::new_without_default, reason = "as where there is a graph")]
    #[must_use]
    #[inline(always)]
    pub fn new() -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn wait(
        &mut self,
        _actor: impl FnOnce() -> Id,
        _mailbox: *const (),
        _waiter: impl FnOnce() -> Option<Waiting>,
    ) {
    }
}

/// Notes that `amount` senders that wait for room are about to be woken.
#[inline(always)]
pub fn called(_mailbox: *const (), _amount: usize) {}

/// Notes that one of these senders has come, or will not.
#[inline(always)]
pub fn came(_mailbox: *const ()) {}

/// Notes that a mailbox is closed.
#[inline(always)]
pub fn closed(_mailbox: *const ()) {}

// Nothing is left of it.
const _: () = assert!(size_of::<(Reply, Room)>() == 0);
