//! Monitors: values that one task at a time is inside of, with conditions to wait for and entries
//! to accept.
//!
//! [`Monitor::enter`] enters one monitor, [`lock_all`] several at once. A [`Held`] is a *hold*: the
//! task that has it is inside. A holder that cannot go on [waits](Condition::wait) for a
//! [`Condition`], which a later holder [signals](Condition::signal). Or it [accepts](Held::accept)
//! a call by name. A hold can be [extended](Held::extend), [split](Held::split) into parts that are
//! left one by one, or [joined](Held::join) with another, and no other task enters meanwhile.
//!
//! # Roles
//! The *holder* of a set of monitors is inside. *Entrants* want to enter; one that names an
//! operation is a *caller*. *Waiters* wait for a condition. *Signallers* and *acceptors* have given
//! their hold to a waiter or a caller, and come back after it.
//!
//! # States
//! Each monitor has a *core*: whether it is held, a queue of entrants, and a list of *urgent*
//! nodes. The cores of a set are ordered by address, and the first is the *leader*. The leader's
//! lock guards all that concerns the set: its urgent list, the queues of its conditions, its
//! acceptor. A waiting task has a node in its future. The node has joined no queue, or is *waiting*
//! in one place, or was *granted* what it waited for. A future that has returned its hold has no
//! set any more. A core also knows the *call* that the present hold is, if an acceptor waits for
//! the end of that call. A signaller or acceptor that gives the set away keeps its own call in its
//! node until it is back. A hold that is split or joined leaves its call to a reservation, and the
//! new holds *continue* the call.
//!
//! # Steps
//! *Enter*: core by core, by address: take it if it is free; if its holder is an acceptor that
//! waits for just this call on just this set, take the whole set; otherwise wait in its entry
//! queue. *Leave*: give the whole set to the first urgent node. If there is none, give each core,
//! the leader last, to its first entrant, or leave it free. *Wait*: join the condition's queue, and
//! leave. *Signal*: the first waiter becomes urgent, behind those that the same holder has
//! signalled. *Signal and block*: become urgent, first of all, and give the set to the first
//! waiter. *Accept*: if a caller of an accepted operation is queued, become urgent, first of all,
//! and give the set to it; otherwise wait with the set held. A task that *is given* a core or a set
//! finds its node granted when it is polled. *Split*, *join*: move the urgent nodes into a
//! *reservation* of their set. It gets the set back core by core as the parts are left, before
//! entrants do (`reservation` has that protocol). *Extend*: enter more monitors, waiting only for
//! those that come later by address, and join (see `extend`).
//!
//! # Why no entrant barges in, and no waiter wakes in vain
//! A held core goes from hold to hold without being free in between, so an entrant that comes
//! meanwhile queues. Only these steps grant a node. *All nodes on a core's urgent list want the set
//! that is held now*: holders of that set put them there, and while the list is not empty, the set
//! passes on as a whole, or the nodes go into a reservation. So the leader's lock is enough to pass
//! on a set of any size; the other cores are not touched.
//!
//! What was true when the signal came is true after the wait, if the signaller signals one waiter
//! and then leaves or waits: an `if` before the wait is enough. There are three exceptions, in
//! which a waiter that comes back checks again. Of several that are signalled in one hold, each but
//! the first comes after another one. A signaller may go on to change the value, accept a call or
//! split its hold. And the signal of a dropped waiter goes on to the next waiter of the condition,
//! whose [data](Condition::front) or arguments may be others, as in `readers_writers_internal.rs`
//! below.
//!
//! # Why nothing is lost when a future is dropped
//! A dropped future takes the lock of the core where its node waits. It either finds the node
//! granted, or takes it out of its queue. If it was granted, the hold is its own, and it leaves. An
//! entrant gives up the cores that it has been given. A signalled waiter passes the signal on to
//! the next waiter of the condition, which takes its place. An acceptor that waits for a call holds
//! its set, and leaves. A dropped accepted call leaves, and tells the acceptor.
//!
//! # What is dropped when
//! Any future here may be dropped at any time; its documentation says what follows.
//!
//! | dropped | what follows |
//! | --- | --- |
//! | while queued | [`Enter`], [`Call`]: it leaves the queue |
//! | while granted, but not polled since | it leaves; a [`Wait`] signals the next waiter first; an accepted [`Call`] breaks off |
//! | half way through a bulk entry | [`Enter`], [`Call`]: it gives up what it has, and leaves the queue where it waits |
//! | while a hold grows | [`Extend`]: the same, and it leaves the hold; [`ExtendUntil`] gives the hold back at its limit |
//! | while it waits for a condition | [`Wait`], [`WaitUntil`]: it leaves the condition's queue |
//! | while signalled | [`Wait`], [`WaitUntil`]: the next waiter of the condition takes its place |
//! | while the waiter that it signalled is inside | [`SignalBlock`], [`SignalBlockWith`]: it does not come back |
//! | while it waits for a call | [`Accept`]: it leaves, and accepts no call |
//! | while the call that it accepted is inside | [`Accept`]: it does not come back |
//! | as the accepted callee | [`Call`]: it leaves, and its acceptor gets [`Accepted::Broken`] |
//!
//! # Order
//! The running holder comes first, then urgent nodes, then entrants. The waiters that one holder
//! signals between two hand-overs are a batch; they go on in the order of the signals. The latest
//! batch goes first: a new holder's batch goes before all that was urgent already. A task that
//! gives its hold away, by [`signal_block`](Condition::signal_block) or for an
//! [accepted](Held::accept) call, goes behind the batches of the task that receives the hold. It
//! goes before all waiters that it had signalled itself by then. So of two nested accepts the inner
//! one ends first. What it signals after it is back is another batch. An accept that waits for a
//! call keeps the monitors: no signalled waiter comes in meanwhile, and if the accept ends without
//! a call, the batch continues. A split or a join ends a batch too: what is signalled for the
//! parts, or for the joined set, goes first. A task that waits for the [`End`] is last among the
//! urgent, once the end is accepted. (C∀ and µC++ have one stack: there each signal is a batch, so
//! of two signals the later goes first.)
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
//! // The names of the tasks that have been inside, and a condition for each of two waiters.
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
//! Monitors depend on no runtime. Tasks of several runtimes share them, also of runtimes other than
//! evenkeel's. A plain thread [blocks on](crate::block_on) the futures that a task awaits, and
//! takes its turn as a task does. (A task must not block: it awaits.) A hold belongs to no thread,
//! so a thread may keep it between two such calls. When a runtime ends, its tasks are dropped,
//! wherever they wait, and by the rules above the others go on.
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
//! To limit an entry, put it into a [`timeout`](crate::time::timeout), or select between it and
//! another future. If the limit comes first, the entry is dropped, and the task is not inside. A
//! dropped wait would not be inside either, so it takes a limit of its own, any future
//! ([`Condition::wait_until`]). If the limit is ready first, the task enters anew, so it is inside
//! in either case. An accept has a limit too (the clause `timeout` of [`accept!`](crate::accept)).
//! It keeps its hold, and if a call has come in time, it waits for the end of that call, however
//! long that takes. Timers need a [runtime](crate::time#where-a-timer-belongs): a plain thread uses
//! [`Handle::block_on`](crate::Handle::block_on) to have one.
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
//! | `readers_writers_internal.rs` | readers and writers | one condition, with data that tell readers from writers |
//! | `dating_service.rs` | an exchange between partners | `signal_block`, conditions by an argument |
//! | `barrier.rs` | a barrier | an action of the last arrival, `signal_all` |
//! | `server.rs` | a server task | clauses that are open only at times, `else`, the `End` |
//! | `philosophers.rs` | dining philosophers | `lock_all` |
//!
//! # Words
//! A hold is its set and nothing else. For one monitor that is a word, which passes in registers
//! from future to future. The order of the cores is computed again wherever it is needed. That
//! costs less than to move it: the copy of a structure loads two words at a time that were stored
//! one by one, and these have to reach the cache in between.
//!
//! # Rejected
//! Locking each monitor that a signal concerns, as in C∀, where each waiter collects its monitors
//! one by one: four times the locked instructions for four monitors. Re-entrant locks: a second
//! `&mut` to the value would alias the first; pass the hold down. A `wait` that borrows the hold:
//! if it were dropped, it would leave a hold that holds nothing.

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
use crate::primitives::const_unless_model;
use std::cell::UnsafeCell;
use std::fmt;
use std::sync::Arc;

