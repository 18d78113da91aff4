//! What a worker knows of the objects that are entered at it: from samples, by their addresses.
//!
//! The worker alone writes to its ledger; others read it, for reports. *An operation that is
//! sampled*: its worker notes the time when it begins, and what it came to when it is over, [beside
//! its other operations](crate::scheduler::operations), where no lock is needed. *Some of them, or
//! some time, later*: lock the ledger, add what each took to the object's heat. What the worker
//! [gives away](super::giving) of its objects follows from that; as long as there are objects to
//! give away, the ledger is told of each operation at once.

use super::giving::Giving;
use super::inner::Inner;
use crate::policy::object::sample;
use crate::primitives::atomic::{AtomicUsize, Ordering};
use crate::primitives::{Mutex, lock};
use crate::scheduler::context::Context;
use crate::scheduler::operations::{Over, Sampled};
use crossbeam_utils::CachePadded;
use std::fmt;
use std::sync::Arc;

/// The ledgers of the workers of a runtime: one each, which its worker alone writes to.
#[derive(Clone)]
pub(super) struct Ledgers(Arc<[CachePadded<Desk>]>);

/// One of them, and how many classes have all of their objects entered at its owner.
#[derive(Default)]
struct Desk {
    ledger: Mutex<Giving>,
    gathered: AtomicUsize,
}

impl Ledgers {
    /// Those of a runtime with so many workers.
    pub(super) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| CachePadded::default()).collect())
    }

    /// The worker at which the fewest classes are gathered.
    pub(super) fn fewest_gathered(&self) -> usize {
        let desks = self.0.iter().enumerate();
        let fewest = desks.min_by_key(|(_, desk)| desk.gathered.load(Ordering::Relaxed));
        fewest.map_or(0, |(worker, _)| worker)
    }

    /// Notes that one more is gathered there, or one less.
    pub(super) fn note_gathered(&self, worker: usize, is_more: bool) {
        if let Some(desk) = self.0.get(worker) {
            let change = if is_more { 1 } else { usize::MAX };
            desk.gathered.fetch_add(change, Ordering::Relaxed);
        }
    }

    /// Ends an operation of a host, who is out of the object again.
    pub(super) fn end<T>(&self, object: &Inner<T>, context: &Context) {
        let operations = &context.operations;
        let sampled = operations.end_sample(object.door.address());
        if sampled.is_none() && !operations.gives() {
            return;
        }
        let now = context.ahead.now();
        let is_time = sampled
            .is_some_and(|sampled| operations.note_over(over(object, sampled, now, context), now));
        if is_time || operations.gives() {
            self.settle(object, now, context);
        }
    }

    /// Has this worker's ledger told of the operations that are over, and gives the object away, if
    /// the worker has chosen that.
    #[inline(never)]
    fn settle<T>(&self, object: &Inner<T>, now: u64, context: &Context) {
        let me = context.seat.me();
        let Some(desk) = self.0.get(me) else {
            // Nobody keeps what it has sampled; there has to be room for more.
            drop(context.operations.tell(now));
            return;
        };
        let mut giving = lock(&desk.ledger);
        for Over { address, nanos, stays } in context.operations.tell(now) {
            giving.add(address, nanos * u64::from(sample::ONE_IN), stays);
        }
        let address = object.door.address();
        let to = giving.take(address).filter(|_| !object.stays());
        if giving.is_due(now) {
            giving.look(context.shared(), me, now);
        }
        if giving.has_any() {
            context.operations.watch(true);
        } else if context.operations.gives() {
            // They are given, or have waited for too long.
            context.operations.watch(false);
        }
        if let Some(to) = to {
            if object.move_home(me, to) {
                giving.note_moved();
            } else {
                // Another task is inside.
                giving.put_back((address, to));
            }
        }
    }

    /// The times of the hottest objects at each worker lately, the hottest first, of so many at
    /// most.
    pub(super) fn hottest(&self, most: usize) -> Vec<Vec<u64>> {
        let hottest = |desk: &CachePadded<Desk>| {
            let mut times: Vec<u64> =
                lock(&desk.ledger).heat().objects().map(|(_, nanos)| nanos).collect();
            times.sort_unstable_by(|one, other| other.cmp(one));
            times.truncate(most);
            times
        };
        self.0.iter().map(hottest).collect()
    }

    /// The time spent in objects at each worker lately, about, in nanoseconds.
    pub(super) fn heats(&self) -> Vec<u64> {
        self.0.iter().map(|desk| lock(&desk.ledger).heat().total()).collect()
    }

    /// How many objects each worker has given away.
    pub(super) fn moves(&self) -> Vec<u64> {
        self.0.iter().map(|desk| lock(&desk.ledger).moves()).collect()
    }
}

/// An operation that is over, as the ledger has to know it.
fn over<T>(object: &Inner<T>, sampled: Sampled, now: u64, context: &Context) -> Over {
    // What there is around it goes with it.
    let nanos = now.saturating_sub(sampled.began).max(context.seat.mean_poll());
    Over { address: object.door.address(), nanos, stays: object.stays() }
}

impl fmt::Debug for Ledgers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledgers").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn classes_are_gathered_where_the_fewest_are() {
        let ledgers = Ledgers::new(3);
        let mut gathered = Vec::new();
        for _ in 0..4 {
            gathered.push(ledgers.fewest_gathered());
            ledgers.note_gathered(ledgers.fewest_gathered(), true);
        }
        assert_eq!(gathered, [0, 1, 2, 0]);
        ledgers.note_gathered(1, false);
        assert_eq!(ledgers.fewest_gathered(), 1);
        assert_eq!(Ledgers::new(0).fewest_gathered(), 0);
    }
}
