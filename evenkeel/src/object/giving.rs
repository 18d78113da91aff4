//! What a worker gives away of the objects whose home it is.
//!
//! # Roles
//! The *host* looks once per [period](rebalance::PERIOD) whether it has too much to do, as
//! [`rebalance()`] says. Then it gives its hottest objects to the idlest of the others: by itself, one after the other, each when its next operation is over. Nobody else
//! changes the home of an object in use, but a [plan](super::plan) may wish for it; what the others have to do it reads from their [meters](crate::scheduler::meter).
//!
//! # Steps
//! *Look*: compare the busy shares since the last look; choose objects by the [heat](Heat) that was sampled, by their addresses, and the worker that gets them. *Give*: an operation at home that is over looks, while any are
//! to be given, whether its object is one, and [moves its home](super::door::Door::move_home).
//!
//! # Why that is safe
//! An address is compared and never followed: whoever gives an object away holds it. One that was dropped is not given, and one that has its address since moves for nothing, once.
//!
//! # Rejected
//! A list of its objects at each home: a million objects would be entered and removed for the sake of a few. To hold what is to be given: its last owner would drop it
//! here, later, and on this worker.

use super::class::Class;
use super::dealing::Deal;
use super::inner::Inner;
use crate::policy::object::{Heat, per_mille, rebalance};
use crate::scheduler::context::Context;
use crate::scheduler::meter::Reading;
use crate::scheduler::shared::Shared;

/// Looks for which an object that is to be given away is waited for. An estimate; no benchmark sets it.
const LOOKS: u32 = 8;

/// An object that is to be given away: its address, and to whom, or to nobody.
pub(super) type Gift = (usize, Option<usize>);

/// What one worker gives away.
#[derive(Default)]
pub(super) struct Giving {
    /// When to look next.
    next: u64,
    /// With whether an object stays whatever there is to do elsewhere.
    heat: Heat<bool>,
    /// What each worker had done at the last look.
    before: Vec<Done>,
    /// The objects that are to be given away, in ascending order, and for how many looks more.
    given: Vec<Gift>,
    looks: u32,
    /// Those that a plan has packed as one.
    groups: Vec<Vec<u64>>,
    /// Objects that were given away since the last look.
    moved: u64,
    moves: u64,
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

impl Giving {
    /// Adds the time of an operation to the heat of its object, which is given away if there is too much to do, or `stays`, for now or, `pinned`, for ever.
    pub(super) fn add(&mut self, address: usize, nanos: u64, pinned: bool, stays: bool) {
        if pinned {
            self.heat.rest(nanos);
        } else {
            self.heat.add(address as u64, nanos, stays);
        }
    }

    /// What was sampled of the objects lately.
    pub(super) fn heat(&self) -> &Heat<bool> {
        &self.heat
    }

    /// Says whom the object at this address is to be given to, if it is to be given away; once.
    pub(super) fn take(&mut self, address: usize) -> Option<Gift> {
        let place = self.given.binary_search_by_key(&address, |&(address, _)| address).ok()?;
        self.heat.remove(address as u64);
        Some(self.given.remove(place))
    }

    /// Takes one back that could not be given away just now.
    pub(super) fn put_back(&mut self, gift: Gift) {
        if let Err(place) = self.given.binary_search(&gift) {
            self.given.insert(place, gift);
        }
    }

    /// Whether any are to be given away.
    pub(super) fn has_any(&self) -> bool {
        !self.given.is_empty()
    }

    /// Notes that one has been given away, to a worker or to none.
    pub(super) fn note_moved(&mut self, to: Option<usize>) {
        self.moved += 1;
        self.moves += u64::from(to.is_some());
    }

    /// Forgets the object at this address, which is another worker's now for another reason than heat.
    pub(super) fn forget(&mut self, address: usize) {
        let _ = self.take(address);
        self.heat.remove(address as u64);
    }

    /// How many have been given to workers.
    pub(super) fn moves(&self) -> u64 {
        self.moves
    }

    /// Whether it is time to look.
    pub(super) fn is_due(&self, now: u64) -> bool {
        now >= self.next
    }

    /// What is to be given away.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(super) fn given(&self) -> &[Gift] {
        &self.given
    }

    /// Has these objects given away, as a plan says, in which those of each group are packed as one.
    pub(super) fn give(&mut self, given: Vec<Gift>, groups: Vec<Vec<u64>>) {
        (self.looks, self.groups) = (LOOKS, groups);
        self.given.extend(given);
        self.given.sort_unstable();
        // What a look has chosen before is as good.
        self.given.dedup_by_key(|(address, _)| *address);
    }

