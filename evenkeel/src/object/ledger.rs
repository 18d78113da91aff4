//! What a worker knows of the objects that it uses, at home and in place: from samples, by their addresses.
//!
//! The worker alone writes to its ledger; others read it, for reports and for the [plan](super::plan) of all. *An operation that is sampled*: its worker notes the time when it begins, and what it came to when it is over, [beside its other operations](crate::scheduler::operations), where no lock
//! is needed. *Some of them, or some time, later*: lock the ledger, add what each took to the object's heat. *The cost of a [hop](Hop)*: the time from when a task sets out to when another one, which has come, begins its operation; after [some](FOLLOWED) of the samples. A worker that has nothing to do in between is a part of it. What the worker [gives away](super::giving) of its objects follows from that; as long as there are
//! objects to give away, the ledger is told of each operation at once.
//!
//! Which objects are used together is looked at after [some](FOLLOWED) of the samples: the next operation on this worker says which object the task goes on to, if it is the same task, here or elsewhere.

use super::class::Placement;
use super::dealing::Deal;
use super::giving::Giving;
use super::inner::Inner;
use super::plan::Planning;
use crate::policy::object::hop::FIRST_GUESS;
use crate::policy::object::plan::Known;
use crate::policy::object::{Heat, Hop, Pairs, Place, sample};
use crate::primitives::atomic::{AtomicUsize, Ordering};
use crate::primitives::{Mutex, MutexGuard, lock};
use crate::scheduler::context::Context;
use crate::scheduler::operations::{Over, Sampled};
use crossbeam_utils::CachePadded;
use std::fmt;
use std::sync::Arc;

/// After one sampled operation in so many it is looked at which object the task uses next, after another, what a journey costs, and after a third, what such operations take in its class. An estimate; no benchmark sets it.
const FOLLOWED: u32 = 4;

/// The ledgers of the workers of a runtime: one each, which its worker alone writes to.
#[derive(Clone)]
pub(super) struct Ledgers(Arc<Books>);

/// All of them.
struct Books {
    desks: Box<[CachePadded<Desk>]>,
    planning: CachePadded<Planning>,
}

/// One of them, and what its owner has room for.
#[derive(Default)]
struct Desk {
    ledger: Mutex<Ledger>,
    /// What the objects with a home here come to, in bytes, and what of that nobody used in the last period.
    bytes: AtomicUsize,
    idle: AtomicUsize,
    /// How many classes have all of their objects here.
    gathered: AtomicUsize,
}

/// The ledger of one worker.
#[derive(Default)]
pub(super) struct Ledger {
    hop: Hop,
    pub(super) giving: Giving,
    /// The objects that have been used here since longer ago, in place too.
    pub(super) used: Heat<Noted>,
    /// Which of them are used together.
    pub(super) pairs: Pairs,
}

/// What is known of an object that a worker has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Noted {
    /// Its size.
    pub(super) bytes: u32,
    pub(super) standing: Standing,
}

/// Whether it has a home.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Standing {
    /// None, as far as is known for good reason.
    #[default]
    InPlace,
    /// None, because there was no room.
    Wanting,
    /// At the worker who has noted it.
    AtHome,
    /// There too, and it stays.
    Fixed,
}

impl Ledgers {
    /// Those of a runtime with so many workers.
    pub(super) fn new(workers: usize) -> Self {
        let desks = (0..workers).map(|_| CachePadded::default()).collect();
        Self(Arc::new(Books { desks, planning: CachePadded::default() }))
    }

    /// What is planned for all.
    pub(super) fn planning(&self) -> &Planning {
        &self.0.planning
    }

    /// Each worker's ledger.
    pub(super) fn desks(&self) -> impl Iterator<Item = &Mutex<Ledger>> {
        self.0.desks.iter().map(|desk| &desk.ledger)
    }

