//! The note on a job that thieves read before they take it: an [`Offer`] in one word.

use crate::policy::locality::{Last, Offer};
use crate::topology::Distance;

/// The distance up to which workers may take the job, the worker that ran it last, and the job's
/// number among those of its owner, by which a thief knows it again
/// ([`Sight`](crate::policy::locality::Sight)). Zero stands for no note: [`Offer::FREE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Note(u32);

impl Note {
    /// Bits for the steps by which the reach falls short of `Distance::Remote`.
    const REACH: u32 = 3;
    /// Bits for the worker.
    const LAST: u32 = 11;

    /// Of `number` the last 18 bits count.
    pub(crate) fn new(reach: Distance, last: Option<usize>, number: u32) -> Self {
        let short = Distance::Remote as u32 - reach as u32;
        let last = last.map_or(0, |worker| worker as u32 + 1);
        debug_assert!(last >> Self::LAST == 0, "a runtime has at most 1,024 workers");
        Self(short | last << Self::REACH | number << (Self::REACH + Self::LAST))
    }

    pub(crate) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    /// Returns what the note offers to worker `me`.
    pub(crate) fn offer(self, me: usize) -> Offer {
        let short = (self.0 & ((1 << Self::REACH) - 1)) as usize;
        let last = self.0 >> Self::REACH & ((1 << Self::LAST) - 1);
        let last = match last.checked_sub(1) {
            None => Last::Owner,
            Some(worker) if worker as usize == me => Last::Me,
            Some(_) => Last::Another,
        };
        let farthest = Distance::ALL.len() - 1;
        Offer { reach: Distance::ALL[farthest - short.min(farthest)], last }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_what_was_written() {
        for reach in Distance::ALL {
            for number in [0, 1, u32::MAX] {
                let note = |last| Note::from_bits(Note::new(reach, last, number).bits());
                assert_eq!(note(None).offer(3), Offer { reach, last: Last::Owner });
                assert_eq!(note(Some(3)).offer(3), Offer { reach, last: Last::Me });
                let another = Some(1_023);
                assert_eq!(note(another).offer(3), Offer { reach, last: Last::Another });
            }
            assert_ne!(Note::new(reach, Some(3), 7), Note::new(reach, Some(3), 8));
        }
        assert_eq!(Note::default().offer(0), Offer::FREE);
    }
}
