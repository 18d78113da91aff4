//! The wait-for graph: waiters, what they wait for, and its holders. [`stuck`] finds the waiters
//! that cannot go on, [`knots`] the deadlocks among them.

mod knots;
mod stuck;

use super::extra::IS_ON;
use super::report::Listener;
use super::waiting::Waiting;
use crate::raw_task::id::Id;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard};

/// The graph of the whole process: a monitor may be shared by runtimes, and a thread belongs to
/// none.
static GRAPH: LazyLock<Mutex<Graph>> = LazyLock::new(Mutex::default);

/// The number of waits, so that a task that waits for nothing takes no lock.
static WAITS: AtomicUsize = AtomicUsize::new(0);

/// The number of waiters to search again from.
static SUSPECTS: AtomicUsize = AtomicUsize::new(0);

/// The number of held monitors, and the number of tasks that may have been given a hold.
static HOLDS: AtomicUsize = AtomicUsize::new(0);
static CARRIERS: AtomicUsize = AtomicUsize::new(0);

/// The number of replies that are waited for.
static REPLIES: AtomicUsize = AtomicUsize::new(0);

pub(super) fn lock() -> MutexGuard<'static, Graph> {
    GRAPH.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Whether a count is not zero. Without a graph it is.
#[inline(always)]
fn any(count: &AtomicUsize) -> bool {
    IS_ON && count.load(Ordering::Relaxed) > 0
}

#[inline]
pub(super) fn has_waits() -> bool {
    any(&WAITS)
}

#[inline]
pub(super) fn has_holds() -> bool {
    any(&HOLDS)
}

#[inline]
pub(super) fn has_carriers() -> bool {
    any(&CARRIERS)
}

#[inline]
pub(super) fn has_replies() -> bool {
    any(&REPLIES)
}

#[inline]
pub(super) fn has_suspects() -> bool {
    any(&SUSPECTS)
}

/// Changes the graph, and drops the result without the lock: it may be the last reference to a
/// task.
pub(super) fn change<R>(change: impl FnOnce(&mut Graph) -> R) {
    let _result = change(&mut lock());
}

/// Removes a wait, if there is one.
#[inline]
pub(super) fn forget(key: Key) {
    if has_waits() {
        change(|graph| graph.remove(key));
    }
}

/// Takes one from the count of `key`, if it has one. Returns whether that was the last.
pub(super) fn take_one<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) -> bool {
    let Some(count) = counts.get_mut(key) else { return false };
    *count -= 1;
    let is_last = *count == 0;
    if is_last {
        counts.remove(key);
    }
    is_last
}

/// What identifies a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// The address of the wait's node, which does not move while it waits.
    Node(usize),
    /// The task that is joined: it has one joiner.
    Join(Id),
    /// The number of an actor's wait.
    Wait(u64),
}

/// What a waiter can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Monitor {
        object: u64,
        type_name: &'static str,
        made_at: &'static Location<'static>,
    },
    Semaphore {
        object: u64,
        made_at: &'static Location<'static>,
    },
    Task(Id),
    /// The number of the wait for the reply.
    Reply(u64),
    /// The limit that the wait for this reply has because all have one: no way out of a deadlock.
    Limit(u64),
    Room {
        actor: Id,
        mailbox: usize,
    },
}

/// One wait.
pub(super) struct Edge {
    pub(super) waiter: Waiting,
    pub(super) target: Target,
    pub(super) site: Option<&'static Location<'static>>,
    /// Whether any task may end the wait: it waits for a signal that has not come.
    pub(super) open: bool,
    /// Whether the wait has been reported.
    reported: bool,
}

/// What is known of a semaphore with takers that give permits back.
#[derive(Default)]
pub(super) struct Permits {
    /// The taker of each taken permit.
    pub(super) owners: Vec<Id>,
    pub(super) total: usize,
}

#[derive(Default)]
pub(super) struct Graph {
    edges: HashMap<Key, Edge>,
    waits: HashMap<Id, Vec<Key>>,
    /// Monitors and their holders: the task that entered, and the tasks that it has spawned since,
    /// which may have been given the hold.
    holds: HashMap<u64, Vec<Id>>,
    /// Monitors with holders that are unknown for ever.
    pub(super) loose: HashSet<u64>,
    /// Those spawned tasks, and the monitors.
    carriers: HashMap<Id, Vec<u64>>,
    pub(super) permits: HashMap<u64, Permits>,
    /// Tasks that are parked, and in how many futures: a handle of the task is enough to unpark it.
    parked: HashMap<Id, usize>,
    /// Replies that are waited for, and their possible holders: the actor that was asked first.
    replies: HashMap<u64, Vec<Id>>,
    /// The replies that a task or an actor may hold.
    had: HashMap<Id, Vec<u64>>,
    /// Mailboxes, by their addresses, with senders that have been called and have not come.
    pub(super) called: HashMap<usize, usize>,
    /// References to tasks that are no wakers.
    pub(super) publics: HashMap<Id, usize>,
    /// Names for reports.
    pub(super) names: HashMap<Id, String>,
    /// Waiters that would be stuck but for an unknown waker, which may be about to be dropped, and
    /// to what their deadlocks are reported: another runtime's worker may find them.
    suspects: BTreeMap<Id, Listener>,
    /// The suspect that was examined last: the next ones are those behind it.
    examined: Option<Id>,
}

