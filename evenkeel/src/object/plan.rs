//! Who has its home where, among all objects that are in use: the plan of a runtime.
//!
//! # Roles
//! Once per [period](plan::PERIOD) one of those who count operations *plans*: it reads what the [ledgers](super::ledger) of all say, [`policy`](plan()) says what is to change, and it leaves each change with the ledger of the object's host, or,
//! of objects without a home, where all look who would give them one.
//!
//! # Why nothing is lost
//! A plan is a wish. Hosts carry it out as they give objects away, each when an operation on it is over; and what was planned by an address that is another object's by now moves that one for nothing, once. What has not come to
//! pass within [some looks](super::giving) is forgotten.
//!
//! # Rejected
//! To pack where an object finds no room, by whoever uses it: all that look at once would sort the same.

use super::ledger::{Ledger, Ledgers, Noted, Standing};
use crate::policy::object::plan::{self, Known, PAIRS, Plan, TOGETHER, plan};
use crate::policy::object::{Pairs, Place};
use crate::primitives::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::primitives::{Mutex, lock};

/// What is left of the last plan, and when to make the next one.
#[derive(Default)]
pub(super) struct Planning {
    next: AtomicU64,
    /// Whether there is not room for all objects that are worth a home: who has none gets one only if the plan says so.
    is_crowded: AtomicBool,
    /// Addresses of objects without a home, in ascending order, and the workers that are to be their homes.
    granted: Mutex<Vec<(usize, usize)>>,
}

impl Planning {
    /// Whether there is not room for all.
    pub(super) fn is_crowded(&self) -> bool {
        self.is_crowded.load(Ordering::Relaxed)
    }

    /// The worker that is to be the home of the object at this address, which has none.
    pub(super) fn granted(&self, address: usize) -> Option<usize> {
        let granted = lock(&self.granted);
        let place = granted.binary_search_by_key(&address, |&(address, _)| address).ok()?;
        Some(granted[place].1)
    }

    /// Whether it is time, and the caller's turn, to plan.
    fn is_due(&self, now: u64) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        let after = now.saturating_add(plan::PERIOD);
        now >= next
            && self.next.compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

impl Ledgers {
    /// Plans, if it is time, for workers whose parts of the caches hold so many bytes. The caller is inside of nothing.
    pub(super) fn plan_if_due(&self, now: u64, budget: u64) {
        if self.planning().is_due(now) {
            self.plan(budget);
        }
    }

