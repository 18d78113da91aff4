//! Binary heaps in the hold model: an operation takes the earliest event, and puts it back later by
//! a random time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Done, Kind, Work};
use crate::party::Hand;

/// Bytes of an event.
pub(crate) const HEAP_BYTES: usize = size_of::<u64>();

/// The largest delay of an event that goes back.
const LATEST: usize = 1_000;

/// Heaps of this many events.
#[derive(Clone, Copy)]
pub(crate) struct Heaps(pub(crate) usize);

/// Pending events.
pub(crate) struct Events {
    heap: BinaryHeap<Reverse<u64>>,
    /// The time of the last event taken.
    now: u64,
    taken: u64,
}

impl Kind for Heaps {
    type Value = Events;

    fn make(self, _: usize) -> Events {
        let heap = (0..self.0).map(|number| Reverse((number % LATEST) as u64)).collect();
        Events { heap, now: 0, taken: 0 }
    }

    fn total(self, events: &Events) -> u64 {
        events.taken
    }
}

impl Work for Heaps {
    #[inline(never)]
    fn operate(self, events: &mut Events, hand: &mut Hand) -> Done {
        let Some(Reverse(time)) = events.heap.pop() else {
            return Done { added: 0, right: false };
        };
        let right = time >= events.now;
        (events.now, events.taken) = (time, events.taken + 1);
        events.heap.push(Reverse(time + hand.random.below(LATEST) as u64));
        Done { added: 1, right: right && events.heap.len() == self.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_their_order_and_none_is_lost() {
        let work = Heaps(10);
        let (mut events, mut hand) = (work.make(0), Hand::new(1, 0));
        assert!((0..1_000).all(|_| work.operate(&mut events, &mut hand).right));
        assert_eq!(work.total(&events), 1_000);
        events.heap.push(Reverse(0));
        assert!(!work.operate(&mut events, &mut hand).right, "one is too early");
        events.heap.clear();
        assert!(!work.operate(&mut events, &mut hand).right, "there is none");
    }
}
