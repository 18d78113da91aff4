//! A queue of a few small values in place: many producers put under a lock, one taker takes without
//! it.
//!
//! # Roles
//! A *producer* puts. It holds a lock that the queue's user names: an actor's mailbox, for example.
//! The one *taker* takes, without the lock.
//!
//! # Protocol
//! `tail` counts the values that were put, `head` those that were taken; the place of a value is
//! its number modulo the number of places. The producer reads `head` with acquire ordering, writes
//! the place, and then `tail` with release ordering. The taker reads `tail` with acquire, reads the
//! place, and then writes `head` with release.
//!
//! # Why nothing is lost or torn
//! A producer writes a place only after the taker has read its value of the round before: the
//! acquire of `head` sees the release that follows that read. The taker reads a place only after it
//! was written: the acquire of `tail` sees the release that follows the write. The lock excludes
//! producers from each other.
//!
//! # Rejected
//! Taking under the lock: a locked instruction more for each value. Places in an allocation of
//! their own: a cache line more, and an allocation for each actor that ever had a message.

#![allow(unsafe_code, reason = "producer and taker write and read places in turn")]

use super::atomic::{AtomicU32, Edge, Ordering, edge};
use super::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Room for values: four words.
const WORDS: usize = 4;
const BYTES: usize = WORDS * size_of::<u64>();

/// The room: one cell. For loom, one cell per place of a model's values, which are words, because
/// producer and taker use different places at the same time.
#[cfg(not(loom))]
type Room = UnsafeCell<MaybeUninit<[u64; WORDS]>>;
#[cfg(loom)]
type Room = [UnsafeCell<MaybeUninit<u64>>; WORDS];

/// The queue.
#[repr(C)]
pub struct Slots<T> {
    head: AtomicU32,
    tail: AtomicU32,
    room: Room,
    values: PhantomData<T>,
}

// SAFETY: values are moved in by one thread and out by another.
unsafe impl<T: Send> Send for Slots<T> {}
// SAFETY: as above; the protocol admits one producer and one taker at a time.
unsafe impl<T: Send> Sync for Slots<T> {}

impl<T> Slots<T> {
    /// The number of places, a power of two; zero for large values.
    pub const PLACES: u32 = {
        if align_of::<T>() > align_of::<u64>() || size_of::<T>() > BYTES {
            0
        } else if size_of::<T>() == 0 {
            WORDS as u32
        } else {
            1 << (BYTES / size_of::<T>()).ilog2()
        }
    };

    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        #[cfg(not(loom))]
        let room = UnsafeCell::new(MaybeUninit::uninit());
        #[cfg(loom)]
        let room = std::array::from_fn(|_| UnsafeCell::new(MaybeUninit::uninit()));
        Self { head: AtomicU32::new(0), tail: AtomicU32::new(0), room, values: PhantomData }
    }

    /// Returns the number of values: exact for the taker while the lock is held, otherwise a number
    /// that was right at some time.
    #[must_use]
    #[inline(always)]
    pub fn len(&self) -> u32 {
        let head = self.head.load(edge(Edge::SlotsLen, Ordering::Acquire));
        // Never below zero: the tail is read later, and is ahead of every head. The tail need not
        // be the latest one, but for a thread that has the lock, or has had it since.
        self.tail.load(Ordering::Relaxed).wrapping_sub(head)
    }

    /// Returns the number of values that were ever put in, modulo 2^32: exact while the lock is
    /// held.
    #[must_use]
    pub fn received(&self) -> u32 {
        self.tail.load(Ordering::Relaxed)
    }

    /// Returns whether the queue has no value.
    #[must_use]
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `f` with the place of value `number`.
    #[inline(always)]
    fn with_place<R>(&self, number: u32, f: impl FnOnce(*mut T) -> R) -> R {
        let index = (number % if Self::PLACES == 0 { 1 } else { Self::PLACES }) as usize;
        #[cfg(not(loom))]
        return self.room.with_mut(|room| f(room.cast::<T>().wrapping_add(index)));
        #[cfg(loom)]
        self.room[index].with_mut(|place| f(place.cast()))
    }

    /// Puts a value in, if there is room.
    ///
    /// # Errors
    /// Returns the value if there is no room.
    ///
    /// # Safety
    /// The caller holds the lock.
    #[inline(always)]
    pub unsafe fn put(&self, value: T) -> Result<(), T> {
        let Some(number) = self.room() else { return Err(value) };
        // SAFETY: the caller holds the lock, as it did while there was room.
        unsafe { self.put_at(number, value) };
        Ok(())
    }

    /// Returns the number of the next value, if there is room for it. A holder of the lock that
    /// asks first may [put](Self::put_at) the value without giving it away before: a value that may
    /// come back is copied to the stack once more.
    #[must_use]
    #[inline(always)]
    pub fn room(&self) -> Option<u32> {
        let tail = self.tail.load(Ordering::Relaxed);
        let head = self.head.load(edge(Edge::SlotsRoom, Ordering::Acquire));
        (tail.wrapping_sub(head) < Self::PLACES).then_some(tail)
    }

    /// Puts value `number` in.
    ///
    /// # Safety
    /// The caller holds the lock, and [`room`](Self::room) has returned `number` under this hold.
    #[inline(always)]
    pub unsafe fn put_at(&self, number: u32, value: T) {
        self.with_place(number, |place| {
            // SAFETY: there is room, so the place exists; its former value has been taken, and only
            // the holder of the lock writes it.
            unsafe { place.write(value) }
        });
        self.tail.store(number.wrapping_add(1), edge(Edge::SlotsPut, Ordering::Release));
    }

    /// Takes the oldest value.
    ///
    /// # Safety
    /// The caller is the one taker.
    #[inline(always)]
    pub unsafe fn take(&self) -> Option<T> {
        let head = self.head.load(Ordering::Relaxed);
        if Self::PLACES == 0 || self.tail.load(edge(Edge::SlotsSeen, Ordering::Acquire)) == head {
            return None;
        }
        let value = self.with_place(head, |place| {
            // SAFETY: there is a value, so the place exists; a producer has put the value there,
            // and it is read once.
            unsafe { place.read() }
        });
        self.head.store(head.wrapping_add(1), edge(Edge::SlotsTaken, Ordering::Release));
        Some(value)
    }
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for Slots<T> {
    fn drop(&mut self) {
        // SAFETY: `&mut self` excludes every other thread, so this is the one taker.
        while let Some(value) = unsafe { self.take() } {
            drop(value);
        }
    }
}

