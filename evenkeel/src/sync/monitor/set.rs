//! What can be held at once.

#![allow(unsafe_code, reason = "a held monitor's value is reached by its address")]

use super::Monitor;
use super::cores::{CoreRef, Cores, check, has_twins, sort};
use std::mem::MaybeUninit;

/// One monitor, or several that are held at once: a reference, a tuple of up to eight references, an array of references, or a reference to an array or slice of them.
///
/// Sealed: it is implemented here alone.
pub trait Set: sealed::Sealed + Copy {
    /// Whether it is one monitor by itself.
    #[doc(hidden)]
    const SINGLE: bool;
    /// The set as a hold keeps it. Of several monitors it is wrapped so that `Option`s and `Poll`s don't mark themselves in its first word: see [`Slot`].
    #[doc(hidden)]
    type Kept: Copy;
    /// What a hold keeps of the order of the cores: nothing, where it is found again faster than it is moved about.
    #[doc(hidden)]
    type Order: Send + Sync + Unpin;
    /// Room for the cores, by address.
    #[doc(hidden)]
    type Place: Send + Sync + Unpin;
    /// The cores, in an order that is the same for the same set as it is written.
    #[doc(hidden)]
    type Written<'order>: AsRef<[CoreRef]>
    where
        Self: 'order;
    /// The values, to look at.
    type Refs<'held>
    where
        Self: 'held;
    /// The values, to change.
    type Muts<'held>
    where
        Self: 'held;
    /// What a hold is to the compiler: exclusive access to all values.
    #[doc(hidden)]
    type Access;

    /// The set, to keep.
    #[doc(hidden)]
    fn keep(self) -> Self::Kept;

    /// The set that was kept.
    #[doc(hidden)]
    fn kept(kept: &Self::Kept) -> Self;

    /// The order of the cores.
    ///
    /// # Panics
    /// If there is none, or one is there twice.
    #[doc(hidden)]
    fn order(self) -> Self::Order;

    /// An empty place.
    #[doc(hidden)]
    fn place() -> Self::Place;

    /// The cores.
    #[doc(hidden)]
    fn written(self, order: &Self::Order) -> Self::Written<'_>
    where
        Self: Sized;

    /// The one with the lowest address.
    #[doc(hidden)]
    fn leader(self, order: &Self::Order) -> CoreRef;

    /// The cores, by address.
    #[doc(hidden)]
    fn cores<'a>(self, order: &'a Self::Order, place: &'a mut Self::Place) -> Cores<'a>;

    /// The values.
    ///
    /// # Safety
    /// The caller holds the set and borrows the hold as long.
    #[doc(hidden)]
    unsafe fn refs<'held>(self) -> Self::Refs<'held>
    where
        Self: 'held;

    /// The values.
    ///
    /// # Safety
    /// The caller holds the set and borrows the hold exclusively as long.
    #[doc(hidden)]
    unsafe fn muts<'held>(self) -> Self::Muts<'held>
    where
        Self: 'held;
}

/// A set that is written as one of several: a tuple, a slice or an array.
pub trait Several: Set {}

pub(super) mod sealed {
    pub trait Sealed {}
}

impl<T: ?Sized, C> sealed::Sealed for &Monitor<T, C> {}

impl<'a, T: ?Sized, C> Set for &'a Monitor<T, C> {
    const SINGLE: bool = true;
    type Kept = Self;
    type Order = ();
    type Place = ();
    type Written<'order>
        = [CoreRef; 1]
    where
        Self: 'order;
    type Refs<'held>
        = &'held T
    where
        Self: 'held;
    type Muts<'held>
        = &'held mut T
    where
        Self: 'held;
    type Access = &'a mut T;

    #[inline(always)]
    fn keep(self) -> Self {
        self
    }

    #[inline(always)]
    fn kept(kept: &Self) -> Self {
        kept
    }

    #[inline(always)]
    fn order(self) {}

