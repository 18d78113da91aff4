//! The objects that a worker, their home, gives away.
//!
//! # Roles
//! The *host* looks once per [period](rebalance::PERIOD), at the end of a sampled operation,
//! whether it has too much to do, as [`rebalance`] says. Then it gives its hottest objects to its
//! *partner*, which has less: by itself, one after the other, each when its next operation is over.
//! No other worker changes the home of an object in use; the host reads from the other workers'
//! [meters](crate::processor::meter) what they have to do.
//!
//! # Steps
//! *Look*: compare the busy shares since the last look; choose objects by the [heat](Heat) that was
//! sampled, by their addresses, and the worker that gets them. *Give*: when a sampled operation on
//! a chosen object is over, its host [moves its home](super::door::Door::move_home). A hot object
//! is sampled often, so that is soon.
//!
//! # Why that is safe
//! An address is compared and never followed: the task that ends its operation holds the object. An
//! object that was dropped is not given, and a new one at its address moves for nothing, once.
//!
//! # Rejected
//! A list of its objects at each home: a million objects would be entered and removed for the sake
//! of a few. To hold what is to be given: its last owner would drop it here, later, and on this
//! worker. To wait some looks for an object that was chosen: one look to thirty-two are alike
//! (`evenkeel-bench run --bench directory,bank,histogram,graph --tasks-per-core 16 --runtime
//! home,automatic`).

use crate::policy::object::{Heat, per_mille, rebalance};
use crate::processor::meter::Reading;
use crate::processor::shared::Shared;

/// What one worker gives away.
#[derive(Debug, Default)]
pub(super) struct Giving {
    /// When to look next.
    next: u64,
    heat: Heat,
    /// What each worker had done at the last look.
    before: Vec<Reading>,
    /// The objects that are to be given away until the next look: the address and the receiving
    /// worker of each, in ascending order.
    given: Vec<(usize, usize)>,
    /// Objects that were given away since the last look.
    moved: u64,
    moves: u64,
}

impl Giving {
    /// Adds the time of an operation to the heat of its object. The object is given away if there
    /// is too much to do, unless it `stays`.
    pub(super) fn add(&mut self, address: usize, nanos: u64, stays: bool) {
        if stays {
            self.heat.rest(nanos);
        } else {
            self.heat.add(address as u64, nanos);
        }
    }

    /// Returns the recent heat of the objects.
    pub(super) fn heat(&self) -> &Heat {
        &self.heat
    }

    /// Returns the worker to which the object at this address is to be given, if it was chosen;
    /// once.
    pub(super) fn take(&mut self, address: usize) -> Option<usize> {
        let place = self.given.binary_search_by_key(&address, |&(address, _)| address).ok()?;
        self.heat.remove(address as u64);
        Some(self.given.remove(place).1)
    }

    /// Notes that the worker has given an object away.
    pub(super) fn note_moved(&mut self) {
        self.moved += 1;
        self.moves += 1;
    }

    /// Returns how many objects have been given to other workers.
    pub(super) fn moves(&self) -> u64 {
        self.moves
    }

    /// Whether it is time to look.
    pub(super) fn is_due(&self, now: u64) -> bool {
        now >= self.next
    }

    /// Looks whether the worker has too much to do, and chooses what to give away.
    pub(super) fn look(&mut self, shared: &Shared, me: usize, now: u64) {
        self.next = now.saturating_add(rebalance::PERIOD);
        let workers = &shared.processors[..shared.workers];
        let done = workers.iter().map(|processor| processor.meter.read(now)).collect();
        let before = std::mem::replace(&mut self.before, done);
        let since = |(now, before): (&Reading, &Reading)| {
            let [busy, idle] =
                [Reading::busy, Reading::idle].map(|part| part(now).saturating_sub(part(before)));
            (per_mille(busy, busy.saturating_add(idle)), busy)
        };
        // None at the first look.
        let (shares, busy): (Vec<u32>, Vec<u64>) =
            self.before.iter().zip(&before).map(since).unzip();
        let busy = busy.get(me).copied().unwrap_or_default();
        if std::mem::take(&mut self.moved) > 0 {
            // Not at each move: what was noted in between leads here, and from here on.
            shared.forget_whereabouts();
        }
        // What was before counts half, as it does in the heat.
        self.choose(&shares, me, self.heat.total().max(2 * busy));
        self.heat.age();
    }

    /// Chooses what to give away of a worker with this `heat` in all that it has run.
    fn choose(&mut self, shares: &[u32], me: usize, heat: u64) {
        self.given.clear();
        let Some(to) = rebalance::partner(shares, me) else { return };
        let mut objects: Vec<(u64, u64)> = self.heat.objects().collect();
        rebalance::give_away(shares[me], shares[to], heat, &mut objects, |object| {
            self.given.push((object as usize, to));
        });
        self.given.sort_unstable();
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_has_too_much_to_do_gives_half_of_the_gap() {
        let mut giving = Giving::default();
        for (object, nanos) in [(1, 20), (2, 20), (3, 30), (4, 30)] {
            giving.add(object, nanos, false);
        }
        giving.choose(&[1_000, 900], 0, 100);
        assert!(giving.given.is_empty(), "the gap is small");
        giving.choose(&[1_000, 0], 0, 100);
        assert_eq!(giving.given, [(1, 1), (3, 1)]);
        assert_eq!((giving.take(2), giving.take(3), giving.take(3)), (None, Some(1), None));
        assert_eq!(giving.given, [(1, 1)]);
        giving.choose(&[1_000, 0], 1, 100);
        assert!(giving.given.is_empty(), "the idlest gives nothing");
    }

    #[test]
    fn what_stays_is_never_given() {
        let mut giving = Giving::default();
        (1..=4).for_each(|object| giving.add(object, 10, true));
        giving.choose(&[1_000, 0], 0, 40);
        assert!(giving.given.is_empty());
        assert_eq!(giving.heat().total(), 40);
    }
}
