//! Which operations would find their object in a nearer cache, if each object were used by one core only.
//!
//! Each core has a clock that counts the bytes of the objects that it has run operations on. The *reuse distance* of an operation is what the
//! clock has counted since the core last had the object: roughly what its caches had to hold meanwhile for it to still be there. When cores use all objects
//! alike, each sees the whole of them go by between two uses of one; when the objects are dealt out among the cores, each sees its own part. So a
//! partition divides distances, by the number of cores in front of their own caches and by that of last-level caches in front of those. Only where that carries a
//! distance over the size of a cache is there something to gain, and how much, the times measured at such distances say.
//!
//! Measured: below one last-level cache there is nothing to gain from 1 to 64 MiB, because streaming from it is as fast as from a core's own; below two, up to twice
//! the throughput from 24 to 32 MiB.

use super::Brief;

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
    /// Where an operation at this distance finds its object.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::policy::object::{Caches, reuse::Bin};
    /// let far = Caches { own: 1 << 20, last: 32 << 20, cores: 2, domains: 2 };
    /// assert_eq!(far.bin(48 << 20), Bin::Memory);
    /// assert_eq!(far.bin_if_partitioned(48 << 20), Bin::Last);
    /// let near = Caches { domains: 1, ..far };
    /// assert_eq!(near.bin_if_partitioned(48 << 20), Bin::Memory, "the cache is shared anyway");
    /// ```
    #[must_use]
    pub fn bin(&self, distance: u64) -> Bin {
        self.at(distance, distance)
    }

    /// Where it would find it, if each object were used by one core only.
    #[must_use]
    pub fn bin_if_partitioned(&self, distance: u64) -> Bin {
        let by = |parts: u32| distance / u64::from(parts.max(1));
        self.at(by(self.cores), by(self.domains))
    }

    /// What one core can hold: its own cache, and its share of a last-level cache. This counts both, as of caches that do not hold the same twice.
    #[must_use]
    pub fn budget(&self) -> u64 {
        let shares = u64::from(self.cores.max(1));
        self.own + self.last.saturating_mul(u64::from(self.domains)) / shares
    }

    fn at(&self, own: u64, last: u64) -> Bin {
        if own <= self.own {
            Bin::Own
        } else if last <= self.last {
            Bin::Last
        } else {
            Bin::Memory
        }
    }
}

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
///     class.add(&caches, 20 << 20, 200);
///     class.add(&caches, 40 << 20, 1_000);
/// }
/// assert_eq!(class.gain(), 400, "half of the operations would take 800 ns less");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reuse {
    means: [Brief; 3],
    /// From where to where a partition would carry how many of the operations.
    carried: [[u32; 3]; 3],
}

impl Reuse {
    /// Takes a sampled operation in place into account, which took so many nanoseconds at this distance.
    pub fn add(&mut self, caches: &Caches, distance: u64, nanos: u64) {
        let (now, then) =
            (caches.bin(distance) as usize, caches.bin_if_partitioned(distance) as usize);
        let weight = u64::from(self.count(now)) + 1;
        self.means[now] = self.means[now].toward(nanos, weight.min(32));
        self.carried[now][then] += 1;
        if self.carried[now][then] == u32::MAX {
            self.age();
        }
    }

    /// The mean time at distances of this bin, or `None` before there are enough of it.
    #[must_use]
    pub fn mean(&self, bin: Bin) -> Option<u64> {
        let bin = bin as usize;
        (self.count(bin) >= ENOUGH).then(|| self.means[bin].nanos())
    }

    /// What a partition would save per operation in the mean, in nanoseconds. A bin whose time is not known adds nothing.
    #[must_use]
    pub fn gain(&self) -> u64 {
        const BINS: [Bin; 3] = [Bin::Own, Bin::Last, Bin::Memory];
        let (mut saved, mut all) = (0_u64, 0_u64);
        for now in BINS {
            for then in BINS {
                let count = u64::from(self.carried[now as usize][then as usize]);
                all += count;
                if let (true, Some(long), Some(short)) =
                    (then < now, self.mean(now), self.mean(then))
                {
                    saved += count * long.saturating_sub(short);
                }
            }
        }
        saved / all.max(1)
    }

    /// Begins a period: what was before counts half.
    pub fn age(&mut self) {
        self.carried.iter_mut().flatten().for_each(|count| *count /= 2);
    }

    fn count(&self, now: usize) -> u32 {
        self.carried[now].iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Caches = Caches { own: 1 << 20, last: 32 << 20, cores: 2, domains: 2 };

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
        let mut class = Reuse::default();
        for _ in 0..100 {
            class.add(&FAR, 200 << 20, 1_000);
            class.add(&FAR, 10 << 20, 200);
        }
        assert_eq!(class.gain(), 0);
    }

    #[test]
    fn a_time_that_nobody_has_measured_is_no_gain() {
        let mut class = Reuse::default();
        (0..100).for_each(|_| class.add(&FAR, 40 << 20, 1_000));
        assert_eq!((class.mean(Bin::Last), class.gain()), (None, 0));
    }

    #[test]
    fn a_budget_is_what_all_caches_hold_by_cores() {
        let caches = Caches { own: 512 << 10, last: 2 << 20, cores: 16, domains: 4 };
        assert_eq!(caches.budget() * 16, 16 << 20);
    }
}