    #[inline(always)]
    fn place() {}

    #[inline(always)]
    fn written(self, (): &()) -> [CoreRef; 1] {
        [CoreRef::of(&self.core)]
    }

    #[inline(always)]
    fn leader(self, (): &()) -> CoreRef {
        CoreRef::of(&self.core)
    }

    #[inline(always)]
    fn cores<'order>(self, (): &'order (), (): &'order mut ()) -> Cores<'order> {
        Cores::one(&self.core)
    }

    #[inline(always)]
    unsafe fn refs<'held>(self) -> &'held T
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise.
        unsafe { &*self.value.get() }
    }

    #[inline(always)]
    unsafe fn muts<'held>(self) -> &'held mut T
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.value.get() }
    }
}

macro_rules! tuples {
    ($($count:literal: $($borrow:lifetime $value:ident $conditions:ident $place:tt),+;)+) => {$(
        impl<$($value: ?Sized, $conditions),+> sealed::Sealed for ($(&Monitor<$value, $conditions>,)+) {}

        impl<$($value: ?Sized, $conditions),+> Several for ($(&Monitor<$value, $conditions>,)+) {}

        impl<$($borrow,)+ $($value: ?Sized, $conditions),+> Set for ($(&$borrow Monitor<$value, $conditions>,)+) {
            const SINGLE: bool = false;
            type Kept = Kept<Self>;
            type Order = ();
            type Place = MaybeUninit<[CoreRef; $count]>;
            type Written<'order> = [CoreRef; $count] where Self: 'order;
            type Refs<'held> = ($(&'held $value,)+) where Self: 'held;
            type Muts<'held> = ($(&'held mut $value,)+) where Self: 'held;
            type Access = ($(&$borrow mut $value,)+);

            #[inline(always)]
            fn keep(self) -> Kept<Self> {
                Kept::new(self)
            }

            #[inline(always)]
            fn kept(kept: &Kept<Self>) -> Self {
                kept.get()
            }

            #[inline(always)]
            #[track_caller]
            fn order(self) {
                check(self.written(&()));
            }

            #[inline(always)]
            fn place() -> Self::Place {
                MaybeUninit::uninit()
            }

            #[inline(always)]
            fn written(self, (): &()) -> [CoreRef; $count] {
                [$(CoreRef::of(&self.$place.core)),+]
            }

            #[inline(always)]
            fn leader(self, (): &()) -> CoreRef {
                let cores = self.written(&());
                cores[1..].iter().fold(cores[0], |low, core| low.min(*core))
            }

            #[inline(always)]
            fn cores<'order>(self, (): &'order (), place: &'order mut Self::Place) -> Cores<'order> {
                Cores::sorted(place.write(sort(self.written(&()))))
            }

            #[inline(always)]
            unsafe fn refs<'held>(self) -> Self::Refs<'held>
            where
                Self: 'held,
            {
                // SAFETY: the caller's promise, for each.
                ($(unsafe { self.$place.refs() },)+)
            }

            #[inline(always)]
            unsafe fn muts<'held>(self) -> Self::Muts<'held>
            where
                Self: 'held,
            {
                // SAFETY: the caller's promise, for each; they are different ones.
                ($(unsafe { self.$place.muts() },)+)
            }
        }
    )+};
}

tuples! {
    1: 'a A CA 0;
    2: 'a A CA 0, 'b B CB 1;
    3: 'a A CA 0, 'b B CB 1, 'c D CD 2;
    4: 'a A CA 0, 'b B CB 1, 'c D CD 2, 'd E CE 3;
    5: 'a A CA 0, 'b B CB 1, 'c D CD 2, 'd E CE 3, 'e F CF 4;
    6: 'a A CA 0, 'b B CB 1, 'c D CD 2, 'd E CE 3, 'e F CF 4, 'f G CG 5;
    7: 'a A CA 0, 'b B CB 1, 'c D CD 2, 'd E CE 3, 'e F CF 4, 'f G CG 5, 'g H CH 6;
    8: 'a A CA 0, 'b B CB 1, 'c D CD 2, 'd E CE 3, 'e F CF 4, 'f G CG 5, 'g H CH 6, 'h I CI 7;
}

