//! What a thread or a task does between operations: it chooses the next object and counts.

use std::sync::Arc;

use super::score::Score;
use super::work::{Done, PairWork, Work};
use suite::kit::random::Random;

/// The state from which a party, and its operations, choose.
pub(super) struct Hand {
    pub(super) random: Random,
    /// The party's position, in the work's terms: the object before the next one, for example.
    pub(super) at: u32,
}

impl Hand {
    pub(super) fn new(seed: u64, party: usize) -> Self {
        Self { random: Random::new(seed, party), at: party as u32 }
    }
}

/// One thread or task. It lies in the task, which carries it on each journey, so it is small. The
/// order of the fields matters: the compiler adds to two neighbours with one instruction, whose
/// operand lies on two cache lines in some tasks and not in others. That cost 3 ns of an operation
/// of 8 ns.
#[repr(C)]
pub(super) struct Party {
    operations: u64,
    score: Arc<Score>,
    /// The fields of [`Tally`], so far.
    added: u64,
    pub(super) hand: Hand,
    /// The stretch, and the number of objects in use in it.
    stretch: usize,
    in_use: u32,
    wrong: u32,
    ends: Box<[u64]>,
}

/// What one party has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Operations by the end of each stretch.
    pub(super) ends: Vec<u64>,
    pub(super) operations: u64,
    /// What the operations have added to the objects.
    pub(super) added: u64,
    /// Operations with a wrong result.
    pub(super) wrong: u64,
}

impl Party {
    pub(super) fn new(score: &Arc<Score>, seed: u64, number: usize) -> Self {
        let mut party = Self {
            score: score.clone(),
            hand: Hand::new(seed, number),
            stretch: 0,
            in_use: 1,
            wrong: 0,
            operations: 0,
            added: 0,
            ends: vec![0; score.len()].into(),
        };
        party.look(0);
        party
    }

    /// Returns the number of the next object; `None` when the run is over.
    #[inline(always)]
    pub(super) fn next<W: Work>(&mut self, work: W) -> Option<usize> {
        self.goes_on()?;
        Some(work.choose(&mut self.hand, self.in_use as usize))
    }

    /// Returns the numbers of the next two objects; `None` when the run is over.
    #[inline(always)]
    pub(super) fn next_pair<W: PairWork>(&mut self, work: W) -> Option<(usize, usize)> {
        self.goes_on()?;
        Some(work.choose(&mut self.hand, self.in_use as usize))
    }

    /// Returns `None` when the run is over.
    #[inline(always)]
    pub(super) fn goes_on(&mut self) -> Option<()> {
        let now = self.score.now();
        if now == self.stretch { Some(()) } else { self.turn_to(now) }
    }

    /// Enters a new stretch. A party that was away may have missed some.
    #[cold]
    fn turn_to(&mut self, now: usize) -> Option<()> {
        let first = self.stretch.min(self.ends.len());
        self.ends[first..now.min(self.score.len())].fill(self.operations);
        self.stretch = now;
        self.look(now)?;
        self.score.arrive(now);
        Some(())
    }

    /// Reads how many objects are in use in this stretch.
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

    /// Whether to yield to other tasks: once in 64 operations, as often as an entry at an object's
    /// home does. In place an entry does so after some microseconds.
    pub(super) fn gives_way(&self) -> bool {
        self.operations.is_multiple_of(64)
    }

    /// Returns what the party has done, once [`next`](Self::next) has returned `None`.
    pub(super) fn into_tally(self) -> Tally {
        let Self { operations, added, wrong, .. } = self;
        Tally { ends: self.ends.into(), operations, added, wrong: wrong.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Stretch;
    use crate::work::{Counters, Evenly};
    use std::time::Duration;

    #[test]
    fn a_party_counts_by_stretches_even_those_it_has_missed() {
        let stretch =
            Stretch { time: Duration::ZERO, few: false, unsettled: false, measured: true };
        let score = Arc::new(Score::new(vec![stretch; 3], 2, 0));
        let (mut party, work) = (Party::new(&score, 1, 0), Counters(Evenly));
        for _ in 0..5 {
            assert!(party.next(work).unwrap() < 2);
            party.count(Done { added: 2, right: true });
        }
        score.conduct(|| 0);
        assert_eq!(party.next(work), None);
        let tally = party.into_tally();
        assert_eq!(tally, Tally { ends: vec![5, 5, 5], operations: 5, added: 10, wrong: 0 });
    }
}
