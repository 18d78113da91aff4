//! Monitors: data that one task at a time is inside of, with conditions to wait for and entries to accept.
//!
//! [`Monitor::enter`] goes inside, [`lock_all`] inside of several at once; [`Held`] is being inside. Whoever cannot go on [waits](Condition::wait) for a [`Condition`],
//! which another one [signals](Condition::signal); or whoever is inside [accepts](Held::accept) a call by its name.
//!
//! # Roles
//! The *holder* of a set of monitors is inside. *Entrants* want to be, *waiters* wait for a condition, *signallers* and *acceptors* have given their hold to
//! somebody and come back after that one.
//!
//! # States
//! Each monitor has a *core*: whether it is held, a queue of entrants, and a list of the *urgent*. Cores of a set go by their addresses; the first one
//! is its *leader*, whose lock guards all that concerns the set: its urgent list, the queues of its conditions, its acceptor. A task that waits
//! has a node in its future: it is *new*, *waiting* in one place, *granted*, and at last *done*.
//!
//! # Steps
//! *Enter*: core by core, by address: take it if nobody holds it; if its holder is an acceptor who waits for just this call on just this set, take the whole set;
//! otherwise wait in its entry queue. *Leave*: give the whole set to the first urgent one; if there is none, each core, the leader last, to the first entrant
//! there, or to nobody. *Wait*: join the condition's queue, and leave. *Signal*: the first waiter becomes urgent, behind those that the same holder has
//! signalled. *Signal and block*: become urgent, first of all, and give the set to the first waiter. *Accept*: if there is an entrant whose call is accepted, become
//! urgent, first of all, and give the set to it; otherwise wait with the set held. Whoever *is given* something finds its node granted when it is polled.
//!
//! # Why nobody barges in, and nobody wakes for nothing
//! A held core goes from hold to hold without being free in between, so whoever enters meanwhile queues. A node is granted by those steps alone.
//! *Everybody on an urgent list wants the set that is held now*: they are put there by holders of their set, and while there is one, the set
//! goes on as a whole. So a leader's lock is enough to pass on a set of any size, and the cores behind it are not looked at.
//!
//! # Why nothing is lost when a future is dropped
//! Under the lock of the core where its node waits, a future either finds it granted, or takes it out. Granted, the hold is its own, and it leaves. An entrant
//! gives up the cores that it has been given. A waiter that has been signalled passes the signal on to the next waiter of the condition, in its place. An acceptor that
//! waits for a call holds its set, and leaves. An accepted call that is dropped leaves, and tells the acceptor.
//!
//! # Order
//! Running, urgent, entrants. Urgent ones come in the order of their signals; those who have given their hold away come back after those to whom it was given, the last
//! one first. (C∀ and µC++ have one stack, so that of two signals the later comes first.)
//!
//! # Rejected
//! A lock for each monitor that a signal concerns, as in C∀, where each waiter collects its monitors one by one: four times the locked instructions for four
//! monitors. Re-entrant locks: a second `&mut` to the value would alias the first; pass the hold down. A `wait` that borrows the hold: dropped, it would leave a hold
//! that holds nothing.

mod accept;
mod call;
mod condition;
mod core;
mod enter;
mod held;
mod macros;
#[cfg(all(test, loom))]
mod model;
mod node;
mod set;
mod wait;
mod waiting;
mod watch;

pub use accept::{Accept, Accepted, Clause, End, Entry};
pub use call::{Call, call};
pub use condition::Condition;
pub use enter::Enter;
pub use held::Held;
pub use set::{Set, Several};
pub use wait::{SignalBlock, Wait, WaitUntil};

#[cfg(feature = "macros")]
pub use evenkeel_macros::Entry;

use self::core::Core;
use self::node::Op;
use crate::detect::Object;
use std::cell::UnsafeCell;
use std::fmt;

#[allow(unsafe_code, reason = "a monitor gives `&mut` from `&`")]
mod safety {
    use super::Monitor;

    // SAFETY: the value is reached by whoever holds the monitor, one at a time; conditions are shared.
    unsafe impl<T: ?Sized + Send, C: Sync> Sync for Monitor<T, C> {}
}

