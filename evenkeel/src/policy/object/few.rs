//! Few tasks: a class that homes at all cores are for only as long as journeys overlap, and one that is worth a journey for which somebody waits.
//!
//! With fewer than [`RUNNABLE`](super::assign::RUNNABLE) tasks per core a hop costs its [latency](LATENCY), and [`assign`](super::assign()) says whether homes are worth that. What was proposed with many tasks is not: it ends when they have become few, and for
//! a while nothing else is proposed, because what is known of the class in place was seen with many, which waited for each other. What was proposed with few stands with few and with many.

use super::assign::LATENCY;
use super::occasion::HOLD;

/// What a class has come to for the sake of few tasks.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::Few;
/// let mut few = Few::default();
/// few.note_proposal(false);
/// assert!(few.ends(true, false, 0), "it was for many");
/// assert!(!few.may_propose(true, 1_000_000) && few.may_propose(false, 1_000_000));
/// few.note_proposal(true);
/// assert!(!few.ends(true, false, 100_000_000), "it was for few");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Few {
    /// Whether what is tried, or stands, was proposed although tasks were few.
    is_tried: bool,
    /// Before then nothing is proposed for few.
    from: u64,
}

impl Few {
    /// Whether whatever is tried, or stands, ends in place at this time: tasks are few, and were not when it was proposed.
    pub fn ends(&mut self, are_few: bool, stands_in_place: bool, now: u64) -> bool {
        let ends = are_few && !stands_in_place && !self.is_tried;
        if ends {
            self.from = now.saturating_add(HOLD);
        }
        ends
    }

    /// Whether anything may be proposed at this time, if tasks are few, or are not.
    #[must_use]
    pub fn may_propose(&self, are_few: bool, now: u64) -> bool {
        !are_few || now >= self.from
    }

    /// Notes that homes were proposed with few tasks, or with many.
    pub fn note_proposal(&mut self, are_few: bool) {
        self.is_tried = are_few;
    }

    /// Whether what is tried, or stands, was proposed with few. What a journey takes then contains that somebody waits for it, and says nothing of what it costs among many.
    #[must_use]
    pub fn is_tried(&self) -> bool {
        self.is_tried
    }

    /// What a hop costs the class, in nanoseconds, if it was seen to cost so much among many.
    #[must_use]
    pub fn hop(&self, seen: u64) -> u64 {
        if self.is_tried { seen.max(LATENCY) } else { seen }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_proposed_with_many_ends_with_few_and_is_not_proposed_for_a_while() {
        let mut few = Few::default();
        assert!(few.may_propose(true, 0), "there was nothing yet");
        few.note_proposal(false);
        assert!(!few.ends(false, false, 5), "there are many");
        assert!(!few.ends(true, true, 5), "nothing is at home");
        assert!(few.may_propose(true, 5));
        assert!(few.ends(true, false, 5));
        assert!(!few.may_propose(true, 5 + HOLD - 1) && few.may_propose(true, 5 + HOLD));
        assert!(few.may_propose(false, 5), "many may come back");
    }

    #[test]
    fn what_was_proposed_with_few_stands_until_it_was_for_many() {
        let mut few = Few::default();
        few.note_proposal(true);
        assert!(few.is_tried() && !few.ends(true, false, 5) && few.may_propose(true, 5));
        assert_eq!((few.hop(0), few.hop(2 * LATENCY)), (LATENCY, 2 * LATENCY));
        few.note_proposal(false);
        assert!(!few.is_tried() && few.ends(true, false, 5));
        assert_eq!(few.hop(40), 40);
    }
}