impl Graph {
    /// Adds a wait, in place of the one with the same key, for [`change`].
    pub(super) fn insert(
        &mut self,
        key: Key,
        waiter: Waiting,
        target: Target,
        site: Option<&'static Location<'static>>,
        open: bool,
    ) -> Option<Edge> {
        let before = self.detach(key);
        // A waiter that was polled for nothing, and waits as before, is not reported again.
        let reported = before.as_ref().is_some_and(|before| {
            before.reported && before.waiter.id() == waiter.id() && before.target == target
        });
        self.waits.entry(waiter.id()).or_default().push(key);
        self.edges.insert(key, Edge { waiter, target, site, open, reported });
        WAITS.store(self.edges.len(), Ordering::Relaxed);
        if let Some(before) = &before {
            self.release(before.waiter.id());
        }
        before
    }

    /// Removes a wait, for [`change`]. A waiter that waits for nothing else is no suspect.
    pub(super) fn remove(&mut self, key: Key) -> Option<Edge> {
        let edge = self.detach(key)?;
        self.release(edge.waiter.id());
        Some(edge)
    }

    /// Acquits a waiter that waits for nothing.
    fn release(&mut self, id: Id) {
        if !self.waits.contains_key(&id) {
            self.acquit(id);
        }
    }

    /// Takes a wait out that may come again.
    fn detach(&mut self, key: Key) -> Option<Edge> {
        let edge = self.edges.remove(&key)?;
        WAITS.store(self.edges.len(), Ordering::Relaxed);
        let id = edge.waiter.id();
        if let Some(keys) = self.waits.get_mut(&id) {
            keys.retain(|other| *other != key);
            if keys.is_empty() {
                self.waits.remove(&id);
            }
        }
        Some(edge)
    }

    /// Replaces the waiter of a wait, or removes the wait if the new waiter is unknown, for
    /// [`change`].
    pub(super) fn renew(&mut self, key: Key, waiter: Option<Waiting>) -> Option<Edge> {
        let Some(waiter) = waiter else { return self.remove(key) };
        let mut before = self.detach(key)?;
        before.reported &= before.waiter.id() == waiter.id();
        let (target, site, open) = (before.target, before.site, before.open);
        self.insert(key, waiter, target, site, open);
        self.edges.get_mut(&key).expect("it has just been put there").reported = before.reported;
        self.release(before.waiter.id());
        Some(before)
    }

    pub(super) fn edge(&mut self, key: Key) -> Option<&mut Edge> {
        self.edges.get_mut(&key)
    }

    /// Notes that `id` is inside a monitor.
    pub(super) fn hold(&mut self, monitor: u64, id: Id) {
        self.holds.insert(monitor, vec![id]);
        HOLDS.store(self.holds.len(), Ordering::Relaxed);
    }

    /// Notes that the monitor is free, and returns its possible holders.
    pub(super) fn unhold(&mut self, monitor: u64) -> Option<Vec<Id>> {
        let holders = self.holds.remove(&monitor);
        HOLDS.store(self.holds.len(), Ordering::Relaxed);
        holders
    }

    /// Notes that `parent` has spawned a task, which may have been given what `parent` holds.
    pub(super) fn spawn(&mut self, parent: Id, child: Id) {
        let mut got = Vec::new();
        for (monitor, holders) in &mut self.holds {
            if holders.contains(&parent) {
                holders.push(child);
                got.push(*monitor);
            }
        }
        if !got.is_empty() {
            self.carriers.insert(child, got);
            CARRIERS.store(self.carriers.len(), Ordering::Relaxed);
        }
    }

    /// Notes that such a task is complete.
    pub(super) fn complete(&mut self, child: Id) {
        for monitor in self.carriers.remove(&child).unwrap_or_default() {
            if let Some(holders) = self.holds.get_mut(&monitor) {
                holders.retain(|holder| *holder != child);
            }
        }
        CARRIERS.store(self.carriers.len(), Ordering::Relaxed);
    }

    /// Notes that an actor has been asked.
    pub(super) fn ask(&mut self, reply: u64, actor: Id) {
        self.replies.insert(reply, vec![actor]);
        self.had.entry(actor).or_default().push(reply);
        REPLIES.store(self.replies.len(), Ordering::Relaxed);
    }

    /// Notes that a reply is not waited for any more.
    pub(super) fn answer(&mut self, reply: u64) {
        for id in self.replies.remove(&reply).unwrap_or_default() {
            if let Some(had) = self.had.get_mut(&id) {
                had.retain(|other| *other != reply);
                if had.is_empty() {
                    self.had.remove(&id);
                }
            }
        }
        REPLIES.store(self.replies.len(), Ordering::Relaxed);
    }

    /// Notes that `from` may have passed on to `to` what it holds.
    pub(super) fn pass(&mut self, from: Id, to: Id) {
        for reply in self.had.get(&from).cloned().unwrap_or_default() {
            if let Some(holders) = self.replies.get_mut(&reply)
                && !holders.contains(&to)
            {
                holders.push(to);
                self.had.entry(to).or_default().push(reply);
            }
        }
    }

    /// Notes that `id` is parked.
    pub(super) fn park(&mut self, id: Id) {
        *self.parked.entry(id).or_default() += 1;
    }

    /// Notes that `id` is not parked any more.
    pub(super) fn unpark(&mut self, id: Id) {
        take_one(&mut self.parked, &id);
    }

    /// Whether `id` waits in the graph.
    pub(super) fn waits(&self, id: Id) -> bool {
        self.waits.contains_key(&id)
    }
}