/// A value that one task at a time is inside of, and what its tasks share without being inside: conditions, as a struct of [`Condition`]s or just one.
///
/// Entry and exit of one that nobody else is inside of cost one locked instruction each. A panic inside leaves the monitor as it leaves the value: there is
/// no poisoning.
///
/// # Examples
/// ```
/// use evenkeel::sync::monitor::{Condition, Monitor};
///
/// #[derive(Default)]
/// struct Conditions {
///     filled: Condition,
///     emptied: Condition,
/// }
///
/// /// A buffer of two numbers, by internal scheduling.
/// type Buffer = Monitor<Vec<u32>, Conditions>;
///
/// async fn put(buffer: &Buffer, number: u32) {
///     let mut held = buffer.enter().await;
///     if held.len() == 2 {
///         held = buffer.conditions().emptied.wait(held).await;
///     }
///     held.push(number);
///     buffer.conditions().filled.signal(&mut held);
/// }
///
/// async fn take(buffer: &Buffer) -> u32 {
///     let mut held = buffer.enter().await;
///     if held.is_empty() {
///         held = buffer.conditions().filled.wait(held).await;
///     }
///     let number = held.remove(0);
///     buffer.conditions().emptied.signal(&mut held);
///     number
/// }
///
/// # let runtime = evenkeel::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let buffer = std::sync::Arc::new(Buffer::default());
/// let producer = evenkeel::spawn({
///     let buffer = buffer.clone();
///     async move {
///         for number in 0..100 {
///             put(&buffer, number).await;
///         }
///     }
/// });
/// for number in 0..100 {
///     assert_eq!(take(&buffer).await, number);
/// }
/// producer.await.unwrap();
/// # });
/// ```
pub struct Monitor<T: ?Sized, C = ()> {
    core: Core,
    conditions: C,
    value: UnsafeCell<T>,
}

impl<T> Monitor<T> {
    /// A monitor without conditions of its own.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::with_conditions(value, ())
    }
}

impl<T, C> Monitor<T, C> {
    /// A monitor with these conditions.
    #[track_caller]
    pub fn with_conditions(value: T, conditions: C) -> Self {
        Self { core: Core::new(Object::monitor(&value)), conditions, value: UnsafeCell::new(value) }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized, C> Monitor<T, C> {
    /// Goes inside, after all that have been waiting longer.
    ///
    /// # Cancel safety
    /// A future that is dropped leaves the queue; if it is inside already, it leaves.
    #[inline]
    #[track_caller]
    pub fn enter(&self) -> Enter<&Self> {
        Enter::new(self, Op::NONE)
    }

    /// Goes inside if nobody is.
    pub fn try_enter(&self) -> Option<Held<&Self>> {
        try_lock_all(self)
    }

    /// Goes inside as `op`, which an acceptor can choose. Dropped, the hold ends the call; that a task has been cancelled inside it cannot tell: for that there is
    /// [`call`](Self::call).
    ///
    /// # Panics
    /// If the number of the entry is out of range.
    #[inline]
    #[track_caller]
    pub fn enter_as<E: Entry>(&self, op: E) -> Enter<&Self> {
        Enter::new(self, accept::op(op))
    }

    /// Goes inside as `op`, which an acceptor can choose, and runs `body` there.
    ///
    /// # Cancel safety
    /// See [`Call`].
    ///
    /// # Panics
    /// If the number of the entry is out of range.
    #[inline]
    #[track_caller]
    pub fn call<'a, E, F, B>(&'a self, op: E, body: F) -> Call<&'a Self, F, B>
    where
        E: Entry,
        F: FnOnce(Held<&'a Self>) -> B,
        B: Future,
    {
        call(self, op, body)
    }

    /// Waits for the end of the object: goes inside once its acceptor has accepted the [`End`] and has left, or as any other entrant does if nobody accepts.
    #[track_caller]
    pub fn end(&self) -> Enter<&Self> {
        self.enter_as(End)
    }

    /// The conditions.
    #[inline(always)]
    pub fn conditions(&self) -> &C {
        &self.conditions
    }

    /// The value, of a monitor that nobody else can reach.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// Goes inside of all monitors of a set, by their addresses one after the other, whatever their order here: tasks that do so cannot wait for each other in
/// a circle.
///
/// # Panics
/// If a monitor is there twice, or none is.
///
/// # Examples
/// ```
/// use evenkeel::sync::monitor::{Monitor, lock_all};
/// # evenkeel::block_on(async {
/// let forks = [1, 2, 3].map(Monitor::new);
/// let mut held = lock_all([&forks[2], &forks[0]]).await;
/// assert_eq!(held.values(), [&3, &1]);
/// let all: Vec<_> = forks[1..2].iter().collect();
/// assert_eq!(*lock_all(&all[..]).await.values()[0], 2);
/// # });
/// ```
#[inline]
#[track_caller]
pub fn lock_all<S: Set>(set: S) -> Enter<S> {
    Enter::new(set, Op::NONE)
}

/// Goes inside of all monitors of a set if nobody is inside of any.
///
/// # Panics
/// As [`lock_all`].
#[track_caller]
pub fn try_lock_all<S: Set>(set: S) -> Option<Held<S>> {
    held::try_hold(set)
}

impl<T: Default, C: Default> Default for Monitor<T, C> {
    #[track_caller]
    fn default() -> Self {
        Self::with_conditions(T::default(), C::default())
    }
}

impl<T: ?Sized, C> fmt::Debug for Monitor<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("free", &self.core.is_free()).finish_non_exhaustive()
    }
}
