//! Context switches of tasks and threads: N yields, by one party or by two in turns, on one
//! processor.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::host::Host;
use suite::kit::fault::Fault;

/// A party before it begins.
pub(super) struct Part<H> {
    yields: u64,
    /// The number of parties that have not begun.
    missing: Arc<AtomicU64>,
    host: PhantomData<fn() -> H>,
}

/// The work of one party.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    from: Instant,
    to: Instant,
    yields: u64,
}

/// Makes the parties, which yield N times together.
pub(super) fn parts<H>(n: u64, parties: u64) -> Vec<Part<H>> {
    let missing = Arc::new(AtomicU64::new(parties));
    let share = |party| n / parties + u64::from(party < n % parties);
    let part = |party| Part { yields: share(party), missing: missing.clone(), host: PhantomData };
    (0..parties).map(part).collect()
}

/// The body of a party.
pub(super) async fn go<H: Host>(part: Part<H>) -> Done {
    part.missing.fetch_sub(1, Ordering::Relaxed);
    while part.missing.load(Ordering::Relaxed) > 0 {
        H::yield_now().await;
    }
    let from = Instant::now();
    let mut yields = 0;
    while yields < part.yields {
        H::yield_now().await;
        yields += 1;
    }
    Done { from, to: Instant::now(), yields }
}

/// Returns the time from the first beginning to the last end, if the parties have yielded N times.
pub(super) fn check(n: u64, parties: &[Done]) -> Result<Duration, Fault> {
    let yields: u64 = parties.iter().map(|done| done.yields).sum();
    let from = parties.iter().map(|done| done.from).min();
    let to = parties.iter().map(|done| done.to).max();
    match from.zip(to) {
        Some((from, to)) if yields == n => Ok(to - from),
        _ => Fault::check(format!("{yields} yields of {n} were made")),
    }
}
