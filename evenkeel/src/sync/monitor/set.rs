//! What can be held at once.

#![allow(unsafe_code, reason = "a held monitor's value is reached by its address")]

use super::Monitor;
use super::cores::{CoreRef, Cores, check, sort};

/// One monitor, or several that are held at once: a reference, a tuple of up to eight references, an array of references, or a reference to an array or slice of them.
///
/// Sealed: it is implemented here alone.
pub trait Set: sealed::Sealed + Copy {
    /// What there is to keep of the order of the cores, by address.
    #[doc(hidden)]
    type Order: Send + Sync + Unpin;
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

    /// The order of the cores.
    #[doc(hidden)]
    fn order(self) -> Self::Order;

    /// The cores, by address.
    #[doc(hidden)]
    fn cores(self, order: &Self::Order) -> Cores<'_>;

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
    type Order = ();
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
    fn order(self) {}

    #[inline(always)]
    fn cores(self, _order: &()) -> Cores<'_> {
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
            type Order = [CoreRef; $count];
            type Refs<'held> = ($(&'held $value,)+) where Self: 'held;
            type Muts<'held> = ($(&'held mut $value,)+) where Self: 'held;
            type Access = ($(&$borrow mut $value,)+);

            #[inline(always)]
            #[track_caller]
            fn order(self) -> [CoreRef; $count] {
                sort([$(CoreRef::of(&self.$place.core)),+])
            }

            #[inline(always)]
            fn cores(self, order: &[CoreRef; $count]) -> Cores<'_> {
                Cores::sorted(order)
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
    type Order = Box<[CoreRef]>;
    type Refs<'held>
        = Box<[&'held T]>
    where
        Self: 'held;
    type Muts<'held>
        = Box<[&'held mut T]>
    where
        Self: 'held;
    type Access = &'b mut T;

    #[track_caller]
    fn order(self) -> Box<[CoreRef]> {
        assert!(!self.is_empty(), "a set has no monitor: name at least one");
        let mut cores: Box<[_]> = self.iter().map(|monitor| CoreRef::of(&monitor.core)).collect();
        cores.sort_unstable();
        check(&cores);
        cores
    }

    #[inline(always)]
    fn cores(self, order: &Box<[CoreRef]>) -> Cores<'_> {
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
    type Order = [CoreRef; N];
    type Refs<'held>
        = [&'held T; N]
    where
        Self: 'held;
    type Muts<'held>
        = [&'held mut T; N]
    where
        Self: 'held;
    type Access = &'b mut T;

    #[track_caller]
    fn order(self) -> [CoreRef; N] {
        const { assert!(N > 0, "a set has at least one monitor") };
        sort(self.map(|monitor| CoreRef::of(&monitor.core)))
    }

    #[inline(always)]
    fn cores(self, order: &[CoreRef; N]) -> Cores<'_> {
        Cores::sorted(order)
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
    type Order = [CoreRef; N];
    type Refs<'held>
        = [&'held T; N]
    where
        Self: 'held;
    type Muts<'held>
        = [&'held mut T; N]
    where
        Self: 'held;
    type Access = &'b mut T;

    #[track_caller]
    fn order(self) -> [CoreRef; N] {
        (*self).order()
    }

    #[inline(always)]
    fn cores(self, order: &[CoreRef; N]) -> Cores<'_> {
        Cores::sorted(order)
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

/// A set with the order of its cores, on its way from hold to hold.
pub(super) struct Members<S: Set> {
    pub(super) set: S,
    order: S::Order,
}

impl<S: Set> Members<S> {
    #[inline(always)]
    #[track_caller]
    pub(super) fn new(set: S) -> Self {
        Self { set, order: set.order() }
    }

    /// The cores, by address.
    #[inline(always)]
    pub(super) fn cores(&self) -> Cores<'_> {
        self.set.cores(&self.order)
    }
}
