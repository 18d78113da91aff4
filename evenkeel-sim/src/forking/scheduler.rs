//! The compared schedulers: the two of the paper, and the runtime's own.

use std::fmt;

use evenkeel_policy::locality::{self, DILATION};
use evenkeel_policy::{Distance, Locality};

use super::caches::{L2, L3};

/// Which worker takes which job, and which worker continues after a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// The baseline of the paper.
    CilkRandom,
    /// The scheduler that the paper proposes.
    CilkRestricted,
    /// The rule of [`Locality::Biased`] in the paper's runtime: what the rule alone does.
    CilkBiased,
    /// [`Locality::Off`] of the runtime.
    Off,
    /// [`Locality::Random`] of the runtime.
    Random,
    /// [`Locality::Biased`] of the runtime.
    Biased,
    /// [`Locality::Strict`] of the runtime.
    Strict,
}

/// The caches, the smallest first: how far the workers are that share one, and its size.
const CACHES: [(Distance, u64); 2] = [(Distance::SmtSibling, L2), (Distance::SharedLlc, L3)];

/// The most deques of a worker: one for each cache, and one for jobs that fit into no cache.
pub(super) const LEVELS: usize = CACHES.len() + 1;

impl Scheduler {
    /// All schedulers, in the order of tables.
    pub const ALL: [Self; 7] = [
        Self::CilkRandom,
        Self::CilkRestricted,
        Self::CilkBiased,
        Self::Off,
        Self::Random,
        Self::Biased,
        Self::Strict,
    ];

    /// Returns its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CilkRandom => "cilk-random",
            Self::CilkRestricted => "cilk-restricted",
            Self::CilkBiased => "cilk-biased",
            Self::Off => "off",
            Self::Random => "random",
            Self::Biased => "biased",
            Self::Strict => "strict",
        }
    }

    /// Returns its description in one line.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::CilkRandom => {
                "Cilk Plus: one deque for each worker, random victims; the last worker at a join continues"
            }
            Self::CilkRestricted => {
                "Cilk Locality: a deque for each level of memory; only workers that share the level take its jobs"
            }
            Self::CilkBiased => {
                "Cilk Plus with evenkeel's rule: workers that share a job's cache take it first, others later"
            }
            Self::Off => "evenkeel, Locality::Off: the nearest victim first",
            Self::Random => "evenkeel, Locality::Random: victims at random",
            Self::Biased => {
                "evenkeel, Locality::Biased: workers that share a job's cache take it first, others later"
            }
            Self::Strict => "evenkeel, Locality::Strict: only workers that share the cache take it",
        }
    }

    /// Returns the rule by which thieves go round.
    pub(super) fn locality(self) -> Locality {
        match self {
            Self::CilkRandom | Self::CilkRestricted | Self::Random => Locality::Random,
            Self::Off => Locality::Off,
            Self::CilkBiased | Self::Biased => Locality::Biased,
            Self::Strict => Locality::Strict,
        }
    }

    /// Returns whether it is a rule in the paper's runtime: all jobs are public, and no worker
    /// waits at a join.
    #[must_use]
    pub fn is_cilk(self) -> bool {
        matches!(self, Self::CilkRandom | Self::CilkRestricted | Self::CilkBiased)
    }

    /// Returns whether an owner makes a job of this reach public without a request.
    pub(super) fn publishes(self, reach: Distance) -> bool {
        !self.is_cilk() && self.locality().anchors() && locality::publishes(reach)
    }

    /// Returns how far workers may be to take a job at once if its fork touches `bytes`.
    pub(super) fn reach(self, bytes: u64) -> Distance {
        match self {
            // The smallest level that holds the set of the task, as in the paper: without room for
            // another one.
            Self::CilkRestricted => {
                locality::reach(bytes, &CACHES.map(|(distance, size)| (distance, size * DILATION)))
            }
            _ if self.locality().anchors() => locality::reach(bytes, &CACHES),
            _ => Distance::Remote,
        }
    }

    /// Returns the level of the owner's deque for a job of this reach.
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
