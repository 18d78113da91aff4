//! The hooks by which actors report to the graph: which tasks wait for a reply, and which for room
//! in a mailbox.
//!
//! # Holders of a reply
//! The holder is the actor that gets the request, from before the request is put into its mailbox.
//! The graph does not see a value move. So a holder may have put the request into any message that
//! it has sent since, or into any task that it has spawned since. The actors and tasks that have
//! got one count as holders too, and so do those that they have passed something to. All of these
//! have to be stuck before the asker is: to count one too many hides a deadlock, and invents none.
//!
//! # Holder of the room
//! The holder is the actor. While a sender has been called and has not come, its place may become
//! another sender's: then there is no known holder.
//!
//! # References
//! A task with a public part has references that are no wakers. They are counted here after they
//! have been counted in the task, and until before the task's count loses them. So with the graph
//! locked there are at least as many as are counted, and what remains of the task's count is an
//! upper bound of its wakers.
//!
//! A supervised actor keeps a waker of its task, for orders and kills. A [`Kept`] beside it counts
//! it as such a reference: an order ends no wait of the actor's code, and kills are not foreseen.
//! While the actor itself waits for orders there is no [`Kept`].

use super::extra::{Extra, IS_ON};
use super::graph::{self, Key, Target};
use super::tasks::current;
use super::waiting::Waiting;
use crate::raw_task::id::Id;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of the next wait.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Notes that there are more references to a task with a public part.
#[inline]
pub(crate) fn public_made(task: Id, amount: usize) {
    if IS_ON {
        *graph::lock().publics.entry(task).or_default() += amount;
    }
}

/// Notes that there is about to be one reference less.
#[inline]
pub(crate) fn public_gone(task: Id) {
    if !IS_ON {
        return;
    }
    let mut graph = graph::lock();
    if graph::take_one(&mut graph.publics, &task) {
        graph.names.remove(&task);
    }
}

/// The mark of a waker that an actor keeps of its own task, and that ends no wait. It is made after
/// that waker, and dropped before it.
#[derive(Debug)]
pub struct Kept {
    _counted: Extra<Counted>,
}

#[derive(Debug)]
struct Counted(Id);

impl Kept {
    /// Notes that the actor keeps a waker of this task.
    #[inline]
    pub fn of(task: impl FnOnce() -> Id) -> Self {
        let counted = Extra::of(|| {
            let id = task();
            public_made(id, 1);
            Counted(id)
        });
        Self { _counted: counted }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        public_gone(self.0);
    }
}

/// Gives an actor's task a name for reports, in place of the one before.
#[inline]
pub fn name(task: impl FnOnce() -> Id, name: &str) {
    if IS_ON {
        graph::lock().names.insert(task(), name.to_owned());
    }
}

/// Notes that the caller is about to put a message into the mailbox of `actor`: each request that
/// the caller holds may go with it.
#[inline]
pub fn sends(actor: impl FnOnce() -> Id) {
    if graph::has_replies()
        && let Some(from) = current()
    {
        graph::lock().pass(from, actor());
    }
}

/// An asker's wait for a reply, from before the request is sent.
#[derive(Debug)]
pub struct Reply(Extra<Asked>);

/// The number of the wait. The next number is that of the wait's limit.
#[derive(Debug)]
struct Asked(u64);

impl Reply {
    /// The wait for a reply of this actor.
    #[inline]
    pub fn of(actor: impl FnOnce() -> Id) -> Self {
        Self(Extra::of(|| {
            let number = NEXT.fetch_add(2, Ordering::Relaxed);
            graph::lock().ask(number, actor());
            Asked(number)
        }))
    }

    /// Notes that `waiter`, to which the reply goes, waits.
    #[inline]
    pub(crate) fn wait(&self, waiter: impl FnOnce() -> Option<Waiting>) {
        if let Some(&Asked(number)) = self.0.get() {
            wait(number, waiter(), Target::Reply(number));
        }
    }

    /// Notes that `waiter` is woken at the limit that all waits have. A deadlock that this limit
    /// will end is reported all the same.
    #[inline]
    pub(crate) fn wait_for_limit(&self, waiter: impl FnOnce() -> Option<Waiting>) {
        if let Some(&Asked(number)) = self.0.get() {
            wait(number + 1, waiter(), Target::Limit(number));
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        graph::change(|graph| {
            graph.answer(self.0);
            [self.0, self.0 + 1].map(|number| graph.remove(Key::Wait(number)))
        });
    }
}

/// A sender's wait for room in a mailbox.
#[derive(Debug)]
pub struct Room(Extra<Sent>);

/// The number of the wait; zero if it has not begun.
#[derive(Debug)]
struct Sent(u64);

impl Room {
    /// Makes a wait that has not begun.
    #[allow(clippy::new_without_default, reason = "a wait is begun on purpose")]
    #[must_use]
    #[inline(always)]
    pub fn new() -> Self {
        Self(Extra::new(Sent(0)))
    }

    /// Notes that `waiter`, a sender in the line, waits for room in the mailbox of `actor` at this
    /// address.
    #[inline]
    pub(crate) fn wait(
        &mut self,
        actor: impl FnOnce() -> Id,
        mailbox: *const (),
        waiter: impl FnOnce() -> Option<Waiting>,
    ) {
        let Some(Sent(number)) = self.0.get_mut() else { return };
        if *number == 0 {
            *number = NEXT.fetch_add(1, Ordering::Relaxed);
        }
        let target = Target::Room { actor: actor(), mailbox: mailbox.addr() };
        wait(*number, waiter(), target);
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        if self.0 != 0 {
            graph::change(|graph| graph.remove(Key::Wait(self.0)));
        }
    }
}

fn wait(number: u64, waiter: Option<Waiting>, target: Target) {
    let key = Key::Wait(number);
    graph::change(|graph| match waiter {
        Some(waiter) => graph.insert(key, waiter, target, None, false),
        None => graph.remove(key),
    });
}

/// Notes that `amount` senders that wait for room in the mailbox at this address are about to be
/// woken.
#[inline]
pub fn called(mailbox: *const (), amount: usize) {
    if IS_ON {
        *graph::lock().called.entry(mailbox.addr()).or_default() += amount;
    }
}

/// Notes that one of these senders has come, or will not.
#[inline]
pub fn came(mailbox: *const ()) {
    if IS_ON {
        graph::take_one(&mut graph::lock().called, &mailbox.addr());
    }
}

/// Notes that the mailbox at this address is closed.
#[inline]
pub fn closed(mailbox: *const ()) {
    if IS_ON {
        graph::lock().called.remove(&mailbox.addr());
    }
}
