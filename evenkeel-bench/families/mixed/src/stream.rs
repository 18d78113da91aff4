//! A sequence of computations, each checked.

use std::time::{Duration, Instant};

use super::{PROGRAM, Spec};
use forking::forker::Forker;
use forking::program::Run;
use suite::kit::fault::Fault;

/// A finished computation: its end, and its duration from the request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) at: Instant,
    pub(super) took: Duration,
}

/// Runs a number of computations.
pub(super) fn times<F: Forker>(
    forks: &F,
    spec: &Spec,
    right: u64,
    times: usize,
) -> Result<Vec<Done>, Fault> {
    let mut left = times;
    run(forks, spec, right, || left.checked_sub(1).map(|less| left = less).is_some())
}

/// Runs computations while `more` returns true.
pub(super) fn run<F: Forker>(
    forks: &F,
    spec: &Spec,
    right: u64,
    mut more: impl FnMut() -> bool,
) -> Result<Vec<Done>, Fault> {
    let mut all = Vec::new();
    while more() {
        let Run { seconds, checksum: result, .. } = PROGRAM.run(spec.n, forks);
        if result != right {
            return Fault::check(format!(
                "a computation of size {} came to {result} instead of {right}",
                spec.n
            ));
        }
        all.push(Done { at: Instant::now(), took: Duration::from_secs_f64(seconds) });
    }
    Ok(all)
}
