//! The timers of one slot in the order of their deadlines, for a clock that stands.

#![allow(unsafe_code, reason = "timers are linked through their futures")]

use super::{LEVELS, SLOTS};
use crate::timers::entry::{Entry, Place};
use std::collections::BTreeMap;
use std::ptr::NonNull;

/// The first number of a timer: numbers lie beyond all slots, so that one word of a node holds
/// either.
const FIRST: usize = LEVELS * SLOTS;

/// The timers of one slot.
pub(super) struct Exact {
    slot: Option<usize>,
    /// By deadline, and by number in the order in which they have come.
    timers: BTreeMap<(u64, usize), NonNull<Entry>>,
    /// The number of the timer that comes next.
    next: usize,
}

impl Exact {
    pub(super) const fn new() -> Self {
        Self { slot: None, timers: BTreeMap::new(), next: FIRST }
    }

    /// Returns whether these are the timers of `slot`.
    #[inline(always)]
    pub(super) fn is_of(&self, slot: usize) -> bool {
        self.slot == Some(slot)
    }

    /// Returns whether the word that a node has for its slot is a number here.
    #[inline(always)]
    pub(super) fn is_number(slot: usize) -> bool {
        slot >= FIRST
    }

    pub(super) fn slot(&self) -> Option<usize> {
        self.slot
    }

    /// Begins with another slot. There are no timers.
    pub(super) fn set_slot(&mut self, slot: usize) {
        debug_assert!(self.is_empty(), "the timers belong to the former slot");
        self.slot = Some(slot);
        self.next = FIRST;
    }

    /// Leaves the slot, which has no timers. Later ones go into its list.
    pub(super) fn leave_slot(&mut self) {
        debug_assert!(self.is_empty(), "the timers belong to the slot");
        self.slot = None;
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.timers.is_empty()
    }

    /// Puts a timer behind those with its deadline.
    ///
    /// # Safety
    /// The node stays where it is until it has been taken out, and the caller may use its place.
    pub(super) unsafe fn insert(&mut self, entry: NonNull<Entry>) {
        let number = self.next;
        self.next += 1;
        // SAFETY: the caller's promise: the node is there.
        let node = unsafe { entry.as_ref() };
        let deadline = |place: &mut Place| {
            place.slot = number;
            place.deadline
        };
        // SAFETY: the caller's promise.
        let deadline = unsafe { node.with(deadline) };
        self.timers.insert((deadline, number), entry);
    }

    /// Takes a timer out, by its deadline and its number.
    pub(super) fn remove(&mut self, deadline: u64, number: usize) {
        let removed = self.timers.remove(&(deadline, number));
        debug_assert!(removed.is_some(), "a node with a number is here");
    }

    /// Takes the first timer out.
    pub(super) fn pop(&mut self) -> Option<NonNull<Entry>> {
        self.timers.pop_first().map(|(_, entry)| entry)
    }

    /// Returns the first timer and its deadline.
    pub(super) fn first(&self) -> Option<(NonNull<Entry>, u64)> {
        self.timers.first_key_value().map(|(&(deadline, _), &entry)| (entry, deadline))
    }
}
