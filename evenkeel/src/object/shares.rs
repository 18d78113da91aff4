//! What each worker has done with a class, and has learnt of it: on lines of its own, which it alone writes.

use crate::policy::object::breadth::Recent;
use crate::policy::object::pace::{are_long, pace};
use crate::policy::object::{Gather, Sharing};
use crate::primitives::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use crate::primitives::{Mutex, lock};
use crate::scheduler::operations::TURN;
use crossbeam_utils::CachePadded;
use std::fmt;

/// Looks at the clock in a row after which operations are [long](are_long) that were not, or the reverse: between two looks the worker may have done something else. An estimate; no benchmark sets it.
const DOUBTS: u32 = 3;

/// That of each worker, and of the relief.
pub(super) struct Shares(Box<[CachePadded<Share>]>);

/// That of one.
#[derive(Default)]
struct Share {
    /// Operations, in steps of [`TURN`].
    operations: AtomicU64,
    /// How often the class had turned to be entered at homes when the worker last looked at all operations, so that their objects get theirs.
    turns: AtomicU64,
    /// What those in place have taken that were sampled.
    sharing: Mutex<Sharing>,
    /// The objects of those that counted others with them.
    recent: Mutex<Recent>,
    /// Sampled operations at home, and how long they have taken. Who reads them between the two is off by one.
    at_home: AtomicU64,
    inside: AtomicU64,
    /// When it has last looked at the clock, how many [`TURN`]s it then meant to count until the next look, and how many of them are left.
    looked: AtomicU64,
    pace: AtomicU32,
    left: AtomicU32,
    /// Whether operations are long, how many looks in a row have said otherwise, and how often it has changed.
    are_long: AtomicBool,
    doubts: AtomicU32,
    changes: AtomicU32,
}

impl Share {
    fn inside(&self) -> Gather {
        let load = |of: &AtomicU64| of.load(Ordering::Relaxed);
        Gather { operations: load(&self.at_home), inside: load(&self.inside) }
    }
}

impl Shares {
    /// Those of so many processors.
    pub(super) fn new(processors: usize) -> Self {
        Self((0..processors).map(|_| CachePadded::default()).collect())
    }

    /// Operations so far, about.
    pub(super) fn operations(&self) -> u64 {
        self.0.iter().map(|share| share.operations.load(Ordering::Relaxed)).sum()
    }

    /// Counts [`TURN`] operations of processor `me`, of which one was on the object at this address. True if it is to [look](Self::note_look) at the clock.
    pub(super) fn count(&self, me: usize, address: usize) -> bool {
        let Some(share) = self.0.get(me) else { return false };
        let count = share.operations.load(Ordering::Relaxed) + u64::from(TURN);
        share.operations.store(count, Ordering::Relaxed);
        lock(&share.recent).look(address as u64);
        let left = share.left.load(Ordering::Relaxed).saturating_sub(1);
        share.left.store(left, Ordering::Relaxed);
        left == 0
    }

    /// Notes that processor `me` has looked at the clock, for the sake of steps that are so far apart.
    pub(super) fn note_look(&self, me: usize, now: u64, step: u64) {
        let Some(share) = self.0.get(me) else { return };
        let passed = now.saturating_sub(share.looked.load(Ordering::Relaxed));
        let turns = pace(passed, share.pace.load(Ordering::Relaxed), step);
        share.looked.store(now, Ordering::Relaxed);
        share.pace.store(turns, Ordering::Relaxed);
        share.left.store(turns, Ordering::Relaxed);
        let were_long = share.are_long.load(Ordering::Relaxed);
        let is_doubted = are_long(turns, were_long) != were_long;
        let doubts = if is_doubted { share.doubts.load(Ordering::Relaxed) + 1 } else { 0 };
        share.doubts.store(doubts % DOUBTS, Ordering::Relaxed);
        if doubts == DOUBTS {
            share.are_long.store(!were_long, Ordering::Relaxed);
            let changes = share.changes.load(Ordering::Relaxed).wrapping_add(1);
            share.changes.store(changes, Ordering::Relaxed);
        }
    }

    /// A number that changes whenever a worker begins to look at more operations than before, or at fewer.
    pub(super) fn changes(&self) -> u32 {
        let changes = self.0.iter().map(|share| share.changes.load(Ordering::Relaxed));
        changes.fold(0, u32::wrapping_add)
    }

    /// Looks at an operation of processor `me` on the object at this address, if operations are [long](are_long) there.
    pub(super) fn look(&self, me: usize, address: usize) {
        let Some(share) = self.0.get(me) else { return };
        if share.are_long.load(Ordering::Relaxed) {
            lock(&share.recent).look(address as u64);
        }
    }

    /// How many of them all workers have [looked at](Recent::seen), and how many were on objects that they had seen before.
    pub(super) fn seen(&self) -> (u64, u64) {
        let seen = self.0.iter().map(|share| lock(&share.recent).seen());
        seen.fold((0, 0), |sum, seen| (sum.0 + seen.0, sum.1 + seen.1))
    }

    /// Whether processor `me` hears for the first time that the class has turned to be entered at homes so often.
    pub(super) fn hears_of(&self, me: usize, turns: u64) -> bool {
        self.0.get(me).is_some_and(|share| {
            let has_turned = share.turns.load(Ordering::Relaxed) != turns;
            if has_turned {
                share.turns.store(turns, Ordering::Relaxed);
            }
            has_turned
        })
    }

