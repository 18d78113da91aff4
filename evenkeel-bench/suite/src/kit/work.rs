//! Work that keeps a task busy for a while: steps of a recurrence that can be jumped over, so that
//! all of them can be checked.

use std::hint;

/// Knuth's linear congruential generator ("The Art of Computer Programming", 3.3.4, MMIX): `x * A +
/// C` modulo 2^64.
const A: u64 = 6_364_136_223_846_793_005;
const C: u64 = 1_442_695_040_888_963_407;

/// Makes `steps` steps from `first`, and returns the state after the last. Each step waits for the
/// one before, some 4 cycles: a thousand take 1.0 to 1.4 µs.
#[must_use]
#[inline(never)]
pub fn steps(first: u64, steps: u64) -> u64 {
    // The compiler would compose the steps if it knew the constants.
    let (a, c) = hint::black_box((A, C));
    (0..steps).fold(first, |now, _| now.wrapping_mul(a).wrapping_add(c))
}

/// The work done so far, in pieces of `STEPS` [steps].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work<const STEPS: u64> {
    first: u64,
    now: u64,
}

impl<const STEPS: u64> Work<STEPS> {
    /// Creates the work of one task.
    pub const fn new(seed: u64, task: usize) -> Self {
        let first = seed.wrapping_mul(A) ^ task as u64;
        Self { first, now: first }
    }

    /// Does one piece of it.
    #[inline]
    pub fn go(&mut self) {
        self.now = steps(self.now, STEPS);
    }

    /// Returns whether the state is the one that this number of pieces leads to.
    pub fn is_right(&self, pieces: u64) -> bool {
        self.now == jump(self.first, pieces.wrapping_mul(STEPS))
    }
}

/// Returns what [`steps`] returns, without the steps, by squaring (Brown, "Random number generation
/// with arbitrary strides", 1994).
#[must_use]
pub fn jump(first: u64, steps: u64) -> u64 {
    let (mut factor, mut term) = (1_u64, 0_u64);
    let (mut a, mut c) = (A, C);
    let mut left = steps;
    while left > 0 {
        if left % 2 == 1 {
            factor = factor.wrapping_mul(a);
            term = term.wrapping_mul(a).wrapping_add(c);
        }
        c = c.wrapping_mul(a.wrapping_add(1));
        a = a.wrapping_mul(a);
        left /= 2;
    }
    first.wrapping_mul(factor).wrapping_add(term)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_lead_where_the_jump_does_and_nowhere_else() {
        let mut work = Work::<1_500>::new(7, 3);
        assert!(work.is_right(0));
        for _ in 0..5 {
            work.go();
        }
        assert!(work.is_right(5));
        assert!(!work.is_right(4) && !work.is_right(6));
        assert_eq!(steps(7, 1_234), jump(7, 1_234));
    }
}
