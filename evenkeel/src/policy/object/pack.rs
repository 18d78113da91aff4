//! Which object has its home on which core: greedy first fit by heat into what the caches hold.
//!
//! Objects are taken in the order of the time that is spent in them per byte, so that if not all of them fit, the most used are those that have a
//! home, and replace others; what does not fit stays in place. Each goes to the first core that has room for it, in bytes and in
//! heat: a core that has its share of all heat takes no more as long as another has less. CoreTime packs by bytes alone, and repairs at run time
//! what that makes of several popular objects. Objects of one cluster are packed as one, because whoever uses one of them uses the
//! others. *O*(*n* log *n*) for *n* objects, and a factor of the logarithm of the number of cores.

use std::cmp::Reverse;

/// Where an object is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Place {
    /// In place.
    #[default]
    Nowhere,
    /// At home at a core, which it keeps if it still belongs to those that have a home: to move it is for [rebalancing](super::rebalance()).
    At(usize),
    /// At home at a core for ever, because the caller has said so.
    Pinned(usize),
}

/// An object, or something like it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// The time that is spent in it, in any unit.
    pub heat: u64,
    /// Its size.
    pub bytes: u64,
    /// Objects with the same number belong together.
    pub cluster: Option<u32>,
    /// Where it is now.
    pub place: Place,
}

/// Gives each item a core, or none. `budgets` are the bytes that the cores' caches hold ([`Caches::budget`](super::Caches::budget)). Items
/// pinned to a core that does not exist have none.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::{Item, Place, pack};
/// let item = |heat, bytes| Item { heat, bytes, ..Item::default() };
/// let items = [item(1, 60), item(9, 60), item(8, 60), Item { place: Place::Pinned(1), ..item(0, 50) }];
/// assert_eq!(pack(&items, &[100, 120]), [None, Some(0), Some(1), Some(1)]);
/// ```
#[must_use]
pub fn pack(items: &[Item], budgets: &[u64]) -> Vec<Option<usize>> {
    let mut groups = groups(items);
    let total: u64 = items.iter().fold(0, |sum, item| sum.saturating_add(item.heat));
    let share = total.div_ceil(budgets.len().max(1) as u64);
    let mut cores = Cores::new(budgets, share);
    let mut homes = vec![None; items.len()];
    for group in groups.iter_mut().filter(|group| group.is_pinned) {
        let pinned = group.at.filter(|&core| core < budgets.len());
        group.at = pinned;
        if let Some(core) = pinned {
            cores.take(core, group);
        }
        group.members.iter().for_each(|&member| homes[member] = pinned);
    }
    groups.retain(|group| !group.is_pinned);
    groups.sort_by_key(Group::order);
    let mut left = Vec::new();
    for group in &groups {
        let stays = group.at.filter(|&core| cores.fits(core, group.bytes));
        match stays.or_else(|| cores.first(group.bytes)) {
            Some(core) => {
                cores.take(core, group);
                group.members.iter().for_each(|&member| homes[member] = Some(core));
            }
            None => left.push(group),
        }
    }
    // There may be room on cores that have their share of heat.
    cores.share = u64::MAX;
    cores.reopen();
    for group in left {
        if let Some(core) = cores.first(group.bytes) {
            cores.take(core, group);
            group.members.iter().for_each(|&member| homes[member] = Some(core));
        }
    }
    homes
}

/// Items that are packed as one.
#[derive(Default)]
struct Group {
    members: Vec<usize>,
    heat: u64,
    bytes: u64,
    at: Option<usize>,
    is_pinned: bool,
}

impl Group {
    fn add(&mut self, member: usize, item: &Item) {
        self.members.push(member);
        self.heat = self.heat.saturating_add(item.heat);
        self.bytes = self.bytes.saturating_add(item.bytes);
        match item.place {
            Place::Nowhere => {}
            // One that is pinned takes the others of its cluster with it.
            Place::Pinned(core) => (self.at, self.is_pinned) = (Some(core), true),
            Place::At(core) => self.at = self.at.or(Some(core)),
        }
    }

    /// The hottest per byte first, those with a home before others that are alike, and then as they were given.
    fn order(&self) -> (Reverse<u128>, bool, usize) {
        let per_byte = (u128::from(self.heat) << 32) / u128::from(self.bytes.max(1));
        (Reverse(per_byte), self.at.is_none(), self.members[0])
    }
}

fn groups(items: &[Item]) -> Vec<Group> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    // Those of a cluster side by side, and those without one at the end.
    order.sort_by_key(|&index| items[index].cluster.map_or(u64::MAX, u64::from));
    let mut groups: Vec<Group> = Vec::new();
    let mut last = None;
    for index in order {
        let item = &items[index];
        if item.cluster.is_none() || item.cluster != last {
            groups.push(Group::default());
        }
        last = item.cluster;
        if let Some(group) = groups.last_mut() {
            group.add(index, item);
        }
    }
    groups
}

/// What is left of the cores' budgets, and above it a tree of maxima, in which the first core with room is found in logarithmic time.
struct Cores {
    /// The node 1 is the root; the children of `n` are `2n` and `2n + 1`. A core without room for anything has nothing, others one more than what is left.
    most: Vec<u64>,
    leaves: usize,
    left: Vec<u64>,
    heat: Vec<u64>,
    share: u64,
}

