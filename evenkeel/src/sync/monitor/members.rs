//! A set that moves from hold to future and back.

#![allow(unsafe_code, reason = "a slot is empty once its set is taken")]

use super::cores::{CoreRef, Cores};
use super::set::Set;
use std::mem::MaybeUninit;

/// A set with the order of its cores, which moves from hold to hold.
pub(super) struct Members<S: Set> {
    set: S::Kept,
    order: S::Order,
}

impl<S: Set> Members<S> {
    #[inline(always)]
    #[track_caller]
    pub(super) fn new(set: S) -> Self {
        let order = set.order();
        Self { set: set.keep(), order }
    }

    /// The set with an order that is known already.
    pub(super) fn ordered(set: S, order: S::Order) -> Self {
        Self { set: set.keep(), order }
    }

    /// The set and its order.
    pub(super) fn into_parts(self) -> (S, S::Order) {
        (self.set().clone(), self.order)
    }

    #[inline(always)]
    pub(super) fn set(&self) -> &S {
        S::kept(&self.set)
    }

    /// The cores.
    #[inline(always)]
    pub(super) fn written(&self) -> S::Written<'_> {
        self.set().written(&self.order)
    }

    /// The core whose lock guards what concerns the whole set.
    #[inline(always)]
    pub(super) fn leader(&self) -> CoreRef {
        self.set().leader(&self.order)
    }

    /// The cores, by address.
    #[inline(always)]
    pub(super) fn cores<'a>(&'a self, place: &'a mut S::Place) -> Cores<'a> {
        self.set().cores(&self.order, place)
    }
}

/// The set of a future, until the future returns the hold.
///
/// It is an `Option` with its tag in a byte of its own. An `Option` has its tag in the first word
/// of the set, which is then stored and loaded by itself. A load of several words that were stored
/// one by one has to wait until they are in the cache: 5 ns for each hold that is passed on
/// (`evenkeel-bench run --bench schedint`).
pub(super) struct Slot<S: Set> {
    members: MaybeUninit<Members<S>>,
    full: bool,
}

impl<S: Set> Slot<S> {
    #[inline(always)]
    pub(super) fn new(members: Members<S>) -> Self {
        Self { members: MaybeUninit::new(members), full: true }
    }

    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// The set.
    ///
    /// # Panics
    /// If it has been taken.
    #[inline(always)]
    pub(super) fn get(&self) -> &Members<S> {
        assert!(self.full, "{OVER}");
        // SAFETY: it is there.
        unsafe { self.members.assume_init_ref() }
    }

    /// Takes the set.
    ///
    /// # Panics
    /// If it has been taken.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Members<S> {
        assert!(std::mem::take(&mut self.full), "{OVER}");
        // SAFETY: it was full, and is empty from here on.
        unsafe { self.members.assume_init_read() }
    }
}

const OVER: &str = "a future of a monitor is polled again after it has returned its hold";

impl<S: Set> Drop for Slot<S> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.full {
            // SAFETY: it is there.
            unsafe { self.members.assume_init_drop() };
        }
    }
}
