//! Monitors: data that one task at a time is inside of, with conditions to wait for and entries to
//! accept.
//!
//! [`Monitor::enter`] goes inside, [`lock_all`] inside of several at once; [`Held`] is being
//! inside. Whoever cannot go on [waits](Condition::wait) for a [`Condition`], which another one
//! [signals](Condition::signal); or whoever is inside [accepts](Held::accept) a call by its name. A
//! hold [grows](Held::extend), is [divided](Held::split) into parts that are left one by one, or
//! [joined](Held::join) with another, and no other task comes in meanwhile.
//!
//! # Roles
//! The *holder* of a set of monitors is inside. *Entrants* want to be, *waiters* wait for a
//! condition, *signallers* and *acceptors* have given their hold to somebody and come back after
//! that one.
//!
//! # States
//! Each monitor has a *core*: whether it is held, a queue of entrants, and a list of the *urgent*.
//! Cores of a set go by their addresses; the first one is its *leader*, whose lock guards all that
//! concerns the set: its urgent list, the queues of its conditions, its acceptor. A task that waits
//! has a node in its future, which has not joined a queue, or is *waiting* in one place, or has
//! been *granted* what it has waited for; a future that has given its hold has no set any more. A
//! core also knows the *call* that the present hold is, if an acceptor waits for its end: whoever
//! gives the set away and comes back has its own call in its node meanwhile.
//!
//! # Steps
//! *Enter*: core by core, by address: take it if nobody holds it; if its holder is an acceptor who
//! waits for just this call on just this set, take the whole set; otherwise wait in its entry
//! queue. *Leave*: give the whole set to the first urgent one; if there is none, each core, the
//! leader last, to the first entrant there, or to nobody. *Wait*: join the condition's queue, and
//! leave. *Signal*: the first waiter becomes urgent, behind those that the same holder has
//! signalled. *Signal and block*: become urgent, first of all, and give the set to the first
//! waiter. *Accept*: if there is an entrant whose call is accepted, become urgent, first of all,
//! and give the set to it; otherwise wait with the set held. Whoever *is given* something finds its
//! node granted when it is polled. *Split*, *join*: move those that are urgent into a *reservation*
//! of their set, which gets it back core by core as the parts are left, before entrants do
//! (`reservation` has that protocol). *Extend*: enter more, waiting for what comes later by address
//! alone, and join (see `extend`).
//!
//! # Why nobody barges in, and nobody wakes for nothing
//! A held core goes from hold to hold without being free in between, so whoever enters meanwhile
//! queues. A node is granted by those steps alone. *All on a core's urgent list want the set that
//! is held now*: they are put there by holders of their set, and while there is one, the set goes
//! on as a whole, or they go into a reservation. So a leader's lock is enough to pass on a set of
//! any size, and the cores behind it are not looked at.
//!
//! What was true when the signal came is true after the wait: an `if` before it is enough. But the
//! signal of a waiter that is dropped goes on to the next one of its condition. Where
//! [data](Condition::front) or arguments tell those apart, whoever comes back looks again, as in
//! `readers_writers_internal.rs` below.
//!
//! # Why nothing is lost when a future is dropped
//! Under the lock of the core where its node waits, a future either finds it granted, or takes it
//! out. Granted, the hold is its own, and it leaves. An entrant gives up the cores that it has been
//! given. A waiter that has been signalled passes the signal on to the next waiter of the
//! condition, in its place. An acceptor that waits for a call holds its set, and leaves. An
//! accepted call that is dropped leaves, and tells the acceptor.
//!
//! # What is dropped when
//! Any future here may be dropped at any time; each says what follows.
//!
//! | dropped | what follows |
//! | --- | --- |
//! | while queued | [`Enter`], [`Call`]: it leaves the queue |
//! | while granted, but not polled since | it leaves; a [`Wait`] signals the next one first; an accepted [`Call`] breaks off |
//! | half way through a bulk entry | [`Enter`], [`Call`]: it gives up what it has, and leaves the queue where it waits |
//! | while a hold grows | [`Extend`]: the same, and it leaves the hold; [`ExtendUntil`] gives the hold back in time |
//! | while it waits for a condition | [`Wait`], [`WaitUntil`]: it leaves the condition's queue |
//! | while signalled | [`Wait`], [`WaitUntil`]: the next one that waits for the condition takes its place |
//! | while its signal is inside | [`SignalBlock`], [`SignalBlockWith`]: it does not come back |
//! | while its masks are installed | [`Accept`]: it leaves, and accepts nobody |
//! | while its call is inside | [`Accept`]: it does not come back |
//! | as the accepted callee | [`Call`]: it leaves, and its acceptor gets [`Accepted::Broken`] |
//!
//! # Order
//! Running, urgent, entrants. What one holder signals between two changes of hands is a batch, and
//! comes in the order of the signals. Batches come the latest one first: whoever has been given the
//! monitors and signals has its batch go before all that was urgent already. Whoever gives its hold
//! away, by [`signal_block`](Condition::signal_block) or for an [accepted](Held::accept) call, goes
//! behind the batches of the one to whom it gives it, and before all that it has signalled itself
//! by then; so of nested accepts the inner one is over first. When it is back, what it signals is
//! another batch. An accept for which nobody has called yet keeps the monitors: nobody who has been
//! signalled comes in while it waits, and if it ends without a call, the batch goes on. A split or
//! a join ends a batch too: what is signalled for the parts, or for the joined set, goes first.
//! Last of all that are urgent comes whoever has waited for the [`End`], once that is accepted. (C∀
//! and µC++ have one stack: there each signal is a batch, so that of two signals the later comes
//! first.)
//!
//! ```
//! use evenkeel::accept;
//! use evenkeel::sync::monitor::{Condition, Entry, Monitor};
//! use futures::join;
//!
//! #[derive(Clone, Copy, Entry)]
//! enum Op {
//!     Call,
//! }
//!
//! # evenkeel::block_on(async {
//! // Who has been inside, and a condition for each of two that wait.
//! let monitor = Monitor::<Vec<&str>, [Condition; 2]>::default();
//! let [first, second] = monitor.conditions();
//! let wait = async |condition: &Condition, name| {
//!     let held = monitor.enter().await;
//!     condition.wait(held).await.push(name);
//! };
//! let acceptor = async {
//!     let mut held = monitor.enter().await;
//!     first.signal(&mut held);
//!     accept!(held; Op::Call => { held.push("acceptor") });
//! };
//! let caller = async {
//!     let mut held = monitor.enter_as(Op::Call).await;
//!     held.push("caller");
//!     second.signal(&mut held);
//! };
//! join!(wait(first, "first"), wait(second, "second"), acceptor, caller);
//! assert_eq!(monitor.into_inner(), ["caller", "second", "acceptor", "first"]);
//! # });
//! ```
//!
//! # From threads, and from several runtimes
//! Monitors know no runtime. Tasks of several runtimes share them, tasks of others' runtimes too,
//! and a plain thread [blocks on](crate::block_on) what a task awaits; its turn comes as a task's
//! does. (A task must not block: it awaits.) A hold belongs to no thread, so a thread may keep it
//! between two such calls. Where a runtime ends, its tasks are dropped, wherever they wait, and by
//! the rules above the others go on.
//!
//! ```
//! use evenkeel::sync::monitor::{Condition, Monitor};
//! use std::sync::Arc;
//!
//! let monitor = Arc::new(Monitor::<Option<u32>, Condition>::default());
//! let runtime = evenkeel::Runtime::new().unwrap();
//! let task = runtime.spawn({
//!     let monitor = monitor.clone();
//!     async move {
//!         let mut held = monitor.enter().await;
//!         *held = Some(7);
//!         monitor.conditions().signal(&mut held);
//!     }
//! });
//! let mut held = evenkeel::block_on(monitor.enter());
//! if held.is_none() {
//!     held = evenkeel::block_on(monitor.conditions().wait(held));
//! }
//! assert_eq!(held.take(), Some(7));
//! drop(held);
//! evenkeel::block_on(task).unwrap();
//! ```
//!
//! # Limits on waiting
//! An entry that takes too long is dropped, and is then not inside: put it into a
//! [`timeout`](crate::time::timeout), or beside anything else that may come first. A wait would not
//! be inside either, so it has a limit of its own, any future ([`Condition::wait_until`]): when
//! that is ready first, the task enters anew, and so is inside in either case. An accept has one
//! too (the clause `timeout` of [`accept!`](crate::accept)): it keeps its hold, and if a call has
//! come in time, it waits for the end of that, however long it takes. Timers need a
//! [runtime](crate::time#where-a-timer-belongs): a plain thread makes itself one's by
//! [`Handle::block_on`](crate::Handle::block_on).
//!
//! ```
//! use evenkeel::accept;
//! use evenkeel::sync::monitor::{Condition, Entry, Monitor};
//! use evenkeel::time::{Duration, sleep, timeout};
//!
//! #[derive(Clone, Copy, Entry)]
//! enum Op {
//!     Call,
//! }
//!
//! const LIMIT: Duration = Duration::from_millis(2);
//! let monitor = Monitor::<u32, Condition>::default();
//! let runtime = evenkeel::Runtime::new().unwrap();
//! runtime.block_on(async {
//!     let mut held = monitor.enter().await;
//!     assert!(timeout(LIMIT, monitor.enter()).await.is_err());
//!
//!     let signalled;
//!     (held, signalled) = monitor.conditions().wait_until(held, (), sleep(LIMIT)).await;
//!     assert!(!signalled && *held == 0);
//!
//!     let called = accept!(held;
//!         Op::Call => { true };
//!         timeout LIMIT => { false });
//!     assert_eq!((called, *held), (Some(false), 0));
//! });
//! ```
//!
//! # Worked examples
//! In the directory `examples` of this crate; `cargo run --example NAME` runs one.
//!
//! | file | problem | idea |
//! |---|---|---|
//! | `buffer_internal.rs` | bounded buffer | conditions, an `if` before each wait |
//! | `buffer_external.rs` | bounded buffer | accepting the opposite operation |
//! | `readers_writers.rs` | readers and writers | turns by the entry queue, ends accepted past it |
//! | `readers_writers_internal.rs` | readers and writers | one condition, whose data say who waits |
//! | `dating_service.rs` | an exchange between partners | `signal_block`, conditions by an argument |
//! | `barrier.rs` | a barrier | an action of the last arrival, `signal_all` |
//! | `server.rs` | a server task | clauses that are open now and then, `else`, the `End` |
//! | `philosophers.rs` | dining philosophers | `lock_all` |
//!
//! # Words
//! A hold is its set and nothing else: of one monitor a word, which passes in registers from future
//! to future. The order of the cores is found again wherever it is needed, which takes less than to
//! move it about: words that are stored one by one and then loaded two at a time, as the copy of a
//! structure is, have to reach the cache in between.
//!
//! # Rejected
//! A lock for each monitor that a signal concerns, as in C∀, where each waiter collects its
//! monitors one by one: four times the locked instructions for four monitors. Re-entrant locks: a
//! second `&mut` to the value would alias the first; pass the hold down. A `wait` that borrows the
//! hold: dropped, it would leave a hold that holds nothing.

