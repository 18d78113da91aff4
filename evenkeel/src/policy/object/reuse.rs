//! Which operations would find their object in a nearer cache, if each object were used by one core only.
//!
//! Each core has a clock that counts the bytes of the objects that it has run operations on. The *reuse distance* of an operation is what the
//! clock has counted since the last operation on the same object: roughly what its caches had to hold meanwhile for it to still be there. An operation that comes
//! from the last core finds the object as all would at a home, and its distance is the one that all would have there. In place, a core sees its
//! own operations only, which come so many times farther apart as there are cores that take turns; the times of operations that come from another core are
//! those of such distances. So both are there to be compared, in one run. Only where a partition carries a distance over the size of a cache is there
//! something to gain by it: not where even the shorter distance is too long, nor where the longer one is short enough.
//!
//! Measured: below one last-level cache there is nothing to gain from 1 to 64 MiB, because streaming from it is as fast as from a core's own; below two, up to twice
//! the throughput from 24 to 32 MiB.

use super::{WHOLE, per_mille};

/// The unit of the byte clock, so that 32 bits are enough for 256 GiB between two uses.
const LINE: u64 = 64;

/// Bytes of the objects that one core has run operations on.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::ByteClock;
/// let mut clock = ByteClock::default();
/// let stamp = clock.now();
/// clock.tick(32_000);
/// assert_eq!(clock.since(stamp), 32_000);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteClock {
    lines: u32,
}

impl ByteClock {
    /// Counts an operation on an object of so many bytes.
    #[inline]
    pub fn tick(&mut self, bytes: u64) {
        self.lines = self.lines.wrapping_add(bytes.div_ceil(LINE) as u32);
    }

    /// The time to stamp an object with.
    #[must_use]
    #[inline]
    pub fn now(&self) -> u32 {
        self.lines
    }

    /// Bytes since a stamp of this clock.
    #[must_use]
    pub fn since(&self, stamp: u32) -> u64 {
        u64::from(self.lines.wrapping_sub(stamp)) * LINE
    }
}

/// The caches, as far as partitions go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caches {
    /// Bytes of a core's own cache.
    pub own: u64,
    /// Bytes of a last-level cache; 0 if there is none.
    pub last: u64,
    /// Cores that take part.
    pub cores: u32,
    /// Last-level caches that they have.
    pub domains: u32,
}

/// Where an operation finds its object, by reuse distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bin {
    /// The core's own cache.
    Own = 0,
    /// The last-level cache.
    Last = 1,
    /// Memory.
    Memory = 2,
}

impl Caches {
    /// Those of a machine of which nothing is known: whatever is used fits into them.
    pub const UNKNOWN: Self = Self { own: u64::MAX, last: 0, cores: 1, domains: 1 };

    /// Where an operation in place finds its object, at this distance on its core. All cores use the same objects, so that a last-level cache has to hold no more for several
    /// of them than for one.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::policy::object::{Caches, reuse::Bin};
    /// let far = Caches { own: 1 << 20, last: 32 << 20, cores: 2, domains: 2 };
    /// // Objects of 48 MiB in all, dealt out and not.
    /// assert_eq!(far.bin_in_place(48 << 20), Bin::Memory);
    /// assert_eq!(far.bin_at_home(24 << 20), Bin::Last);
    /// let near = Caches { domains: 1, ..far };
    /// assert_eq!(near.bin_at_home(24 << 20), Bin::Memory, "the other core's objects are there too");
    /// ```
    #[must_use]
    pub fn bin_in_place(&self, distance: u64) -> Bin {
        self.bin(distance, distance)
    }

    /// Where an operation at a home finds its object, at this distance there. The other cores in front of the last-level cache use other objects.
    #[must_use]
    pub fn bin_at_home(&self, distance: u64) -> Bin {
        let sharers = u64::from(self.cores.div_ceil(self.domains.max(1)));
        self.bin(distance, distance.saturating_mul(sharers))
    }

    /// What one core can hold: its own cache, and its share of a last-level cache. This counts both, as of caches that do not hold the same twice.
    #[must_use]
    pub fn budget(&self) -> u64 {
        let shares = u64::from(self.cores.max(1));
        self.own.saturating_add(self.last.saturating_mul(u64::from(self.domains)) / shares)
    }

