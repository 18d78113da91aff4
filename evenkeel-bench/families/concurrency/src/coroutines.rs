//! Coroutines: N resumes of one, or N creations.
//!
//! A resumed coroutine receives a number and suspends with the next one, in a loop: a resume is a
//! switch there and back. The first resume, with 0, begins the body. The sum of the numbers must be
//! right.
//!
//! A created coroutine has an empty body and holds a [`Made`]. A lazy one is dropped without a run;
//! an eager one is resumed once, which completes it, as in the thesis. Every [`Made`] must be gone
//! at the end.

pub(super) mod corosensei;
pub(super) mod evenkeel;
pub(super) mod genawaiter;

use std::cell::Cell;
use std::hint;
use std::time::{Duration, Instant};

use suite::kit::fault::Fault;

/// Resumes a coroutine N times and checks its numbers. Inlined, so that the compiler may keep a
/// coroutine of known type in a local variable of the loop.
#[inline(always)]
fn resumes(n: u64, mut resume: impl FnMut(u64) -> u64) -> Result<Duration, Fault> {
    let mut sum = 0_u64;
    let started = Instant::now();
    for number in 0..n {
        sum = sum.wrapping_add(resume(hint::black_box(number)));
    }
    let took = started.elapsed();
    let right = (u128::from(n) * u128::from(n + 1) / 2) as u64;
    if sum != right {
        return Fault::check(format!(
            "the numbers of {n} resumes come to {sum} instead of {right}"
        ));
    }
    Ok(took)
}

/// A value that a created coroutine holds.
struct Made<'a>(&'a Cell<u64>);

impl Drop for Made<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// Creates N coroutines, drops each at once, and checks that all are gone.
#[inline(always)]
fn creations(n: u64, mut create: impl FnMut(Made<'_>)) -> Result<Duration, Fault> {
    let gone = Cell::new(0);
    let started = Instant::now();
    for _ in 0..n {
        create(Made(hint::black_box(&gone)));
    }
    let took = started.elapsed();
    match gone.get() {
        all if all == n => Ok(took),
        some => Fault::check(format!("of {n} coroutines {some} are gone")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resumes_that_give_something_else_are_a_fault() {
        resumes(10, |number| number + 1).unwrap();
        let fault = resumes(10, |number| number).unwrap_err().to_string();
        assert_eq!(fault, "the numbers of 10 resumes come to 45 instead of 55");
    }

    #[test]
    fn a_coroutine_that_stays_is_a_fault() {
        creations(3, |made| drop(made)).unwrap();
        let fault = creations(3, |made| std::mem::forget(made)).unwrap_err().to_string();
        assert_eq!(fault, "of 3 coroutines 0 are gone");
    }
}
