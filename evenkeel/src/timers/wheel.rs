//! A hierarchical timing wheel (Varghese and Lauck, "Hashed and hierarchical timing wheels", 1987).
//!
//! # States
//! Time is a count of ticks, of which `elapsed` have been processed. The digits of a tick to the
//! base 64 are levels, eleven for all of 64 bits, so that no deadline is too far. A timer lies at
//! the level of the highest digit in which its tick differs from `elapsed`, in the slot of that
//! digit. All digits above are those of `elapsed`.
//!
//! # Steps
//! *Insertion* and *removal* link and unlink: O(1). *Popping* at the time `now` looks for the first
//! slot, which is the lowest slot of the lowest level that has any, by two bitmaps. If the slot
//! begins after `now`, no timer is due. At level zero all timers of a slot have the same tick, and
//! are due. At another level the slot *cascades*: `elapsed` becomes its beginning, and its timers
//! go down, by one level at least. So each timer moves ten times at most in its life, and a jump of
//! time, however long, costs no more than the timers that it passes.
//!
//! A clock that stands goes from deadline to deadline, to the nanosecond. The first such step in a
//! slot moves its timers to a sorted [map](exact), which takes those that are inserted in that slot
//! later too: O(log n) each.
//!
//! # Why nothing is early or lost
//! Each timer in a slot has a tick that is at least the slot's beginning. Slots of higher levels
//! begin later than all slots of lower levels, because they differ from `elapsed` in a higher
//! digit. `elapsed` never goes past the beginning of the first slot, so the digits above a timer's
//! level stay those of `elapsed`.

#![allow(unsafe_code, reason = "timers are linked through their futures")]

mod exact;

use super::entry::Entry;
use crate::primitives::list::List;
use exact::Exact;
use std::ptr::NonNull;

/// Bits of a digit.
const BITS: u32 = 6;

/// Slots of a level.
const SLOTS: usize = 1 << BITS;

/// Levels: as many as 64 bits have digits.
const LEVELS: usize = u64::BITS.div_ceil(BITS) as usize;

/// The most timers of the first slot that `Wheel::next_tick` looks at. If there are more, it
/// returns the slot's beginning, which costs a sleeper one wake-up per level. An estimate; no
/// benchmark sets it.
const LOOK: usize = 16;

/// The wheel of one processor.
pub(crate) struct Wheel {
    /// The number of ticks that have been processed.
    elapsed: u64,
    /// A bit for each level that has timers.
    levels: u16,
    /// For each level, a bit for each slot that has timers.
    occupied: [u64; LEVELS],
    /// The number of moves of timers to a lower level.
    moved: u64,
    /// The timers of one slot, if a clock that stands has come to it. The slot's list is empty.
    exact: Exact,
    /// The timers of each slot; empty before the first insertion.
    slots: Vec<List<Entry>>,
}

// SAFETY: the lists lead to nodes in futures that stay where they are until the nodes have left the
// wheel; only the wheel uses a node's place, and the waker is `Send`.
unsafe impl Send for Wheel {}

impl Wheel {
    pub(crate) const fn new() -> Self {
        Self {
            elapsed: 0,
            levels: 0,
            occupied: [0; LEVELS],
            moved: 0,
            exact: Exact::new(),
            slots: Vec::new(),
        }
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.levels == 0
    }

    /// The number of moves of timers to a lower level.
    pub(crate) fn moved(&self) -> u64 {
        self.moved
    }

    /// Sets the elapsed ticks while there are no timers.
    #[inline(always)]
    pub(crate) fn set_elapsed(&mut self, tick: u64) {
        debug_assert!(self.is_empty(), "timers are where they are by the time that has elapsed");
        self.elapsed = tick;
    }

