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
//! slot *sorts* it, so the next ones find their timer at its front. A timer that is inserted there
//! before others undoes that: the next step sorts again.
//!
//! # Why nothing is early or lost
//! Each timer in a slot has a tick that is at least the slot's beginning. Slots of higher levels
//! begin later than all slots of lower levels, because they differ from `elapsed` in a higher
//! digit. `elapsed` never goes past the beginning of the first slot, so the digits above a timer's
//! level stay those of `elapsed`.

#![allow(unsafe_code, reason = "timers are linked through their futures")]

use super::entry::Entry;
use crate::primitives::list::List;
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

/// No slot.
const NONE: usize = usize::MAX;

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
    /// The slot whose timers are in the order of their deadlines, or none.
    sorted: usize,
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
            sorted: NONE,
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
        // SAFETY: the caller's promise: the node is there.
        let node = unsafe { entry.as_ref() };
        // SAFETY: the caller may use the place.
        unsafe { node.with(|place| place.slot = slot) };
        if slot == self.sorted {
            self.note_insertion(entry);
        }
        // SAFETY: the caller's promise.
        unsafe { self.slots[slot].push_back(entry) };
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
        let slot = unsafe { node.with(|place| place.slot) };
        // SAFETY: that is where it is.
        unsafe { self.slots[slot].remove(entry) };
        self.note(slot);
    }

    /// Notes that a slot is empty, if it is.
    #[inline(always)]
    fn note(&mut self, slot: usize) {
        if self.slots[slot].is_empty() {
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
            let entry = self.slots[slot].pop();
            self.note(slot);
            return entry;
        }
    }

    /// Moves the timers of a slot to lower levels.
    fn cascade(&mut self, slot: usize) {
        while let Some(entry) = self.slots[slot].pop() {
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

    /// Notes that the slot that is sorted is so no longer, if `entry` does not belong behind the
    /// others there.
    #[cold]
    fn note_insertion(&mut self, entry: NonNull<Entry>) {
        let last = self.slots[self.sorted].back();
        if last.is_some_and(|last| Self::deadline(last) > Self::deadline(entry)) {
            self.sorted = NONE;
        }
    }

    /// Returns the deadline of a timer that is in this wheel, or about to be.
    fn deadline(entry: NonNull<Entry>) -> u64 {
        // SAFETY: the node is in the wheel, so its future is there.
        let node = unsafe { entry.as_ref() };
        // SAFETY: only the caller uses the places of nodes in the wheel.
        unsafe { node.with(|place| place.deadline) }
    }

    /// Returns the first timer of the first slot by their deadlines, and the deadline. The first
    /// call for a slot sorts it; timers with one deadline stay in the order in which they came.
    fn first_exact(&mut self) -> Option<(NonNull<Entry>, u64)> {
        let (level, digit) = self.first()?;
        let slot = level as usize * SLOTS + digit as usize;
        if self.sorted != slot {
            let timers = self.first_slot().map(|(entry, _, deadline)| (deadline, entry));
            let mut timers: Vec<_> = timers.collect();
            timers.sort_by_key(|&(deadline, _)| deadline);
            while self.slots[slot].pop().is_some() {}
            for (_, entry) in timers {
                // SAFETY: the node has just been taken out, and stays where it is.
                unsafe { self.slots[slot].push_back(entry) };
            }
            self.sorted = slot;
        }
        self.slots[slot].front().map(|entry| (entry, Self::deadline(entry)))
    }

    /// Iterates over the timers of the first slot, with their ticks and deadlines.
    fn first_slot(&self) -> impl Iterator<Item = (NonNull<Entry>, u64, u64)> {
        let slot = self.first().map(|(level, digit)| level as usize * SLOTS + digit as usize);
        slot.into_iter().flat_map(|slot| self.slots[slot].iter()).map(|entry| {
            // SAFETY: the node is in the wheel, so its future is there.
            let node = unsafe { entry.as_ref() };
            // SAFETY: the node is in the wheel, which only the caller uses.
            unsafe { node.with(|place| (entry, place.tick, place.deadline)) }
        })
    }

    /// Returns the tick at which a timer may be due: the next timer's tick, or an earlier one.
    pub(crate) fn next_tick(&self) -> Option<u64> {
        let (level, digit) = self.first()?;
        let beginning = self.beginning(level, digit);
        if level == 0 {
            return Some(beginning);
        }
        let mut ticks = self.first_slot().map(|(_, tick, _)| tick);
        let least = ticks.by_ref().take(LOOK).min();
        if ticks.next().is_some() { Some(beginning) } else { least }
    }

    /// Returns the earliest deadline, to the nanosecond: for a clock that stands still.
    pub(crate) fn earliest(&mut self) -> Option<u64> {
        self.first_exact().map(|(_, deadline)| deadline)
    }

    /// Takes out the earliest timer if its deadline is at most `deadline`, to the nanosecond, where
    /// [`pop`](Self::pop) goes by ticks.
    pub(crate) fn pop_exact(&mut self, deadline: u64) -> Option<NonNull<Entry>> {
        let (entry, _) = self.first_exact().filter(|&(_, own)| own <= deadline)?;
        // SAFETY: the node is in this wheel.
        unsafe { self.remove(entry) };
        Some(entry)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
