//! The wait-for graph, and the search for knots in it.

use super::report::{Deadlock, Link, Wait, Waiter, What};
use super::waiting::{Pulse, Waiting};
use crate::task::Id;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard};

/// Who waits for what and who has what, in the whole process: a monitor may be shared by runtimes, and a thread is of none.
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

/// Suspects that one look is at. An estimate; no benchmark sets it.
const SUSPECTS_AT_ONCE: usize = 32;

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

/// What is known of a semaphore.
#[derive(Default)]
pub(super) struct Permits {
    /// Who has taken one, once for each.
    pub(super) owners: Vec<Id>,
    pub(super) total: usize,
    /// Whether somebody has given back what it had taken itself, or has promised to.
    pub(super) is_lock: bool,
}

#[derive(Default)]
pub(super) struct Graph {
    edges: HashMap<Key, Edge>,
    waits: HashMap<Id, Vec<Key>>,
    /// Monitors, and who is inside: who has come in, and the tasks that it has spawned since, which may have been given the hold.
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

/// Those that cannot go on, and their waits.
type Stuck = HashMap<Id, Vec<Key>>;

/// Whether somebody can go on by itself.
enum State {
    /// It runs, or is about to, or waits for nothing that is known.
    Awake,
    /// Somebody unknown may wake it.
    Open,
    /// Nothing wakes it but the ends of these waits.
    Blocked(Vec<Key>),
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

    /// Takes a wait out. What it gives is dropped without the lock: it may be the last hold on a task.
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

    fn state(&self, id: Id) -> State {
        let Some(keys) = self.waits.get(&id) else { return State::Awake };
        if self.parked.contains_key(&id) {
            return State::Awake;
        }
        let mut keys = keys.clone();
        // Of the `block_on`s of a thread, the innermost one alone is asleep.
        keys.retain(|key| self.edges[key].waiter.is_asleep());
        let Some(first) = keys.first() else { return State::Awake };
        let publics = self.publics.get(&id).copied().unwrap_or(0);
        let pulse = self.edges[first].waiter.pulse(keys.len(), publics);
        match pulse {
            Pulse::Awake => State::Awake,
            Pulse::Open => State::Open,
            Pulse::Asleep if keys.iter().any(|key| self.edges[key].open) => State::Awake,
            Pulse::Asleep => State::Blocked(keys),
        }
    }

    /// Who can end a wait: none if that is not known.
    fn holders(&self, key: Key) -> &[Id] {
        match &self.edges[&key].target {
            Target::Monitor { object, .. } => self.holds.get(object).map_or(&[], Vec::as_slice),
            Target::Semaphore { object, .. } => match self.permits.get(object) {
                Some(permits) if permits.is_lock && permits.owners.len() == permits.total => {
                    &permits.owners
                }
                _ => &[],
            },
            Target::Task(id) => std::slice::from_ref(id),
            Target::Reply(reply) => self.replies.get(reply).map_or(&[], Vec::as_slice),
            Target::Room { mailbox, .. } if self.called.contains_key(mailbox) => &[],
            Target::Room { actor, .. } => std::slice::from_ref(actor),
        }
    }

    /// All that `start` waits for, and those wait for, and so on, if none of them can go on.
    fn stuck(&mut self, start: Id) -> Option<Stuck> {
        let mut found = HashMap::new();
        let mut left = vec![start];
        while let Some(id) = left.pop() {
            if found.contains_key(&id) {
                continue;
            }
            let keys = match self.state(id) {
                State::Awake => return None,
                State::Open => {
                    self.suspect(start);
                    return None;
                }
                State::Blocked(keys) => keys,
            };
            for key in &keys {
                let holders = self.holders(*key);
                if holders.is_empty() {
                    if let Target::Room { .. } = self.edges[key].target {
                        // Those who have been called come, or do not, without a word.
                        self.suspect(start);
                    }
                    return None;
                }
                left.extend_from_slice(holders);
            }
            found.insert(id, keys);
        }
        Some(found)
    }

    fn suspect(&mut self, id: Id) {
        if !self.suspects.contains(&id) {
            self.suspects.push_back(id);
            SUSPECTS.store(self.suspects.len(), Ordering::Relaxed);
        }
    }

    /// Whom `id` waits for.
    fn successors(&self, id: Id, stuck: &Stuck) -> Vec<Id> {
        stuck[&id].iter().flat_map(|key| self.holders(*key)).copied().collect()
    }

