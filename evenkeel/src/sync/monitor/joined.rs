//! Two sets as one.

#![allow(unsafe_code, reason = "held monitors' values are reached by their addresses")]

use super::cores::{CoreRef, Cores, has_twins};
use super::held::Held;
use super::members::Members;
use super::reservation;
use super::set::{Set, Several, sealed};
use std::marker::PhantomData;

/// Two sets as one: that of a hold that has been [extended](Held::extend) or [joined](Held::join)
/// with another.
///
/// Its values are the pair of their values, and its [parts](Held::split) are the two sets. It is
/// the same set as a tuple of the same monitors: conditions and accepted calls of one are those of
/// the other. A `Joined` that you make yourself is entered as any other set is.
///
/// # Examples
/// ```
/// use evenkeel::sync::monitor::{Joined, Monitor, lock_all};
/// # evenkeel::block_on(async {
/// let (name, numbers) = (Monitor::new("primes"), [2, 3].map(Monitor::new));
/// let held = lock_all(Joined(&name, numbers.each_ref())).await;
/// assert_eq!(held.values(), (&"primes", [&2, &3]));
/// # });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Joined<S, E>(pub S, pub E);

/// The orders of two sets, and the order of all their cores.
#[derive(Debug)]
pub struct Order<S, E> {
    one: S,
    other: E,
    all: Box<[CoreRef]>,
}

impl<S: Set, E: Set> Joined<S, E> {
    /// Computes the order of all cores of both.
    fn merge(&self, one: S::Order, other: E::Order) -> Order<S::Order, E::Order> {
        let (first, last) = (self.0.written(&one), self.1.written(&other));
        let mut all: Box<[_]> = first.as_ref().iter().chain(last.as_ref()).copied().collect();
        drop((first, last));
        all.sort_unstable();
        Order { one, other, all }
    }
}

/// Joins two sets without a common monitor.
pub(super) fn join<S: Set, E: Set>(one: Members<S>, other: Members<E>) -> Members<Joined<S, E>> {
    let ((one, order), (other, its_order)) = (one.into_parts(), other.into_parts());
    let set = Joined(one, other);
    let order = set.merge(order, its_order);
    Members::ordered(set, order)
}

impl<S: Set, E: Set> sealed::Sealed for Joined<S, E> {}

impl<S: Set, E: Set> Several for Joined<S, E> {
    type Parts = (Held<S>, Held<E>);

    unsafe fn parts(self, order: Self::Order) -> Self::Parts {
        let one = Members::ordered(self.0, order.one);
        let other = Members::ordered(self.1, order.other);
        // SAFETY: the caller's promise.
        let one = unsafe { part(one) };
        // SAFETY: the caller's promise.
        (one, unsafe { part(other) })
    }
}

/// The hold of one of the two sets. If its cores say that it continues calls, only the leader does
/// so from here on.
///
/// # Safety
/// The set has been given to the caller, and its urgent list is empty.
unsafe fn part<S: Set>(members: Members<S>) -> Held<S> {
    // SAFETY: the caller's promise.
    if unsafe { reservation::continues(&members) } {
        let leader = members.leader();
        // SAFETY: the caller's promise.
        unsafe { reservation::mark(&members, |core| core == leader) };
    }
    // SAFETY: the caller's promise.
    unsafe { Held::new(members) }
}

impl<S: Set, E: Set> Set for Joined<S, E> {
    const SINGLE: bool = false;
    type Kept = Self;
    type Order = Order<S::Order, E::Order>;
    type Place = ();
    type Written<'order>
        = &'order [CoreRef]
    where
        Self: 'order;
    type Refs<'held>
        = (S::Refs<'held>, E::Refs<'held>)
    where
        Self: 'held;
    type Muts<'held>
        = (S::Muts<'held>, E::Muts<'held>)
    where
        Self: 'held;
    type Access = (PhantomData<S::Access>, PhantomData<E::Access>);

    fn keep(self) -> Self {
        self
    }

    fn kept(kept: &Self) -> &Self {
        kept
    }

    #[track_caller]
    fn order(&self) -> Self::Order {
        let order = self.merge(self.0.order(), self.1.order());
        if order.all.windows(2).any(|two| two[0] == two[1]) {
            has_twins();
        }
        order
    }

    fn place() {}

    fn written<'order>(&'order self, order: &'order Self::Order) -> &'order [CoreRef] {
        &order.all
    }

    fn leader(&self, order: &Self::Order) -> CoreRef {
        order.all[0]
    }

    fn cores<'order>(
        &'order self,
        order: &'order Self::Order,
        (): &'order mut (),
    ) -> Cores<'order> {
        Cores::sorted(&order.all)
    }

    unsafe fn refs<'held>(&self) -> Self::Refs<'held>
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise.
        let one = unsafe { self.0.refs() };
        // SAFETY: the caller's promise.
        (one, unsafe { self.1.refs() })
    }

    unsafe fn muts<'held>(&self) -> Self::Muts<'held>
    where
        Self: 'held,
    {
        // SAFETY: the caller's promise.
        let one = unsafe { self.0.muts() };
        // SAFETY: the caller's promise; no monitor is in both.
        (one, unsafe { self.1.muts() })
    }
}