#[allow(unsafe_code, reason = "a monitor gives `&mut` from `&`")]
mod safety {
    use super::Monitor;

    // SAFETY: only the holder of the monitor reaches the value, and there is one at a time;
    // conditions are shared.
    unsafe impl<T: ?Sized + Send, C: Sync> Sync for Monitor<T, C> {}
}

/// A value that one task at a time is inside of, with conditions that tasks reach without being
/// inside: a struct of [`Condition`]s, or just one.
///
/// Entry and exit of an uncontended monitor cost one locked instruction each. A panic inside leaves
/// the monitor, with the value as it is then: there is no poisoning.
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
/// A monitor without conditions is a lock:
/// ```
/// use evenkeel::sync::monitor::Monitor;
///
/// let mut log = Monitor::new(vec!["made"]);
/// log.get_mut().push("not shared yet");
/// evenkeel::block_on(async {
///     let mut held = log.enter().await;
///     held.push("entered");
///     assert!(log.try_enter().is_none(), "a task is inside");
/// });
/// assert_eq!(log.into_inner(), ["made", "not shared yet", "entered"]);
/// ```
pub struct Monitor<T: ?Sized, C = ()> {
    core: Core,
    conditions: C,
    value: UnsafeCell<T>,
}

impl<T> Monitor<T> {
    const_unless_model! {
        /// Creates a monitor without conditions of its own.
        ///
        /// # Examples
        /// ```
        /// use evenkeel::sync::monitor::Monitor;
        /// static LOG: Monitor<Vec<String>> = Monitor::new(Vec::new());
        /// assert!(LOG.try_enter().unwrap().is_empty());
        /// ```
        #[track_caller]
        pub const fn new(value: T) -> Self {
            Self::with_conditions(value, ())
        }
    }
}