    /// How many caches would hold a copy of an object of so many bytes that all cores read: their own ones, or the last-level caches if it is too large for those.
    #[must_use]
    pub fn copies(&self, bytes: u64) -> u32 {
        if bytes <= self.own { self.cores.max(1) } else { self.domains.max(1) }
    }

    fn bin(&self, own: u64, last: u64) -> Bin {
        if own <= self.own {
            Bin::Own
        } else if last <= self.last {
            Bin::Last
        } else {
            Bin::Memory
        }
    }
}

/// An operation counts as no longer than this, in nanoseconds: a worker that was preempted inside says nothing about the object. An estimate; no benchmark sets it.
const LONGEST: u64 = 1_000_000;

/// A time is believed from so many samples on.
const ENOUGH: u32 = 8;

/// Times and distances of a class of objects that are entered in place.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::{Caches, Reuse};
/// let caches = Caches { own: 1 << 20, last: 32 << 20, cores: 2, domains: 2 };
/// let mut class = Reuse::default();
/// for _ in 0..50 {
///     // Objects of 48 MiB, used by two cores alike.
///     class.add_cross(1_000);
///     class.add_same(&caches, 24 << 20, 200);
/// }
/// assert_eq!((class.remote(), class.gain()), (500, 400));
/// assert_eq!(class.sharing_cost(), Some(800));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reuse {
    /// Nanoseconds of the operations from the last core, by the bin at a home.
    same: [u64; 3],
    /// Of those from another.
    cross: u64,
    crosses: u32,
    /// How many of the operations from the last core a home carries from where in place to where.
    carried: [[u32; 3]; 3],
}

impl Reuse {
    /// Takes a sampled operation into account that came from the last core, which took so many nanoseconds at this distance by that core's clock.
    pub fn add_same(&mut self, caches: &Caches, distance: u64, nanos: u64) {
        // So many operations come from other cores for each of a core's own.
        let sharers = u64::from(WHOLE / (WHOLE - self.remote()).max(1)).min(caches.cores.into());
        let home = caches.bin_at_home(distance) as usize;
        let in_place = caches.bin_in_place(distance.saturating_mul(sharers)) as usize;
        self.same[home] = self.same[home].saturating_add(nanos.min(LONGEST));
        self.carried[in_place][home] = self.carried[in_place][home].saturating_add(1);
    }

    /// Takes a sampled operation into account that came from another core.
    pub fn add_cross(&mut self, nanos: u64) {
        self.crosses = self.crosses.saturating_add(1);
        self.cross = self.cross.saturating_add(nanos.min(LONGEST));
    }

    /// Adds what another core has seen of the class.
    pub fn add(&mut self, other: &Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        self.same.iter_mut().zip(other.same).for_each(|(sum, more)| add(sum, more));
        add(&mut self.cross, other.cross);
        self.crosses = self.crosses.saturating_add(other.crosses);
        let counts = self.carried.as_flattened_mut().iter_mut();
        counts.zip(other.carried.as_flattened()).for_each(|(sum, more)| {
            *sum = sum.saturating_add(*more);
        });
    }

    /// The chance that an operation comes from another core than the one before, in per mille.
    #[must_use]
    pub fn remote(&self) -> u32 {
        per_mille(self.crosses.into(), u64::from(self.crosses) + u64::from(self.sames()))
    }

    /// How many samples there are; those from before this period count half.
    #[must_use]
    pub fn samples(&self) -> u32 {
        self.crosses.saturating_add(self.sames())
    }

    /// The mean time of operations from the last core whose distance is in this bin, or `None` before there are enough of them.
    #[must_use]
    pub fn mean(&self, bin: Bin) -> Option<u64> {
        let bin = bin as usize;
        let count = self.count(bin);
        (count >= ENOUGH).then(|| self.same[bin] / u64::from(count))
    }

    /// What an operation costs more that comes from another core, in nanoseconds, whatever it is owed to; 0 if not more, `None` before there are enough of either kind. For
    /// classes of so many objects that each of them has [few samples](super::Sample::sharing_cost).
    #[must_use]
    pub fn sharing_cost(&self) -> Option<u64> {
        let same = self.same.iter().fold(0_u64, |sum, of| sum.saturating_add(*of));
        let is_enough = self.crosses >= ENOUGH && self.sames() >= ENOUGH;
        is_enough.then(|| self.mean_cross().saturating_sub(same / u64::from(self.sames())))
    }

