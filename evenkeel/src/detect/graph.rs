//! The wait-for graph: who waits for what, and who has it. [`stuck`] looks for those that cannot go
//! on, [`knots`] for the deadlocks among them.

mod knots;
mod stuck;

use super::waiting::Waiting;
use crate::raw_task::id::Id;
use std::collections::{HashMap, VecDeque};
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard};

/// Who waits for what and who has what, in the whole process: a monitor may be shared by runtimes,
/// and a thread is of none.
static GRAPH: LazyLock<Mutex<Graph>> = LazyLock::new(Mutex::default);

/// How many waits there are, so that whoever waits for nothing takes no lock.
static WAITS: AtomicUsize = AtomicUsize::new(0);

/// How many are to be looked at again.
static SUSPECTS: AtomicUsize = AtomicUsize::new(0);

/// How many monitors somebody is inside of, and how many tasks may have come by a hold.
static HOLDS: AtomicUsize = AtomicUsize::new(0);
static CARRIERS: AtomicUsize = AtomicUsize::new(0);

/// How many replies are waited for.
static REPLIES: AtomicUsize = AtomicUsize::new(0);

pub(super) fn lock() -> MutexGuard<'static, Graph> {
    GRAPH.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub(super) fn has_waits() -> bool {
    WAITS.load(Ordering::Relaxed) > 0
}

pub(super) fn has_holds() -> bool {
    HOLDS.load(Ordering::Relaxed) > 0
}

pub(super) fn has_carriers() -> bool {
    CARRIERS.load(Ordering::Relaxed) > 0
}

pub(super) fn has_replies() -> bool {
    REPLIES.load(Ordering::Relaxed) > 0
}

pub(super) fn has_suspects() -> bool {
    SUSPECTS.load(Ordering::Relaxed) > 0
}

/// What a wait is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// The address of its node, which stays where it is while it waits.
    Node(usize),
    /// The task that is joined: it has one joiner.
    Join(Id),
    /// The number of an actor's wait.
    Wait(u64),
}

/// What somebody can wait for.
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
    /// By the number of the wait for it.
    Reply(u64),
    /// The limit that the wait for this reply has as all have one: no way out of a deadlock.
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
    /// Whether anybody may end it: it is a wait for a signal, which has not come.
    pub(super) open: bool,
    /// Whether it has been told of.
    reported: bool,
}

/// What is known of a semaphore whose takers give permits back.
#[derive(Default)]
pub(super) struct Permits {
    /// Who has taken one, once for each.
    pub(super) owners: Vec<Id>,
    pub(super) total: usize,
}

#[derive(Default)]
pub(super) struct Graph {
    edges: HashMap<Key, Edge>,
    waits: HashMap<Id, Vec<Key>>,
    /// Monitors, and who is inside: who has come in, and the tasks that it has spawned since, which
    /// may have been given the hold.
    holds: HashMap<u64, Vec<Id>>,
    /// Those tasks, and the monitors.
    carriers: HashMap<Id, Vec<u64>>,
    pub(super) permits: HashMap<u64, Permits>,
    /// Those that are parked, and in how many futures: a handle of theirs is enough to unpark them.
    parked: HashMap<Id, usize>,
    /// Replies that are waited for, and who may have them: the actor that was asked first.
    replies: HashMap<u64, Vec<Id>>,
    /// The replies that somebody may have.
    had: HashMap<Id, Vec<u64>>,
    /// Mailboxes, by their addresses, with senders that have been called and have not come.
    pub(super) called: HashMap<usize, usize>,
    /// References to tasks that are no wakers.
    pub(super) publics: HashMap<Id, usize>,
    /// Names for reports.
    pub(super) names: HashMap<Id, String>,
    /// Those that would be stuck but for a waker that nobody knows. It may be about to be dropped.
    suspects: VecDeque<Id>,
}

impl Graph {
    /// Adds a wait, in place of the one of the same key.
    pub(super) fn insert(
        &mut self,
        key: Key,
        waiter: Waiting,
        target: Target,
        site: Option<&'static Location<'static>>,
        open: bool,
    ) -> Option<Edge> {
        let before = self.remove(key);
        // Whoever has been polled for nothing, and waits as before, is not told of again.
        let reported = before.as_ref().is_some_and(|before| {
            before.reported && before.waiter.id() == waiter.id() && before.target == target
        });
        self.waits.entry(waiter.id()).or_default().push(key);
        self.edges.insert(key, Edge { waiter, target, site, open, reported });
        WAITS.store(self.edges.len(), Ordering::Relaxed);
        before
    }

    /// Takes a wait out. What it gives is dropped without the lock: it may be the last hold on a
    /// task.
    pub(super) fn remove(&mut self, key: Key) -> Option<Edge> {
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

    /// Has somebody else wait, or nobody that is known. What it gives is dropped without the lock.
    pub(super) fn renew(&mut self, key: Key, waiter: Option<Waiting>) -> Option<Edge> {
        let mut before = self.remove(key)?;
        let Some(waiter) = waiter else { return Some(before) };
        before.reported &= before.waiter.id() == waiter.id();
        let (target, site, open) = (before.target, before.site, before.open);
        self.insert(key, waiter, target, site, open);
        self.edges.get_mut(&key).expect("it has just been put there").reported = before.reported;
        Some(before)
    }

    pub(super) fn edge(&mut self, key: Key) -> Option<&mut Edge> {
        self.edges.get_mut(&key)
    }

    /// Notes that `id` is inside of a monitor.
    pub(super) fn hold(&mut self, monitor: u64, id: Id) {
        self.holds.insert(monitor, vec![id]);
        HOLDS.store(self.holds.len(), Ordering::Relaxed);
    }

    /// Notes that nobody is, and gives who may have been.
    pub(super) fn unhold(&mut self, monitor: u64) -> Option<Vec<Id>> {
        let holders = self.holds.remove(&monitor);
        HOLDS.store(self.holds.len(), Ordering::Relaxed);
        holders
    }

    /// Notes that `parent` has spawned a task, which may have got what it holds.
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

    /// Notes that such a task is over.
    pub(super) fn complete(&mut self, child: Id) {
        for monitor in self.carriers.remove(&child).unwrap_or_default() {
            if let Some(holders) = self.holds.get_mut(&monitor) {
                holders.retain(|holder| *holder != child);
            }
        }
        CARRIERS.store(self.carriers.len(), Ordering::Relaxed);
    }

    /// Notes that somebody asks an actor.
    pub(super) fn ask(&mut self, reply: u64, actor: Id) {
        self.replies.insert(reply, vec![actor]);
        self.had.entry(actor).or_default().push(reply);
        REPLIES.store(self.replies.len(), Ordering::Relaxed);
    }

    /// Notes that nobody waits for the reply any more.
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

    /// Notes that `from` may have passed on to `to` what it has.
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

    /// Notes that it is so no more.
    pub(super) fn unpark(&mut self, id: Id) {
        if let Some(count) = self.parked.get_mut(&id) {
            *count -= 1;
            if *count == 0 {
                self.parked.remove(&id);
            }
        }
    }

    /// Whether somebody waits here.
    pub(super) fn waits(&self, id: Id) -> bool {
        self.waits.contains_key(&id)
    }
}