impl<T> fmt::Debug for Slots<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").field("len", &self.len()).finish()
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::super::atomic::AtomicBool;
    use super::super::mutation::explore;
    use super::super::spin_lock::SpinLock;
    use super::*;
    use loom::sync::Arc;

    #[test]
    fn what_is_put_is_taken_whole_and_in_order_while_places_are_used_again() {
        super::super::mutation::check(&[Edge::SlotsRoom, Edge::SlotsTaken], || {
            let slots = Arc::new(Slots::<u64>::new());
            for n in 0..3 {
                // SAFETY: this thread is the only producer.
                unsafe { slots.put(n) }.unwrap();
            }
            let taker = {
                let slots = slots.clone();
                // SAFETY: this thread is the one taker.
                loom::thread::spawn(move || {
                    (0..2).map(|_| unsafe { slots.take() }).collect::<Vec<_>>()
                })
            };
            let mut put = 3;
            for _ in 0..2 {
                // SAFETY: as above.
                if unsafe { slots.put(put) }.is_ok() {
                    put += 1;
                }
            }
            assert_eq!(taker.join().unwrap(), [Some(0), Some(1)]);
            // SAFETY: as above.
            let rest: Vec<_> = std::iter::from_fn(|| unsafe { slots.take() }).collect();
            assert!(rest.into_iter().eq(2..put));
        });
    }

    #[test]
    fn a_number_of_values_is_never_below_zero() {
        super::super::mutation::check(&[Edge::SlotsLen, Edge::SlotsTaken, Edge::SlotsSeen], || {
            let slots = Arc::new(Slots::<u64>::new());
            let reader = {
                let slots = slots.clone();
                loom::thread::spawn(move || assert!(slots.len() <= 1))
            };
            let taker = {
                let slots = slots.clone();
                // SAFETY: this thread is the one taker.
                loom::thread::spawn(move || unsafe { slots.take() })
            };
            // SAFETY: this thread is the only producer.
            unsafe { slots.put(7) }.unwrap();
            taker.join().unwrap();
            reader.join().unwrap();
        });
    }

    /// Slots as a mailbox has them: producers wait for room, and the taker parks without values.
    struct Mailbox {
        slots: Slots<u64>,
        /// Whether a producer waits. It is written under the lock.
        waiting: AtomicBool,
        /// Whether the taker is parked.
        parked: SpinLock<bool>,
    }

    impl Mailbox {
        /// Ends the wait if there is room. The caller holds the lock.
        fn call(&self) {
            if self.slots.is_empty() {
                self.waiting.store(false, Ordering::Relaxed);
            }
        }

        /// Puts a value in, or waits for room. A taker that is parked is then polled again.
        fn put_or_wait(&self, value: u64) {
            let mut parked = self.parked.lock();
            // SAFETY: the caller holds the lock.
            if unsafe { self.slots.put(value) }.is_err() {
                self.waiting.store(true, Ordering::Relaxed);
                self.call();
            }
            *parked = false;
        }

        /// Takes all values, calls a producer that it sees wait, and parks if there is nothing to
        /// do. With `looks` it also looks for producers under the lock, and is polled again if
        /// there is one.
        fn take_and_park(&self, looks: bool) {
            // SAFETY: there is one taker.
            while let Some(_taken) = unsafe { self.slots.take() } {}
            if self.waiting.load(Ordering::Relaxed) {
                let _held = self.parked.lock();
                self.call();
            }
            let mut parked = self.parked.lock();
            let waiting = looks && self.waiting.load(Ordering::Relaxed);
            *parked = self.slots.is_empty() && !waiting;
        }
    }

    fn a_producer_waits_beside_a_taker(looks: bool) {
        explore(move || {
            let slots = Slots::new();
            for n in 0..u64::from(Slots::<u64>::PLACES) {
                // SAFETY: this thread is the only producer.
                unsafe { slots.put(n) }.unwrap();
            }
            let (waiting, parked) = (AtomicBool::new(false), SpinLock::new(false));
            let mailbox = Arc::new(Mailbox { slots, waiting, parked });
            let taker = {
                let mailbox = mailbox.clone();
                loom::thread::spawn(move || mailbox.take_and_park(looks))
            };
            mailbox.put_or_wait(7);
            taker.join().unwrap();
            let lost = *mailbox.parked.lock()
                && (mailbox.waiting.load(Ordering::Relaxed) || !mailbox.slots.is_empty());
            assert!(!lost, "the taker is parked, and a producer waits");
        });
    }

    /// The producer reads `head` after it has noted its wait, and the taker the note after it has
    /// written `head`: without a fence each may miss the other.
    #[test]
    fn a_producer_that_waits_for_room_is_called_or_keeps_the_taker_from_parking() {
        a_producer_waits_beside_a_taker(true);
    }

    #[test]
    #[should_panic(expected = "the taker is parked, and a producer waits")]
    fn a_taker_that_does_not_look_for_producers_under_the_lock_misses_one() {
        a_producer_waits_beside_a_taker(false);
    }

    #[test]
    fn a_value_that_comes_is_seen_whole() {
        super::super::mutation::check(&[Edge::SlotsPut, Edge::SlotsSeen], || {
            let slots = Arc::new(Slots::<u64>::new());
            let taker = {
                let slots = slots.clone();
                // SAFETY: this thread is the one taker.
                loom::thread::spawn(move || unsafe { slots.take() })
            };
            // SAFETY: this thread is the only producer.
            unsafe { slots.put(7) }.unwrap();
            let early = taker.join().unwrap();
            // SAFETY: as above.
            let late = unsafe { slots.take() };
            assert_eq!(early.or(late), Some(7));
        });
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::Slots;
    use std::sync::Arc;

    #[test]
    fn small_values_have_places_and_large_ones_none() {
        #[repr(align(16))]
        struct Wide;
        assert_eq!(Slots::<u64>::PLACES, 4);
        assert_eq!(Slots::<u8>::PLACES, 32);
        assert_eq!(Slots::<()>::PLACES, 4);
        assert_eq!(Slots::<[u64; 2]>::PLACES, 2);
        assert_eq!(Slots::<[u64; 3]>::PLACES, 1);
        assert_eq!(Slots::<[u64; 5]>::PLACES, 0);
        assert_eq!(Slots::<Wide>::PLACES, 0);
    }

    #[test]
    fn values_come_in_order_round_after_round_and_the_rest_is_dropped() {
        let count = Arc::new(());
        let slots = Slots::new();
        for round in 0..50 {
            for n in 0..2 {
                // SAFETY: this thread alone puts and takes.
                assert!(unsafe { slots.put((round * 2 + n, count.clone())) }.is_ok());
            }
            // SAFETY: as above.
            assert!(unsafe { slots.put((0, count.clone())) }.is_err());
            for n in 0..2 {
                // SAFETY: as above.
                assert_eq!(unsafe { slots.take() }.unwrap().0, round * 2 + n);
            }
        }
        // SAFETY: as above.
        assert!(unsafe { slots.put((0, count.clone())) }.is_ok());
        drop(slots);
        assert_eq!(Arc::strong_count(&count), 1);
    }
}
