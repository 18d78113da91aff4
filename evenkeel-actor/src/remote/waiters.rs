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

use evenkeel::internal::wake_all;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

#[derive(Debug, Default)]
pub(super) struct Waiters(Mutex<List>);

#[derive(Debug, Default)]
struct List {
    /// The number of the last wait.
    last: u64,
    wakers: BTreeMap<u64, Waker>,
}

impl Waiters {
    fn lock(&self) -> MutexGuard<'_, List> {
        // Only a map of wakers is changed under it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `look` is ready, which looks at the state.
    ///
    /// # Cancel safety
    /// Dropping the future forgets the wait.
    pub(super) async fn until<R>(&self, mut look: impl FnMut(&mut Context<'_>) -> Poll<R>) -> R {
        /// The place of a waiter.
        struct Place<'a>(&'a Waiters, u64);
        impl Drop for Place<'_> {
            fn drop(&mut self) {
                let waker = self.0.lock().wakers.remove(&self.1);
                drop(waker);
            }
        }
        let number = {
            let mut list = self.lock();
            list.last += 1;
            list.last
        };
        let place = Place(self, number);
        poll_fn(|context| {
            // The code of wakers that are cloned and dropped runs without the lock.
            let waker = context.waker().clone();
            let before = place.0.lock().wakers.insert(place.1, waker);
            drop(before);
            look(context)
        })
        .await
    }

    /// Wakes all waiters: the state has changed.
    pub(super) fn wake(&self) {
        let wakers = std::mem::take(&mut self.lock().wakers);
        wake_all(wakers.into_values());
    }
}
