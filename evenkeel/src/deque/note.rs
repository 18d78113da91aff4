//! The note on a job that thieves read before they take it: an [`Offer`] in one word.

use crate::policy::locality::{Last, Offer};
use crate::topology::Distance;

/// The distance up to which workers may take the job, and the worker that ran it last. Zero stands
/// for no note: [`Offer::FREE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Note(u32);

impl Note {
    /// Bits for the steps by which the reach falls short of `Distance::Remote`.
    const REACH: u32 = 3;

    pub(crate) fn new(reach: Distance, last: Option<usize>) -> Self {
        let short = Distance::Remote as u32 - reach as u32;
        let last = last.map_or(0, |worker| worker as u32 + 1);
        Self(short | last << Self::REACH)
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
        let last = match (self.0 >> Self::REACH).checked_sub(1) {
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
            let note = |last| Note::from_bits(Note::new(reach, last).bits());
            assert_eq!(note(None).offer(3), Offer { reach, last: Last::Owner });
            assert_eq!(note(Some(3)).offer(3), Offer { reach, last: Last::Me });
            assert_eq!(note(Some(1_023)).offer(3), Offer { reach, last: Last::Another });
        }
        assert_eq!(Note::default().offer(0), Offer::FREE);
    }
}
