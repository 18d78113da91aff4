//! What a thread or a task does between operations: it chooses the next object, and counts.

use std::sync::Arc;

use super::score::Score;
use super::work::Done;
use suite::kit::random::Random;

/// How the next object is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Each of those in use is as likely as any other.
    Random,
    /// One after the other.
    InTurn,
}

/// One thread or task. It lies in the task, which takes it along wherever it travels, so it is kept
/// small.
pub(super) struct Party {
    score: Arc<Score>,
    pub(super) random: Random,
    /// The stretch, and how many objects are in use in it.
    stretch: usize,
    in_use: u32,
    /// The object before the next one, where they are chosen in turn.
    last: u32,
    choice: Choice,
    /// What [`Tally`] has, as far as it is known.
    wrong: u32,
    operations: u64,
    added: u64,
    ends: Box<[u64]>,
}

/// What one party has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Operations by the end of each stretch.
    pub(super) ends: Vec<u64>,
    pub(super) operations: u64,
    /// What they have added to the objects.
    pub(super) added: u64,
    /// Those whose result was wrong.
    pub(super) wrong: u64,
}

impl Party {
    pub(super) fn new(score: &Arc<Score>, choice: Choice, seed: u64, number: usize) -> Self {
        let mut party = Self {
            score: score.clone(),
            random: Random::new(seed, number),
            stretch: 0,
            in_use: 1,
            last: number as u32,
            choice,
            wrong: 0,
            operations: 0,
            added: 0,
            ends: vec![0; score.len()].into(),
        };
        party.look(0);
        party
    }

    /// The number of the next object; `None` when all is over.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<usize> {
        let now = self.score.now();
        if now != self.stretch {
            self.turn_to(now)?;
        }
        Some(match self.choice {
            Choice::Random => self.random.below(self.in_use as usize),
            Choice::InTurn => {
                self.last = if self.last + 1 < self.in_use { self.last + 1 } else { 0 };
                self.last as usize
            }
        })
    }

    /// Another stretch has begun. A party that was away may have missed some.
    #[cold]
    fn turn_to(&mut self, now: usize) -> Option<()> {
        let first = self.stretch.min(self.ends.len());
        self.ends[first..now.min(self.score.len())].fill(self.operations);
        self.stretch = now;
        self.look(now)?;
        self.score.arrive(now);
        Some(())
    }

    /// Looks how many objects are in use in this stretch.
    fn look(&mut self, stretch: usize) -> Option<()> {
        let in_use = self.score.in_use(stretch)?;
        self.in_use = u32::try_from(in_use).expect("a run has fewer objects");
        Some(())
    }

    /// Counts an operation.
    #[inline(always)]
    pub(super) fn count(&mut self, done: Done) {
        self.operations += 1;
        self.added += done.added;
        self.wrong += u32::from(!done.right);
    }

    /// Whether it is time to let others have a turn: an entry into an object does in one of as
    /// many.
    pub(super) fn gives_way(&self) -> bool {
        self.operations.is_multiple_of(64)
    }

    /// What it has done, once [`next`](Self::next) has said that all is over.
    pub(super) fn into_tally(self) -> Tally {
        let Self { operations, added, wrong, .. } = self;
        Tally { ends: self.ends.into(), operations, added, wrong: wrong.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Stretch;
    use std::time::Duration;

    fn party(stretches: usize, choice: Choice) -> (Arc<Score>, Party) {
        let stretch =
            Stretch { time: Duration::ZERO, few: false, unsettled: false, measured: true };
        let score = Arc::new(Score::new(vec![stretch; stretches], 2, 0));
        let party = Party::new(&score, choice, 1, 0);
        (score, party)
    }

    #[test]
    fn a_party_counts_by_stretches_even_those_it_has_missed() {
        let (score, mut party) = party(3, Choice::Random);
        for _ in 0..5 {
            assert!(party.next().unwrap() < 2);
            party.count(Done { added: 2, right: true });
        }
        score.conduct(|| 0);
        assert_eq!(party.next(), None);
        let tally = party.into_tally();
        assert_eq!(tally, Tally { ends: vec![5, 5, 5], operations: 5, added: 10, wrong: 0 });
    }

    #[test]
    fn a_party_goes_from_object_to_object() {
        let (_, mut party) = party(1, Choice::InTurn);
        let numbers: Vec<_> = (0..4).map(|_| party.next().unwrap()).collect();
        assert_eq!(numbers, [1, 0, 1, 0]);
    }
}
