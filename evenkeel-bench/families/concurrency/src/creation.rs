//! Creation of tasks and threads: N times, on one processor, a party starts one that returns a
//! number, and joins it.

use std::hint;
use std::time::{Duration, Instant};

use super::host::Host;
use suite::kit::fault::Fault;
use suite::kit::runtime::Lost;

/// The body of the party: N rounds. Returns their time, and the sum of the numbers.
pub(super) async fn go<H: Host>(n: u64) -> Result<(Duration, u64), Lost> {
    let started = Instant::now();
    let mut sum = 0_u64;
    for _ in 0..n {
        sum += H::spawn_and_join(hint::black_box(1)).await?;
    }
    Ok((started.elapsed(), sum))
}

/// Returns the time, if each task has returned its number.
pub(super) fn check(
    n: u64,
    parties: Vec<Result<(Duration, u64), Lost>>,
) -> Result<Duration, Fault> {
    match parties.into_iter().next().transpose()? {
        Some((took, sum)) if sum == n => Ok(took),
        Some((_, sum)) => Fault::check(format!("{sum} of {n} have returned their number")),
        None => Fault::check("no party was started"),
    }
}
