//! What it costs that operations on the objects of a class come from several cores, as samples of
//! operations in place say.
//!
//! An operation that follows one of the same core finds the object as all would at a home; one that
//! follows another core's has to fetch what that has written, or what lies in its caches, or in
//! memory because each core's cache has to hold what all use. So the difference of the two mean
//! times is what homes would save, by construction free of how long the operations themselves are.
//!
//! Measured on a lookup in 32 KiB: it does not tell a core's own cache from a last-level cache beside
//! it (160 and 200 ns, less than the spread of lookups), and does tell both from lines that another
//! core has written, and from memory (840 and 1,020 ns). That is just the line beyond which a hop
//! can pay.

use super::per_mille;

/// A mean is believed from so many samples on: of 8, all were on the right side of one threshold.
const ENOUGH: u32 = 8;

/// An operation counts as no longer than this, in nanoseconds: a worker that was preempted inside
/// says nothing about the object. An estimate; no benchmark sets it.
const LONGEST: u64 = 1_000_000;

/// The samples of a class.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::Sharing;
/// let mut class = Sharing::default();
/// for _ in 0..50 {
///     class.add(true, 1_000);
///     class.add(false, 200);
/// }
/// assert_eq!((class.remote(), class.cost()), (500, Some(800)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    same: Mean,
    cross: Mean,
}

/// How many samples, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mean {
    count: u32,
    nanos: u64,
}

impl Mean {
    fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.nanos = self.nanos.saturating_add(other.nanos);
    }

    fn get(&self) -> Option<u64> {
        (self.count >= ENOUGH).then(|| self.nanos / u64::from(self.count))
    }
}

impl Sharing {
    /// Adds an operation that took so many nanoseconds, and followed one of another core or of its
    /// own.
    pub fn add(&mut self, follows_another: bool, nanos: u64) {
        let mean = if follows_another { &mut self.cross } else { &mut self.same };
        mean.add(Mean { count: 1, nanos: nanos.min(LONGEST) });
    }

    /// Adds what another core has seen of the class.
    pub fn merge(&mut self, other: &Self) {
        self.same.add(other.same);
        self.cross.add(other.cross);
    }

    /// The chance that an operation follows one of another core, in per mille.
    #[must_use]
    pub fn remote(&self) -> u32 {
        per_mille(self.cross.count.into(), self.samples().into())
    }

    /// How many samples there are; those from before this period count half.
    #[must_use]
    pub fn samples(&self) -> u32 {
        self.same.count.saturating_add(self.cross.count)
    }

    /// What an operation costs more that follows one of another core, in nanoseconds; 0 if not more,
    /// `None` before there are enough of either kind.
    #[must_use]
    pub fn cost(&self) -> Option<u64> {
        Some(self.cross.get()?.saturating_sub(self.same.get()?))
    }

    /// Begins a period: what was before counts half.
    pub fn age(&mut self) {
        for mean in [&mut self.same, &mut self.cross] {
            (mean.count, mean.nanos) = (mean.count / 2, mean.nanos / 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_before_there_are_enough_of_both_kinds() {
        let mut class = Sharing::default();
        (0..100).for_each(|_| class.add(true, 900));
        (1..ENOUGH).for_each(|_| class.add(false, 100));
        assert_eq!(class.cost(), None);
        class.add(false, 100);
        assert_eq!(class.cost(), Some(800));
    }

    #[test]
    fn a_period_halves_what_was_before_and_cores_add_up() {
        let mut class = Sharing::default();
        (0..40).for_each(|n| class.add(n % 4 == 0, 100));
        assert_eq!((class.samples(), class.remote(), class.cost()), (40, 250, Some(0)));
        class.age();
        assert_eq!(class.samples(), 20);
        let other = class;
        class.merge(&other);
        assert_eq!((class.samples(), class.remote()), (40, 250));
    }

    #[test]
    fn a_worker_that_was_preempted_inside_counts_for_little() {
        let mut class = Sharing::default();
        class.add(true, u64::MAX);
        (0..999).for_each(|_| class.add(true, 100));
        (0..999).for_each(|_| class.add(false, 100));
        assert!(class.cost().is_some_and(|cost| cost < 1_100));
    }
}
