//! The machines of the evaluation of C∀'s scheduler, and where its runs put the workers.

use crate::runtime::Seat;

/// A machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// 4 packages of 24 cores with 2 threads each. A package has one last-level cache.
    Intel,
    /// 2 packages of 64 cores with 2 threads each. Four cores share a last-level cache.
    Amd,
    /// One package of cores with one thread each, and one cache: for what has been measured.
    Flat,
}

/// How far two workers are from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Distance {
    /// They share a core.
    Core,
    /// They share the last-level cache.
    Cache,
    /// They share neither.
    Far,
}

impl Distance {
    pub(super) fn between(one: Seat, other: Seat) -> Self {
        if one.core == other.core {
            Self::Core
        } else if one.cache == other.cache {
            Self::Cache
        } else {
            Self::Far
        }
    }
}

impl Machine {
    /// Returns the cores of a package, and how many of them share a last-level cache.
    fn package(self) -> (usize, usize) {
        match self {
            Self::Intel => (24, 24),
            Self::Amd => (64, 4),
            Self::Flat => (usize::MAX / 2, usize::MAX / 2),
        }
    }

    /// Returns the number of its hardware threads.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_sim::scheduling::Machine;
    /// assert_eq!((Machine::Intel.threads(), Machine::Amd.threads()), (192, 256));
    /// ```
    #[must_use]
    pub fn threads(self) -> usize {
        match self {
            Self::Intel => 192,
            Self::Amd => 256,
            Self::Flat => 256,
        }
    }

    /// Returns how many of this many workers share a core with another one.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_sim::scheduling::Machine;
    /// assert_eq!((Machine::Intel.sharing(24), Machine::Intel.sharing(25)), (0, 2));
    /// assert_eq!((Machine::Intel.sharing(64), Machine::Amd.sharing(64)), (48, 0));
    /// ```
    #[must_use]
    pub fn sharing(self, workers: usize) -> usize {
        let (cores, _) = self.package();
        let (full, rest) = (workers / (2 * cores), workers % (2 * cores));
        2 * (full * cores + rest.saturating_sub(cores))
    }

    /// Returns where a worker is: on one package first, a core for each, then on their second
    /// threads, then on the next package.
    pub(super) fn seat(self, worker: usize) -> Seat {
        let (cores, shared) = self.package();
        let package = worker / (2 * cores);
        let core = package * cores + worker % (2 * cores) % cores;
        Seat { core, cache: core / shared }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_threads_of_a_package_come_before_the_next_package() {
        let seats = |machine: Machine, workers: [usize; 4]| workers.map(|one| machine.seat(one));
        let intel = seats(Machine::Intel, [0, 23, 24, 48]);
        assert_eq!(intel.map(|seat| seat.core), [0, 23, 0, 24]);
        assert_eq!(intel.map(|seat| seat.cache), [0, 0, 0, 1]);
        let amd = seats(Machine::Amd, [0, 4, 64, 128]);
        assert_eq!(amd.map(|seat| seat.core), [0, 4, 0, 64]);
        assert_eq!(amd.map(|seat| seat.cache), [0, 1, 0, 16]);
        let last = [Machine::Intel, Machine::Amd].map(|one| one.seat(one.threads() - 1).core + 1);
        assert_eq!(last, [96, 128]);
    }

    #[test]
    fn workers_share_a_core_a_cache_or_neither() {
        let between = |machine: Machine, one: usize, other: usize| {
            Distance::between(machine.seat(one), machine.seat(other))
        };
        assert_eq!(between(Machine::Intel, 0, 24), Distance::Core);
        assert_eq!(between(Machine::Intel, 0, 23), Distance::Cache);
        assert_eq!(between(Machine::Amd, 0, 4), Distance::Far);
        assert_eq!(between(Machine::Flat, 0, 1), Distance::Cache);
    }
}
