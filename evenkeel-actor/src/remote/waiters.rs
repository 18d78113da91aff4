//! Tasks that wait for a state to change, with one waker each.
//!
//! # Protocol
//! A *waiter* leaves its waker under the lock of the list, then looks at the state. A thread that
//! *changes* the state then takes all wakers out, under the same lock, and calls them. The state
//! has a lock of its own, or is atomic.
//!
//! # Why no waiter waits for ever
//! Of the two that hold the list's lock, one is later. If it is the changing thread, it finds the
//! waker. If it is the waiter, it sees the change. A waiter that is polled again replaces its own
//! waker, and one that is dropped removes it.
//!
//! # Rejected
//! Wakers in the state, under its lock: a future that is dropped by a message's `Serialize` would
//! take that lock while it has the lock of a lane, and other threads take the two the other way
//! round.

use evenkeel::internal::{WakerPlace, Wakers, wake_all};
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

#[derive(Debug, Default)]
pub(super) struct Waiters(Mutex<Wakers>);

impl Waiters {
    fn lock(&self) -> MutexGuard<'_, Wakers> {
        // Wakers are put in and taken out under it, and no code of theirs runs.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `look` is ready, which looks at the state.
    ///
    /// # Cancel safety
    /// Dropping the future forgets the wait.
    pub(super) async fn until<R>(&self, mut look: impl FnMut(&mut Context<'_>) -> Poll<R>) -> R {
        struct Wait<'a>(&'a Waiters, Option<WakerPlace>);
        impl Drop for Wait<'_> {
            fn drop(&mut self) {
                let left = self.0.lock().take(&mut self.1);
                drop(left);
            }
        }
        let mut wait = Wait(self, None);
        poll_fn(|context| {
            // The code of wakers that are cloned and dropped runs without the lock.
            let waker = context.waker().clone();
            let before = wait.0.lock().leave(&mut wait.1, waker);
            drop(before);
            look(context)
        })
        .await
    }

    /// Wakes all waiters: the state has changed.
    pub(super) fn wake(&self) {
        let wakers = self.lock().take_all();
        wake_all(wakers);
    }
}