mod accept;
mod call;
mod condition;
mod core;
mod cores;
mod enter;
mod extend;
mod held;
mod joined;
#[doc(hidden)]
pub mod limit;
mod macros;
mod members;
#[cfg(all(test, loom))]
mod model;
mod node;
mod refused;
mod reservation;
mod set;
mod several;
#[cfg(all(test, shuttle))]
mod shuttle_tests;
mod signal_block;
mod signal_block_with;
mod split;
mod state;
mod urgent;
mod wait;
mod waiting;
mod watch;

pub use accept::{Accept, Accepted, Clause, End, Entry};
pub use call::{Call, call};
pub use condition::Condition;
pub use enter::Enter;
pub use extend::{Extend, ExtendUntil};
pub use held::Held;
pub use joined::Joined;
pub use refused::{Refused, Why};
pub use set::{Set, Several};
pub use signal_block::SignalBlock;
pub use signal_block_with::SignalBlockWith;
pub use wait::{Wait, WaitUntil};

#[cfg(feature = "macros")]
pub use evenkeel_macros::Entry;

use self::core::Core;
use self::node::Op;
use crate::detect::Object;
use std::cell::UnsafeCell;
use std::fmt;
use std::sync::Arc;

#[allow(unsafe_code, reason = "a monitor gives `&mut` from `&`")]
mod safety {
    use super::Monitor;