impl<T, C> sealed::Sealed for &[&Monitor<T, C>] {}

impl<T, C> Several for &[&Monitor<T, C>] {}

impl<'b, T, C> Set for &[&'b Monitor<T, C>] {
    const SINGLE: bool = false;
    type Kept = Kept<Self>;
    type Order = Box<[CoreRef]>;
    type Place = ();
    type Written<'order>
        = &'order [CoreRef]
    where
        Self: 'order;
    type Refs<'held>
        = Box<[&'held T]>
    where
        Self: 'held;
    type Muts<'held>
        = Box<[&'held mut T]>
    where
        Self: 'held;
    type Access = &'b mut T;

    #[inline(always)]
    fn keep(self) -> Kept<Self> {
        Kept::new(self)
    }

    #[inline(always)]
    fn kept(kept: &Kept<Self>) -> Self {
        kept.get()
    }

    #[track_caller]
    fn order(self) -> Box<[CoreRef]> {
        assert!(!self.is_empty(), "a set has no monitor: name at least one");
        let mut cores: Box<[_]> = self.iter().map(|monitor| CoreRef::of(&monitor.core)).collect();
        cores.sort_unstable();
        if cores.windows(2).any(|two| two[0] == two[1]) {
            has_twins();
        }
        cores
    }

    fn place() {}

    #[inline(always)]
    fn written(self, order: &Box<[CoreRef]>) -> &[CoreRef] {
        order
    }

    #[inline(always)]
    fn leader(self, order: &Box<[CoreRef]>) -> CoreRef {
        order[0]
    }

    #[inline(always)]
    fn cores<'order>(self, order: &'order Box<[CoreRef]>, (): &'order mut ()) -> Cores<'order> {
        Cores::sorted(order)
    }

    unsafe fn refs<'held>(self) -> Box<[&'held T]>
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise, for each.
        self.iter().map(|monitor| unsafe { monitor.refs() }).collect()
    }

    unsafe fn muts<'held>(self) -> Box<[&'held mut T]>
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise, for each; they are different ones.
        self.iter().map(|monitor| unsafe { monitor.muts() }).collect()
    }
}

impl<T, C, const N: usize> sealed::Sealed for [&Monitor<T, C>; N] {}

impl<T, C, const N: usize> Several for [&Monitor<T, C>; N] {}

impl<'b, T, C, const N: usize> Set for [&'b Monitor<T, C>; N] {
    const SINGLE: bool = false;
    type Kept = Kept<Self>;
    type Order = ();
    type Place = MaybeUninit<[CoreRef; N]>;
    type Written<'order>
        = [CoreRef; N]
    where
        Self: 'order;
    type Refs<'held>
        = [&'held T; N]
    where
        Self: 'held;
    type Muts<'held>
        = [&'held mut T; N]
    where
        Self: 'held;
    type Access = &'b mut T;

    #[inline(always)]
    fn keep(self) -> Kept<Self> {
        Kept::new(self)
    }

    #[inline(always)]
    fn kept(kept: &Kept<Self>) -> Self {
        kept.get()
    }

    #[inline(always)]
    #[track_caller]
    fn order(self) {
        const { assert!(N > 0, "a set has at least one monitor") };
        check(self.written(&()));
    }

    #[inline(always)]
    fn place() -> Self::Place {
        MaybeUninit::uninit()
    }

    #[inline(always)]
    fn written(self, (): &()) -> [CoreRef; N] {
        self.map(|monitor| CoreRef::of(&monitor.core))
    }

    #[inline(always)]
    fn leader(self, (): &()) -> CoreRef {
        let cores = self.written(&());
        cores[1..].iter().fold(cores[0], |low, core| low.min(*core))
    }

    #[inline(always)]
    fn cores<'order>(self, (): &'order (), place: &'order mut Self::Place) -> Cores<'order> {
        Cores::sorted(place.write(sort(self.written(&()))))
    }

    unsafe fn refs<'held>(self) -> [&'held T; N]
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise, for each.
        self.map(|monitor| unsafe { monitor.refs() })
    }

