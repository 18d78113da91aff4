//! Leaving: how a node goes out of its job.

use super::inner::Inner;
use super::scope;
use super::waiters::Waiters;
use evenkeel::budget;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

/// Whether the host is gone, and the tasks that wait for that.
#[derive(Default)]
pub(super) struct Ending {
    is_over: AtomicBool,
    waiters: Waiters,
}

impl Ending {
    /// Notes that the host is gone.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        self.waiters.wake();
    }

    /// Waits until the host is gone.
    pub(super) async fn wait(&self) {
        budget::consume().await;
        let look = |_: &mut Context<'_>| match self.is_over.load(Ordering::Acquire) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        };
        self.waiters.until(look).await;
    }
}

pub(super) struct Owner {
    pub(super) inner: &'static Inner,
    pub(super) over: Arc<Ending>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        let inner = self.inner;
        // Leaving locks the lanes.
        scope::once_written(move || inner.leave());
    }
}

impl Inner {
    /// Takes this node out of the job, and fails all that waits for other nodes here. Runs when the
    /// node leaves, and when its host has ended for another reason.
    ///
    /// No waiter is missed. Once the multiplexer is closed, nothing is put in: a later sender is
    /// refused, and an earlier sender's call is failed here.
    pub(super) fn leave(&self) {
        self.has_left.store(true, Ordering::SeqCst);
        self.multiplexer.close();
        for peer in self.others() {
            peer.holds.end();
            peer.forget_leases();
            self.calls.node_is_down(peer.id);
            peer.untie_all();
        }
        self.collective.abandon();
        self.listeners.end();
        // Last: clearing drops scripts and what they own, and such a drop may panic.
        self.table.clear();
        self.scripts.clear();
    }
}