    /// Puts a timer behind the others of its slot. If its tick has elapsed, the timer is due at
    /// once.
    ///
    /// # Safety
    /// The node is in no wheel, and stays where it is until it has been taken out. As for all
    /// methods, the caller is the only thread that uses places of nodes in this wheel.
    #[inline]
    pub(crate) unsafe fn insert(&mut self, entry: NonNull<Entry>, tick: u64, deadline: u64) {
        if self.slots.is_empty() {
            self.slots.resize_with(LEVELS * SLOTS, List::new);
        }
        let tick = tick.max(self.elapsed);
        // SAFETY: the caller's promise: the node is there.
        let node = unsafe { entry.as_ref() };
        // SAFETY: the node is in no wheel, and the caller may use it.
        unsafe {
            node.with(|place| {
                place.tick = tick;
                place.deadline = deadline;
            });
        }
        // SAFETY: as above.
        unsafe { self.link(entry, tick) };
    }

    /// Links a node whose tick is set.
    ///
    /// # Safety
    /// As [`insert`](Self::insert).
    #[inline]
    unsafe fn link(&mut self, entry: NonNull<Entry>, tick: u64) {
        let level = ((tick ^ self.elapsed) | (SLOTS as u64 - 1)).ilog2() / BITS;
        let digit = (tick >> (level * BITS)) as usize % SLOTS;
        let slot = level as usize * SLOTS + digit;
        self.occupied[level as usize] |= 1 << digit;
        self.levels |= 1 << level;
        if self.exact.is_of(slot) {
            // SAFETY: the caller's promise.
            unsafe { self.exact.insert(entry) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.push(entry, slot) };
        }
    }

    /// Puts a node at the end of a slot's list.
    ///
    /// # Safety
    /// As [`insert`](Self::insert).
    #[inline(always)]
    unsafe fn push(&mut self, entry: NonNull<Entry>, slot: usize) {
        // SAFETY: the caller's promise: the node is there.
        let node = unsafe { entry.as_ref() };
        // SAFETY: the caller may use the place.
        unsafe { node.with(|place| place.slot = slot) };
        // SAFETY: the caller's promise.
        unsafe { self.slots[slot].push_back(entry) };
    }

    /// Takes the first timer of a slot out of it.
    #[inline(always)]
    fn pop_of(&mut self, slot: usize) -> Option<NonNull<Entry>> {
        if self.exact.is_of(slot) { self.exact.pop() } else { self.slots[slot].pop() }
    }

    /// Takes a timer out of the wheel.
    ///
    /// # Safety
    /// The node is in this wheel.
    #[inline]
    pub(crate) unsafe fn remove(&mut self, entry: NonNull<Entry>) {
        // SAFETY: the node is in the wheel, so its future is there.
        let node = unsafe { entry.as_ref() };
        // SAFETY: the node is in the wheel, which only the caller uses.
        let (slot, deadline) = unsafe { node.with(|place| (place.slot, place.deadline)) };
        if Exact::is_number(slot) {
            self.remove_exact(slot, deadline);
        } else {
            // SAFETY: that is where it is.
            unsafe { self.slots[slot].remove(entry) };
            self.note(slot);
        }
    }

    #[cold]
    fn remove_exact(&mut self, number: usize, deadline: u64) {
        self.exact.remove(deadline, number);
        if let Some(slot) = self.exact.slot() {
            self.note(slot);
        }
    }

    /// Notes that a slot is empty, if it is.
    #[inline(always)]
    fn note(&mut self, slot: usize) {
        let is_exact = self.exact.is_of(slot);
        if self.slots[slot].is_empty() && (!is_exact || self.exact.is_empty()) {
            if is_exact {
                self.exact.leave_slot();
            }
            let level = slot / SLOTS;
            self.occupied[level] &= !(1 << (slot % SLOTS));
            if self.occupied[level] == 0 {
                self.levels &= !(1 << level);
            }
        }
    }

    /// Returns the level and the digit of the first slot that has timers.
    #[inline(always)]
    fn first(&self) -> Option<(u32, u64)> {
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros();
        Some((level, u64::from(self.occupied[level as usize].trailing_zeros())))
    }

    /// Returns the tick at which a slot begins.
    #[inline(always)]
    fn beginning(&self, level: u32, digit: u64) -> u64 {
        let above = u64::MAX.checked_shl((level + 1) * BITS).unwrap_or(0);
        (self.elapsed & above) | digit << (level * BITS)
    }

