//! The ready queue: a ring of entries, oldest first.
//!
//! Only the holder of the owner-biased lock accesses the slots. The two [`Ends`] lie beside the
//! processor's other published figures, because other workers read them: how many tasks are in the
//! queue, and since when. So a push and a pop each store one index, which the owner needs anyway
//! and from which other workers compute the length.
//!
//! The indices run freely and wrap; the slot of an index is the index modulo the number of slots, a
//! power of two.
//!
//! # Rejected
//! `VecDeque` with its length and the head's age published apart: it has no power-of-two capacity
//! to mask with. Publishing then takes two more stores and three dependent loads for each push and
//! pop, a fifth of the time of `evenkeel-bench run --bench yield`. Fetching the lines of the next
//! tasks ahead: no gain, with a hundred tasks or with fifty thousand, that were here before; those
//! that [come from elsewhere](crate::travel::visitors) are fetched.

#![allow(unsafe_code, reason = "a slot is there or not, as the ends say")]

use crate::primitives::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::raw_task::rights::Runnable;
use std::mem::MaybeUninit;

/// A ready task, and the time since when it is ready, by the coarse clock of the processor that
/// queued it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) task: Runnable,
    pub(crate) since: u64,
}

/// The time of the head of an empty queue.
pub(crate) const NO_HEAD: u64 = u64::MAX;

/// Slots of a new ring: 1 KiB.
const LEAST: usize = 64;

/// The ends of a queue: the holder of its lock changes them, all workers read them.
#[derive(Debug)]
pub(crate) struct Ends {
    /// The index of the oldest entry.
    head: AtomicUsize,
    /// The index behind the youngest.
    tail: AtomicUsize,
    /// When the oldest entry became ready; [`NO_HEAD`] if there is none.
    head_since: AtomicU64,
}

impl Ends {
    pub(crate) fn new() -> Self {
        Self {
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            head_since: AtomicU64::new(NO_HEAD),
        }
    }

    /// Returns the number of tasks in the queue: exact for the holder of the lock, approximate for
    /// others.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        let (head, tail) = (self.head.load(Ordering::Relaxed), self.tail.load(Ordering::Relaxed));
        // Two loads: the tail may be older than the head, or both a turn of the ring apart.
        (tail.wrapping_sub(head) as isize).max(0) as usize
    }

    /// Returns when the oldest entry became ready; [`NO_HEAD`] if there is none.
    #[inline(always)]
    pub(crate) fn head_since(&self) -> u64 {
        self.head_since.load(Ordering::Relaxed)
    }

    /// Returns a number that changes whenever tasks leave the queue by its head. By it other
    /// workers see whether the processor stands still. A thief changes it too, and so does what is
    /// [pushed in front](Ring::push_front), which makes them look once more.
    #[inline(always)]
    pub(crate) fn departures(&self) -> usize {
        self.head.load(Ordering::Relaxed)
    }
}

/// The slots of a queue. The caller of every method holds the queue's lock, and passes the queue's
/// own ends.
#[derive(Debug)]
pub(crate) struct Ring {
    /// The slots, a power of two. Those from head to tail are initialised.
    slots: Box<[MaybeUninit<Entry>]>,
}

impl Default for Ring {
    fn default() -> Self {
        Self { slots: Box::new_uninit_slice(LEAST) }
    }
}