impl Cores {
    fn new(budgets: &[u64], share: u64) -> Self {
        let leaves = budgets.len().next_power_of_two();
        let heat = vec![0; budgets.len()];
        let mut cores =
            Self { most: vec![0; 2 * leaves], leaves, left: budgets.to_vec(), heat, share };
        cores.reopen();
        cores
    }

    /// Has every core take what it has room for.
    fn reopen(&mut self) {
        for core in 0..self.left.len() {
            self.set(core, self.left[core].saturating_add(1));
        }
    }

    fn fits(&self, core: usize, bytes: u64) -> bool {
        self.left.get(core).is_some_and(|&left| left >= bytes)
    }

    fn first(&self, bytes: u64) -> Option<usize> {
        let has_room = |node: usize| self.most[node] > bytes;
        if !has_room(1) {
            return None;
        }
        let mut node = 1;
        while node < self.leaves {
            node = if has_room(2 * node) { 2 * node } else { 2 * node + 1 };
        }
        Some(node - self.leaves)
    }

    fn take(&mut self, core: usize, group: &Group) {
        self.left[core] = self.left[core].saturating_sub(group.bytes);
        self.heat[core] = self.heat[core].saturating_add(group.heat);
        let is_open = self.heat[core] < self.share || self.share == 0;
        self.set(core, if is_open { self.left[core].saturating_add(1) } else { 0 });
    }

    fn set(&mut self, core: usize, room: u64) {
        let mut node = self.leaves + core;
        self.most[node] = room;
        while node > 1 {
            node /= 2;
            self.most[node] = self.most[2 * node].max(self.most[2 * node + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(heat: u64, bytes: u64) -> Item {
        Item { heat, bytes, ..Item::default() }
    }

    fn at(place: Place, item: Item) -> Item {
        Item { place, ..item }
    }

    #[test]
    fn items_that_are_alike_are_dealt_out_evenly() {
        let homes = pack(&[item(10, 32_000); 64], &[640 << 10; 16]);
        for core in 0..16 {
            assert_eq!(homes.iter().filter(|&&home| home == Some(core)).count(), 4, "{core}");
        }
    }

    #[test]
    fn no_budget_is_exceeded_and_the_most_used_stay() {
        let items: Vec<Item> = (0..1_000).map(|n| item(n * 7 % 1_000, 10 + n % 90)).collect();
        let budgets = [1_000; 8];
        let homes = pack(&items, &budgets);
        for core in 0..8 {
            let of = items.iter().zip(&homes).filter(|(_, home)| **home == Some(core));
            assert!(of.map(|(item, _)| item.bytes).sum::<u64>() <= 1_000);
        }
        let heat = |kept: bool| {
            let of = items.iter().zip(&homes).filter(|(_, home)| home.is_some() == kept);
            let (heat, bytes) = of.fold((0, 0), |sum, (i, _)| (sum.0 + i.heat, sum.1 + i.bytes));
            heat as f64 / bytes as f64
        };
        assert!(heat(true) > 2.0 * heat(false));
    }

    #[test]
    fn room_on_cores_that_have_their_share_of_heat_is_not_left_empty() {
        assert_eq!(pack(&[item(100, 10), item(1, 80)], &[100, 50]), [Some(0), Some(0)]);
        let one_hot = [[item(100, 10)].as_slice(), &[item(0, 10); 9]].concat();
        assert_eq!(pack(&one_hot, &[100]), [Some(0); 10]);
    }

    #[test]
    fn those_with_a_home_keep_it_until_hotter_ones_need_the_room() {
        let old = at(Place::At(1), item(5, 60));
        assert_eq!(pack(&[old, item(5, 60)], &[100, 100]), [Some(1), Some(0)]);
        assert_eq!(pack(&[old, item(6, 60)], &[0, 100]), [None, Some(1)]);
    }

    #[test]
    fn clusters_stay_together_and_follow_those_that_are_pinned() {
        let of = |cluster, item| Item { cluster: Some(cluster), ..item };
        let items = [of(7, item(1, 50)), item(9, 60), of(7, item(1, 40)), of(3, item(0, 5))];
        let homes = pack(&items, &[100, 100]);
        assert_eq!(homes, [Some(1), Some(0), Some(1), Some(1)]);
        let pinned = [of(7, item(1, 50)), of(7, at(Place::Pinned(2), item(0, 900)))];
        assert_eq!(pack(&pinned, &[100; 3]), [Some(2), Some(2)]);
    }

    #[test]
    fn nothing_to_pack_nowhere_to_go_and_sizes_at_the_ends() {
        assert_eq!(pack(&[], &[1]), []);
        assert_eq!(pack(&[item(1, 1)], &[]), [None]);
        assert_eq!(pack(&[at(Place::Pinned(3), item(1, 0))], &[9]), [None]);
        assert_eq!(pack(&[item(0, 0), item(1, u64::MAX - 1)], &[0, u64::MAX]), [Some(0), Some(1)]);
        assert_eq!(pack(&[at(Place::At(9), item(1, 1))], &[9]), [Some(0)]);
    }
}
