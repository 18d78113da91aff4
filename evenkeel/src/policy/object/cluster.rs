//! Which objects are used together, so that they should have one home.
//!
//! A task that uses two objects one after the other makes a pair. The pairs that occur most are kept in a table of fixed size by the
//! *space-saving* algorithm: a pair that is not in it replaces the rarest and inherits its count. Whatever occurs more often than one time in [`SIZE`] is in it, and no
//! count is too low; the inherited part is the most by which it is too high.
//!
//! # Sources
//! Space-saving: Metwally, Agrawal and El Abbadi, "Efficient computation of frequent and top-k elements in data streams" (2005). Clusters of objects: the open
//! question 6.2 of CoreTime; moving together what talks with each other, found by such a sketch, is how Orleans repartitions its activations.

/// Pairs in the table: what one look through takes about a hundred nanoseconds for, once in [sixteen](super::sample::ONE_IN) operations at most. An estimate; no benchmark sets it.
pub const SIZE: usize = 64;

/// Objects in a group at most: they are packed as one, so that a group that had everything would undo the packing. An estimate; no benchmark sets it.
pub const MOST: usize = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry {
    pair: (u64, u64),
    count: u32,
    /// What it has inherited.
    excess: u32,
}

/// The pairs of objects that are used together most.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::Pairs;
/// let mut pairs = Pairs::default();
/// for n in 0..1_000 {
///     pairs.add(1, 2);
///     pairs.add(2, 3);
///     pairs.add(n, n + 500);
/// }
/// assert_eq!(pairs.groups(500), [[1, 2, 3]]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    entries: [Entry; SIZE],
    used: usize,
    total: u32,
}

impl Default for Pairs {
    fn default() -> Self {
        Self { entries: [Entry::default(); SIZE], used: 0, total: 0 }
    }
}

impl Pairs {
    /// Notes that a task has used one object right after another. The order does not matter, and an object is no pair with itself.
    pub fn add(&mut self, one: u64, other: u64) {
        if one == other {
            return;
        }
        self.total = self.total.saturating_add(1);
        let pair = (one.min(other), one.max(other));
        if let Some(entry) = self.entries[..self.used].iter_mut().find(|entry| entry.pair == pair) {
            entry.count = entry.count.saturating_add(1);
        } else if self.used < SIZE {
            self.entries[self.used] = Entry { pair, count: 1, excess: 0 };
            self.used += 1;
        } else if let Some(rarest) = self.entries.iter_mut().min_by_key(|entry| entry.count) {
            let excess = rarest.count;
            *rarest = Entry { pair, count: excess.saturating_add(1), excess };
        }
    }

    /// How often the two were used together at least, as far as the table knows.
    #[must_use]
    pub fn count(&self, one: u64, other: u64) -> u32 {
        let pair = (one.min(other), one.max(other));
        let entry = self.entries[..self.used].iter().find(|entry| entry.pair == pair);
        entry.map_or(0, |entry| entry.count - entry.excess)
    }

    /// How many pairs there were.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Begins a period: what was before counts half.
    pub fn age(&mut self) {
        self.total /= 2;
        for entry in &mut self.entries[..self.used] {
            entry.count /= 2;
            entry.excess /= 2;
        }
    }

    /// Groups of up to [`MOST`] objects that are connected by pairs which have occurred so often, closest pairs first. Members ascend.
    #[must_use]
    pub fn groups(&self, at_least: u32) -> Vec<Vec<u64>> {
        let sure = |entry: &Entry| entry.count - entry.excess;
        let mut entries: Vec<Entry> = self.entries[..self.used].to_vec();
        entries.retain(|entry| sure(entry) >= at_least.max(1));
        entries.sort_by_key(|entry| (std::cmp::Reverse(sure(entry)), entry.pair));
        let mut groups: Vec<Vec<u64>> = Vec::new();
        for Entry { pair: (one, other), .. } in entries {
            let find = |object| groups.iter().position(|group| group.contains(&object));
            match (find(one), find(other)) {
                (None, None) => groups.push(vec![one, other]),
                (Some(a), Some(b)) if a != b && groups[a].len() + groups[b].len() <= MOST => {
                    let merged = groups.remove(a.max(b));
                    groups[a.min(b)].extend(merged);
                }
                (Some(group), None) if groups[group].len() < MOST => groups[group].push(other),
                (None, Some(group)) if groups[group].len() < MOST => groups[group].push(one),
                _ => {}
            }
        }
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequent_pair_is_found_among_many_that_occur_once() {
        let mut pairs = Pairs::default();
        for n in 0..10_000_u64 {
            pairs.add(n + 10, n + 20_000);
            if n % 8 == 0 {
                pairs.add(2, 1);
            }
        }
        assert!(pairs.count(1, 2) >= 1_000, "{}", pairs.count(1, 2));
        assert_eq!(pairs.groups(900), [[1, 2]]);
    }

    #[test]
    fn pairs_that_came_late_are_not_believed_for_what_they_inherit() {
        let mut pairs = Pairs::default();
        for _ in 0..100 {
            (0..SIZE as u64).for_each(|n| pairs.add(n, n + 1_000));
        }
        pairs.add(5_000, 5_001);
        assert_eq!(pairs.count(5_000, 5_001), 1);
        assert_eq!(pairs.total(), 100 * SIZE as u32 + 1);
    }

    #[test]
    fn groups_have_bounds_and_merge_within_them() {
        let mut pairs = Pairs::default();
        (0..20).for_each(|n| pairs.add(n, n + 1));
        let groups = pairs.groups(1);
        assert!(groups.iter().all(|group| group.len() <= MOST), "{groups:?}");
        let mut pairs = Pairs::default();
        for (one, other) in [(1, 2), (3, 4), (2, 3), (9, 9)] {
            pairs.add(one, other);
        }
        assert_eq!(pairs.groups(1), [[1, 2, 3, 4]]);
        pairs.age();
        assert!(pairs.groups(1).is_empty());
    }
}
