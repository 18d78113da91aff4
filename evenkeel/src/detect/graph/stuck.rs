//! Finds stuck waiters, and the deadlocks that they are stuck in.

use super::knots::knots;
use super::{Graph, Key, SUSPECTS, Target};
use crate::detect::report::{Deadlock, Link, Listener, Wait, Waiter, What};
use crate::detect::waiting::Pulse;
use crate::raw_task::id::Id;
use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::atomic::Ordering;

/// The suspects that a worker examines before it sleeps, with the graph locked. An estimate; no
/// benchmark sets it.
const SUSPECTS_AT_ONCE: usize = 32;

/// Stuck waiters, and their waits.
type Stuck = HashMap<Id, Vec<Key>>;

/// Whether a waiter can go on by itself.
enum State {
    /// It runs, or is about to, or waits for nothing that is known.
    Awake,
    /// An unknown waker may wake it.
    Open,
    /// Only the ends of these waits can wake it.
    Blocked(Vec<Key>),
}

/// What a search from a waiter finds.
enum Found {
    /// The waiter can go on.
    Free,
    /// It can, if the unknown waker that it depends on is used.
    Suspect,
    Stuck(Stuck),
}

/// Deadlocks that have not been reported, and to what they are reported.
pub(in crate::detect) struct News {
    pub(in crate::detect) deadlocks: Vec<Deadlock>,
    pub(in crate::detect) listener: Listener,
}

impl Graph {
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

    /// The holders that can end a wait; none if they are not known.
    fn holders(&self, key: Key) -> &[Id] {
        match &self.edges[&key].target {
            Target::Monitor { object, .. } => self.holds.get(object).map_or(&[], Vec::as_slice),
            Target::Semaphore { object, .. } => match self.permits.get(object) {
                Some(permits) if permits.owners.len() == permits.total => &permits.owners,
                _ => &[],
            },
            Target::Task(id) => std::slice::from_ref(id),
            Target::Reply(reply) | Target::Limit(reply) => {
                self.replies.get(reply).map_or(&[], Vec::as_slice)
            }
            Target::Room { mailbox, .. } if self.called.contains_key(mailbox) => &[],
            Target::Room { actor, .. } => std::slice::from_ref(actor),
        }
    }

    /// All that `start` waits for, and what those wait for, and so on, if none of them can go on.
    fn stuck(&self, start: Id) -> Found {
        let mut found = HashMap::new();
        let mut left = vec![start];
        while let Some(id) = left.pop() {
            if found.contains_key(&id) {
                continue;
            }
            let keys = match self.state(id) {
                State::Awake => return Found::Free,
                State::Open => return Found::Suspect,
                State::Blocked(keys) => keys,
            };
            for key in &keys {
                let holders = self.holders(*key);
                if holders.is_empty() {
                    return match self.edges[key].target {
                        // Senders that have been called come, or do not, without notice to the
                        // graph.
                        Target::Room { .. } => Found::Suspect,
                        _ => Found::Free,
                    };
                }
                left.extend_from_slice(holders);
            }
            found.insert(id, keys);
        }
        Found::Stuck(found)
    }

    /// Notes a waiter to search again from, if it may be in a deadlock: it waits for holders.
    fn suspect(&mut self, id: Id, listener: &dyn Fn() -> Listener) {
        let is_room = |key: &Key| matches!(self.edges[key].target, Target::Room { .. });
        let has_holders = |key: &Key| is_room(key) || !self.holders(*key).is_empty();
        if self.waits.get(&id).is_some_and(|keys| keys.iter().any(has_holders)) {
            self.suspects.entry(id).or_insert_with(listener);
            SUSPECTS.store(self.suspects.len(), Ordering::Relaxed);
        }
    }

    /// Forgets a waiter to search again from.
    pub(super) fn acquit(&mut self, id: Id) -> Option<Listener> {
        let listener = self.suspects.remove(&id);
        SUSPECTS.store(self.suspects.len(), Ordering::Relaxed);
        listener
    }

    /// Which waiters each one waits for.
    fn ways(&self, stuck: &Stuck) -> HashMap<Id, Vec<Id>> {
        let ways = |(id, keys): (&Id, &Vec<Key>)| {
            (*id, keys.iter().flat_map(|key| self.holders(*key)).copied().collect())
        };
        stuck.iter().map(ways).collect()
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
                Target::Limit(_) => return None,
            };
            let mut holders: Vec<_> = self
                .holders(*key)
                .iter()
                .filter_map(|holder| order.iter().position(|id| id == holder))
                .collect();
            holders.dedup();
            Some(Wait { what, site: edge.site, holders })
        };
        let link = |id: &Id| {
            let keys = &stuck[id];
            let mut waiter = self.edges[&keys[0]].waiter.describe();
            if let Waiter::Task(task) = &mut waiter
                && task.name.is_none()
            {
                task.name = self.names.get(id).cloned();
            }
            Link { waiter, waits: keys.iter().filter_map(wait).collect() }
        };
        Deadlock { links: order.iter().map(link).collect() }
    }

    /// The deadlocks that keep `start` from going on and have not been reported.
    pub(in crate::detect) fn check(
        &mut self,
        start: Id,
        listener: &dyn Fn() -> Listener,
    ) -> Vec<Deadlock> {
        let stuck = match self.stuck(start) {
            Found::Free => return Vec::new(),
            Found::Suspect => {
                self.suspect(start, listener);
                return Vec::new();
            }
            Found::Stuck(stuck) => stuck,
        };
        let mut news = Vec::new();
        for knot in knots(&self.ways(&stuck)) {
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

    /// As [`check`](Self::check), for some of the waiters that were stuck but for an unknown waker.
    pub(in crate::detect) fn check_suspects(&mut self) -> Vec<News> {
        let count = self.suspects.len().min(SUSPECTS_AT_ONCE);
        let behind = self.examined.map_or(Bound::Unbounded, Bound::Excluded);
        let next = self.suspects.range((behind, Bound::Unbounded)).chain(&self.suspects);
        let ids: Vec<Id> = next.map(|(id, _)| *id).take(count).collect();
        self.examined = ids.last().copied();
        let mut news = Vec::new();
        for id in ids {
            if let Some(listener) = self.acquit(id) {
                // A waiter that is still a suspect is noted again.
                let deadlocks = self.check(id, &|| listener.clone());
                news.push(News { deadlocks, listener });
            }
        }
        news
    }

    /// All deadlocks that there are.
    pub(in crate::detect) fn all(&self) -> Vec<Deadlock> {
        let mut found = BTreeSet::new();
        let mut all = Vec::new();
        let mut ids: Vec<_> = self.waits.keys().copied().collect();
        ids.sort_unstable();
        for id in ids {
            if found.iter().any(|knot: &BTreeSet<Id>| knot.contains(&id)) {
                continue;
            }
            let Found::Stuck(stuck) = self.stuck(id) else { continue };
            for knot in knots(&self.ways(&stuck)) {
                if found.insert(knot.clone()) {
                    all.push(self.describe(&knot, &stuck));
                }
            }
        }
        all
    }
}
