//! The order of events in virtual time.

/// The bits of a time that choose a slot of one level.
const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
const LEVELS: usize = u64::BITS.div_ceil(BITS) as usize;

/// The end of a list.
const NONE: u32 = u32::MAX;

/// An event, with its time and the entry behind it in its list.
#[derive(Debug)]
struct Entry<E> {
    time: u64,
    event: E,
    next: u32,
}

/// The entries of a slot, in the order in which they were added.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// The future events: the earliest first, and of several at one time the one that was added first.
/// So a run depends only on its start.
///
/// They are in a wheel of wheels ("Hashed and Hierarchical Timing Wheels", Varghese and Lauck,
/// 1987), which takes half the time of a heap. An event is in the level of the highest digit in
/// which its time differs from the present one, in the slot of that digit. So the slots of the
/// lowest level each stand for one time, and what is in a level is due before what is above it.
/// Once a slot of a higher level is the first, its entries move down, in their order; one that is
/// alone there is taken as it is.
#[derive(Debug)]
pub(crate) struct Events<E> {
    /// The present time. No event is earlier.
    now: u64,
    /// The slots of each level that are not empty.
    occupied: [u64; LEVELS],
    /// Their lists. That of an empty slot says nothing.
    slots: Vec<[List; SLOTS]>,
    entries: Vec<Entry<E>>,
    /// The entries that are not in use, as a list.
    free: u32,
}

impl<E> Default for Events<E> {
    fn default() -> Self {
        Self {
            now: 0,
            occupied: [0; LEVELS],
            slots: vec![[List { first: NONE, last: NONE }; SLOTS]; LEVELS],
            entries: Vec::new(),
            free: NONE,
        }
    }
}

impl<E: Copy> Events<E> {
    /// Schedules `event` at `time`.
    ///
    /// # Panics
    /// If `time` has passed.
    pub(crate) fn add(&mut self, time: u64, event: E) {
        assert!(time >= self.now, "an event is added in the past");
        let entry = Entry { time, event, next: NONE };
        let index = self.free;
        if let Some(free) = self.entries.get_mut(index as usize) {
            self.free = free.next;
            *free = entry;
            self.place(index);
        } else {
            self.entries.push(entry);
            self.place(self.entries.len() as u32 - 1);
        }
    }

    /// Takes the next event with its time, if that is before `limit`. If not, events from `limit`
    /// on can be added.
    pub(crate) fn take_before(&mut self, limit: u64) -> Option<(u64, E)> {
        loop {
            let level = self.occupied.iter().position(|&slots| slots != 0)?;
            let slot = self.occupied[level].trailing_zeros();
            let shift = level as u32 * BITS;
            let kept = (self.now >> shift) & !(SLOTS as u64 - 1);
            let start = (kept | u64::from(slot)) << shift;
            let list = self.slots[level][slot as usize];
            let first = &mut self.entries[list.first as usize];
            if level == 0 || list.first == list.last {
                let time = first.time;
                if time >= limit {
                    return None;
                }
                self.now = time;
                self.slots[level][slot as usize].first = first.next;
                if list.first == list.last {
                    self.occupied[level] &= !(1 << slot);
                }
                first.next = std::mem::replace(&mut self.free, list.first);
                return Some((time, first.event));
            }
            if start >= limit {
                return None;
            }
            self.now = start;
            self.occupied[level] &= !(1 << slot);
            let mut index = list.first;
            while index != NONE {
                let next = std::mem::replace(&mut self.entries[index as usize].next, NONE);
                self.place(index);
                index = next;
            }
        }
    }

    /// Puts an entry to the back of its slot.
    fn place(&mut self, index: u32) {
        let time = self.entries[index as usize].time;
        let highest = (time ^ self.now).checked_ilog2().unwrap_or(0);
        let level = highest / BITS;
        let slot = (time >> (level * BITS)) as usize % SLOTS;
        let level = level as usize;
        let list = &mut self.slots[level][slot];
        if self.occupied[level] & (1 << slot) == 0 {
            self.occupied[level] |= 1 << slot;
            list.first = index;
        } else {
            self.entries[list.last as usize].next = index;
        }
        list.last = index;
    }
}

#[cfg(test)]
mod tests {
    use super::Events;
    use crate::random::Random;
    use std::collections::BTreeMap;

    #[test]
    fn the_earliest_is_first_and_of_two_at_once_the_one_that_was_added_first() {
        let mut events = Events::default();
        for (time, event) in [(2, 'c'), (1, 'b'), (1, 'a'), (0, 'd')] {
            events.add(time, event);
        }
        let all: Vec<_> = std::iter::from_fn(|| events.take_before(u64::MAX)).collect();
        assert_eq!(all, [(0, 'd'), (1, 'b'), (1, 'a'), (2, 'c')]);
    }

    #[test]
    fn what_is_not_before_the_limit_stays_and_others_can_be_added_at_the_limit() {
        let mut events = Events::default();
        for limit in [1, 63, 64, 5_000, 5_001, u64::MAX / 4, u64::MAX - 1] {
            events.add(u64::MAX - 1, 'z');
            assert_eq!(events.take_before(limit), None);
            events.add(limit, 'a');
            events.add(limit, 'b');
            assert_eq!(events.take_before(limit), None);
            let expected = if limit == u64::MAX - 1 { 'z' } else { 'a' };
            assert_eq!(events.take_before(limit + 1), Some((limit, expected)));
            events = Events::default();
        }
    }

    /// A map gives events in the same order, at times of all sizes.
    #[test]
    fn events_are_taken_in_the_order_of_a_map() {
        for seed in 0..200 {
            let mut random = Random::new(seed, 0);
            let (mut events, mut map) = (Events::default(), BTreeMap::new());
            let mut now = 0_u64;
            for number in 0..2_000_u64 {
                if random.below(2) == 0 {
                    let time = now.saturating_add(random.next() >> (16 + random.below(48)));
                    events.add(time, number);
                    map.insert((time, number), ());
                    continue;
                }
                let limit = now.saturating_add(random.next() >> (16 + random.below(48)));
                let first = map.keys().next().copied().filter(|&(time, _)| time < limit);
                assert_eq!(events.take_before(limit), first);
                now = first.map_or(now.max(limit), |(time, _)| time);
                if let Some(first) = first {
                    map.remove(&first);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "in the past")]
    fn no_event_is_added_in_the_past() {
        let mut events = Events::default();
        events.add(100, 'a');
        assert_eq!(events.take_before(101), Some((100, 'a')));
        events.add(99, 'b');
    }
}
