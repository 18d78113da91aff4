//! What can be held at once.

#![allow(unsafe_code, reason = "a held monitor's value is reached by its address")]

use super::Monitor;
use super::core::CoreRef;

/// One monitor, or several that are held at once: a reference, a tuple of up to eight references, an array of references, or a reference to an array or slice of them.
///
/// Sealed: it is implemented here alone.
pub trait Set: sealed::Sealed + Copy {
    #[doc(hidden)]
    type Cores: AsRef<[CoreRef]> + Send + Sync + Unpin;
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

    /// The cores, by address.
    #[doc(hidden)]
    fn cores(self) -> Self::Cores;

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

/// Sorts the cores by address.
///
/// # Panics
/// If one is there twice.
#[track_caller]
fn sort(cores: &mut [CoreRef]) {
    cores.sort_unstable();
    assert!(
        cores.windows(2).all(|two| two[0] != two[1]),
        "a set has the same monitor twice: two exclusive accesses to one value; name each monitor once"
    );
}

impl<T: ?Sized, C> sealed::Sealed for &Monitor<T, C> {}

impl<'a, T: ?Sized, C> Set for &'a Monitor<T, C> {
    type Cores = [CoreRef; 1];
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
    fn cores(self) -> [CoreRef; 1] {
        [CoreRef::of(&self.core)]
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
            type Cores = [CoreRef; $count];
            type Refs<'held> = ($(&'held $value,)+) where Self: 'held;
            type Muts<'held> = ($(&'held mut $value,)+) where Self: 'held;
            type Access = ($(&$borrow mut $value,)+);

            #[track_caller]
            fn cores(self) -> [CoreRef; $count] {
                let mut cores = [$(CoreRef::of(&self.$place.core)),+];
                sort(&mut cores);
                cores
            }

            unsafe fn refs<'held>(self) -> Self::Refs<'held>
            where
                Self: 'held,
            {
                // SAFETY: the caller's promise, for each.
                ($(unsafe { self.$place.refs() },)+)
            }

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
    type Cores = Box<[CoreRef]>;
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
    fn cores(self) -> Box<[CoreRef]> {
        assert!(!self.is_empty(), "a set has no monitor: name at least one");
        let mut cores: Box<[_]> = self.iter().map(|monitor| CoreRef::of(&monitor.core)).collect();
        sort(&mut cores);
        cores
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
    type Cores = [CoreRef; N];
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
    fn cores(self) -> [CoreRef; N] {
        const { assert!(N > 0, "a set has at least one monitor") };
        let mut cores = self.map(|monitor| CoreRef::of(&monitor.core));
        sort(&mut cores);
        cores
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
    type Cores = [CoreRef; N];
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
    fn cores(self) -> [CoreRef; N] {
        (*self).cores()
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
