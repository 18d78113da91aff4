//! Counters, which are incremented.

use super::{Done, Kind, Work};
use crate::party::Hand;

/// A counter: its word.
pub(crate) const COUNTER_BYTES: usize = size_of::<u64>();

/// How the next counter is chosen.
pub(crate) trait Choice: Copy + Send + Sync + 'static {
    /// The number of the next one, of so many.
    fn choose(self, hand: &mut Hand, in_use: usize) -> usize;
}

/// Each is as likely as any other.
#[derive(Clone, Copy)]
pub(crate) struct Evenly;

impl Choice for Evenly {
    #[inline(always)]
    fn choose(self, hand: &mut Hand, in_use: usize) -> usize {
        hand.random.below(in_use)
    }
}

/// One after the other.
#[derive(Clone, Copy)]
pub(crate) struct InTurn;

impl Choice for InTurn {
    #[inline(always)]
    fn choose(self, hand: &mut Hand, in_use: usize) -> usize {
        let next = hand.at as usize + 1;
        hand.at = if next < in_use { next as u32 } else { 0 };
        hand.at as usize
    }
}

/// Counters that are chosen so.
#[derive(Clone, Copy)]
pub(crate) struct Counters<C>(pub(crate) C);

impl<C: Choice> Kind for Counters<C> {
    type Value = u64;

    fn make(self, _: usize) -> u64 {
        0
    }

    fn bytes(self, _: usize) -> usize {
        COUNTER_BYTES
    }

    fn total(self, value: &u64) -> u64 {
        *value
    }
}

impl<C: Choice> Work for Counters<C> {
    #[inline(always)]
    fn choose(self, hand: &mut Hand, in_use: usize) -> usize {
        self.0.choose(hand, in_use)
    }

    #[inline]
    fn operate(self, value: &mut u64, _: &mut Hand) -> Done {
        *value += 1;
        Done { added: 1, right: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_in_turn_follow_each_other() {
        let mut hand = Hand::new(1, 0);
        let numbers: Vec<_> = (0..4).map(|_| Counters(InTurn).choose(&mut hand, 2)).collect();
        assert_eq!(numbers, [1, 0, 1, 0]);
    }
}
