//! A queue in one word: the storage of a mailbox.
//!
//! The allocation holds the three numbers and the places. So a mailbox that never had a message has
//! only a null pointer, and one with a few small messages has one cache line. A ring that has
//! become empty says so in its word, by a bit that addresses do not use. So a reader of an empty
//! ring does not touch that line: an actor reads its batch before each message. A `VecDeque` would
//! be four words in every actor, and a second line for every message.

#![allow(unsafe_code, reason = "places of a ring are written and read by their address")]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::ptr::{self, NonNull};

/// The head of an allocation.
#[derive(Debug)]
struct Numbers {
    /// The number of places, a power of two.
    places: u32,
    /// The place of the oldest value.
    head: u32,
    /// The number of values.
    len: u32,
}

/// Bytes of the smallest allocation, if messages fit into it: a cache line.
const LINE: usize = 64;

/// The most places that a ring may have.
pub(crate) const MOST: u32 = 1 << 31;

/// A queue.
pub(crate) struct Ring<T> {
    /// The address of the numbers; null if there is no storage. Marked by [`EMPTY`] once the last
    /// value has been taken.
    word: *mut Numbers,
    values: PhantomData<T>,
}

/// The mark. Numbers are aligned to four bytes, so the bit is free.
const EMPTY: usize = 1;

// SAFETY: a ring owns its values, and only its owner uses it.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: a shared ring only returns its length.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Ring<T> {
    /// Places of the first allocation: as many as a line holds beside the numbers, at least four.
    const FIRST: u32 = {
        let room =
            (LINE - size_of::<Numbers>()) / if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
        let room = if room < 4 { 4 } else { room };
        1 << room.ilog2()
    };

    pub(crate) const fn new() -> Self {
        Self { word: ptr::null_mut(), values: PhantomData }
    }

    /// Returns the layout for `places` places.
    fn layout(places: u32) -> Layout {
        let values = Layout::array::<T>(places as usize);
        let both = values.and_then(|values| Layout::new::<Numbers>().extend(values));
        both.expect("a mailbox fits into memory").0.pad_to_align()
    }

    /// Returns the address of the numbers, if there is storage.
    #[inline(always)]
    fn own(&self) -> Option<NonNull<Numbers>> {
        NonNull::new(self.word.map_addr(|address| address & !EMPTY))
    }

    /// Returns whether the word itself says that the ring is empty.
    #[inline(always)]
    fn is_marked(&self) -> bool {
        self.word.is_null() || self.word.addr() & EMPTY != 0
    }

    #[inline(always)]
    fn numbers(&self) -> Option<&Numbers> {
        // SAFETY: the allocation begins with the numbers, and lives as long as the ring.
        self.own().map(|numbers| unsafe { numbers.as_ref() })
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        if self.is_marked() {
            return 0;
        }
        self.numbers().map_or(0, |numbers| numbers.len as usize)
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the address of place `index`, counted from the beginning of the allocation.
    ///
    /// # Safety
    /// The allocation has more than `index` places.
    #[inline(always)]
    unsafe fn place(numbers: NonNull<Numbers>, index: u32) -> NonNull<T> {
        let offset = const {
            let align = align_of::<T>();
            size_of::<Numbers>().next_multiple_of(align)
        };
        // SAFETY: the places begin behind the numbers, in the same allocation.
        let first = unsafe { numbers.byte_add(offset) }.cast::<T>();
        // SAFETY: the caller's promise.
        unsafe { first.add(index as usize) }
    }

    /// Appends a value.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: T) {
        let full = self.numbers().is_none_or(|numbers| numbers.len == numbers.places);
        if full {
            self.grow();
        }
        let Some(mut own) = self.own() else { unreachable!("a ring that has grown has places") };
        self.word = own.as_ptr();
        // SAFETY: the ring is borrowed exclusively.
        let numbers = unsafe { own.as_mut() };
        let index = numbers.head.wrapping_add(numbers.len) & (numbers.places - 1);
        numbers.len += 1;
        // SAFETY: the index is below the number of places.
        let place = unsafe { Self::place(own, index) };
        // SAFETY: the place holds no value.
        unsafe { place.write(value) };
    }

    /// Puts a value in front.
    pub(crate) fn push_front(&mut self, value: T) {
        let full = self.numbers().is_none_or(|numbers| numbers.len == numbers.places);
        if full {
            self.grow();
        }
        let Some(mut own) = self.own() else { unreachable!("a ring that has grown has places") };
        self.word = own.as_ptr();
        // SAFETY: the ring is borrowed exclusively.
        let numbers = unsafe { own.as_mut() };
        let index = numbers.head.wrapping_sub(1) & (numbers.places - 1);
        numbers.head = index;
        numbers.len += 1;
        // SAFETY: the index is below the number of places.
        let place = unsafe { Self::place(own, index) };
        // SAFETY: the place before the oldest value is free, as not all places are taken.
        unsafe { place.write(value) };
    }

    /// Takes the oldest value.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.is_marked() {
            return None;
        }
        let mut own = self.own()?;
        // SAFETY: the ring is borrowed exclusively.
        let numbers = unsafe { own.as_mut() };
        if numbers.len == 0 {
            return None;
        }
        let index = numbers.head;
        numbers.len -= 1;
        // An empty ring starts at the first place again, where its lines are warm.
        if numbers.len == 0 {
            numbers.head = 0;
            self.word = self.word.map_addr(|address| address | EMPTY);
        } else {
            numbers.head = (index + 1) & (numbers.places - 1);
        }
        // SAFETY: the index is below the number of places.
        let place = unsafe { Self::place(own, index) };
        // SAFETY: the place holds the oldest value, and does not count as holding one.
        Some(unsafe { place.read() })
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let places = self.numbers().map_or(Self::FIRST, |numbers| numbers.places.saturating_mul(2));
        assert!(places <= MOST, "a mailbox has at most {MOST} places");
        let mut grown = Self::with_places(places);
        while let Some(value) = self.pop() {
            grown.push(value);
        }
        mem::swap(self, &mut grown);
    }

    fn with_places(places: u32) -> Self {
        let layout = Self::layout(places);
        // SAFETY: the layout has at least the size of the numbers.
        let block = unsafe { alloc(layout) };
        let Some(numbers) = NonNull::new(block.cast::<Numbers>()) else {
            handle_alloc_error(layout)
        };
        // SAFETY: the allocation is new and has room for the numbers.
        unsafe { numbers.write(Numbers { places, head: 0, len: 0 }) };
        Self { word: numbers.as_ptr(), values: PhantomData }
    }

    /// Returns the number of values that the allocation has room for.
    pub(crate) fn places(&self) -> usize {
        self.numbers().map_or(0, |numbers| numbers.places as usize)
    }
}