    unsafe fn muts<'held>(self) -> [&'held mut T; N]
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise, for each; they are different ones.
        self.map(|monitor| unsafe { monitor.muts() })
    }
}

impl<T, C, const N: usize> sealed::Sealed for &[&Monitor<T, C>; N] {}

impl<T, C, const N: usize> Several for &[&Monitor<T, C>; N] {}

impl<'b, T, C, const N: usize> Set for &[&'b Monitor<T, C>; N] {
    const SINGLE: bool = false;
    type Kept = Kept<Self>;
    type Order = ();
    type Place = MaybeUninit<[CoreRef; N]>;
    type Written<'order>
        = [CoreRef; N]
    where
        Self: 'order;
    type Refs<'held>
        = [&'held T; N]
    where
        Self: 'held;
    type Muts<'held>
        = [&'held mut T; N]
    where
        Self: 'held;
    type Access = &'b mut T;

    #[inline(always)]
    fn keep(self) -> Kept<Self> {
        Kept::new(self)
    }

    #[inline(always)]
    fn kept(kept: &Kept<Self>) -> Self {
        kept.get()
    }

    #[inline(always)]
    #[track_caller]
    fn order(self) {
        (*self).order();
    }

    #[inline(always)]
    fn place() -> Self::Place {
        MaybeUninit::uninit()
    }

    #[inline(always)]
    fn written(self, (): &()) -> [CoreRef; N] {
        (*self).written(&())
    }

    #[inline(always)]
    fn leader(self, (): &()) -> CoreRef {
        (*self).leader(&())
    }

    #[inline(always)]
    fn cores<'order>(self, order: &'order (), place: &'order mut Self::Place) -> Cores<'order> {
        (*self).cores(order, place)
    }

    unsafe fn refs<'held>(self) -> [&'held T; N]
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise.
        unsafe { (*self).refs() }
    }

    unsafe fn muts<'held>(self) -> [&'held mut T; N]
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise.
        unsafe { (*self).muts() }
    }
}

/// A value in which nobody's mark has room.
#[derive(Clone, Copy)]
pub struct Kept<T: Copy>(MaybeUninit<T>);

impl<T: Copy> Kept<T> {
    #[inline(always)]
    fn new(value: T) -> Self {
        Self(MaybeUninit::new(value))
    }

    #[inline(always)]
    fn get(&self) -> T {
        // SAFETY: it is always there.
        unsafe { self.0.assume_init() }
    }
}

/// A set with the order of its cores, on its way from hold to hold.
pub(super) struct Members<S: Set> {
    set: S::Kept,
    order: S::Order,
}

impl<S: Set> Members<S> {
    #[inline(always)]
    #[track_caller]
    pub(super) fn new(set: S) -> Self {
        Self { set: set.keep(), order: set.order() }
    }

    #[inline(always)]
    pub(super) fn set(&self) -> S {
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

/// A set that a future has until it gives the hold.
///
/// As an `Option`, but its mark is a byte of its own. An `Option` marks itself in the first word of the set, which is then written and looked at by itself; and whoever loads
/// several words at once that have been stored one by one has to wait until they are in the cache: 5 ns for each hold that is passed on
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
        // SAFETY: it was there, and is there no more.
        unsafe { self.members.assume_init_read() }
    }
}

const OVER: &str = "a future of a monitor is polled again after it has given its hold";

impl<S: Set> Drop for Slot<S> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.full {
            // SAFETY: it is there.
            unsafe { self.members.assume_init_drop() };
        }
    }
}