    #[cold]
    fn plan(&self, budget: u64) {
        let (mut known, mut groups) = (Vec::new(), Vec::new());
        for (worker, desk) in self.desks().enumerate() {
            let mut ledger = lock(desk);
            known.extend(ledger.known(worker));
            groups.extend(together(&ledger.pairs));
            ledger.used.age();
            ledger.pairs.age();
        }
        let budgets = vec![budget; self.desks().count()];
        let Plan { steps, is_crowded, groups } = plan(&known, &groups, &budgets);
        for (worker, desk) in self.desks().enumerate() {
            self.note_in_use(worker, &known);
            let own = steps.iter().filter(|step| step.from == Some(worker));
            let own = own.map(|step| (step.object as usize, step.to));
            lock(desk).giving.give(own.collect(), groups.clone());
        }
        let granted = steps.iter().filter(|step| step.from.is_none());
        let granted = granted.filter_map(|step| Some((step.object as usize, step.to?)));
        let planning = self.planning();
        *lock(&planning.granted) = granted.collect();
        planning.is_crowded.store(is_crowded, Ordering::Relaxed);
    }
}

impl Ledger {
    /// What worker `me`, whose ledger it is, has used.
    fn known(&self, me: usize) -> impl Iterator<Item = Known> {
        self.used.objects().filter_map(move |(object, heat, Noted { bytes, standing })| {
            let place = match standing {
                Standing::InPlace => return None,
                Standing::Wanting => Place::Nowhere,
                Standing::AtHome => Place::At(me),
                Standing::Fixed => Place::Pinned(me),
            };
            Some(Known { object, heat, bytes: u64::from(bytes), place })
        })
    }
}

/// The objects that one worker has seen to be used together.
fn together(pairs: &Pairs) -> Vec<Vec<u64>> {
    pairs.groups((pairs.total() / TOGETHER).max(PAIRS))
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::object::giving::Gift;

    fn noted(bytes: u32, standing: Standing) -> Noted {
        Noted { bytes, standing }
    }

    fn ledgers(used: [&[(u64, u64, Noted)]; 2]) -> Ledgers {
        let ledgers = Ledgers::new(2);
        for (desk, used) in ledgers.desks().zip(used) {
            used.iter().for_each(|&(object, heat, noted)| lock(desk).used.add(object, heat, noted));
        }
        ledgers
    }

    fn given(ledgers: &Ledgers) -> Vec<Vec<Gift>> {
        ledgers.desks().map(|desk| lock(desk).giving.given().to_vec()).collect()
    }

    #[test]
    fn the_most_used_get_the_room_of_others() {
        let (home, wanting) = (noted(60, Standing::AtHome), noted(60, Standing::Wanting));
        let ledgers = ledgers([
            &[(0x100, 10, home), (0x300, 50, wanting)],
            &[(0x200, 40, home), (0x300, 50, wanting), (0x400, 90, noted(60, Standing::InPlace))],
        ]);
        ledgers.plan(100);
        assert_eq!(given(&ledgers), [vec![(0x100, None)], vec![]]);
        let planning = ledgers.planning();
        assert!(planning.is_crowded());
        assert_eq!((planning.granted(0x300), planning.granted(0x400)), (Some(0), None));
        ledgers.plan(1_000);
        assert!(!planning.is_crowded(), "there is room for all");
        assert!(planning.granted(0x300).is_some());
        assert_eq!([ledgers.in_use(0), ledgers.in_use(1)], [0, 0], "nothing was charged");
    }

    #[test]
    fn what_is_used_together_comes_together() {
        let home = noted(60, Standing::AtHome);
        let used = [&[(0x100, 100, home), (0x300, 900, home)][..], &[(0x200, 100, home)]];
        let ledgers = ledgers(used);
        let first = ledgers.desks().next().expect("there are two");
        (0..100).for_each(|_| lock(first).pairs.add(0x200, 0x100));
        (0..100).for_each(|n| lock(first).pairs.add(0x300, 0x1_000 + n));
        ledgers.plan(1_000);
        assert_eq!(given(&ledgers), [vec![], vec![(0x200, Some(0))]]);
    }

    #[test]
    fn an_object_whose_home_is_fixed_takes_room_and_stays() {
        let used = [
            &[(0x100, 1, noted(90, Standing::Fixed)), (0x200, 99, noted(60, Standing::AtHome))][..],
            &[],
        ];
        let ledgers = ledgers(used);
        ledgers.plan(100);
        assert_eq!(given(&ledgers), [vec![(0x200, Some(1))], vec![]]);
    }

    #[test]
    fn homes_that_nobody_uses_take_no_room() {
        let ledgers = ledgers([&[(0x100, 1, noted(60, Standing::AtHome))], &[]]);
        // Another one of 500 bytes is there.
        ledgers.bytes(0).expect("there are two").store(560, Ordering::Relaxed);
        assert_eq!(ledgers.in_use(0), 560);
        ledgers.plan(100);
        assert_eq!(ledgers.in_use(0), 60);
        ledgers.bytes(0).expect("there are two").store(0, Ordering::Relaxed);
        assert_eq!(ledgers.in_use(0), 0);
    }

    #[test]
    fn one_plans_once_per_period() {
        let planning = Planning::default();
        assert!(planning.is_due(5) && !planning.is_due(5));
        assert!(!planning.is_due(5 + plan::PERIOD - 1) && planning.is_due(5 + plan::PERIOD));
    }
}