    /// The knots among those that cannot go on: sets within which everybody leads to everybody, and to nobody else. They are the strongly connected
    /// components (Tarjan, 1972) that nothing leads out of.
    fn knots(&self, stuck: &Stuck) -> Vec<BTreeSet<Id>> {
        let mut knots: Vec<BTreeSet<Id>> = Vec::new();
        // When each was come by, and the earliest one on the path that it leads back to.
        let mut order: HashMap<Id, (usize, usize)> = HashMap::new();
        let mut path = Vec::new();
        let mut on_path = HashSet::new();
        let mut ids: Vec<_> = stuck.keys().copied().collect();
        ids.sort_unstable();
        for root in ids {
            if order.contains_key(&root) {
                continue;
            }
            // No recursion: a chain of joins may be long.
            let mut calls = vec![(root, None::<Vec<Id>>)];
            while let Some((id, next)) = calls.last_mut() {
                let id = *id;
                let next = next.get_or_insert_with(|| {
                    let now = order.len();
                    order.insert(id, (now, now));
                    path.push(id);
                    on_path.insert(id);
                    self.successors(id, stuck)
                });
                if let Some(to) = next.pop() {
                    match order.get(&to).copied() {
                        None => calls.push((to, None)),
                        Some((seen, _)) if on_path.contains(&to) => lower(&mut order, id, seen),
                        Some(_) => {}
                    }
                    continue;
                }
                calls.pop();
                let (seen, low) = order[&id];
                if let Some((caller, _)) = calls.last() {
                    lower(&mut order, *caller, low);
                }
                if low == seen {
                    let start = path.iter().rposition(|other| *other == id).expect("it is there");
                    let component: BTreeSet<_> = path.drain(start..).collect();
                    for id in &component {
                        on_path.remove(id);
                    }
                    let mut ways = component.iter().flat_map(|id| self.successors(*id, stuck));
                    if ways.all(|to| component.contains(&to)) {
                        knots.push(component);
                    }
                }
            }
        }
        knots
    }

    fn describe(&self, knot: &BTreeSet<Id>, stuck: &Stuck) -> Deadlock {
        // From the oldest one on, in the order of the waits.
        let mut order: Vec<Id> = Vec::new();
        let mut left: Vec<Id> = knot.first().copied().into_iter().collect();
        while let Some(id) = left.pop() {
            if !order.contains(&id) {
                order.push(id);
                left.extend(stuck[&id].iter().flat_map(|key| self.holders(*key)));
            }
        }
        let wait = |key: &Key| {
            let edge = &self.edges[key];
            let what = match edge.target {
                Target::Monitor { type_name, made_at, .. } => What::Monitor { type_name, made_at },
                Target::Semaphore { made_at, .. } => What::Semaphore { made_at },
                Target::Task(_) => What::Task,
                Target::Reply(_) => What::Reply,
                Target::Room { .. } => What::Room,
            };
            let mut holders: Vec<_> = self
                .holders(*key)
                .iter()
                .filter_map(|holder| order.iter().position(|id| id == holder))
                .collect();
            holders.dedup();
            Wait { what, site: edge.site, holders }
        };
        let link = |id: &Id| {
            let keys = &stuck[id];
            let mut waiter = self.edges[&keys[0]].waiter.describe();
            if let Waiter::Task(task) = &mut waiter
                && task.name.is_none()
            {
                task.name = self.names.get(id).cloned();
            }
            Link { waiter, waits: keys.iter().map(wait).collect() }
        };
        Deadlock { links: order.iter().map(link).collect() }
    }

    /// The deadlocks that keep `start` from going on and have not been told of.
    pub(super) fn check(&mut self, start: Id) -> Vec<Deadlock> {
        let Some(stuck) = self.stuck(start) else { return Vec::new() };
        let mut news = Vec::new();
        for knot in self.knots(&stuck) {
            let keys: Vec<_> = knot.iter().flat_map(|id| stuck[id].iter().copied()).collect();
            if keys.iter().all(|key| self.edges[key].reported) {
                continue;
            }
            news.push(self.describe(&knot, &stuck));
            for key in keys {
                self.edges.get_mut(&key).expect("it is there").reported = true;
            }
        }
        news
    }

    /// The same for some of those that have been stuck but for an unknown waker.
    pub(super) fn check_suspects(&mut self) -> Vec<Deadlock> {
        let mut news = Vec::new();
        for _ in 0..self.suspects.len().min(SUSPECTS_AT_ONCE) {
            // Whoever still is one comes back.
            if let Some(id) = self.suspects.pop_front() {
                news.append(&mut self.check(id));
            }
        }
        SUSPECTS.store(self.suspects.len(), Ordering::Relaxed);
        news
    }

    /// All deadlocks that there are.
    pub(super) fn all(&mut self) -> Vec<Deadlock> {
        let mut found = BTreeSet::new();
        let mut all = Vec::new();
        let mut ids: Vec<_> = self.waits.keys().copied().collect();
        ids.sort_unstable();
        for id in ids {
            if found.iter().any(|knot: &BTreeSet<Id>| knot.contains(&id)) {
                continue;
            }
            let Some(stuck) = self.stuck(id) else { continue };
            for knot in self.knots(&stuck) {
                if found.insert(knot.clone()) {
                    all.push(self.describe(&knot, &stuck));
                }
            }
        }
        all
    }
}

/// Notes that `id` leads back to whoever was come by at `seen`.
fn lower(order: &mut HashMap<Id, (usize, usize)>, id: Id, seen: usize) {
    let (_, low) = order.get_mut(&id).expect("it has been come by");
    *low = seen.min(*low);
}
