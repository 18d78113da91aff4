//! The schedulers that are compared: the two of the paper, and the runtime's own.

use std::fmt;

use evenkeel_policy::locality::{self, DILATION};
use evenkeel_policy::{Distance, Locality};

use super::caches::{L2, L3};

/// Who takes which job, and who goes on after a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// The baseline of the paper.
    CilkRandom,
    /// What the paper is about.
    CilkRestricted,
    /// [`Locality::Off`] of the runtime.
    Off,
    /// [`Locality::Random`] of the runtime.
    Random,
    /// [`Locality::Biased`] of the runtime.
    Biased,
    /// [`Locality::Strict`] of the runtime.
    Strict,
}

/// Caches, the smallest first, and how far those are that share them.
const CACHES: [(Distance, u64); 2] = [(Distance::SmtSibling, L2), (Distance::SharedLlc, L3)];

/// How many deques a worker has at most: one for each cache, and one for what fits into none.
pub(super) const LEVELS: usize = CACHES.len() + 1;

impl Scheduler {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 6] = [
        Self::CilkRandom,
        Self::CilkRestricted,
        Self::Off,
        Self::Random,
        Self::Biased,
        Self::Strict,
    ];

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CilkRandom => "cilk-random",
            Self::CilkRestricted => "cilk-restricted",
            Self::Off => "off",
            Self::Random => "random",
            Self::Biased => "biased",
            Self::Strict => "strict",
        }
    }

    /// What it is, in one line.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::CilkRandom => {
                "Cilk Plus: one deque for each worker, victims at random; who comes last to a join goes on"
            }
            Self::CilkRestricted => {
                "Cilk Locality: a deque for each level of memory, for whose jobs only workers come that share that level"
            }
            Self::Off => "evenkeel, Locality::Off: the nearest victim first",
            Self::Random => "evenkeel, Locality::Random: victims at random",
            Self::Biased => {
                "evenkeel, Locality::Biased: who shares the cache of a job comes first, others later"
            }
            Self::Strict => "evenkeel, Locality::Strict: nobody else comes",
        }
    }

    /// The rule by which thieves go round.
    pub(super) fn locality(self) -> Locality {
        match self {
            Self::CilkRandom | Self::CilkRestricted | Self::Random => Locality::Random,
            Self::Off => Locality::Off,
            Self::Biased => Locality::Biased,
            Self::Strict => Locality::Strict,
        }
    }

    /// Whether it is one of the paper: all jobs are public, and nobody waits at a join.
    #[must_use]
    pub fn is_cilk(self) -> bool {
        matches!(self, Self::CilkRandom | Self::CilkRestricted)
    }

    /// How far workers may be to take a job at once whose fork touches so many bytes.
    pub(super) fn reach(self, bytes: u64) -> Distance {
        match self {
            // The smallest level that holds the set of the task, as the paper has it: without room
            // for another one.
            Self::CilkRestricted => {
                locality::reach(bytes, &CACHES.map(|(distance, size)| (distance, size * DILATION)))
            }
            _ if self.locality().anchors() => locality::reach(bytes, &CACHES),
            _ => Distance::Remote,
        }
    }

    /// In which of its owner's deques a job of this reach lies.
    pub(super) fn level(self, reach: Distance) -> usize {
        match self {
            Self::CilkRestricted => {
                CACHES.iter().position(|&(distance, _)| reach <= distance).unwrap_or(CACHES.len())
            }
            _ => 0,
        }
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_restricted_scheduler_has_a_deque_for_each_level() {
        for scheduler in Scheduler::ALL {
            let levels = [1 << 10, 1 << 20, 1 << 30].map(|bytes| {
                let reach = scheduler.reach(bytes);
                scheduler.level(reach)
            });
            let expected = match scheduler {
                Scheduler::CilkRestricted => [0, 1, 2],
                _ => [0; 3],
            };
            assert_eq!(levels, expected, "{scheduler}");
        }
    }

    #[test]
    fn a_set_that_just_fits_is_anchored_by_the_paper_and_not_by_the_runtime() {
        assert_eq!(Scheduler::CilkRestricted.reach(L3), Distance::SharedLlc);
        assert_eq!(Scheduler::Strict.reach(L3), Distance::Remote);
        assert_eq!(Scheduler::Strict.reach(L3 / DILATION), Distance::SharedLlc);
    }
}