    /// Adds an operation in place that processor `me` has sampled, and that followed another
    /// worker's, or one of the same.
    pub(super) fn learn(&self, me: usize, follows_another: bool, nanos: u64) {
        if let Some(share) = self.0.get(me) {
            lock(&share.sharing).add(follows_another, nanos);
        }
    }

    /// What all of them have learnt.
    pub(super) fn sharing(&self) -> Sharing {
        let mut sum = Sharing::default();
        self.0.iter().for_each(|share| sum.merge(&lock(&share.sharing)));
        sum
    }

    /// Forgets what they have learnt.
    pub(super) fn forget(&self) {
        self.0.iter().for_each(|share| *lock(&share.sharing) = Sharing::default());
    }

    /// Begins a period of what they learn.
    pub(super) fn age(&self) {
        self.0.iter().for_each(|share| lock(&share.sharing).age());
    }

    /// Takes an operation at home into account that has taken processor `me` so many nanoseconds.
    pub(super) fn note_inside(&self, me: usize, nanos: u64) {
        if let Some(share) = self.0.get(me) {
            let mut gather = share.inside();
            gather.add(nanos);
            share.at_home.store(gather.operations, Ordering::Relaxed);
            share.inside.store(gather.inside, Ordering::Relaxed);
        }
    }

    /// How long those of all workers have taken.
    pub(super) fn inside(&self) -> Gather {
        let mut sum = Gather::default();
        self.0.iter().for_each(|share| sum.merge(&share.inside()));
        sum
    }
}

impl fmt::Debug for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shares").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::object::{Object, Placement};
    use crate::policy::object::pace::MOST;
    use crate::{Builder, spawn};
    use std::time::{Duration, Instant};

    /// Turns until the clock is looked at, that one among them.
    fn turns(shares: &Shares) -> u32 {
        1 + (0..100).take_while(|_| !shares.count(0, 0x1000)).count() as u32
    }

    #[test]
    fn the_clock_is_looked_at_as_often_as_turns_are_long() {
        const STEP: u64 = 100_000;
        let shares = Shares::new(1);
        assert_eq!(turns(&shares), 1, "nobody knows how long they are");
        shares.note_look(0, 5_000_000_000, STEP);
        assert_eq!(turns(&shares), 1, "that was long ago");
        shares.note_look(0, 5_000_000_800, STEP);
        assert_eq!(turns(&shares), MOST);
        shares.note_look(0, 5_000_000_800 + u64::from(MOST) * 5_000, STEP);
        assert_eq!(turns(&shares), 5);
        shares.note_look(0, 6_000_000_000, STEP);
        assert_eq!(turns(&shares), 1, "others have run in between");
        assert!(!shares.count(7, 0x1000), "that is no worker of it");
        assert_eq!(shares.operations(), u64::from(TURN) * u64::from(1 + 1 + MOST + 5 + 1));
    }

    #[test]
    fn more_operations_are_looked_at_where_they_are_long() {
        let shares = Shares::new(1);
        shares.note_look(0, 1_000, 100_000);
        shares.note_look(0, 1_800, 100_000);
        shares.look(0, 0x1000);
        assert_eq!(shares.seen(), (0, 0), "they are short");
        let changes = shares.changes();
        for look in 1..=20 {
            shares.note_look(0, look * 1_000_000, 100_000);
            shares.note_look(0, look * 1_000_000 + 800, 100_000);
        }
        shares.look(0, 0x1000);
        assert_eq!((shares.seen(), shares.changes()), ((0, 0), changes), "it is not always here");
        (21..24).for_each(|look| shares.note_look(0, look * 1_000_000, 100_000));
        assert_ne!(shares.changes(), changes);
        (0..3).for_each(|_| shares.look(0, 0x1000));
        assert_eq!(shares.seen(), (3, 2));
        shares.look(7, 0x1000);
        assert_eq!(shares.seen(), (3, 2), "that is no worker of it");
    }

    #[test]
    fn operations_in_place_that_are_long_are_looked_at_and_others_are_not() {
        let run = |placement, inside: Duration| {
            let runtime = Builder::new().workers(1).build().unwrap();
            runtime.block_on(async move {
                spawn(async move {
                    let object = Object::new(()).placed("looked at", placement);
                    for _ in 0..100 * TURN {
                        let spin = || {
                            let start = Instant::now();
                            while start.elapsed() < inside {}
                        };
                        object.with(|()| spin()).await.unwrap();
                    }
                    let shares = &object.inner.class.steering.shares;
                    (shares.seen().0, shares.operations() / u64::from(TURN))
                })
                .await
                .unwrap()
            })
        };
        let (looks, turns) = run(Placement::Automatic, Duration::from_micros(1));
        assert!(looks > 2 * turns, "{looks} in {turns} turns");
        let (looks, turns) = run(Placement::InPlace, Duration::from_micros(1));
        assert_eq!(looks, turns, "what they say would be of no use");
    }

    #[test]
    fn what_was_learnt_is_forgotten() {
        let shares = Shares::new(1);
        (0..100).for_each(|_| lock(&shares.0[0].sharing).add(true, 500));
        assert_eq!(shares.sharing().samples(), 100);
        shares.forget();
        assert_eq!(shares.sharing().samples(), 0);
    }
}
