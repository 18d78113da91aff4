//! Finds deadlocks: tasks and threads that wait for each other's monitors, ends and permits.
//!
//! In builds with debug assertions, and in others with the feature `detect`, the library keeps a
//! wait-for graph of tasks and threads. As soon as some of them wait for each other in a circle, it
//! reports the deadlock once, to [`Builder::on_deadlock`](crate::Builder::on_deadlock) or the
//! standard error. The report names the waiters, where they were spawned, what each waits for and
//! where, and which of them holds it. The library does nothing else. [`deadlocks`] returns the
//! deadlocks that exist at the moment. Without debug assertions and the feature there is no graph
//! and no report, and neither costs anything.
//!
//! The module is made for finding mistakes, not for speed: the graph is under one lock for the
//! whole process, which each entry and exit of a monitor takes.
//!
//! # Examples
//! ```
//! use evenkeel::sync::monitor::Monitor;
//! use std::sync::{Arc, mpsc};
//!
//! let (sender, receiver) = mpsc::channel();
//! let hook = move |deadlock: &evenkeel::detect::Deadlock| sender.send(deadlock.clone()).unwrap();
//! let runtime = evenkeel::Builder::new().workers(2).on_deadlock(hook).build().unwrap();
//! let forks = Arc::new([Monitor::new("left"), Monitor::new("right")]);
//! let philosopher = |first: usize| {
//!     let forks = forks.clone();
//!     async move {
//!         let _one = forks[first].enter().await;
//!         while forks[1 - first].try_enter().is_some() {
//!             evenkeel::yield_now().await;
//!         }
//!         let _other = forks[1 - first].enter().await;
//!     }
//! };
//! let tasks = [runtime.spawn(philosopher(0)), runtime.spawn(philosopher(1))];
//! # if evenkeel::detect::is_on() {
//! let deadlock = receiver.recv().unwrap();
//! assert_eq!(deadlock.links.len(), 2);
//! assert!(deadlock.to_string().contains("to enter the monitor of &str"));
//! # }
//! runtime.block_on(async {
//!     tasks.iter().for_each(|task| task.abort());
//!     for task in tasks {
//!         let _ = task.await;
//!     }
//! });
//! assert!(evenkeel::detect::deadlocks().is_empty());
//! ```
//!
//! Without a hook, two transfers between the same two accounts print to the standard error:
//! ```text
//! evenkeel: deadlock: 2 tasks or threads wait for each other, and none can ever go on
//!   task 2 (spawned at src/main.rs:20:14) waits at src/main.rs:11:20 to enter the monitor of bank::Account (made at src/main.rs:19:22), held by task 3 "back"
//!   task 3 "back" (spawned at src/main.rs:21:57) waits at src/main.rs:11:20 to enter the monitor of bank::Account (made at src/main.rs:18:22), held by task 2
//! ```
//!
//! # What is reported
//! What can be proved, as long as each hold is left by its taker or by a task that the taker has
//! spawned since (see [below](#limits)). A *waiter* is a task, or a thread inside `block_on`. It is
//! *blocked* if it sleeps and this module knows where all of its wakers are: in the queue of a
//! monitor or of a semaphore, or with a task that it joins. So a wait with a timeout, one beside a
//! channel in a `select!`, or one beside a [`park`](crate::task::park) does not make a waiter
//! blocked: something else may wake it. Nor is a task blocked if other code has a
//! [`Task`](crate::task::Task) of it. A task that waits for several of these things at once is
//! blocked as long as all of its waits are. A blocked waiter is *stuck* if, for each of its waits,
//! stuck waiters hold all of what it waits for. A *knot* is a set of stuck waiters in which each
//! leads to each other. Knots are reported; a waiter that merely waits behind a knot is not.
//!
//! * A **monitor** is held by the task that has entered it, or by a task whose future has been
//!   granted entry and has not been polled since. A task that waits for a condition has left its
//!   monitors, and any task may signal it: it is not stuck before it has been signalled. Nor is a
//!   task that accepts.
//! * The **end** of a task is held by that task.
//! * The **permits** of a semaphore have no owners: any task may release one and so free a waiter.
//!   They count as held by their takers only if [the program
//!   promises](crate::sync::Semaphore::returned_by_takers) that takers give them back, and only
//!   until another task gives one back. That a taker has given permits back before promises
//!   nothing.
//! * A **reply** of an actor is held by the actor that was asked, and by all to which it may have
//!   passed the request on: see [below](#limits). The default limit of every wait for a reply is no
//!   way out of a deadlock; a limit that the program sets is.
//! * The **room** in an actor's mailbox is held by the actor.
//!
//! # Limits
//! A hold may have been given to a task that its taker has spawned since, or to a
//! [fork](crate::fork_join::future) of it: it counts as held by all of these, each of which has to
//! be stuck. A hold that was given away otherwise, through a channel, counts as its taker's until
//! it is dropped. Once a task that is none of these leaves a monitor, that monitor no longer
//! counts. Until then the module may report, for such a program, a deadlock that another task could
//! end.
//!
//! A request to an actor may have been passed on with any message to an actor, or to any task, that
//! its holder has sent or spawned since. All of these, and those that they have passed something
//! to, count as holding it, and each has to be stuck. A request that an actor gives away otherwise,
//! such as through a channel, counts as the actor's until it is answered or dropped. For a program
//! that does so, the module may report a deadlock that another task could end.
//!
//! Holders of objects are unknown, because a [`HeldGuard`](crate::object::HeldGuard) may go to any
//! task: a wait for an object is part of no deadlock.
//!
//! A task whose waker is held elsewhere may be woken, so it is looked at again when a worker goes
//! to sleep. If the waker is dropped after all workers have gone to sleep, a deadlock is reported
//! at the next sleep, and in a process without workers not at all; [`deadlocks`] finds it at once.
//!
//! Aborts are not foreseen, nor are kills and restarts of actors. A wait inside a
//! `FuturesUnordered`, or inside another future that gives its children wakers of their own, is
//! unknown; so are locks and channels of other crates.
//!
//! # Protocol
//! *Roles.* *Waiters* and *holders* change the graph. A *searcher* searches it: a waiter that has
//! just fallen asleep, or a worker that goes to sleep.
//!
//! *Steps.* A wait enters the graph after its node has entered its queue, with a counted reference
//! to its task; it leaves before it is granted or given up. A hold enters after the monitor has
//! been entered, or with the grant, and leaves before the monitor is left. When the poll of a
//! waiter with waits has ended, the waiter searches: it follows waits to holders and their waits,
//! and stops at the first one that is not blocked. All of this is under the graph's lock. Locks of
//! cores and queues may be held when it is taken, and none is taken under it; callers' code runs
//! outside.
//!
//! *Why each report is true.* While a searcher has the lock, no wait and no hold enters or leaves
//! the graph. So every hold in the graph is a hold. And no known waker of a waiter in the graph is
//! used, because its wait would leave first. A task's state is one word, with the number of its
//! wakers. If the task is idle and the number is that of its known wakers, there is no other waker,
//! and only the task itself could make one. So it stays idle until the search is over: the waiters
//! that are found are all stuck at the same moment, and a stuck set stays stuck. A thread's wakers
//! are counted before the searcher asks whether the thread has been woken. A wake stays visible
//! until the thread has said, under the lock, that it is awake.
//!
//! *Why each provable deadlock is reported.* The last waiter to fall asleep finds the others
//! asleep. An unknown waker may be about to be dropped by the thread that has just used it. So
//! workers that go to sleep search again from waiters that were stuck but for such a waker: each
//! time from 32 of them, in turn. Where more wait so, a deadlock may be found some sleeps later.
//!
//! # Rejected
//! Edges from tasks by their polls, without regard to their wakers: a task that waits for a monitor
//! or a timeout is in no deadlock. A thread that searches periodically: the report would come late
//! and without a caller. The rule of Go and µC++, that all are asleep: one timer hides every
//! deadlock.
//!
//! # Source
//! Knots in general wait-for graphs: Holt, "Some deadlock properties of computer systems", 1972.