    fn of(&self, worker: usize) -> Option<MutexGuard<'_, Ledger>> {
        self.0.desks.get(worker).map(|desk| lock(&desk.ledger))
    }

    /// Ends an operation that was in place, and gives what it took, if it was sampled.
    pub(super) fn end_in_place(
        &self,
        context: &Context,
        address: usize,
        bytes: u32,
    ) -> Option<u64> {
        let sampled = context.operations.end_sample(address)?;
        let mut ledger = self.of(context.seat.me())?;
        let nanos = context.ahead.now().saturating_sub(sampled.began);
        let noted = Noted { bytes, standing: Standing::InPlace };
        // What was known before comes first.
        ledger.hear(context, context.ahead.now());
        ledger.used.add(address as u64, nanos * u64::from(sample::ONE_IN), noted);
        Some(nanos)
    }

    /// Notes that there is no room for an object that worker `me` has used and that is worth a home.
    pub(super) fn want(&self, me: usize, address: usize, bytes: u32) {
        if let Some(mut ledger) = self.of(me) {
            ledger.used.note(address as u64, Noted { bytes, standing: Standing::Wanting });
        }
    }

    /// Notes that a task that has just used an object on this worker, and was [followed](crate::scheduler::operations::Operations::follow), goes on to this one, if it is the same task.
    pub(super) fn note_next(&self, context: &Context, address: usize) {
        let (task, before) = context.operations.followed();
        if before != address
            && task == context.task_address()
            && let Some(mut ledger) = self.of(context.seat.me())
        {
            ledger.pairs.add(before as u64, address as u64);
        }
    }

    /// The same of the object with the greatest.
    pub(super) fn greatest_share(&self, me: usize) -> u32 {
        self.of(me).map_or(0, |ledger| ledger.used.greatest_share())
    }

    /// What a hop costs in the mean of the workers that have measured it, in nanoseconds.
    pub(super) fn hop(&self) -> Option<u64> {
        let hops: Vec<u64> = self.hops().into_iter().flatten().collect();
        // What was timed contains whatever a worker did in between, or waited for; a journey takes no more of the cores than it lasts.
        let mean = hops.iter().sum::<u64>().checked_div(hops.len() as u64);
        mean.map(|mean| mean.min(2 * FIRST_GUESS))
    }

    /// What the objects with a home at this worker come to that are in use, of all classes, in bytes.
    pub(super) fn in_use(&self, worker: usize) -> usize {
        let load = |bytes: &AtomicUsize| bytes.load(Ordering::Relaxed);
        self.0
            .desks
            .get(worker)
            .map_or(0, |desk| load(&desk.bytes).saturating_sub(load(&desk.idle)))
    }

    /// Notes which they are.
    pub(super) fn note_in_use(&self, worker: usize, known: &[Known]) {
        let is_here = |known: &&Known| matches!(known.place, Place::At(at) | Place::Pinned(at) if at == worker);
        let used: u64 = known.iter().filter(is_here).map(|known| known.bytes).sum();
        if let Some(desk) = self.0.desks.get(worker) {
            let idle = desk.bytes.load(Ordering::Relaxed).saturating_sub(used as usize);
            desk.idle.store(idle, Ordering::Relaxed);
        }
    }

    /// What the objects with a home at this worker come to, of all classes, in bytes.
    pub(super) fn bytes(&self, worker: usize) -> Option<&AtomicUsize> {
        self.0.desks.get(worker).map(|desk| &desk.bytes)
    }

    /// How many classes have all of their objects at this worker.
    pub(super) fn gathered(&self, worker: usize) -> usize {
        self.0.desks.get(worker).map_or(0, |desk| desk.gathered.load(Ordering::Relaxed))
    }

    /// Notes that one has them there, or has them there no longer.
    pub(super) fn note_gathered(&self, worker: usize, is_there: bool) {
        if let Some(desk) = self.0.desks.get(worker) {
            let change = if is_there { 1 } else { usize::MAX };
            desk.gathered.fetch_add(change, Ordering::Relaxed);
        }
    }

    /// Ends an operation that was at home, and its worker is out of the object again.
    pub(super) fn end<T>(&self, object: &Inner<T>, context: &Context) {
        let (operations, address) = (&context.operations, object.door.address());
        let sampled = operations.end_sample(address);
        let dealt = object.dealt_to(context);
        if sampled.is_none() && !operations.gives() && dealt.is_none() {
            return;
        }
        let now = context.ahead.now();
        let mut is_time = operations.gives() || dealt.is_some();
        if let Some(sampled) = sampled {
            is_time |= operations.note_over(over(object, sampled, now, context), now);
            match operations.samples() % FOLLOWED {
                0 => operations.follow(context.task_address(), address),
                1 if object.class.steering.tells_of_hops() => operations.want_journey(),
                2 => object.class.note_inside(context.seat.me(), now.saturating_sub(sampled.began)),
                _ => {}
            }
        }
        if is_time {
            self.settle(object, dealt, now, context);
        }
    }

    /// Has this worker's ledger told of the operations that are over, and gives the object away, if that is to be, as it is `dealt` or as it has chosen.
    #[inline(never)]
    fn settle<T>(&self, object: &Inner<T>, dealt: Option<Deal>, now: u64, context: &Context) {
        let me = context.seat.me();
        let Some(mut ledger) = self.of(me) else {
            // Nobody keeps what it has sampled; there has to be room for more.
            drop(context.operations.tell(now));
            return;
        };
        ledger.hear(context, now);
        if let Some(deal) = dealt {
            ledger.giving.forget(object.door.address());
            if object.move_home(context, Some(deal.to())) {
                object.class.dealing().note_moved(me, object.door.address(), deal);
                ledger.used.note(object.door.address() as u64, Noted::default());
            }
        }
        let to = ledger.gift(object);
        if ledger.giving.is_due(now) {
            ledger.giving.look(context.shared(), me, now);
        }
        if ledger.giving.has_any() {
            context.operations.watch(true);
        } else if context.operations.gives() {
            // They are given, or have waited for too long.
            context.operations.watch(false);
        }
        if dealt.is_some() {
            // Where there is one there are more.
            context.operations.watch_some();
        }
        if let Some(to) = to {
            if object.move_home(context, to) {
                ledger.giving.note_moved(to);
            } else {
                // Somebody is inside by the lock.
                ledger.giving.put_back((object.door.address(), to));
            }
        }
    }

    /// The times of the hottest objects at each worker lately, the hottest first, of so many at most.
    pub(super) fn hottest(&self, most: usize) -> Vec<Vec<u64>> {
        let hottest = |ledger: &Mutex<Ledger>| {
            let mut times: Vec<u64> =
                lock(ledger).giving.heat().objects().map(|(_, nanos, _)| nanos).collect();
            times.sort_unstable_by(|one, other| other.cmp(one));
            times.truncate(most);
            times
        };
        self.desks().map(hottest).collect()
    }

    /// The time spent in objects at each worker lately, about, in nanoseconds.
    pub(super) fn heats(&self) -> Vec<u64> {
        self.desks().map(|ledger| lock(ledger).giving.heat().total()).collect()
    }

    /// What a journey costs, as each worker has measured it, in nanoseconds; none where it has not.
    pub(super) fn hops(&self) -> Vec<Option<u64>> {
        self.desks().map(|ledger| lock(ledger).hop.measured()).collect()
    }

    /// How many objects each worker has given away.
    pub(super) fn moves(&self) -> Vec<u64> {
        self.desks().map(|ledger| lock(ledger).giving.moves()).collect()
    }
}