    /// Looks who has too much to do, and chooses what to give away.
    pub(super) fn look(&mut self, shared: &Shared, me: usize, now: u64) {
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
        let Some(gap) = rebalance::worth(shares[me], share, heat) else { return };
        let may_go = self.heat.objects().filter(|&(_, _, stays)| !stays);
        let mut objects: Vec<(u64, u64)> =
            may_go.map(|(object, nanos, _)| (object, nanos)).collect();
        // One that could not be given as it is comes apart.
        self.groups.retain(|group| fold(&mut objects, group, rebalance::most(gap)));
        let (given, groups) = (&mut self.given, &self.groups);
        rebalance::give_away(shares[me], share, heat, &mut objects, |object| {
            // Those that are used together go together.
            match groups.iter().find(|group| group[0] == object) {
                Some(group) => given.extend(group.iter().map(|&one| (one as usize, Some(idlest)))),
                None => given.push((object as usize, Some(idlest))),
            }
        });
        given.sort_unstable();
        self.looks = LOOKS;
    }
}

/// Adds what is spent in the objects of a group to the first of them, in whose place all of them are, unless it is more than so much; false if it is.
fn fold(objects: &mut Vec<(u64, u64)>, group: &[u64], most: u64) -> bool {
    let is_in = |&(object, _): &(u64, u64)| group.contains(&object);
    let sum =
        objects.iter().filter(|of| is_in(of)).fold(0, |sum: u64, of| sum.saturating_add(of.1));
    if sum > most {
        return false;
    }
    objects.retain(|of| !is_in(of));
    if sum > 0 {
        objects.push((group[0], sum));
    }
    true
}

impl<T> Inner<T> {
    /// The worker to which this one is to give an object whose class is [dealt](super::dealing) in another way now.
    #[inline]
    pub(super) fn dealt_to(&self, context: &Context) -> Option<Deal> {
        if self.is_pinned() {
            return None;
        }
        self.class.dealing().of(context.seat.me(), self.door.address())
    }

    /// Gives an object that nobody is inside of to another worker, or to none. The caller is its host.
    pub(super) fn move_home(&self, context: &Context, to: Option<usize>) -> bool {
        let class: &Class = &self.class;
        let from = self.door.home();
        // An object without a home is for classes that need not have any.
        // Before anybody finds it there, who may uncharge it.
        let bytes = self.size();
        class.charge(to, bytes);
        let moved = from == Some(context.seat.me()) && self.door.move_home(from, to);
        class.uncharge(if moved { from } else { to }, bytes);
        moved
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_one_unless_it_is_most_of_the_work() {
        let mut objects = vec![(1, 10), (2, 20), (3, 30), (4, 40)];
        assert!(fold(&mut objects, &[2, 3], 50));
        assert_eq!(objects, [(1, 10), (4, 40), (2, 50)]);
        assert!(!fold(&mut objects, &[1, 4], 49));
        assert!(fold(&mut objects, &[8, 9], 0), "nobody uses them");
        assert_eq!(objects, [(1, 10), (4, 40), (2, 50)]);
    }

    #[test]
    fn whoever_has_too_much_to_do_gives_half_of_the_gap_and_groups_as_one_or_apart() {
        let mut giving = Giving::default();
        for (object, nanos) in [(1, 20), (2, 20), (3, 30), (4, 30)] {
            giving.add(object, nanos, false, false);
        }
        giving.choose(&[1_000, 900], 0, 100);
        assert!(giving.given().is_empty(), "the gap is small");
        giving.groups = vec![vec![1, 2]];
        giving.choose(&[1_000, 0], 0, 100);
        assert_eq!(giving.given(), [(1, Some(1)), (2, Some(1))], "the hottest two");
        giving.groups = vec![vec![1, 2, 3, 4]];
        giving.choose(&[1_000, 0], 0, 100);
        assert_eq!(giving.given(), [(1, Some(1)), (3, Some(1))]);
        assert!(giving.groups.is_empty(), "all of the work can't go");
        giving.choose(&[1_000, 0], 1, 100);
        assert!(giving.given().is_empty(), "the idlest gives nothing");
        (1..=4).for_each(|object| giving.add(object, 1, false, true));
        giving.choose(&[1_000, 0], 0, 100);
        assert!(giving.given().is_empty(), "they stay");
    }
}
