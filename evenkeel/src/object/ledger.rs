//! What a worker knows of the objects whose home it is, and what it gives away.
//!
//! # Roles
//! The *host* samples [one operation in sixteen](sample::ONE_IN) at home, and looks once per [period](rebalance::PERIOD) whether it has too much to do, as
//! [`rebalance()`] says. Then it gives its hottest objects to the idlest of the others: by itself, one after the other, each when its next operation is over. Nobody else
//! changes the home of an object in use; what the others have to do it reads from their [meters](crate::scheduler::meter).
//!
//! # Steps
//! *Sample*: note the time when the operation begins; when it is over, add what it took to the object's [heat](Heat), and, if its task has travelled, what its poll took beside it to the
//! cost of a [hop](Hop). *Look*: compare the busy shares since the last look; choose objects, by
//! their addresses, and the worker that gets them. *Give*: an operation at home that is over looks, while any are to be given, whether its object is one, and
//! [moves its home](super::door::Door::move_home).
//!
//! # Why that is safe
//! An address is compared and never followed: whoever gives an object away holds it. One that was dropped is not given, and one that has its address since moves for nothing, once.
//!
//! # Rejected
//! A list of its objects at each home: a million objects would be entered and removed for the sake of a few. To hold what is to be given: its last owner would drop it
//! here, later, and on this worker.

use super::class::Class;
use super::inner::Inner;
use super::steer::Look;
use crate::policy::object::{Heat, Hop, per_mille, rebalance, sample, unassign};
use crate::primitives::atomic::AtomicUsize;
use crate::primitives::{Mutex, lock};
use crate::scheduler::context::Context;
use crate::scheduler::meter::Reading;
use crate::scheduler::shared::Shared;
use crossbeam_utils::CachePadded;
use std::fmt;
use std::sync::Arc;

/// Looks for which an object that is to be given away is waited for. An estimate; no benchmark sets it.
const LOOKS: u32 = 8;

/// The ledgers of the workers of a runtime: one each, which its worker alone writes to.
#[derive(Clone)]
pub(super) struct Ledgers(Arc<[CachePadded<Desk>]>);

/// One of them, and what its owner has room for.
#[derive(Default)]
struct Desk {
    ledger: Mutex<Ledger>,
    /// What the objects with a home here come to, in bytes.
    bytes: AtomicUsize,
}

/// The ledger of one worker.
#[derive(Default)]
pub(super) struct Ledger {
    sampled: Sampled,
    hop: Hop,
    /// When to look next.
    next: u64,
    /// When what has been entered in place begins to count half.
    next_in_place: u64,
    heat: Heat,
    /// The same of objects that have been entered here in place.
    in_place: Heat,
    /// What each worker had done at the last look.
    before: Vec<Done>,
    /// The objects that are to be given away, to whom, and for how many looks more.
    given: Vec<usize>,
    to: usize,
    looks: u32,
    /// Objects that were given away since the last look.
    moved: u64,
    moves: u64,
}

/// The operation that is being sampled, if one is.
#[derive(Clone, Copy, Default)]
struct Sampled {
    /// The address of its object.
    address: usize,
    began: u64,
    /// Whether its task has come for it.
    travelled: bool,
}

/// What a worker had done by some time: nanoseconds.
#[derive(Clone, Copy, Default)]
struct Done {
    busy: u64,
    idle: u64,
}

impl Done {
    fn of(reading: &Reading) -> Self {
        Self { busy: reading.busy(), idle: reading.idle() }
    }

    /// The share of its time since `before` in which it was busy, in per mille.
    fn share_since(self, before: Self) -> u32 {
        let (busy, idle) =
            (self.busy.saturating_sub(before.busy), self.idle.saturating_sub(before.idle));
        per_mille(busy, busy.saturating_add(idle))
    }
}

