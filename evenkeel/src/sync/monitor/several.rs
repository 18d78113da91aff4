//! Several monitors as one set.

#![allow(unsafe_code, reason = "held monitors' values are reached by their addresses")]

use super::Monitor;
use super::cores::{CoreRef, Cores, check, has_twins, sort};
use super::held::Held;
use super::set::{Kept, Set, Several, sealed};
use std::mem::MaybeUninit;

/// The part of the implementation that all sets of constant size share: the order of their cores is
/// computed again where it is needed.
macro_rules! of_known_size {
    ($count:expr) => {
        const SINGLE: bool = false;
        type Kept = Kept<Self>;
        type Order = ();
        type Place = MaybeUninit<[CoreRef; $count]>;
        type Written<'order>
            = [CoreRef; $count]
        where
            Self: 'order;

        #[inline(always)]
        fn keep(self) -> Kept<Self> {
            Kept::new(self)
        }

        #[inline(always)]
        fn kept(kept: &Kept<Self>) -> &Self {
            kept.get()
        }

        #[inline(always)]
        fn place() -> Self::Place {
            MaybeUninit::uninit()
        }

        #[inline(always)]
        fn leader(&self, (): &()) -> CoreRef {
            let cores = self.written(&());
            cores[1..].iter().fold(cores[0], |low, core| low.min(*core))
        }

        #[inline(always)]
        fn cores<'order>(
            &'order self,
            (): &'order (),
            place: &'order mut Self::Place,
        ) -> Cores<'order> {
            Cores::sorted(place.write(sort(self.written(&()))))
        }
    };
}

macro_rules! tuples {
    ($($count:literal: $($borrow:lifetime $value:ident $conditions:ident $place:tt),+;)+) => {$(
        impl<$($value: ?Sized, $conditions),+> sealed::Sealed for ($(&Monitor<$value, $conditions>,)+) {}

        impl<$($borrow,)+ $($value: ?Sized, $conditions),+> Several for ($(&$borrow Monitor<$value, $conditions>,)+) {
            type Parts = ($(Held<&$borrow Monitor<$value, $conditions>>,)+);

            unsafe fn parts(self, (): ()) -> Self::Parts {
                // SAFETY: the caller's promise, for each.
                ($(unsafe { Held::part(self.$place) },)+)
            }
        }

        impl<$($borrow,)+ $($value: ?Sized, $conditions),+> Set for ($(&$borrow Monitor<$value, $conditions>,)+) {
            of_known_size!($count);
            type Refs<'held> = ($(&'held $value,)+) where Self: 'held;
            type Muts<'held> = ($(&'held mut $value,)+) where Self: 'held;
            type Access = ($(&$borrow mut $value,)+);

            #[inline(always)]
            #[track_caller]
            fn order(&self) {
                check(self.written(&()));
            }

            #[inline(always)]
            fn written(&self, (): &()) -> [CoreRef; $count] {
                [$(CoreRef::of(&self.$place.core)),+]
            }

            #[inline(always)]
            unsafe fn refs<'held>(&self) -> Self::Refs<'held>
            where
                Self: 'held,
            {
                // SAFETY: the caller's promise, for each.
                ($(unsafe { self.$place.refs() },)+)
            }

            #[inline(always)]
            unsafe fn muts<'held>(&self) -> Self::Muts<'held>
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

impl<'b, T, C> Several for &[&'b Monitor<T, C>] {
    type Parts = Box<[Held<&'b Monitor<T, C>>]>;

    unsafe fn parts(self, _order: Box<[CoreRef]>) -> Self::Parts {
        // SAFETY: the caller's promise, for each.
        self.iter().map(|monitor| unsafe { Held::part(*monitor) }).collect()
    }
}

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
    fn kept(kept: &Kept<Self>) -> &Self {
        kept.get()
    }

    #[track_caller]
    fn order(&self) -> Box<[CoreRef]> {
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
    fn written<'order>(&'order self, order: &'order Box<[CoreRef]>) -> &'order [CoreRef] {
        order
    }

    #[inline(always)]
    fn leader(&self, order: &Box<[CoreRef]>) -> CoreRef {
        order[0]
    }

    #[inline(always)]
    fn cores<'order>(
        &'order self,
        order: &'order Box<[CoreRef]>,
        (): &'order mut (),
    ) -> Cores<'order> {
        Cores::sorted(order)
    }

    unsafe fn refs<'held>(&self) -> Box<[&'held T]>
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise, for each.
        self.iter().map(|monitor| unsafe { monitor.refs() }).collect()
    }

    unsafe fn muts<'held>(&self) -> Box<[&'held mut T]>
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise, for each; they are different ones.
        self.iter().map(|monitor| unsafe { monitor.muts() }).collect()
    }
}

impl<T, C, const N: usize> sealed::Sealed for [&Monitor<T, C>; N] {}

impl<'b, T, C, const N: usize> Several for [&'b Monitor<T, C>; N] {
    type Parts = [Held<&'b Monitor<T, C>>; N];

    unsafe fn parts(self, (): ()) -> Self::Parts {
        // SAFETY: the caller's promise, for each.
        self.map(|monitor| unsafe { Held::part(monitor) })
    }
}

impl<'b, T, C, const N: usize> Set for [&'b Monitor<T, C>; N] {
    of_known_size!(N);
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
    #[track_caller]
    fn order(&self) {
        const { assert!(N > 0, "a set has at least one monitor") };
        check(self.written(&()));
    }

    #[inline(always)]
    fn written(&self, (): &()) -> [CoreRef; N] {
        self.each_ref().map(|monitor| CoreRef::of(&monitor.core))
    }

    unsafe fn refs<'held>(&self) -> [&'held T; N]
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise, for each.
        self.each_ref().map(|monitor| unsafe { monitor.refs() })
    }

    unsafe fn muts<'held>(&self) -> [&'held mut T; N]
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise, for each; they are different ones.
        self.each_ref().map(|monitor| unsafe { monitor.muts() })
    }
}

impl<T, C, const N: usize> sealed::Sealed for &[&Monitor<T, C>; N] {}

impl<'b, T, C, const N: usize> Several for &[&'b Monitor<T, C>; N] {
    type Parts = [Held<&'b Monitor<T, C>>; N];

    unsafe fn parts(self, (): ()) -> Self::Parts {
        // SAFETY: the caller's promise.
        unsafe { (*self).parts(()) }
    }
}

impl<'b, T, C, const N: usize> Set for &[&'b Monitor<T, C>; N] {
    of_known_size!(N);
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
    #[track_caller]
    fn order(&self) {
        (**self).order();
    }

    #[inline(always)]
    fn written(&self, (): &()) -> [CoreRef; N] {
        (**self).written(&())
    }

    unsafe fn refs<'held>(&self) -> [&'held T; N]
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise.
        unsafe { (**self).refs() }
    }

    unsafe fn muts<'held>(&self) -> [&'held mut T; N]
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise.
        unsafe { (**self).muts() }
    }
}
