//! What a peer has asked this node to hold: values for one of its actors, or for all of them.
//!
//! A peer [parks](super::parking) what finds its mailboxes full. When much is parked it says so,
//! and senders wait here, as local senders wait at the mailbox. Only values for actors wait.
//! Answers, orders and ends go on, and the room that they make ends the wait.
//!
//! # Why no sender waits for ever
//! A peer that has sent `Hold` sends `Resume` when its actors have taken half of what is parked, in
//! this order, by one lane. A waiting sender leaves a waker under the lock, in the same step in
//! which it sees that values are held. All are woken when the peer is down, or this node leaves.
//! From then on nothing is held, and the gate says why nothing can be sent. An actor of the peer
//! that takes nothing keeps its senders waiting, as a local one does.
//!
//! The peer chooses the names of actors: it may hold [`MOST`] of them.

use crate::node::Slot;
use crate::primitives::{Mutex, MutexGuard};
use evenkeel::internal::wake_all;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};

/// Actors of one peer that are held at once. A choice: a peer that would hold more holds all.
pub(super) const MOST: usize = 1 << 16;

/// What one peer has asked to hold.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    /// Whether anything is held, for a check without the lock. Changed under it.
    any: AtomicBool,
    state: Mutex<State>,
}

type Wakers = BTreeMap<u64, Waker>;

#[derive(Debug, Default)]
struct State {
    by_slot: BTreeMap<Slot, Wakers>,
    all: Option<Wakers>,
    /// The number of the last wait.
    last: u64,
    is_over: bool,
}

impl Holds {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Only maps of wakers are changed under it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether values for this actor are held.
    #[inline]
    pub(super) fn has(&self, to: Slot) -> bool {
        self.any.load(Ordering::Relaxed) && self.looks_for(to)
    }

    #[cold]
    fn looks_for(&self, to: Slot) -> bool {
        let state = self.lock();
        state.all.is_some() || state.by_slot.contains_key(&to)
    }

    /// Handles the peer's `Hold` for this actor, or for all. False if the peer has asked for that
    /// before, or holds too many.
    pub(super) fn hold(&self, to: Option<Slot>) -> bool {
        let mut state = self.lock();
        if state.is_over {
            return true;
        }
        match to {
            None if state.all.is_none() => state.all = Some(Wakers::new()),
            Some(to) if state.by_slot.len() < MOST && !state.by_slot.contains_key(&to) => {
                state.by_slot.insert(to, Wakers::new());
            }
            _ => return false,
        }
        self.any.store(true, Ordering::Relaxed);
        true
    }

    /// Handles the peer's `Resume`. False if nothing was held.
    pub(super) fn resume(&self, to: Option<Slot>) -> bool {
        let mut state = self.lock();
        if state.is_over {
            return true;
        }
        let held = match to {
            None => state.all.take(),
            Some(to) => state.by_slot.remove(&to),
        };
        self.any.store(state.all.is_some() || !state.by_slot.is_empty(), Ordering::Relaxed);
        drop(state);
        let was_held = held.is_some();
        wake_all(held.into_iter().flat_map(Wakers::into_values));
        was_held
    }

    /// Ends all holds: the peer is down, or this node leaves.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.is_over = true;
        self.any.store(false, Ordering::Relaxed);
        let all = state.all.take();
        let by_slot = std::mem::take(&mut state.by_slot);
        drop(state);
        wake_all(all.into_iter().chain(by_slot.into_values()).flat_map(Wakers::into_values));
    }

    /// Waits until values for this actor are not held.
    ///
    /// # Cancel safety
    /// Dropping the future forgets the wait.
    pub(super) async fn go_on(&self, to: Slot) {
        /// The place of a waiting sender.
        struct Place<'a>(&'a Holds, Slot, u64);
        impl Drop for Place<'_> {
            fn drop(&mut self) {
                let Self(holds, to, number) = *self;
                let mut state = holds.lock();
                let of_all = state.all.as_mut().and_then(|all| all.remove(&number));
                let of_slot = state.by_slot.get_mut(&to).and_then(|held| held.remove(&number));
                drop(state);
                drop((of_all, of_slot));
            }
        }
        if !self.has(to) {
            return;
        }
        let number = {
            let mut state = self.lock();
            state.last += 1;
            state.last
        };
        let place = Place(self, to, number);
        poll_fn(|context| {
            // The code of wakers that are cloned and dropped runs without the lock.
            let waker = context.waker().clone();
            let mut state = self.lock();
            let State { by_slot, all, .. } = &mut *state;
            let Some(held) = by_slot.get_mut(&place.1).or(all.as_mut()) else {
                return Poll::Ready(());
            };
            let before = held.insert(place.2, waker);
            drop(state);
            drop(before);
            Poll::Pending
        })
        .await;
    }
}