impl<T, C> Monitor<T, C> {
    const_unless_model! {
        /// Creates a monitor with these conditions.
        ///
        /// # Examples
        /// ```
        /// use evenkeel::sync::monitor::{Condition, Monitor};
        ///
        /// let emptied = Condition::<u32>::new();
        /// let stock = Monitor::with_conditions(3, emptied);
        /// let held = stock.try_enter().unwrap();
        /// assert_eq!((*held, stock.conditions().front(&held)), (3, None));
        /// ```
        #[track_caller]
        pub const fn with_conditions(value: T, conditions: C) -> Self {
            let core = Core::new(Object::monitor::<T>());
            Self { core, conditions, value: UnsafeCell::new(value) }
        }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized, C> Monitor<T, C> {
    /// Enters the monitor, behind all tasks that have waited longer.
    ///
    /// # Cancel safety
    /// A dropped future leaves the queue, or the monitor if it was already given it.
    ///
    /// # Examples
    /// See [`Monitor`].
    #[inline]
    #[track_caller]
    pub fn enter(&self) -> Enter<&Self> {
        Enter::new(self, Op::NONE)
    }

    /// Enters the monitor if it is free, without waiting.
    pub fn try_enter(&self) -> Option<Held<&Self>> {
        try_lock_all(self)
    }

    /// Enters as [`enter`](Self::enter) does, with a hold that owns an `Arc` of the monitor and
    /// borrows nothing. Such a hold can move into a task, for example a server that is inside
    /// before its first client calls. [`call`](call()), [`lock_all`] and [`try_lock_all`] take an
    /// `Arc` too.
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

    /// Enters as [`try_enter`](Self::try_enter) does, with a hold that owns an `Arc` of the
    /// monitor.
    ///
    /// # Examples
    /// The hold moves into a task, so the task is inside from the start:
    /// ```
    /// use evenkeel::sync::monitor::Monitor;
    /// use std::sync::Arc;
    ///
    /// let log = Arc::new(Monitor::new(Vec::new()));
    /// evenkeel::Runtime::new().unwrap().block_on(async {
    ///     let mut held = log.clone().try_enter_owned().expect("no other task is inside");
    ///     let first = evenkeel::spawn(async move { held.push("first") });
    ///     log.enter().await.push("second");
    ///     first.await.unwrap();
    ///     assert_eq!(*log.enter().await, ["first", "second"]);
    /// });
    /// ```
    pub fn try_enter_owned(self: Arc<Self>) -> Option<Held<Arc<Self>>> {
        try_lock_all(self)
    }

    /// Enters as a caller of `op`, which an acceptor can choose. The call ends when the hold is
    /// dropped. The acceptor does not learn if the task was cancelled inside; with
    /// [`call`](Self::call) it does.
    ///
    /// # Panics
    /// If the number of the entry is out of range.
    ///
    /// # Examples
    /// An acceptor lets in the caller that it needs, past one that came first:
    /// ```
    /// use evenkeel::accept;
    /// use evenkeel::sync::monitor::{Entry, Monitor};
    ///
    /// #[derive(Clone, Copy, Entry)]
    /// enum Op {
    ///     Put,
    ///     Take,
    /// }
    ///
    /// # evenkeel::block_on(async {
    /// let buffer = Monitor::new(None);
    /// let acceptor = async {
    ///     let mut held = buffer.enter().await;
    ///     accept!(held; Op::Put => {});
    ///     assert_eq!(*held, Some(7));
    /// };
    /// let take = async { buffer.enter_as(Op::Take).await.take() };
    /// let put = async { *buffer.enter_as(Op::Put).await = Some(7) };
    /// let ((), taken, ()) = futures::join!(acceptor, take, put);
    /// assert_eq!(taken, Some(7));
    /// # });
    /// ```
    #[inline]
    #[track_caller]
    pub fn enter_as<E: Entry>(&self, op: E) -> Enter<&Self> {
        Enter::new(self, accept::op(op))
    }

    /// Enters as a caller of `op`, which an acceptor can choose, and runs `body` inside.
    ///
    /// # Cancel safety
    /// See [`Call`].
    ///
    /// # Panics
    /// If the number of the entry is out of range.
    ///
    /// # Examples
    /// The acceptor learns whether a call has ended or was cancelled inside:
    /// ```
    /// use evenkeel::accept;
    /// use evenkeel::sync::monitor::{Entry, Held, Monitor};
    /// use evenkeel::time::{Duration, timeout};
    ///
    /// #[derive(Clone, Copy, Entry)]
    /// enum Op {
    ///     Add,
    /// }
    ///
    /// let sum = Monitor::new(0_u32);
    /// let acceptor = async {
    ///     let mut held = sum.enter().await;
    ///     let first = accept!(held; Op::Add => { "ended" }; broken => { "broken off" });
    ///     let second = accept!(held; Op::Add => { "ended" }; broken => { "broken off" });
    ///     [first, second].map(Option::unwrap)
    /// };
    /// let caller = async {
    ///     sum.call(Op::Add, async |mut held| *held += 2).await;
    ///     let never_ends = async |_held: Held<_>| std::future::pending::<()>().await;
    ///     let call = sum.call(Op::Add, never_ends);
    ///     assert!(timeout(Duration::from_millis(2), call).await.is_err());
    /// };
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let (outcomes, ()) = runtime.block_on(async { futures::join!(acceptor, caller) });
    /// assert_eq!(outcomes, ["ended", "broken off"]);
    /// assert_eq!(sum.into_inner(), 2);
    /// ```
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

    /// Waits for the end of the object: enters once its acceptor has accepted the [`End`] and has
    /// left. Without an acceptor it enters as any other entrant does.
    ///
    /// # Examples
    /// A server accepts calls until its owner waits for the end:
    /// ```
    /// use evenkeel::accept;
    /// use evenkeel::sync::monitor::{End, Entry, Monitor};
    ///
    /// #[derive(Clone, Copy, Entry)]
    /// enum Op {
    ///     Count,
    /// }
    ///
    /// # evenkeel::block_on(async {
    /// let counter = Monitor::new(0_u32);
    /// let server = async {
    ///     let mut held = counter.enter().await;
    ///     while accept!(held; Op::Count => { true }; End => { false }).unwrap() {}
    ///     *held *= 10;
    /// };
    /// let owner = async {
    ///     counter.call(Op::Count, async |mut held| *held += 1).await;
    ///     counter.call(Op::Count, async |mut held| *held += 1).await;
    ///     *counter.end().await
    /// };
    /// let ((), count) = futures::join!(server, owner);
    /// assert_eq!(count, 20);
    /// # });
    /// ```
    #[track_caller]
    pub fn end(&self) -> Enter<&Self> {
        self.enter_as(End)
    }

    /// Returns the conditions.
    #[inline(always)]
    pub fn conditions(&self) -> &C {
        &self.conditions
    }

    /// Returns the value, without entering. The exclusive borrow shows that no task is inside.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// Enters all monitors of a set, one after the other by address, whatever their order in the set.
/// So tasks that use it cannot wait for each other in a circle.
///
/// # Panics
/// If the set is empty, or names a monitor twice.
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
/// A set contains neither locks of other kinds nor other sets:
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

/// Enters all monitors of a set if all of them are free, without waiting.
///
/// # Panics
/// As [`lock_all`].
///
/// # Examples
/// It enters all of them or none:
/// ```
/// use evenkeel::sync::monitor::{Monitor, try_lock_all};
///
/// let (desk, printer) = (Monitor::new("desk"), Monitor::new("printer"));
/// let prints = printer.try_enter().unwrap();
/// assert!(try_lock_all((&desk, &printer)).is_none());
/// assert!(desk.try_enter().is_some());
/// drop(prints);
/// let held = try_lock_all((&desk, &printer)).unwrap();
/// assert_eq!(held.values(), (&"desk", &"printer"));
/// ```
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