    // SAFETY: the value is reached by whoever holds the monitor, one at a time; conditions are
    // shared.
    unsafe impl<T: ?Sized + Send, C: Sync> Sync for Monitor<T, C> {}
}

/// A value that one task at a time is inside of, and what its tasks share without being inside:
/// conditions, as a struct of [`Condition`]s or just one.
///
/// Entry and exit of one that nobody else is inside of cost one locked instruction each. A panic
/// inside leaves the monitor as it leaves the value: there is no poisoning.
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

    /// As [`enter`](Self::enter), with a hold that keeps the monitor and borrows nothing: it can go
    /// into a task, as that of a server which is inside before its first client calls.
    /// [`call`](call()), [`lock_all`] and [`try_lock_all`] take an `Arc` too.
    ///
    /// # Cancel safety
    /// As [`enter`](Self::enter).
    ///
    /// # Examples
    /// ```
    /// use evenkeel::accept;
    /// use evenkeel::sync::monitor::{End, Entry, Monitor};
    /// use std::sync::Arc;
    ///
    /// #[derive(Clone, Copy, Entry)]
    /// enum Op {
    ///     Count,
    /// }
    ///
    /// # let runtime = evenkeel::Runtime::new().unwrap();
    /// # runtime.block_on(async {
    /// let counter = Arc::new(Monitor::new(0_u32));
    /// let mut held = counter.clone().enter_owned().await;
    /// let server = evenkeel::spawn(async move {
    ///     while accept!(held; End => { false }; Op::Count => { true }).unwrap() {}
    /// });
    /// for _ in 0..3 {
    ///     counter.call(Op::Count, async |mut held| *held += 1).await;
    /// }
    /// assert_eq!(*counter.end().await, 3);
    /// server.await.unwrap();
    /// # });
    /// ```
    #[inline]
    #[track_caller]
    pub fn enter_owned(self: Arc<Self>) -> Enter<Arc<Self>> {
        Enter::new(self, Op::NONE)
    }

    /// As [`try_enter`](Self::try_enter), with a hold that keeps the monitor.
    pub fn try_enter_owned(self: Arc<Self>) -> Option<Held<Arc<Self>>> {
        try_lock_all(self)
    }

    /// Goes inside as `op`, which an acceptor can choose. Dropped, the hold ends the call; that a
    /// task has been cancelled inside it cannot tell: for that there is [`call`](Self::call).
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

    /// Waits for the end of the object: goes inside once its acceptor has accepted the [`End`] and
    /// has left, or as any other entrant does if nobody accepts.
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

/// Goes inside of all monitors of a set, by their addresses one after the other, whatever their
/// order here: tasks that do so cannot wait for each other in a circle.
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
/// Locks of other kinds are not in a set, nor are sets:
/// ```compile_fail,E0277
/// # use evenkeel::sync::monitor::{Monitor, lock_all};
/// let (one, mutex) = (Monitor::new(0), std::sync::Mutex::new(0));
/// let enter = lock_all((&one, &mutex));
/// ```
/// ```compile_fail,E0277
/// # use evenkeel::sync::monitor::{Monitor, lock_all};
/// let [one, two, three] = [1, 2, 3].map(Monitor::new);
/// let enter = lock_all((&one, (&two, &three)));
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