impl Ledger {
    /// Is told what its worker has kept for it.
    fn hear(&mut self, context: &Context, now: u64) {
        context.operations.tell(now).for_each(|over| self.add(&over));
        if let Some(nanos) = context.operations.take_journey() {
            // One end of one, and the other end of another.
            self.hop.spent_in_all(nanos);
        }
    }

    /// Adds an operation that is over.
    fn add(&mut self, over: &Over) {
        // What there is around it goes with it.
        let nanos = over.inside.max(over.poll) * u64::from(sample::ONE_IN);
        self.giving.add(over.address, nanos, over.is_pinned, over.stays);
        let standing = if over.is_fixed { Standing::Fixed } else { Standing::AtHome };
        self.used.add(over.address as u64, nanos, Noted { bytes: over.bytes, standing });
    }

    /// Says whom the object is to be given to, if it is.
    #[allow(clippy::option_option, reason = "to whom, or to nobody, or not at all")]
    fn gift<T>(&mut self, object: &Inner<T>) -> Option<Option<usize>> {
        let (address, pinned) = (object.door.address(), object.is_pinned());
        let (_, to) = self.giving.take(address)?;
        // One that has the address of an object that is gone may be where it is by choice.
        let may = !pinned
            && !object.class.is_gathered()
            && (to.is_some() || object.class.placement() == Placement::Automatic);
        may.then(|| {
            self.used.note(address as u64, Noted::default());
            to
        })
    }
}

