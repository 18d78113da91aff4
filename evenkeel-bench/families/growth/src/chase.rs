//! A chase of pointers: the floor below everything that comes to its memory in random order.

use std::hint;
use std::time::Instant;

use suite::kit::random::Random;

/// Steps at least, so that a short chase is measured too.
const STEPS: usize = 1_000_000;

/// Returns the nanoseconds of a step to the next of `number` places that lie `stride` bytes apart,
/// in a random cycle: each step waits for the one before.
pub(crate) fn run(number: usize, stride: usize, seed: u64) -> f64 {
    let words = (stride / size_of::<usize>()).max(1);
    let mut order: Vec<usize> = (0..number).collect();
    Random::new(seed, 1).shuffle(&mut order);
    let mut memory = vec![0_usize; words * number];
    let next = order.iter().cycle().skip(1);
    for (&place, &next) in order.iter().zip(next) {
        memory[place * words] = next * words;
    }
    let first = order[0] * words;
    drop(order);
    let steps = number.max(STEPS).next_multiple_of(number);
    let started = Instant::now();
    let last = (0..steps).fold(first, |at, _| memory[at]);
    let elapsed = started.elapsed();
    assert_eq!(hint::black_box(last), first, "whole rounds end where they began");
    elapsed.as_nanos() as f64 / steps as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_comes_back() {
        for number in [1, 2, 1_000] {
            assert!(run(number, 64, 7) > 0.0);
        }
    }
}
