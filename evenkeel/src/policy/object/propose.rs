//! Whether a class that stands in place is worth a trial: what its samples say, and from time to time whatever they say.
//!
//! Samples rest on a model, and on what a hop was last seen to cost; so a class that they advise against is [tried](super::trial) all the same, as seldom as a verdict that has stood longest. And
//! as long as no hop has been measured, only a trial can do so. None of that where tasks are few: homes would leave cores with nothing to do, so nothing is tried that samples do not propose.

use super::trial::{HOLD, LONGEST_HOLD};
use super::{Decision, Evidence, assign};

/// So many times what samples say that homes save has to be too little for a class not to be tried: they do not see what it costs the others that one of them waits. An estimate; no benchmark sets it.
pub const DOUBT: u64 = 3;

/// Samples that propose a trial after they have advised against one for so long, in nanoseconds, say that something has changed: before, they have gone to and fro. An estimate: several times as long as samples are believed; no benchmark sets it.
pub const TURNED: u64 = 4 * HOLD;

/// What the samples of one class have last been said to mean.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::{Decision, Evidence, Proposal};
/// let cheap = Evidence { saving: 20, remote: 500, hop: 100, samples: 64, runnable: 16 };
/// let mut proposal = Proposal::default();
/// assert!(proposal.is_worth_a_trial(&cheap, false, 0), "nobody knows yet what a hop costs");
/// assert!(!proposal.is_worth_a_trial(&cheap, true, 1_000_000));
/// assert_eq!(proposal.decision(), Decision::TooCheap);
/// assert!(proposal.is_worth_a_trial(&Evidence { saving: 300, ..cheap }, true, 2_000_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proposal {
    decision: Decision,
    /// When there was a trial last, or the samples began to advise against one.
    since: Option<u64>,
    has_turned: bool,
}

impl Default for Proposal {
    fn default() -> Self {
        Self { decision: Decision::TooFewSamples, since: None, has_turned: false }
    }
}

impl Proposal {
    /// Takes into account what is known of the class at this time, with a [margin](DOUBT), and says whether to try it. `is_measured` says that the cost of a hop is no guess.
    pub fn is_worth_a_trial(&mut self, evidence: &Evidence, is_measured: bool, now: u64) -> bool {
        let saving = evidence.saving.saturating_mul(DOUBT);
        self.decision = assign(&Evidence { saving, ..*evidence });
        self.has_turned = false;
        match self.decision {
            Decision::Home { .. } => {
                let since = self.since.take();
                self.has_turned = since.is_some_and(|since| now.saturating_sub(since) >= TURNED);
                true
            }
            Decision::TooFewSamples => false,
            Decision::TooFewTasks => {
                self.since.get_or_insert(now);
                false
            }
            Decision::TooCheap => {
                let since = *self.since.get_or_insert(now);
                !is_measured || now.saturating_sub(since) >= LONGEST_HOLD
            }
        }
    }

    /// Whether they have proposed a trial the last time, after they had advised against one for [long](TURNED): what the trials before have come to is old.
    #[must_use]
    pub fn has_turned(&self) -> bool {
        self.has_turned
    }

    /// Notes that a trial is going on.
    pub fn note_trial(&mut self, now: u64) {
        self.since = self.since.map(|_| now);
    }

    /// What the samples have been said to mean.
    #[must_use]
    pub fn decision(&self) -> Decision {
        self.decision
    }
}

#[cfg(test)]
mod tests {
    use super::super::assign::LATENCY;
    use super::*;

    const CHEAP: Evidence =
        Evidence { saving: 1, remote: 500, hop: 100, samples: 64, runnable: 16 };

    #[test]
    fn a_class_that_samples_advise_against_is_tried_now_and_then() {
        let mut proposal = Proposal::default();
        let step = LONGEST_HOLD / 10;
        let mut tried = Vec::new();
        for n in 0..100 {
            if proposal.is_worth_a_trial(&CHEAP, true, n * step) {
                tried.push(n);
                proposal.note_trial(n * step);
            }
        }
        assert_eq!(tried, [10, 20, 30, 40, 50, 60, 70, 80, 90]);
    }

    #[test]
    fn samples_turn_if_they_have_advised_against_a_trial_for_long() {
        let mut proposal = Proposal::default();
        let dear = Evidence { saving: 1_000, ..CHEAP };
        let few = Evidence { runnable: 1, ..CHEAP };
        for against in [CHEAP, few] {
            assert!(proposal.is_worth_a_trial(&dear, true, 5) && !proposal.has_turned());
            assert!(!proposal.is_worth_a_trial(&against, true, 10));
            assert!(!proposal.is_worth_a_trial(&against, true, 9 + TURNED));
            assert!(proposal.is_worth_a_trial(&dear, true, 9 + TURNED) && !proposal.has_turned());
            assert!(!proposal.is_worth_a_trial(&against, true, 10));
            assert!(proposal.is_worth_a_trial(&dear, true, 10 + TURNED) && proposal.has_turned());
            assert!(proposal.is_worth_a_trial(&dear, true, 20 + TURNED) && !proposal.has_turned());
        }
    }

    #[test]
    fn few_samples_are_no_reason_and_few_tasks_only_one_for_what_saves_much() {
        let mut proposal = Proposal::default();
        for evidence in [Evidence { samples: 3, ..CHEAP }, Evidence { runnable: 1, ..CHEAP }] {
            assert!(!proposal.is_worth_a_trial(&evidence, false, 0));
            assert!(!proposal.is_worth_a_trial(&evidence, true, u64::MAX));
        }
        let latency = Evidence { saving: LATENCY, runnable: 1, ..CHEAP };
        assert!(
            proposal.is_worth_a_trial(&latency, false, 0),
            "it saves more than a journey lasts"
        );
        let dear = Evidence { saving: 1_000, ..CHEAP };
        assert!(proposal.is_worth_a_trial(&dear, true, 0));
        proposal.note_trial(5);
        assert!(proposal.is_worth_a_trial(&dear, true, 6));
    }
}
