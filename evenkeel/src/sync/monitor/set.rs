//! Sets of monitors that can be held at once.

#![allow(unsafe_code, reason = "a held monitor's value is reached by its address")]

use super::Monitor;
use super::cores::{CoreRef, Cores};
use std::mem::MaybeUninit;
use std::sync::Arc;

/// One monitor, or several that are held at once: a reference, an [`Arc`], a tuple of up to eight
/// references, an array of references, or a reference to an array or slice of references.
///
/// This trait is sealed: only this crate implements it.
///
/// # Examples
/// A function that enters any set, and lets other tasks go first for some turns:
/// ```
/// use evenkeel::sync::monitor::{Held, Monitor, Set, lock_all, try_lock_all};
///
/// async fn enter_politely<S: Set>(set: S) -> Held<S> {
///     for _ in 0..3 {
///         if let Some(held) = try_lock_all(set.clone()) {
///             return held;
///         }
///         evenkeel::yield_now().await;
///     }
///     lock_all(set).await
/// }
///
/// # evenkeel::block_on(async {
/// let (one, two) = (Monitor::new(1), Monitor::new(2));
/// assert_eq!(*enter_politely(&one).await, 1);
/// assert_eq!(enter_politely((&one, &two)).await.values(), (&1, &2));
/// assert_eq!(enter_politely([&two, &one]).await.values(), [&2, &1]);
/// # });
/// ```
pub trait Set: sealed::Sealed + Clone {
    /// Whether it is one monitor by itself.
    #[doc(hidden)]
    const SINGLE: bool;
    /// The set as a hold keeps it. A set of several monitors is wrapped, so that an `Option` or
    /// `Poll` does not put its tag into the first word: see [`Slot`].
    #[doc(hidden)]
    type Kept;
    /// What a hold keeps of the order of the cores: nothing, if computing it again is faster than
    /// moving it.
    #[doc(hidden)]
    type Order: Send + Sync + Unpin;
    /// Room for the cores, by address.
    #[doc(hidden)]
    type Place: Send + Sync + Unpin;
    /// The cores, in an order that depends only on how the set is written.
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
    /// The access that a hold has, for the compiler: exclusive access to all values.
    #[doc(hidden)]
    type Access: ?Sized;

    /// The set, to keep.
    #[doc(hidden)]
    fn keep(self) -> Self::Kept;

    /// The set that was kept.
    #[doc(hidden)]
    fn kept(kept: &Self::Kept) -> &Self;

    /// The order of the cores.
    ///
    /// # Panics
    /// If the set is empty, or names a monitor twice.
    #[doc(hidden)]
    fn order(&self) -> Self::Order;

    /// An empty place.
    #[doc(hidden)]
    fn place() -> Self::Place;

    /// The cores.
    #[doc(hidden)]
    fn written<'a>(&'a self, order: &'a Self::Order) -> Self::Written<'a>;

    /// The core with the lowest address.
    #[doc(hidden)]
    fn leader(&self, order: &Self::Order) -> CoreRef;

    /// The cores, by address.
    #[doc(hidden)]
    fn cores<'a>(&'a self, order: &'a Self::Order, place: &'a mut Self::Place) -> Cores<'a>;

    /// The values.
    ///
    /// # Safety
    /// The caller holds the set and borrows the hold as long.
    #[doc(hidden)]
    unsafe fn refs<'held>(&self) -> Self::Refs<'held>
    where
        Self: 'held;

    /// The values.
    ///
    /// # Safety
    /// The caller holds the set and borrows the hold exclusively as long.
    #[doc(hidden)]
    unsafe fn muts<'held>(&self) -> Self::Muts<'held>
    where
        Self: 'held;
}

/// A set that is written as one of several: a tuple, a slice, an array, or two sets that are
/// [joined](super::Joined).
///
/// # Examples
/// The values and the parts have the form of the set:
/// ```
/// use evenkeel::sync::monitor::{Held, Monitor, Several, try_lock_all};
///
/// fn split<S: Several>(set: S) -> S::Parts {
///     Held::split(try_lock_all(set).expect("no other task is inside"))
/// }
///
/// let (name, numbers) = (Monitor::new("primes"), [2, 3].map(Monitor::new));
/// let (name_held, number_held) = split((&name, &numbers[0]));
/// assert_eq!((*name_held, *number_held), ("primes", 2));
/// drop(number_held);
/// let [two, three] = split(numbers.each_ref());
/// assert_eq!(*two + *three, 5);
/// ```
pub trait Several: Set {
    /// Holds of the parts, in the order in which the set was written: for a tuple a tuple of holds
    /// of its monitors, for an array an array, for a slice a box, for two joined sets a pair.
    type Parts;

    /// Holds of the parts.
    ///
    /// # Safety
    /// The caller holds the set, in this order, and its urgent list is empty. The parts take over
    /// the hold.
    #[doc(hidden)]
    unsafe fn parts(self, order: Self::Order) -> Self::Parts;
}

pub(super) mod sealed {
    pub trait Sealed {}
}

impl<T: ?Sized, C> sealed::Sealed for &Monitor<T, C> {}

impl<T: ?Sized, C> sealed::Sealed for Arc<Monitor<T, C>> {}

/// The part of the implementation that all pointers to one monitor share.
macro_rules! single {
    () => {
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

        #[inline(always)]
        fn keep(self) -> Self {
            self
        }

        #[inline(always)]
        fn kept(kept: &Self) -> &Self {
            kept
        }

        #[inline(always)]
        fn order(&self) {}

        #[inline(always)]
        fn place() {}

        #[inline(always)]
        fn written(&self, (): &()) -> [CoreRef; 1] {
            [CoreRef::of(&self.core)]
        }

        #[inline(always)]
        fn leader(&self, (): &()) -> CoreRef {
            CoreRef::of(&self.core)
        }

        #[inline(always)]
        fn cores<'order>(&'order self, (): &'order (), (): &'order mut ()) -> Cores<'order> {
            Cores::one(&self.core)
        }

        #[inline(always)]
        unsafe fn refs<'held>(&self) -> &'held T
        where
            Self: 'held,
        {
            // SAFETY: the caller's promise.
            unsafe { &*self.value.get() }
        }

        #[inline(always)]
        unsafe fn muts<'held>(&self) -> &'held mut T
        where
            Self: 'held,
        {
            // SAFETY: the caller's promise.
            unsafe { &mut *self.value.get() }
        }
    };
}

impl<'a, T: ?Sized, C> Set for &'a Monitor<T, C> {
    type Access = &'a mut T;
    single!();
}

impl<T: ?Sized, C> Set for Arc<Monitor<T, C>> {
    type Access = T;
    single!();
}

/// A value in which the compiler finds no niche for the tag of an enclosing enum.
#[derive(Clone, Copy)]
pub struct Kept<T: Copy>(MaybeUninit<T>);

impl<T: Copy> Kept<T> {
    #[inline(always)]
    pub(super) fn new(value: T) -> Self {
        Self(MaybeUninit::new(value))
    }

    #[inline(always)]
    pub(super) fn get(&self) -> &T {
        // SAFETY: it is always initialized.
        unsafe { self.0.assume_init_ref() }
    }
}
