//! Whether an object should have a home.

use std::fmt;

use super::WHOLE;
use super::hop::FIRST_GUESS;

/// The saving has to be so many tenths of the cost of hops: estimates that are a third off decide right. An estimate; the trials
/// of each class see to what is left.
pub const MARGIN: u64 = 13;

/// Samples of the object, or of its class, below which it stays in place.
pub const SAMPLES: u32 = 32;

/// Runnable tasks per core in the mean, below which a task that is away leaves its core with nothing to do, so that a hop costs its [latency](LATENCY). Measured: a journey there and back takes
/// 200 ns of both cores with one task per core, 37 with 8 and 25 with 16, between near cores; 1,000, 163 and 115 between far ones.
pub const RUNNABLE: u32 = 8;

/// What a hop costs at least with fewer tasks, in nanoseconds: what is believed of far cores, so that nothing is sent for a guess.
pub const LATENCY: u64 = FIRST_GUESS;

/// Whether so many runnable tasks per core, the one that runs among them, are enough for operations at homes. While they are made there, most tasks may be on their way, where nobody counts them; that homes are better still, a [trial](super::trial) has shown.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::assign::{RUNNABLE, has_enough};
/// assert!(has_enough(RUNNABLE, false) && has_enough(RUNNABLE / 4, true));
/// assert!(!has_enough(RUNNABLE - 1, false) && !has_enough(RUNNABLE / 4 - 1, true));
/// ```
#[must_use]
pub fn has_enough(runnable: u32, at_home: bool) -> bool {
    runnable >= if at_home { RUNNABLE / 4 } else { RUNNABLE }
}

/// The least part of the time of all operations, in per mille, that an object has beside which the others do not count: tasks end up at its home and stay there, so that no journeys have to overlap. An estimate; no
/// benchmark sets it.
pub const ALONE: u32 = 900;

/// What is known of an object that is entered in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What an operation would take less at a home in the mean, in nanoseconds: [what sharing costs](super::Sharing::cost),
    /// times the chance of it.
    pub saving: u64,
    /// The chance that an operation comes from another core than its home, in per mille. With tasks that stay where an operation has taken
    /// them, and objects that are used alike, it is all but one part in the number of cores.
    pub remote: u32,
    /// The [cost of a hop](super::Hop::cost), in nanoseconds.
    pub hop: u64,
    /// How many samples that rests on.
    pub samples: u32,
    /// Runnable tasks per core in the mean.
    pub runnable: u32,
}

/// The chance that an operation comes from another core than the object's home, in per mille, where tasks stay where an operation has taken them: the object has so much of the time of all
/// operations, in per mille, and the others are dealt out to so many cores.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::assign::remote;
/// assert_eq!(remote(2, 0), 500, "one of many");
/// assert_eq!(remote(2, 250), 375);
/// assert_eq!(remote(16, 1_000), 0, "all tasks end up where the only object is");
/// ```
#[must_use]
pub fn remote(cores: u32, share: u32) -> u32 {
    let others = WHOLE - share.min(WHOLE);
    // An equal part of what is not the object's is at its home.
    others - others / cores.max(1)
}

/// What has been decided, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// It pays: by so many hops for each ten operations.
    Home {
        /// Tenths of a hop that an operation saves, hops taken off.
        tenths: u64,
    },
    /// In place: fewer than [`SAMPLES`] samples.
    TooFewSamples,
    /// In place: fewer than [`RUNNABLE`] tasks per core, so that a hop would cost its [latency](LATENCY), which is as much as it saves.
    TooFewTasks,
    /// In place: hops would cost as much as they save.
    TooCheap,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Home { tenths } => {
                write!(f, "at home: an operation saves {}.{} hops", tenths / 10, tenths % 10)
            }
            Self::TooFewSamples => write!(f, "in place: fewer than {SAMPLES} samples"),
            Self::TooFewTasks => {
                write!(
                    f,
                    "in place: fewer than {RUNNABLE} runnable tasks per core, and it saves less than a journey lasts"
                )
            }
            Self::TooCheap => f.write_str("in place: a hop costs as much as it saves"),
        }
    }
}

/// Decides whether an object that is entered in place should have a home.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::{Decision, Evidence, assign};
/// let dirty = Evidence { saving: 340, remote: 500, hop: 58, samples: 64, runnable: 16 };
/// assert_eq!(assign(&dirty), Decision::Home { tenths: 53 });
/// assert_eq!(assign(&Evidence { saving: 30, ..dirty }), Decision::TooCheap);
/// let few = Evidence { runnable: 1, ..dirty };
/// assert_eq!(assign(&Evidence { saving: 300, ..few }), Decision::TooFewTasks);
/// assert!(matches!(assign(&Evidence { saving: 600, ..few }), Decision::Home { .. }));
/// assert_eq!(assign(&Evidence { samples: 5, ..dirty }), Decision::TooFewSamples);
/// assert_eq!(assign(&dirty).to_string(), "at home: an operation saves 5.3 hops");
/// ```
#[must_use]
pub fn assign(evidence: &Evidence) -> Decision {
    if evidence.samples < SAMPLES {
        return Decision::TooFewSamples;
    }
    let are_few = evidence.runnable < RUNNABLE;
    let hop = if are_few { evidence.hop.max(LATENCY) } else { evidence.hop };
    let whole = u128::from(WHOLE);
    let saving = u128::from(evidence.saving) * whole;
    let hops = u128::from(hop) * u128::from(evidence.remote);
    if 10 * saving <= u128::from(MARGIN) * hops {
        return if are_few { Decision::TooFewTasks } else { Decision::TooCheap };
    }
    let tenths = 10 * (saving - hops) / (whole * u128::from(hop.max(1)));
    Decision::Home { tenths: u64::try_from(tenths).unwrap_or(u64::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVEN: Evidence = Evidence { saving: 65, remote: 500, hop: 100, samples: 32, runnable: 8 };

    #[test]
    fn a_saving_has_to_be_more_than_the_margin() {
        assert_eq!(assign(&EVEN), Decision::TooCheap);
        assert!(matches!(assign(&Evidence { saving: 66, ..EVEN }), Decision::Home { .. }));
    }

    #[test]
    fn an_object_that_one_core_uses_has_a_home_for_any_saving_and_none_for_nothing() {
        let alone = Evidence { remote: 0, ..EVEN };
        assert!(matches!(assign(&alone), Decision::Home { .. }));
        assert_eq!(assign(&Evidence { saving: 0, ..alone }), Decision::TooCheap);
    }

    #[test]
    fn with_few_tasks_a_hop_costs_its_latency() {
        let few = Evidence { runnable: RUNNABLE - 1, ..EVEN };
        let saving = |tenths: u64| tenths * LATENCY / 2 / 10;
        assert_eq!(assign(&Evidence { saving: saving(MARGIN), ..few }), Decision::TooFewTasks);
        let worth = Evidence { saving: saving(MARGIN + 1), ..few };
        assert_eq!(assign(&worth), Decision::Home { tenths: 2 });
        let measured = Evidence { hop: 2 * LATENCY, ..worth };
        assert_eq!(assign(&measured), Decision::TooFewTasks, "it takes longer than is believed");
    }

    #[test]
    fn the_ends_of_the_range_do_no_harm() {
        let most = Evidence { saving: u64::MAX, remote: WHOLE, hop: 0, ..EVEN };
        assert_eq!(assign(&most), Decision::Home { tenths: u64::MAX });
    }
}
