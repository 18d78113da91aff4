//! Counters that parties increment.

use super::{Done, Kind, Work};
use crate::party::Hand;

/// A counter: its word.
pub(crate) const COUNTER_BYTES: usize = size_of::<u64>();

/// How the next counter is chosen.
pub(crate) trait Choice: Copy + Send + Sync + 'static {
    /// Returns the number of the next counter, below `in_use`.
    fn choose(self, hand: &mut Hand, in_use: usize) -> usize;
}

/// Each equally likely.
#[derive(Clone, Copy)]
pub(crate) struct Evenly;

impl Choice for Evenly {
    #[inline(always)]
    fn choose(self, hand: &mut Hand, in_use: usize) -> usize {
        hand.random.below(in_use)
    }
}

/// One after another.
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

/// The middle ones are the likeliest, as in a histogram of heights: a party counts the ones of 63
/// random bits.
#[derive(Clone, Copy)]
pub(crate) struct Bell;

impl Choice for Bell {
    #[inline(always)]
    fn choose(self, hand: &mut Hand, in_use: usize) -> usize {
        const BITS: usize = 63;
        let ones = hand.random.below(1 << BITS).count_ones() as usize;
        ones * in_use / (BITS + 1)
    }
}

/// One object, with this many steps of a party's own work between its operations.
#[derive(Clone, Copy)]
pub(crate) struct AfterOwnWork(pub(crate) u32);

impl Choice for AfterOwnWork {
    /// The steps are random numbers, each computed from the one before.
    #[inline(always)]
    fn choose(self, hand: &mut Hand, in_use: usize) -> usize {
        (0..self.0).for_each(|_| hand.at = hand.random.below(in_use) as u32);
        hand.at as usize % in_use
    }
}

/// Counters chosen by `C`.
#[derive(Clone, Copy)]
pub(crate) struct Counters<C>(pub(crate) C);

impl<C: Choice> Kind for Counters<C> {
    type Value = u64;

    fn make(self, _: usize) -> u64 {
        0
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

    #[test]
    fn a_histogram_is_highest_in_its_middle() {
        let (mut hand, mut counts) = (Hand::new(1, 0), [0; 64]);
        (0..10_000).for_each(|_| counts[Counters(Bell).choose(&mut hand, 64)] += 1);
        assert!((900..1_100).contains(&counts[31]), "{counts:?}");
        assert!(counts[20] < 50 && counts[44] < 50, "{counts:?}");
    }

    #[test]
    fn own_work_draws_a_number_in_each_step() {
        let (mut worked, mut drawn) = (Hand::new(1, 0), Hand::new(1, 0));
        Counters(AfterOwnWork(5)).choose(&mut worked, 1);
        (0..5).for_each(|_| assert_eq!(drawn.random.below(1), 0));
        assert_eq!(worked.random.below(1 << 40), drawn.random.below(1 << 40));
    }
}