impl Ring {
    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }

    #[inline(always)]
    fn slot(&mut self, index: usize) -> &mut MaybeUninit<Entry> {
        let index = index & (self.slots.len() - 1);
        // SAFETY: the number of slots is a power of two, so the index is below it.
        unsafe { self.slots.get_unchecked_mut(index) }
    }

    /// Takes the entry at `index`.
    ///
    /// # Safety
    /// The entry is there, and the caller takes it out of the queue.
    #[inline(always)]
    unsafe fn read(&mut self, index: usize) -> Entry {
        // SAFETY: the caller's promise.
        unsafe { self.slot(index).assume_init_read() }
    }

    /// Returns the entry at `index`: the task, and since when it is ready.
    ///
    /// # Safety
    /// It is there.
    #[inline(always)]
    unsafe fn peek(&mut self, index: usize) -> &Entry {
        // SAFETY: the caller's promise.
        unsafe { self.slot(index).assume_init_ref() }
    }

    /// Puts an entry at the back, and returns the length.
    #[inline(always)]
    pub(crate) fn push(&mut self, ends: &Ends, entry: Entry) -> usize {
        let (head, tail) = (ends.head.load(Ordering::Relaxed), ends.tail.load(Ordering::Relaxed));
        let len = tail.wrapping_sub(head);
        if len == self.slots.len() {
            self.resize(ends, len * 2);
        }
        let since = entry.since;
        self.slot(tail).write(entry);
        ends.tail.store(tail.wrapping_add(1), Ordering::Relaxed);
        if len == 0 {
            ends.head_since.store(since, Ordering::Relaxed);
        }
        len + 1
    }

    /// Takes the oldest entry.
    #[inline(always)]
    pub(crate) fn pop(&mut self, ends: &Ends) -> Option<Entry> {
        let (head, tail) = (ends.head.load(Ordering::Relaxed), ends.tail.load(Ordering::Relaxed));
        let len = tail.wrapping_sub(head);
        if len == 0 {
            return None;
        }
        // SAFETY: there is a head, which leaves the queue below.
        let entry = unsafe { self.read(head) };
        let next = head.wrapping_add(1);
        ends.head.store(next, Ordering::Relaxed);
        let since = if len == 1 {
            NO_HEAD
        } else {
            // SAFETY: there are at least two entries, so there is one behind the head.
            unsafe { self.peek(next) }.since
        };
        ends.head_since.store(since, Ordering::Relaxed);
        Some(entry)
    }

    /// Returns the entry that stands `places` behind the oldest, if there is one.
    #[inline(always)]
    pub(crate) fn behind(&mut self, ends: &Ends, places: usize) -> Option<&Entry> {
        let (head, tail) = (ends.head.load(Ordering::Relaxed), ends.tail.load(Ordering::Relaxed));
        // SAFETY: the entry is there.
        (places < tail.wrapping_sub(head)).then(|| unsafe { self.peek(head.wrapping_add(places)) })
    }

    /// Takes the entry that stands `places` behind the oldest. Those ahead of it each move by one
    /// place, and stay in order.
    pub(crate) fn pop_behind(&mut self, ends: &Ends, places: usize) -> Option<Entry> {
        self.behind(ends, places)?;
        let head = ends.head.load(Ordering::Relaxed);
        let mask = self.slots.len() - 1;
        for place in (0..places).rev() {
            let index = head.wrapping_add(place);
            self.slots.swap(index & mask, index.wrapping_add(1) & mask);
        }
        self.pop(ends)
    }

    /// Puts entries before the oldest one, in their order.
    ///
    /// The ends move on by a whole turn of the ring: [departures](Ends::departures) that went back
    /// would come to a number that others have seen, and the processor would look as if it stood
    /// still.
    pub(crate) fn push_front(&mut self, ends: &Ends, entries: Vec<Entry>) {
        let Some(oldest) = entries.first().map(|entry| entry.since) else { return };
        let (count, len) = (entries.len(), ends.len());
        if len + count > self.slots.len() {
            self.resize(ends, len + count);
        }
        let (head, tail) = (ends.head.load(Ordering::Relaxed), ends.tail.load(Ordering::Relaxed));
        for (place, entry) in (1..).zip(entries.into_iter().rev()) {
            self.slot(head.wrapping_sub(place)).write(entry);
        }
        let turn = self.slots.len();
        ends.tail.store(tail.wrapping_add(turn), Ordering::Relaxed);
        ends.head.store(head.wrapping_add(turn).wrapping_sub(count), Ordering::Relaxed);
        ends.head_since.store(oldest, Ordering::Relaxed);
    }

    /// Takes the youngest entry back.
    #[cold]
    pub(crate) fn take_back(&mut self, ends: &Ends) -> Option<Entry> {
        let len = ends.len();
        if len == 0 {
            return None;
        }
        let last = ends.tail.load(Ordering::Relaxed).wrapping_sub(1);
        ends.tail.store(last, Ordering::Relaxed);
        if len == 1 {
            ends.head_since.store(NO_HEAD, Ordering::Relaxed);
        }
        // SAFETY: the queue had an entry, and this one has left the queue.
        Some(unsafe { self.read(last) })
    }

    /// Swaps the entry that stands `places` behind the oldest with the oldest. The order that
    /// follows from a seed depends on that swap, so [`pop_behind`](Self::pop_behind) does not do
    /// here.
    #[cfg(not(any(loom, shuttle)))]
    #[cold]
    pub(crate) fn bring_forward(&mut self, ends: &Ends, places: usize) {
        assert!(places < ends.len(), "the entry is in the queue");
        let head = ends.head.load(Ordering::Relaxed);
        let mask = self.slots.len() - 1;
        self.slots.swap(head & mask, head.wrapping_add(places) & mask);
    }

    /// Moves the oldest `amount` entries, or all if there are fewer, to `entries`.
    pub(crate) fn drain(&mut self, ends: &Ends, amount: usize, entries: &mut Vec<Entry>) {
        entries.extend(std::iter::from_fn(|| self.pop(ends)).take(amount));
    }

    /// Returns when the youngest entry became ready; zero if there is none.
    pub(crate) fn newest(&mut self, ends: &Ends) -> u64 {
        let last = ends.tail.load(Ordering::Relaxed).wrapping_sub(1);
        if ends.len() == 0 {
            return 0;
        }
        // SAFETY: the queue has an entry.
        unsafe { self.peek(last) }.since
    }

    /// Moves the entries to a ring of `slots` slots, or more if they need more, rounded up to a
    /// power of two.
    #[cold]
    pub(crate) fn resize(&mut self, ends: &Ends, slots: usize) {
        let len = ends.len();
        let slots = slots.max(len).max(LEAST).next_power_of_two();
        let mut fresh = Self { slots: Box::new_uninit_slice(slots) };
        let head = ends.head.load(Ordering::Relaxed);
        for index in (0..len).map(|offset| head.wrapping_add(offset)) {
            // SAFETY: the index lies between head and tail, and the old slots are dropped without
            // their entries.
            let entry = unsafe { self.read(index) };
            fresh.slot(index).write(entry);
        }
        *self = fresh;
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::raw_task::blocks::Birth;
    use crate::raw_task::blocks::Room;
    use crate::raw_task::id;
    use crate::task;
    use std::collections::VecDeque;

    fn entry(since: u64) -> Entry {
        let birth = Birth { home: std::ptr::null(), id: id::take_one(), room: Room::Compact };
        let site = std::panic::Location::caller();
        let (task, handle) = task::make(async {}, (), site, birth);
        drop(handle);
        Entry { task, since }
    }

    fn end(entry: Option<Entry>) -> Option<u64> {
        entry.map(|entry| {
            crate::scheduler::run::run_elsewhere(entry.task);
            entry.since
        })
    }

    /// Compares the ring with a `VecDeque`, through growing, wrapping and shrinking.
    #[test]
    fn it_does_what_a_deque_does() {
        let (mut ring, ends, mut deque) = (Ring::default(), Ends::new(), VecDeque::new());
        let mut random = crate::policy::random::Random::new(7);
        for since in 0..20_000 {
            match random.next() % 16 {
                0..=7 => {
                    deque.push_back(since);
                    assert_eq!(ring.push(&ends, entry(since)), deque.len());
                }
                8..=13 => assert_eq!(end(ring.pop(&ends)), deque.pop_front()),
                14 => assert_eq!(end(ring.take_back(&ends)), deque.pop_back()),
                15 if !deque.is_empty() && since % 4 == 0 => {
                    let places = since as usize % deque.len();
                    assert_eq!(end(ring.pop_behind(&ends, places)), deque.remove(places));
                    assert!(ring.pop_behind(&ends, deque.len()).is_none());
                }
                15 if !deque.is_empty() && since % 2 == 0 => {
                    let places = since as usize % deque.len();
                    ring.bring_forward(&ends, places);
                    deque.swap(0, places);
                    assert_eq!(end(ring.pop(&ends)), deque.pop_front());
                }
                _ if since % 3 == 0 => {
                    let departures = ends.departures();
                    let count = random.next() % 40;
                    ring.push_front(&ends, (0..count).map(entry).collect());
                    (0..count).rev().for_each(|since| deque.push_front(since));
                    assert!(ends.departures() >= departures, "they do not go back");
                }
                _ => {
                    let mut entries = Vec::new();
                    ring.drain(&ends, 3, &mut entries);
                    let drained: Vec<_> = deque.drain(..deque.len().min(3)).collect();
                    let sinces: Vec<_> = entries.into_iter().map(|e| end(Some(e))).collect();
                    assert_eq!(sinces, drained.into_iter().map(Some).collect::<Vec<_>>());
                    ring.resize(&ends, deque.len());
                }
            }
            assert_eq!(ends.len(), deque.len());
            assert_eq!(ends.head_since(), deque.front().copied().unwrap_or(NO_HEAD));
            assert_eq!(ring.newest(&ends), deque.back().copied().unwrap_or(0));
            let places = since as usize % 8;
            let behind = ring.behind(&ends, places).map(|entry| entry.since);
            assert_eq!(behind, deque.get(places).copied());
        }
        while end(ring.pop(&ends)).is_some() {}
        assert!(ring.capacity() >= LEAST);
    }
}
