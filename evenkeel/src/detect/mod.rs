//! Deadlocks: tasks and threads that wait for each other's monitors, ends and permits.
//!
//! In builds with debug assertions, and in others with the feature `detect`, the library keeps a
//! graph of who waits for whom. As soon as some of them wait for each other in a circle, it tells
//! [`Builder::on_deadlock`](crate::Builder::on_deadlock), or the standard error, once: who they
//! are, where they were spawned, what they wait for and where, and who has it. It does nothing
//! else. [`deadlocks`] gives those that there are now. Without debug assertions and the feature
//! nothing is kept and nothing is told, and neither costs anything.
//!
//! It is made for finding mistakes, not for speed: what is kept is under one lock for the whole
//! process, which each entry and exit of a monitor takes.
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
//! tasks[0].abort();
//! runtime.block_on(async {
//!     for task in tasks {
//!         let _ = task.await;
//!     }
//! });
//! assert!(evenkeel::detect::deadlocks().is_empty());
//! ```
//!
//! Without a hook the standard error would get, of two transfers between the same two accounts:
//! ```text
//! evenkeel: deadlock: 2 tasks or threads wait for each other, and none can ever go on
//!   task 2 (spawned at src/main.rs:20:14) waits at src/main.rs:11:20 to enter the monitor of bank::Account (made at src/main.rs:19:22), held by task 3 "back"
//!   task 3 "back" (spawned at src/main.rs:21:57) waits at src/main.rs:11:20 to enter the monitor of bank::Account (made at src/main.rs:18:22), held by task 2
//! ```
//!
//! # What is told
//! What can be proved, as long as a hold is left by whoever has taken it or by a task that this one
//! has spawned since (see [below](#what-is-not-told)). A *waiter*, a task or a thread inside
//! `block_on`, is *blocked* if it sleeps and all of its wakers are where this module knows of them:
//! in the queue of a monitor or of a semaphore, or with a task that it joins. So a wait with a
//! timeout, one beside a channel in a `select!`, or a task that others have a
//! [`Task`](crate::task::Task) of is not taken for blocked: something else may wake it. Nor is one
//! beside a [`park`](crate::task::park). A task that waits for several of these things at once is
//! blocked as long as all of them are. A blocked waiter is *stuck* if each of its waits is for
//! something that stuck waiters have, all of it. A *knot* is a set of stuck waiters each of whom
//! leads to each; that is what is told. Whoever waits behind one is not told of.
//!
//! * A **monitor** is had by the task that has come inside, or whose future has been let in and is
//!   not polled. Who waits for a condition has left its monitors, and anybody may signal it: it is
//!   not stuck before it has been signalled. Nor is who accepts.
//! * The **end** of a task is had by the task.
//! * The **permits** of a semaphore have no owners: any task may free one that waits. They count as
//!   had by those who have taken them only if
//!   [it has been promised](crate::sync::Semaphore::returned_by_takers) that takers give them back,
//!   and as long as no other has given one back. That a taker has done so before promises nothing.
//!
//! * A **reply** of an actor is had by the actor that was asked, and by all to whom it may have
//!   passed the request on: see [below](#what-is-not-told). The limit that every wait for one has
//!   is no way out of a deadlock; one that the program has set for it is.
//! * The **room** in an actor's mailbox is had by the actor.
//!
//! # What is not told
//! A hold may have been given to a task that its taker has spawned since: it counts as had by all
//! of these, each of whom has to be stuck. One that has been given away otherwise, through a
//! channel, counts as its taker's until it is dropped; a monitor that somebody has left who is none
//! of these is out of account from then on. Before that, such a program may be told of a deadlock
//! that another one could end.
//!
//! A request to an actor may have been passed on with any message to an actor, or any task, that
//! its holder has sent or spawned since: all of these, and those that they have passed something
//! to, count as having it, and each has to be stuck. One that an actor has given away otherwise, as
//! through a channel, counts as the actor's until it is answered or dropped: a program that does so
//! may be told of a deadlock that another one could end.
//!
//! Aborts are not foreseen. What waits inside a `FuturesUnordered`, or any other that gives its
//! children wakers of their own, is not known; nor are locks and channels of others.
//!
//! # Protocol
//! *Roles.* Whoever waits or holds changes the graph; whoever has just fallen asleep looks.
//!
//! *Steps.* A wait enters the graph after its node has entered its queue, with a counted hold on
//! its task; it goes before it is granted or given up. A hold enters after the monitor has been
//! entered, or with the grant, and goes before the monitor is left. A poll that has ended, of a
//! waiter with waits, looks: it follows waits to holders and theirs, and stops at the first one
//! that is not blocked. All of this is under the graph's lock. Locks of cores and queues may be
//! held when it is taken, and none is taken under it; callers' code runs outside.
//!
//! *Why what is told is so.* While somebody looks, nobody comes into or out of the graph. So every
//! hold in it is one; and no known waker of a waiter in it is used, because its wait would go
//! before. A task's state is one word, with the number of its wakers: idle, and as many as are
//! known, means that there is no other, and whatever could make one is the task itself. So it stays
//! idle until the look is over: those that are found are all stuck at once, and a set that is stuck
//! stays so. A thread's wakers are counted before it is asked whether it has been woken, and a wake
//! is told apart until the thread has said, under the lock, that it is awake.
//!
//! *Why what can be proved is told.* The last one that falls asleep finds the others so. A waker
//! that nobody knows may be about to be dropped by whoever has just used it: who is stuck but for
//! that is looked at again by workers that go to sleep.
//!
//! # Rejected
//! Edges by the tasks that poll, without regard to their wakers: a task that waits for a monitor or
//! a timeout is in no deadlock. A thread that looks now and then: the report would come late and
//! without a caller. Go's and µC++'s rule, that all are asleep: one timer hides every deadlock.
//!
//! # Source
//! Knots in general wait-for graphs: Holt, "Some deadlock properties of computer systems", 1972.

#[cfg_attr(
    all(any(debug_assertions, feature = "detect"), not(any(loom, shuttle))),
    path = "actors_on.rs"
)]
#[cfg_attr(
    not(all(any(debug_assertions, feature = "detect"), not(any(loom, shuttle)))),
    path = "actors_off.rs"
)]
pub(crate) mod actors;
#[cfg(all(any(debug_assertions, feature = "detect"), not(any(loom, shuttle))))]
mod graph;
#[cfg_attr(all(any(debug_assertions, feature = "detect"), not(any(loom, shuttle))), path = "on.rs")]
#[cfg_attr(
    not(all(any(debug_assertions, feature = "detect"), not(any(loom, shuttle)))),
    path = "off.rs"
)]
mod hooks;
mod report;
#[cfg(all(any(debug_assertions, feature = "detect"), not(any(loom, shuttle))))]
mod waiting;

pub(crate) use hooks::{
    Alarm, Blocking, Object, Parking, Polling, Site, Waiting, completed, gone, granted, in_closure,
    joined, joins, look_again, renewed, signalled, spawned,
};
pub(crate) use report::DeadlockHook;
pub use report::{Deadlock, Link, Wait, Waiter, What};

/// Whether deadlocks are looked for: in builds with debug assertions or the feature `detect`.
#[must_use]
pub fn is_on() -> bool {
    hooks::IS_ON
}

/// The deadlocks that there are now in the process, whether or not they have been told of; none
/// where they are not looked for.
#[must_use]
pub fn deadlocks() -> Vec<Deadlock> {
    hooks::deadlocks()
}