impl<T> Drop for Ring<T> {
    #[inline]
    fn drop(&mut self) {
        let Some(numbers) = self.own() else { return };
        if mem::needs_drop::<T>() {
            while let Some(value) = self.pop() {
                drop(value);
            }
        }
        let layout = Self::layout(self.places() as u32);
        // SAFETY: the block was allocated with the layout for this number of places, and is not
        // used afterwards.
        unsafe { dealloc(numbers.as_ptr().cast(), layout) };
    }
}

impl<T> fmt::Debug for Ring<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("len", &self.len()).field("places", &self.places()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;
    use std::sync::Arc;

    #[test]
    fn what_is_pushed_comes_out_in_order_while_it_grows_and_wraps() {
        let mut ring = Ring::new();
        let (mut sent, mut got) = (0_u64, 0_u64);
        for round in 0..200 {
            for _ in 0..round % 37 {
                ring.push(sent);
                sent += 1;
            }
            for _ in 0..round % 31 {
                if let Some(value) = ring.pop() {
                    assert_eq!(value, got);
                    got += 1;
                }
            }
            assert_eq!(ring.len() as u64, sent - got);
        }
        assert!(ring.places() >= ring.len());
    }

    #[test]
    fn what_is_pushed_in_front_comes_out_first_while_it_grows_and_wraps() {
        let mut ring = Ring::new();
        let mut model = std::collections::VecDeque::new();
        for round in 0..400_u64 {
            match round * 7 % 5 {
                0 | 1 => {
                    ring.push_front(round);
                    model.push_front(round);
                }
                2 | 3 => {
                    ring.push(round);
                    model.push_back(round);
                }
                _ => assert_eq!(ring.pop(), model.pop_front()),
            }
            assert_eq!(ring.len(), model.len());
        }
        assert!(std::iter::from_fn(|| ring.pop()).eq(model));
    }

    #[test]
    fn what_is_left_is_dropped() {
        let value = Arc::new(());
        let mut ring = Ring::new();
        for _ in 0..9 {
            ring.push(value.clone());
        }
        drop(ring.pop());
        drop(ring);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn an_empty_one_is_a_word_and_has_no_storage() {
        assert_eq!(size_of::<Ring<[u64; 9]>>(), size_of::<usize>());
        assert_eq!(Ring::<[u64; 9]>::new().places(), 0);
    }

    #[test]
    fn values_of_every_alignment_and_size_fit() {
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(align(128))]
        struct Wide(u8);
        let mut wide = Ring::new();
        let mut none = Ring::new();
        for n in 0..20 {
            wide.push(Wide(n));
            none.push(());
        }
        assert_eq!(wide.pop(), Some(Wide(0)));
        assert_eq!(none.len(), 20);
        assert_eq!(none.pop(), Some(()));
    }
}