    /// What homes would save per operation in the mean, in nanoseconds, because objects would be in nearer caches. What is not known adds nothing.
    #[must_use]
    pub fn gain(&self) -> u64 {
        const BINS: [Bin; 3] = [Bin::Own, Bin::Last, Bin::Memory];
        if self.crosses < ENOUGH {
            return 0;
        }
        let mut saved = 0_u128;
        for (in_place, carried) in BINS.into_iter().zip(&self.carried) {
            for (home, count) in BINS.into_iter().zip(carried) {
                if let (true, Some(mean)) = (home < in_place, self.mean(home)) {
                    saved +=
                        u128::from(*count) * u128::from(self.mean_cross().saturating_sub(mean));
                }
            }
        }
        let all = u128::from(self.sames().max(1)) * u128::from(WHOLE);
        u64::try_from(saved * u128::from(self.remote()) / all).unwrap_or(u64::MAX)
    }

    /// Begins a period: what was before counts half.
    pub fn age(&mut self) {
        (self.cross, self.crosses) = (self.cross / 2, self.crosses / 2);
        self.same.iter_mut().for_each(|sum| *sum /= 2);
        self.carried.iter_mut().flatten().for_each(|count| *count /= 2);
    }

    fn mean_cross(&self) -> u64 {
        self.cross / u64::from(self.crosses.max(1))
    }

    fn count(&self, home: usize) -> u32 {
        self.carried.iter().fold(0, |sum, of| sum.saturating_add(of[home]))
    }

    fn sames(&self) -> u32 {
        (0..3).fold(0, |sum, home| sum.saturating_add(self.count(home)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Caches = Caches { own: 1 << 20, last: 32 << 20, cores: 2, domains: 2 };

    /// A class of which half of the operations come from another core.
    fn class(distance: u64, same: u64, cross: u64) -> Reuse {
        let mut class = Reuse::default();
        for _ in 0..100 {
            class.add_cross(cross);
            class.add_same(&FAR, distance, same);
        }
        class
    }

    #[test]
    fn a_clock_goes_round() {
        let mut clock = ByteClock::default();
        clock.tick((u64::from(u32::MAX) - 1) * LINE);
        let stamp = clock.now();
        clock.tick(4 * LINE);
        assert_eq!(clock.since(stamp), 4 * LINE);
    }

    #[test]
    fn distances_that_stay_in_their_bin_gain_nothing() {
        assert_eq!(class(100 << 20, 900, 1_000).gain(), 0, "too long at a home as well");
        assert_eq!(class(100 << 10, 900, 1_000).gain(), 0, "short enough in place");
        assert!(class(20 << 20, 200, 1_000).gain() > 350);
    }

    #[test]
    fn what_nobody_has_measured_is_no_gain() {
        let mut class = Reuse::default();
        (0..100).for_each(|_| class.add_same(&FAR, 20 << 20, 200));
        assert_eq!((class.remote(), class.gain()), (0, 0), "one core has it to itself");
        assert_eq!(class.sharing_cost(), None);
        let mut class = Reuse::default();
        (0..100).for_each(|_| class.add_cross(1_000));
        assert_eq!((class.mean(Bin::Last), class.gain()), (None, 0));
    }

    #[test]
    fn a_budget_is_what_all_caches_hold_by_cores() {
        let caches = Caches { own: 512 << 10, last: 2 << 20, cores: 16, domains: 4 };
        assert_eq!(caches.budget() * 16, 16 << 20);
        assert_eq!((caches.copies(1 << 10), caches.copies(1 << 20)), (16, 4));
    }

    #[test]
    fn a_period_halves_what_was_before() {
        let mut class = class(20 << 20, 200, 1_000);
        let (samples, gain) = (class.samples(), class.gain());
        let alone = class;
        class.add(&alone);
        assert_eq!(
            (class.samples(), class.gain()),
            (2 * samples, gain),
            "two cores see twice as much"
        );
        class.age();
        assert_eq!(class, alone);
        class.age();
        assert_eq!((class.samples(), class.gain()), (samples / 2, gain));
    }
}