#[cfg(all(test, shuttle))]
mod model {
    use super::Holds;
    use crate::models::{at_once, until};
    use crate::node::Slot;
    use evenkeel::internal::check;
    use std::sync::Arc;

    const SLOT: Slot = Slot { index: 1, generation: 0 };

    /// Waiting senders go on when all holds on them are resumed, or all holds end.
    #[test]
    fn shuttle_no_sender_waits_for_ever() {
        for ends in [false, true] {
            let scenario = if ends { ends_early } else { resumes };
            check(2, scenario);
        }
    }

    fn resumes(handle: &evenkeel::Handle) {
        run(handle, |holds| {
            assert!(holds.resume(Some(SLOT)));
            assert!(holds.resume(None));
        });
    }

    fn ends_early(handle: &evenkeel::Handle) {
        run(handle, Holds::end);
    }

    fn run(handle: &evenkeel::Handle, over: fn(&Holds)) {
        let holds = Arc::<Holds>::default();
        let wait = |holds: Arc<Holds>| Box::pin(async move { holds.go_on(SLOT).await });
        let (one, other, held) = (wait(holds.clone()), wait(holds.clone()), holds.clone());
        at_once(
            handle,
            [
                one,
                Box::pin(async move {
                    assert!(held.hold(None));
                    assert!(held.hold(Some(SLOT)));
                    until(|| true).await;
                    over(&held);
                    assert!(!held.has(SLOT));
                }),
                other,
            ],
        );
        let state = holds.lock();
        assert!(state.all.is_none() && state.by_slot.is_empty());
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::{Holds, MOST};
    use crate::node::Slot;
    use futures::FutureExt as _;
    use futures::future::poll_immediate;

    fn slot(index: u32) -> Slot {
        Slot { index, generation: 0 }
    }

    #[test]
    fn what_is_held_waits_until_it_may_go_on() {
        let holds = Holds::default();
        assert!(holds.hold(Some(slot(1))));
        assert!(!holds.hold(Some(slot(1))), "twice");
        assert!(holds.has(slot(1)) && !holds.has(slot(2)));
        assert!(holds.hold(None));
        assert!(holds.has(slot(2)));
        let mut both = [slot(1), slot(2)].map(|slot| Box::pin(holds.go_on(slot)));
        let mut ready = || both.each_mut().map(|wait| wait.as_mut().now_or_never().is_some());
        assert_eq!(ready(), [false, false]);
        assert!(holds.resume(Some(slot(1))));
        assert_eq!(ready(), [false, false], "all are held");
        assert!(holds.resume(None));
        assert!(!holds.resume(None), "twice");
        assert_eq!(ready(), [true, true]);
    }

    #[test]
    fn waits_that_are_given_up_and_the_end_leave_nothing() {
        let holds = Holds::default();
        assert!(holds.hold(Some(slot(1))));
        let given_up = evenkeel::block_on(poll_immediate(holds.go_on(slot(1))));
        assert_eq!(given_up, None);
        assert!(holds.lock().by_slot[&slot(1)].is_empty());
        holds.end();
        assert!(!holds.has(slot(1)));
        assert!(holds.hold(Some(slot(1))) && !holds.has(slot(1)), "it is over");
    }

    #[test]
    fn a_peer_holds_a_bounded_number_of_actors() {
        let holds = Holds::default();
        assert!((0..MOST as u32).all(|index| holds.hold(Some(slot(index)))));
        assert!(!holds.hold(Some(slot(MOST as u32))));
    }
}