/// An operation that is over, as the ledger has to know it.
fn over<T>(object: &Inner<T>, sampled: Sampled, now: u64, context: &Context) -> Over {
    let (is_pinned, stays) = (object.is_pinned(), object.class.is_gathered());
    Over {
        address: object.door.address(),
        bytes: object.size() as u32,
        is_fixed: is_pinned || stays || object.class.placement() == Placement::Home,
        is_pinned,
        stays,
        inside: now.saturating_sub(sampled.began),
        poll: context.seat.mean_poll(),
    }
}

impl fmt::Debug for Ledgers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledgers").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::object::classes::ledgers_here;
    use crate::object::{Object, Placement};
    use crate::{Builder, spawn, yield_now};
    use std::time::{Duration, Instant};

    /// After so long nobody will have seen a pair.
    const LONG: Duration = Duration::from_secs(60);

    /// What all workers have seen of which objects are used together, once it is `enough`: a worker that the system has taken off its core for a while has lost its objects.
    async fn pairs(enough: impl Fn(&[Pairs]) -> bool) -> Vec<Pairs> {
        let start = Instant::now();
        loop {
            let all = |ledgers: &Ledgers, _: &_| {
                ledgers.desks().map(|ledger| lock(ledger).pairs.clone()).collect()
            };
            let pairs: Vec<Pairs> = ledgers_here(all).expect("it is in a runtime");
            if enough(&pairs) || start.elapsed() > LONG {
                return pairs;
            }
            yield_now().await;
        }
    }

    #[test]
    fn what_a_task_uses_next_is_seen_here_and_on_the_way_elsewhere() {
        for homes in [[0, 0, 0], [0, 1, 0]] {
            let runtime = Builder::new().workers(2).build().unwrap();
            runtime.block_on(async move {
                let [one, other, third] =
                    homes.map(|home| Object::new(0).placed("n", Placement::Home).at(home));
                let address = |object: &Object<i32>| object.inner.door.address() as u64;
                let addresses = [&one, &other, &third].map(address);
                let task = spawn(async move {
                    loop {
                        for object in [&one, &other, &third] {
                            object.with(|n| *n += 1).await.unwrap();
                        }
                        yield_now().await;
                    }
                });
                let are_seen = |pairs: &[Pairs]| {
                    let is_seen = |a: usize, b: usize| {
                        pairs.iter().any(|pairs| pairs.count(addresses[a], addresses[b]) > 0)
                    };
                    is_seen(0, 1) && is_seen(1, 2)
                };
                let pairs = pairs(are_seen).await;
                task.abort();
                assert!(are_seen(&pairs), "{homes:?}: {pairs:?}");
            });
        }
    }
}
