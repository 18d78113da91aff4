//! The wakers of those that wait for one event, by places.
//!
//! A *waiter* leaves its waker, and keeps the place of that. When it is polled again it replaces
//! the waker there, and when it waits no more it takes the waker out. The thread that makes the
//! event takes all wakers out.
//!
//! Later waiters use the same keys again. So a place has a *round* too: the first waker that is
//! left in an empty set begins one, with a number that no other round of any set has. A place of an
//! earlier round, or of another set, is not there.
//!
//! Foreign wakers run a caller's code where they are cloned, woken or dropped, and the user of a
//! set has it under a lock. So each operation takes a clone that was made before, and returns what
//! is to be woken or dropped without the lock.
//!
//! # Rejected
//! A map by numbers of waiters: the first waiter would allocate room for eleven.

use super::slab::Slab;
use std::mem;
// No thread waits for a number, so models need not explore it.
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

/// The number of the next round of any set.
static ROUNDS: AtomicU64 = AtomicU64::new(0);

/// A set of wakers.
#[derive(Debug, Default)]
pub struct Wakers {
    round: u64,
    wakers: Slab<Waker>,
}

/// Where a waiter's waker is in a set, while its round lasts.
#[derive(Clone, Copy, Debug)]
pub struct WakerPlace {
    round: u64,
    key: usize,
}

impl Wakers {
    /// Makes an empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { round: 0, wakers: Slab::new() }
    }

    /// Returns how many wakers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.wakers.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Leaves the waker in this place, or in a new one if that is not in the set. Returns the waker
    /// that was there.
    pub fn leave(&mut self, place: &mut Option<WakerPlace>, waker: Waker) -> Option<Waker> {
        if let Some(place) = *place
            && place.round == self.round
            && let Some(left) = self.wakers.get_mut(place.key)
        {
            return Some(mem::replace(left, waker));
        }
        if self.is_empty() {
            self.round = ROUNDS.fetch_add(1, Ordering::Relaxed);
        }
        *place = Some(WakerPlace { round: self.round, key: self.wakers.insert(waker) });
        None
    }

    /// Takes the waker out of its place, if that is in the set.
    pub fn take(&mut self, place: &mut Option<WakerPlace>) -> Option<Waker> {
        let place = place.take().filter(|place| place.round == self.round)?;
        self.wakers.remove(place.key)
    }

    /// Takes all wakers out.
    pub fn take_all(&mut self) -> impl Iterator<Item = Waker> + use<> {
        self.wakers.take_all()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::Wakers;
    use std::sync::Arc;
    use std::task::{Wake, Waker};

    struct Silent;

    impl Wake for Silent {
        fn wake(self: Arc<Self>) {}
    }

    fn wakers<const N: usize>() -> [Waker; N] {
        std::array::from_fn(|_| Waker::from(Arc::new(Silent)))
    }

    #[test]
    fn a_waiter_has_one_waker_in_a_set() {
        let ([old, new, other], mut set) = (wakers(), Wakers::new());
        let (mut place, mut beside) = (None, None);
        assert!(set.leave(&mut place, old.clone()).is_none());
        assert!(set.leave(&mut beside, other.clone()).is_none());
        assert!(set.leave(&mut place, new.clone()).is_some_and(|before| before.will_wake(&old)));
        assert_eq!(set.len(), 2);
        assert!(set.take(&mut place).is_some_and(|left| left.will_wake(&new)));
        assert!(set.take(&mut place).is_none());
        assert!(set.take_all().all(|waker| waker.will_wake(&other)));
        assert!(set.is_empty() && set.take(&mut beside).is_none());
    }

    #[test]
    fn a_place_of_an_earlier_round_or_of_another_set_is_not_there() {
        let ([waker, later], mut set) = (wakers(), Wakers::new());
        let (mut place, mut again) = (None, None);
        set.leave(&mut place, waker.clone());
        assert_eq!(set.take_all().count(), 1);
        set.leave(&mut again, later.clone());
        // The same key, in the round before.
        let (mut replaces, mut taken, mut elsewhere) = (place, place, place);
        assert!(set.take(&mut taken).is_none() && taken.is_none());
        assert!(set.leave(&mut replaces, waker.clone()).is_none());
        assert_eq!(set.len(), 2);
        let mut other = Wakers::new();
        other.leave(&mut None, later);
        assert!(other.take(&mut elsewhere).is_none());
        assert_eq!((set.len(), other.len()), (2, 1));
    }
}
