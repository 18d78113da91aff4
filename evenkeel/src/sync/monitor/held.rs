//! The hold of a set of monitors.

#![allow(unsafe_code, reason = "the holder of a monitor reaches its value")]

use super::Monitor;
use super::core;
use super::members::Members;
use super::set::{Set, Several};
use super::watch;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::Arc;

/// A hold of a set of monitors: its owner is inside, and no other task is. Dropping it leaves the
/// monitors.
///
/// It belongs to no thread, and can move to another task. A holder that waits for something else
/// keeps all other tasks out meanwhile. If it is forgotten ([`std::mem::forget`]), the monitors are
/// never left, and entrants wait for ever.
///
/// # Examples
/// ```
/// use evenkeel::sync::monitor::{Monitor, lock_all};
/// # evenkeel::block_on(async {
/// let (from, to) = (Monitor::new(10_u32), Monitor::new(0_u32));
/// let mut held = lock_all((&from, &to)).await;
/// let (from, to) = held.values_mut();
/// *from -= 3;
/// *to += 3;
/// assert_eq!(held.values(), (&7, &3));
/// # });
/// ```
/// A held monitor cannot be dropped:
/// ```compile_fail,E0505
/// # use evenkeel::sync::monitor::Monitor;
/// let monitor = Monitor::new(0_u32);
/// let held = monitor.try_enter().unwrap();
/// drop(monitor);
/// assert_eq!(*held, 0);
/// ```
/// References from a hold do not outlast it:
/// ```compile_fail,E0505
/// # use evenkeel::sync::monitor::Monitor;
/// let monitor = Monitor::new(0_u32);
/// let held = monitor.try_enter().unwrap();
/// let value = &*held;
/// drop(held);
/// assert_eq!(*value, 0);
/// ```
#[must_use = "a monitor is left as soon as its hold is dropped"]
pub struct Held<S: Set> {
    members: Members<S>,
    access: PhantomData<S::Access>,
}

impl<S: Set> Held<S> {
    /// # Safety
    /// The set has been given to the caller.
    #[inline(always)]
    pub(super) unsafe fn new(members: Members<S>) -> Self {
        // SAFETY: the set borrows its monitors.
        unsafe { watch::entered(&members) };
        Self { members, access: PhantomData }
    }

    /// The hold of a part of a set that was held.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    pub(super) unsafe fn part(set: S) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::new(Members::new(set)) }
    }

    /// Takes the set out of the hold without leaving it: the caller has to leave it.
    #[inline(always)]
    pub(super) fn into_members(self) -> Members<S> {
        let this = ManuallyDrop::new(self);
        // SAFETY: the set borrows its monitors.
        unsafe { watch::left(&this.members) };
        // SAFETY: the hold is not dropped, so its members are taken once.
        unsafe { ptr::read(&raw const this.members) }
    }

    /// Returns the set of monitors; for an owned hold that is another `Arc`. It is an associated
    /// function, as are all that could hide a method of the value.
    ///
    /// # Examples
    /// A function that gets a hold finds the conditions by it:
    /// ```
    /// use evenkeel::sync::monitor::{Condition, Held, Monitor};
    ///
    /// type Stock = Monitor<u32, Condition>;
    ///
    /// fn add(held: &mut Held<&Stock>, count: u32) {
    ///     **held += count;
    ///     Held::set(held).conditions().signal(held);
    /// }
    ///
    /// # evenkeel::block_on(async {
    /// let stock = Stock::default();
    /// let buyer = async {
    ///     let held = stock.enter().await;
    ///     *stock.conditions().wait(held).await
    /// };
    /// let (bought, ()) = futures::join!(buyer, async { add(&mut stock.enter().await, 3) });
    /// assert_eq!(bought, 3);
    /// # });
    /// ```
    pub fn set(this: &Self) -> S {
        this.members.set().clone()
    }

    #[inline(always)]
    pub(super) fn members(&self) -> &Members<S> {
        &self.members
    }
}

impl<S: Several> Held<S> {
    /// Returns the values, in the order in which the set was written.
    #[inline]
    pub fn values(&self) -> S::Refs<'_> {
        // SAFETY: the set is held, and the hold is borrowed.
        unsafe { self.members.set().refs() }
    }

    /// Returns the values, in the order in which the set was written, for changes.
    #[inline]
    pub fn values_mut(&mut self) -> S::Muts<'_> {
        // SAFETY: the set is held, and the hold is borrowed exclusively.
        unsafe { self.members.set().muts() }
    }
}

impl<T: ?Sized, C> Deref for Held<Arc<Monitor<T, C>>> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the set is held, and the hold is borrowed.
        unsafe { self.members.set().refs() }
    }
}

impl<T: ?Sized, C> DerefMut for Held<Arc<Monitor<T, C>>> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the set is held, and the hold is borrowed exclusively.
        unsafe { self.members.set().muts() }
    }
}

impl<T: ?Sized, C> Deref for Held<&Monitor<T, C>> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the set is held, and the hold is borrowed.
        unsafe { self.members.set().refs() }
    }
}

impl<T: ?Sized, C> DerefMut for Held<&Monitor<T, C>> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the set is held, and the hold is borrowed exclusively.
        unsafe { self.members.set().muts() }
    }
}

impl<S: Set> Drop for Held<S> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the set is held, and is given up here.
        unsafe { core::leave(&self.members) };
    }
}

impl<S: Set> fmt::Debug for Held<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held")
            .field("monitors", &self.members.written().as_ref().len())
            .finish_non_exhaustive()
    }
}

thread_local! {
    /// Whether this thread is dropping a call that has not ended.
    static CANCELLING: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f`, which drops a call. The holds that are dropped with the call break off.
pub(super) fn cancelling(f: impl FnOnce()) {
    struct Back(bool);
    impl Drop for Back {
        fn drop(&mut self) {
            CANCELLING.set(self.0);
        }
    }
    let _back = Back(CANCELLING.replace(true));
    f();
}

/// Whether an accepted call that leaves at this moment has not ended.
#[inline]
pub(super) fn breaks_off() -> bool {
    CANCELLING.get() || std::thread::panicking()
}

/// Holds a set if all of it is free.
#[inline]
#[track_caller]
pub(super) fn try_hold<S: Set>(set: S) -> Option<Held<S>> {
    let members = Members::new(set);
    let mut place = S::place();
    let cores = members.cores(&mut place);
    for index in 0..cores.len() {
        // SAFETY: the set borrows its monitors.
        if !unsafe { cores.get(index).get() }.try_enter() {
            // SAFETY: the caller holds these, and gives them up here.
            unsafe { core::release(cores, index) };
            return None;
        }
    }
    // SAFETY: all of them have just been taken.
    Some(unsafe { Held::new(members) })
}