impl Ledgers {
    /// Those of a runtime with so many workers.
    pub(super) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| CachePadded::default()).collect())
    }

    /// Notes that an operation of this worker's is sampled, which has begun at this time.
    pub(super) fn begin(&self, context: &Context, address: usize, began: u64, travelled: bool) {
        if let Some(desk) = self.0.get(context.seat.me()) {
            lock(&desk.ledger).sampled = Sampled { address, began, travelled };
        }
    }

    /// Ends one that was in place, and gives what it took, if it was sampled.
    pub(super) fn end_in_place(&self, context: &Context, address: usize) -> Option<u64> {
        let mut ledger = lock(&self.0.get(context.seat.me())?.ledger);
        let sampled = std::mem::take(&mut ledger.sampled);
        if sampled.address != address {
            return None;
        }
        let now = context.ahead.now();
        let nanos = now.saturating_sub(sampled.began);
        ledger.in_place.add(address as u64, nanos * u64::from(sample::ONE_IN));
        if now >= ledger.next_in_place {
            ledger.next_in_place = now.saturating_add(unassign::PERIOD);
            ledger.in_place.age();
        }
        Some(nanos)
    }

    /// The part of an object in the time that was lately spent in place at this worker, in per mille.
    pub(super) fn share_in_place(&self, me: usize, address: usize) -> u32 {
        self.0.get(me).map_or(0, |desk| lock(&desk.ledger).in_place.share(address as u64))
    }

    /// The same of the object with the greatest.
    pub(super) fn greatest_share_in_place(&self, me: usize) -> u32 {
        self.0.get(me).map_or(0, |desk| lock(&desk.ledger).in_place.greatest_share())
    }

    /// What a hop costs in the mean of the workers that have measured it, in nanoseconds.
    pub(super) fn hop(&self) -> Option<u64> {
        let hops: Vec<u64> = self.hops().into_iter().flatten().collect();
        hops.iter().sum::<u64>().checked_div(hops.len() as u64)
    }

    /// What the objects with a home at this worker come to, of all classes, in bytes.
    pub(super) fn bytes(&self, worker: usize) -> Option<&AtomicUsize> {
        self.0.get(worker).map(|desk| &desk.bytes)
    }

    /// Ends it: the operation was at home, it is over, and its worker out of the object.
    pub(super) fn end<T>(&self, object: &Inner<T>, context: &Context) {
        let me = context.seat.me();
        let Some(desk) = self.0.get(me) else { return };
        let now = context.ahead.now();
        let mut ledger = lock(&desk.ledger);
        // Before that polls are still as long as they were in place.
        let travelled = object.class.steering.look() != Look::Settle;
        ledger.sampled.travelled &= travelled;
        let to = ledger.end(object.door.address(), object.is_pinned(), now, context);
        if now >= ledger.next {
            ledger.look(context.shared(), me, now);
        }
        if !ledger.given.is_empty() {
            context.operations.watch(true);
        } else if to.is_some() {
            context.operations.watch(false);
        }
        let Some(to) = to else { return };
        if object.move_home(context, to) {
            ledger.moved += 1;
            ledger.moves += 1;
        }
    }

    /// The times of the hottest objects at each worker lately, the hottest first, of so many at most.
    pub(super) fn hottest(&self, most: usize) -> Vec<Vec<u64>> {
        let hottest = |desk: &CachePadded<Desk>| {
            let mut times: Vec<u64> =
                lock(&desk.ledger).heat.objects().map(|(_, nanos)| nanos).collect();
            times.sort_unstable_by(|one, other| other.cmp(one));
            times.truncate(most);
            times
        };
        self.0.iter().map(hottest).collect()
    }

    /// The time spent in objects at each worker lately, about, in nanoseconds.
    pub(super) fn heats(&self) -> Vec<u64> {
        self.0.iter().map(|desk| lock(&desk.ledger).heat.total()).collect()
    }

    /// What a journey costs, as each worker has measured it, in nanoseconds; none where it has not.
    pub(super) fn hops(&self) -> Vec<Option<u64>> {
        self.0.iter().map(|desk| lock(&desk.ledger).hop.measured()).collect()
    }

    /// How many objects each worker has given away.
    pub(super) fn moves(&self) -> Vec<u64> {
        self.0.iter().map(|desk| lock(&desk.ledger).moves).collect()
    }
}

impl Ledger {
    /// Adds an operation that is over, and says whom the object is to be given to, if it is.
    fn end(&mut self, address: usize, pinned: bool, now: u64, context: &Context) -> Option<usize> {
        let sampled = std::mem::take(&mut self.sampled);
        if sampled.address == address {
            let (inside, poll) = (now.saturating_sub(sampled.began), context.seat.mean_poll());
            if sampled.travelled {
                // Where each poll is a visit, with one operation, the rest of it is what both ends of a journey take: its task comes and goes.
                self.hop.spent_in_all(poll.saturating_sub(inside));
            }
            // What there is around it goes with it.
            let nanos = inside.max(poll) * u64::from(sample::ONE_IN);
            if pinned {
                self.heat.rest(nanos);
            } else {
                self.heat.add(address as u64, nanos);
            }
        }
        let place = self.given.binary_search(&address).ok()?;
        self.given.remove(place);
        self.heat.remove(address as u64);
        // One that has the address of an object that is gone may be where it is by choice.
        (!pinned).then_some(self.to)
    }

    /// Looks who has too much to do, and chooses what to give away.
    fn look(&mut self, shared: &Shared, me: usize, now: u64) {
        self.next = now.saturating_add(rebalance::PERIOD);
        let workers = &shared.processors[..shared.workers];
        let done: Vec<Done> =
            workers.iter().map(|processor| Done::of(&processor.meter.read(now))).collect();
        let shares: Vec<u32> = if self.before.len() == done.len() {
            done.iter().zip(&self.before).map(|(done, before)| done.share_since(*before)).collect()
        } else {
            vec![0; done.len()]
        };
        let busy = done[me]
            .busy
            .saturating_sub(self.before.get(me).map_or(done[me].busy, |before| before.busy));
        self.before = done;
        if std::mem::take(&mut self.moved) > 0 {
            // Not at each move: what was noted in between leads here, and from here on.
            shared.forget_whereabouts();
        }
        if self.looks > 0 && !self.given.is_empty() {
            self.looks -= 1;
        } else {
            // What was before counts half, as it does in the heat.
            self.choose(&shares, me, self.heat.total().max(2 * busy));
        }
        self.heat.age();
    }

    /// Chooses what to give away of a worker that has spent so long on all that it has run.
    fn choose(&mut self, shares: &[u32], me: usize, heat: u64) {
        self.given.clear();
        let Some((idlest, &share)) = shares.iter().enumerate().min_by_key(|(_, share)| **share)
        else {
            return;
        };
        if idlest == me {
            return;
        }
        let mut objects: Vec<(u64, u64)> = self.heat.objects().collect();
        let given = &mut self.given;
        rebalance::give_away(shares[me], share, heat, &mut objects, |object| {
            given.push(object as usize);
        });
        given.sort_unstable();
        (self.to, self.looks) = (idlest, LOOKS);
    }
}

impl<T> Inner<T> {
    /// Gives an object that nobody is inside of to another worker. The caller is its host.
    fn move_home(&self, context: &Context, to: usize) -> bool {
        let class: &Class = &self.class;
        let from = self.door.home();
        let Some(home) = class.home_at(to) else { return false };
        let moved = self.door.move_home(Some(context), home);
        if moved {
            class.uncharge(from, self.size());
            class.charge(home, self.size());
        }
        moved
    }
}

impl fmt::Debug for Ledgers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledgers").finish_non_exhaustive()
    }
}
