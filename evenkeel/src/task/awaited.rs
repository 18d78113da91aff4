//! Waits for actors, which are reported to [`detect`](crate::detect) by the waiter's waker.

use super::waker::waiting;
use crate::detect::actors::{Reply, Room};
use crate::raw_task::id::Id;
use std::task::Waker;

impl Reply {
    /// Notes that the task or thread behind this waker, to which the reply goes, waits.
    #[inline(always)]
    pub fn awaited(&self, waker: &Waker) {
        self.wait(|| waiting(waker));
    }

    /// Notes that this waker is woken at the limit that all waits for a reply have.
    #[inline(always)]
    pub fn limited(&self, waker: &Waker) {
        self.wait_for_limit(|| waiting(waker));
    }
}

impl Room {
    /// Notes that the task or thread behind this waker waits for room in the mailbox of `actor` at
    /// this address.
    #[inline(always)]
    pub fn awaited(&mut self, actor: impl FnOnce() -> Id, mailbox: *const (), waker: &Waker) {
        self.wait(actor, mailbox, || waiting(waker));
    }
}
