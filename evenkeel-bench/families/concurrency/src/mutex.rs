//! Entering and leaving uncontended monitors.
//!
//! One party on one processor: N times it enters one, two or four monitors, counts in each, and
//! leaves them. All of a monitor's entries must be counted at the end.

use std::hint;
use std::time::{Duration, Instant};

use super::monitors::{Datum, Monitors};
use suite::kit::fault::Fault;

/// The body of the party: N rounds. Returns their time, and the entries of each monitor.
pub(super) async fn go<L: Monitors<M>, const M: usize>(n: u64) -> (Duration, [u64; M]) {
    let monitors = L::new();
    let started = Instant::now();
    for _ in 0..n {
        let count = |data: [&mut Datum; M]| data.into_iter().for_each(|datum| datum.entries += 1);
        hint::black_box(&monitors).visit(count).await;
    }
    let took = started.elapsed();
    let entries = monitors.visit(|data| data.map(|datum| datum.entries)).await;
    (took, entries)
}

/// The same with a call that enters nothing: the cost that remains when monitors are free of
/// charge.
pub(super) fn calls(n: u64) -> Result<Duration, Fault> {
    #[inline(never)]
    fn call(datum: &mut Datum) {
        datum.entries += 1;
    }
    let mut datum = Datum::NEW;
    let started = Instant::now();
    for _ in 0..n {
        call(hint::black_box(&mut datum));
    }
    check(n, vec![(started.elapsed(), [datum.entries])])
}

/// Returns the time, if every round has entered every monitor.
pub(super) fn check<const M: usize>(
    n: u64,
    parties: Vec<(Duration, [u64; M])>,
) -> Result<Duration, Fault> {
    let Some(&(took, entries)) = parties.first() else {
        return Fault::check("no party entered");
    };
    match entries.iter().find(|entries| **entries != n) {
        Some(entries) => Fault::check(format!("{entries} entries of {n} are counted")),
        None => Ok(took),
    }
}
