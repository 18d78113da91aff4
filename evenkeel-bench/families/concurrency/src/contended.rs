//! Contended entry: a few parties on two processors keep entering one monitor, and stay inside for
//! about 100 ns.
//!
//! Tight: a party enters again as soon as it has left. Yielding: it lets other parties run in
//! between. The throughput is one figure. The longest wait for an entry is the other, because a
//! monitor that lets parties barge in gains throughput and makes other parties wait. That wait
//! includes the last one of a party that enters only after the time is over. Tasks never yield by
//! themselves, so a lock that makes no party wait keeps its task on the worker.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::host::Host;
use super::monitors::{Datum, Monitors};
use suite::kit::fault::Fault;

/// The settings of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contention {
    pub(super) procs: usize,
    pub(super) tasks: usize,
    pub(super) time: Duration,
    /// Whether a party yields after each entry.
    pub(super) yields: bool,
}

/// A party before it begins.
pub(super) struct Part<H, L> {
    contention: Contention,
    shared: Arc<Shared<L>>,
    host: PhantomData<fn() -> H>,
}

/// State that the parties share.
struct Shared<L> {
    monitor: L,
    /// The number of parties that have not begun.
    missing: AtomicUsize,
    /// When all have begun.
    started: OnceLock<Instant>,
}

/// The work of one party.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    /// Its entries, and those that began in time.
    entries: u64,
    in_time: u64,
    longest: Duration,
    /// The monitor's count at the party's last entry.
    seen: u64,
    /// Whether the monitor's work matches its number of entries.
    right: bool,
}

/// The result of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Entries that began in time.
    pub(super) entries: u64,
    /// The longest wait for an entry.
    pub(super) longest: Duration,
}

/// All parties of a run.
pub(super) fn parts<H, L: Monitors<1>>(contention: Contention) -> Vec<Part<H, L>> {
    let shared = Arc::new(Shared {
        monitor: L::new(),
        missing: AtomicUsize::new(contention.tasks),
        started: OnceLock::new(),
    });
    let part = |_| Part { contention, shared: shared.clone(), host: PhantomData };
    (0..contention.tasks).map(part).collect()
}

fn datum<'a, L: Monitors<1>>(held: &'a mut L::Held<'_>) -> &'a mut Datum {
    let [datum] = L::data(held);
    datum
}

/// The body of a party.
pub(super) async fn go<H: Host, L: Monitors<1>>(part: Part<H, L>) -> Done {
    let Shared { monitor, missing, started } = &*part.shared;
    missing.fetch_sub(1, Ordering::Relaxed);
    while missing.load(Ordering::Relaxed) > 0 {
        H::yield_now().await;
    }
    let mut asked = *started.get_or_init(Instant::now);
    let end = asked + part.contention.time;
    let (mut entries, mut in_time, mut longest) = (0, 0, Duration::ZERO);
    while asked < end {
        let mut held = monitor.enter().await;
        let inside = Instant::now();
        let datum = datum::<L>(&mut held);
        datum.entries += 1;
        datum.work.go();
        drop(held);
        entries += 1;
        in_time += u64::from(inside < end);
        longest = longest.max(inside - asked);
        if part.contention.yields {
            H::yield_now().await;
        }
        asked = Instant::now();
    }
    let mut held = monitor.enter().await;
    let datum = datum::<L>(&mut held);
    let right = datum.work.is_right(datum.entries);
    Done { entries, in_time, longest, seen: datum.entries, right }
}

/// Returns the result, if no entry was lost and two parties were never inside together.
pub(super) fn check(parties: &[Done]) -> Result<Outcome, Fault> {
    let entries: u64 = parties.iter().map(|done| done.entries).sum();
    // The party that entered last has seen the entries of all.
    let seen = parties.iter().map(|done| done.seen).max().unwrap_or_default();
    if entries != seen {
        return Fault::check(format!("{seen} of {entries} entries are counted"));
    }
    if !parties.iter().all(|done| done.right) {
        return Fault::check(format!("the work of {entries} entries is not done"));
    }
    let in_time = parties.iter().map(|done| done.in_time).sum();
    if in_time == 0 {
        return Fault::check("no party entered in time: raise --seconds");
    }
    Ok(Outcome {
        entries: in_time,
        longest: parties.iter().map(|done| done.longest).max().unwrap_or_default(),
    })
}
