//! The order of events in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An event, with its time and its number.
#[derive(Debug)]
struct Timed<E> {
    at: (u64, u64),
    event: E,
}

impl<E> PartialEq for Timed<E> {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl<E> Eq for Timed<E> {}

impl<E> PartialOrd for Timed<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Timed<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

/// The future events: the earliest first, and of several at one time the one that was added first.
/// So a run depends only on its start.
#[derive(Debug)]
pub(crate) struct Events<E> {
    heap: BinaryHeap<Reverse<Timed<E>>>,
    added: u64,
}

impl<E> Default for Events<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), added: 0 }
    }
}

impl<E> Events<E> {
    /// Schedules `event` at `time`.
    pub(crate) fn add(&mut self, time: u64, event: E) {
        self.added += 1;
        self.heap.push(Reverse(Timed { at: (time, self.added), event }));
    }

    /// Returns the time of the next event.
    pub(crate) fn next_time(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse(next)| next.at.0)
    }

    /// Takes the next event with its time.
    pub(crate) fn take(&mut self) -> Option<(u64, E)> {
        self.heap.pop().map(|Reverse(next)| (next.at.0, next.event))
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    #[test]
    fn the_earliest_is_first_and_of_two_at_once_the_one_that_was_added_first() {
        let mut events = Events::default();
        for (time, event) in [(2, 'c'), (1, 'b'), (1, 'a'), (0, 'd')] {
            events.add(time, event);
        }
        assert_eq!(events.next_time(), Some(0));
        let all: Vec<_> = std::iter::from_fn(|| events.take()).collect();
        assert_eq!(all, [(0, 'd'), (1, 'b'), (1, 'a'), (2, 'c')]);
        assert_eq!(events.next_time(), None);
    }
}