    /// Takes out a timer that is due at tick `now`, earliest tick first, and among equals in the
    /// order in which they have come to their slot.
    pub(crate) fn pop(&mut self, now: u64) -> Option<NonNull<Entry>> {
        loop {
            let first = self.first();
            let beginning = first.map(|(level, digit)| self.beginning(level, digit));
            let Some(((level, digit), beginning)) =
                first.zip(beginning).filter(|first| first.1 <= now)
            else {
                self.elapsed = self.elapsed.max(now);
                return None;
            };
            self.elapsed = beginning;
            let slot = level as usize * SLOTS + digit as usize;
            if level > 0 {
                self.cascade(slot);
                continue;
            }
            let entry = self.pop_of(slot);
            self.note(slot);
            return entry;
        }
    }

    /// Moves the timers of a slot to lower levels.
    fn cascade(&mut self, slot: usize) {
        while let Some(entry) = self.pop_of(slot) {
            // SAFETY: the node was in the wheel, so its future is there, and waits for the lock if
            // it wants to cancel.
            let node = unsafe { entry.as_ref() };
            // SAFETY: the node is about to be in the wheel again, which only the caller uses.
            let tick = unsafe { node.with(|place| place.tick) };
            // SAFETY: the node is in no slot, and stays where it is.
            unsafe { self.link(entry, tick) };
            self.moved += 1;
        }
        self.note(slot);
    }

    /// Returns the first timer of the first slot by their deadlines, and the deadline. The first
    /// call for a slot sorts it; timers with one deadline stay in the order in which they came.
    fn first_exact(&mut self) -> Option<(NonNull<Entry>, u64)> {
        let (level, digit) = self.first()?;
        let slot = level as usize * SLOTS + digit as usize;
        if !self.exact.is_of(slot) {
            if let Some(former) = self.exact.slot() {
                while let Some(entry) = self.exact.pop() {
                    // SAFETY: the node has just been taken out, and stays where it is.
                    unsafe { self.push(entry, former) };
                }
            }
            self.exact.set_slot(slot);
            while let Some(entry) = self.slots[slot].pop() {
                // SAFETY: as above.
                unsafe { self.exact.insert(entry) };
            }
        }
        self.exact.first()
    }

    /// Returns the tick of a timer that is in this wheel.
    fn tick(entry: NonNull<Entry>) -> u64 {
        // SAFETY: the node is in the wheel, so its future is there.
        let node = unsafe { entry.as_ref() };
        // SAFETY: the node is in the wheel, which only the caller uses.
        unsafe { node.with(|place| place.tick) }
    }

    /// Returns the tick at which a timer may be due: the next timer's tick, or an earlier one.
    pub(crate) fn next_tick(&self) -> Option<u64> {
        let (level, digit) = self.first()?;
        let beginning = self.beginning(level, digit);
        if level == 0 {
            return Some(beginning);
        }
        let slot = level as usize * SLOTS + digit as usize;
        if self.exact.is_of(slot) {
            return self.exact.first().map(|(entry, _)| Self::tick(entry));
        }
        let mut ticks = self.slots[slot].iter().map(Self::tick);
        let least = ticks.by_ref().take(LOOK).min();
        if ticks.next().is_some() { Some(beginning) } else { least }
    }

    /// Returns the earliest deadline, to the nanosecond: for a clock that stands still.
    pub(crate) fn earliest(&mut self) -> Option<u64> {
        self.first_exact().map(|(_, deadline)| deadline)
    }

    /// Takes out the earliest timer if its deadline is at most `deadline`, to the nanosecond, where
    /// [`pop`](Self::pop) goes by ticks. `last` is a tick that no such timer's is beyond: a slot
    /// that begins later is not sorted in vain.
    pub(crate) fn pop_exact(&mut self, deadline: u64, last: u64) -> Option<NonNull<Entry>> {
        let (level, digit) = self.first()?;
        if self.beginning(level, digit) > last {
            return None;
        }
        let (entry, _) = self.first_exact().filter(|&(_, own)| own <= deadline)?;
        // SAFETY: the node is in this wheel.
        unsafe { self.remove(entry) };
        Some(entry)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
