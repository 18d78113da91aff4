//! What a busy task does in a poll: steps of a recurrence that can be jumped over, so that all of them can be checked.

use std::hint;

/// Steps of a poll: each waits for the one before, some 4 cycles, so a poll takes about 2 µs.
const STEPS: u64 = 1_500;

/// Knuth's linear congruential generator ("The Art of Computer Programming", 3.3.4, MMIX): `x * A + C` modulo 2^64.
const A: u64 = 6_364_136_223_846_793_005;
const C: u64 = 1_442_695_040_888_963_407;

/// A task's work so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    first: u64,
    now: u64,
}

impl Work {
    /// The work of one task.
    pub(super) fn new(seed: u64, task: usize) -> Self {
        let first = seed.wrapping_mul(A) ^ task as u64;
        Self { first, now: first }
    }

    /// The work of one poll.
    #[inline(never)]
    pub(super) fn go(&mut self) {
        // The compiler would compose steps whose constants it knew.
        let (a, c) = hint::black_box((A, C));
        self.now = (0..STEPS).fold(self.now, |now, _| now.wrapping_mul(a).wrapping_add(c));
    }

    /// Whether it has come to where so many polls lead.
    pub(super) fn is_right(&self, polls: u64) -> bool {
        self.now == jump(self.first, polls.wrapping_mul(STEPS))
    }
}

/// So many steps at once, by squaring (Brown, "Random number generation with arbitrary strides", 1994).
fn jump(first: u64, steps: u64) -> u64 {
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
    fn polls_lead_where_the_jump_does_and_nowhere_else() {
        let mut work = Work::new(7, 3);
        assert!(work.is_right(0));
        for _ in 0..5 {
            work.go();
        }
        assert!(work.is_right(5));
        assert!(!work.is_right(4) && !work.is_right(6));
    }
}