pub(crate) mod actors;
mod extra;
mod graph;
mod monitors;
mod object;
mod permits;
mod report;
mod search;
mod tasks;
mod threads;
mod waiting;

pub(crate) use object::{Awaited, Object, Site, gone, granted, renewed, signalled};
pub(crate) use report::DeadlockHook;
pub use report::{Deadlock, Link, Wait, Waiter, What};
pub(crate) use search::look_again;
pub(crate) use tasks::{
    Parking, Polling, completed, ended, forked, in_closure, joined, joins, spawned,
};
pub(crate) use threads::Blocking;
pub(crate) use waiting::{Alarm, Waiting};

/// What the structures of the others have of this module.
type Fields = (Site, Object, Parking, Polling, Blocking, actors::Kept, actors::Reply, actors::Room);

// Without a graph nothing is left of them.
const _: () =
    assert!(extra::IS_ON || size_of::<Fields>() == 0 && !std::mem::needs_drop::<Fields>());

/// Returns whether this build detects deadlocks: it has debug assertions or the feature `detect`.
#[must_use]
pub fn is_on() -> bool {
    extra::IS_ON
}

/// Returns the deadlocks that exist in the process at the moment, reported or not; none in a build
/// that does not detect them. [The module](self) has an example.
#[must_use]
pub fn deadlocks() -> Vec<Deadlock> {
    search::deadlocks()
}
