//! Objects that an operation reads from end to end, or increments word by word.

use super::{Done, Kind, Look, Work};
use crate::bench::Access;
use crate::party::Hand;

/// Objects of `words` words of eight bytes.
#[derive(Clone, Copy)]
pub(crate) struct Scans {
    pub(crate) access: Access,
    pub(crate) words: usize,
}

impl Scans {
    /// Returns the sum of an object after `times` increments: its words began as 0, 1, 2 and so on.
    fn sum(self, times: u64) -> u64 {
        let words = self.words as u64;
        (words * words.saturating_sub(1) / 2).wrapping_add(words.wrapping_mul(times))
    }

    /// Reads an object from end to end.
    #[inline(never)]
    fn summed(self, words: &[u64]) -> Done {
        let sum = words.iter().fold(0u64, |sum, word| sum.wrapping_add(*word));
        let times = words.first().copied().unwrap_or_default();
        Done { added: 0, right: sum == self.sum(times) }
    }
}

impl Kind for Scans {
    type Value = Box<[u64]>;

    fn make(self, _: usize) -> Box<[u64]> {
        (0..self.words as u64).collect()
    }

    fn total(self, words: &Box<[u64]>) -> u64 {
        words.first().copied().unwrap_or_default()
    }
}

impl Work for Scans {
    #[inline(never)]
    fn operate(self, words: &mut Box<[u64]>, _: &mut Hand) -> Done {
        if self.access != Access::All {
            return self.summed(words);
        }
        let mut sum = 0u64;
        for word in words.iter_mut() {
            *word += 1;
            sum = sum.wrapping_add(*word);
        }
        Done { added: 1, right: sum == self.sum(self.total(words)) }
    }

    fn looks(self) -> bool {
        self.access == Access::Read
    }

    fn look(self, _: &Hand) -> Option<Look<Self>> {
        let look: Look<Self> = |work, words, _| work.summed(words);
        self.looks().then_some(look)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_was_missed_is_noticed() {
        for (access, total) in [(Access::Read, 0), (Access::All, 20)] {
            let work = Scans { access, words: 64 };
            let (mut words, mut hand) = (work.make(0), Hand::new(1, 0));
            assert!((0..20).all(|_| work.operate(&mut words, &mut hand).right));
            assert_eq!(work.total(&words), total);
            assert!(work.look(&hand).is_none_or(|look| look(work, &words, &mut hand).right));
            words[17] += 1;
            assert!(!work.operate(&mut words, &mut hand).right);
        }
    }
}
