//! Transfer: how soon does every ready task run while one task keeps its processor?
//!
//! A leader opens a round and spins, without ever yielding, until all other tasks have acknowledged
//! it by running once; then it draws the next leader among them. The others acknowledge and yield
//! (`yield`), or acknowledge and park (`park`). In `park` the retiring leader unparks all others,
//! the next leader among them; a task that runs before the next leader has opened its round yields
//! until then. One operation is one transfer.
//!
//! A scheduler that leaves ready tasks behind the leader never completes. The spinning leader
//! therefore reads the stop flag, and the controller stops the run when a round takes longer than
//! allowed. At the end each task must have taken part in each completed round exactly once.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use std::{hint, thread};

use crossbeam_utils::CachePadded;

use super::crew::{self, Meter};
use super::{Outcome, Spec, Variant};
use suite::kit::fault::Fault;
use suite::kit::random::Random;
use suite::kit::runtime::{Parker, Runtime};

/// How often the controller looks for progress: rarely enough to cost the tasks nothing, often
/// enough that a run is not much longer than requested.
const LOOK: Duration = Duration::from_millis(10);

/// State of leader and followers.
struct Helm {
    /// The current leader, or the next.
    leader: CachePadded<AtomicUsize>,
    /// The last opened round; the first leader opens the first.
    round: CachePadded<AtomicU32>,
    /// The last round that each task has acknowledged.
    seen: Box<[CachePadded<AtomicU32>]>,
}

impl Helm {
    fn new(tasks: usize) -> Helm {
        Helm {
            leader: CachePadded::default(),
            round: CachePadded::default(),
            seen: (0..tasks).map(|_| CachePadded::default()).collect(),
        }
    }

    /// The number of rounds that followed another one.
    fn transfers(&self) -> u32 {
        self.round.load(Ordering::Acquire).saturating_sub(1)
    }

    /// Spins until all others have seen the round; returns `false` if the run ends first.
    fn all_have_seen(&self, round: u32, leader: usize, meter: &Meter) -> bool {
        for (task, seen) in self.seen.iter().enumerate() {
            while task != leader && seen.load(Ordering::Acquire) != round {
                if meter.stopped() {
                    return false;
                }
                hint::spin_loop();
            }
        }
        true
    }
}

pub(super) fn run<R: Runtime>(spec: &Spec) -> Result<Outcome, Fault> {
    let (tasks, seed, parks) = (spec.tasks(), spec.seed, spec.variant == Variant::Park);
    let helm = Arc::new(Helm::new(tasks));
    let tokens: Arc<[R::Parker]> = (0..tasks).map(|_| R::Parker::default()).collect();
    // Filled by the first task once all have started; no task parks in the other variant.
    let handles: Arc<OnceLock<Handles<R>>> = Arc::default();
    let (shared_helm, shared_tokens) = (helm.clone(), tokens.clone());
    let shared_handles = handles.clone();
    let runtime = crew::start::<R>(spec)?;
    let crew = crew::muster(&runtime, tasks, move |number, mut meter| {
        let (helm, tokens) = (shared_helm.clone(), shared_tokens.clone());
        let handles = shared_handles.clone();
        async move {
            let mut random = Random::new(seed, number);
            tokens[number].attach().await;
            meter.gather::<R>().await;
            let others = handles.get_or_init(|| unparkers::<R>(&tokens, parks));
            let mut last = 0;
            let mut rounds: u64 = 0;
            while !meter.stopped() {
                if helm.leader.load(Ordering::Acquire) == number {
                    last += 1;
                    rounds += 1;
                    helm.round.store(last, Ordering::Release);
                    if helm.all_have_seen(last, number, &meter) {
                        let next = (number + 1 + random.below(tasks - 1)) % tasks;
                        helm.leader.store(next, Ordering::Release);
                        for (_, other) in others.iter().enumerate().filter(|(i, _)| *i != number) {
                            R::Parker::unpark(other);
                        }
                    }
                    continue;
                }
                let round = helm.round.load(Ordering::Acquire);
                let news = round != last;
                if news {
                    last = round;
                    rounds += 1;
                    helm.seen[number].store(round, Ordering::Release);
                }
                if parks && news {
                    tokens[number].park().await;
                } else {
                    R::yield_now().await;
                }
            }
            rounds
        }
    })?;
    crew.begin()?;
    let outcome = watch(&helm, spec);
    let rounds = crew.end(|| {
        for parked in handles.get().into_iter().flatten() {
            R::Parker::unpark(parked);
        }
    })?;
    let opened = u64::from(helm.round.load(Ordering::Acquire));
    // The stop interrupts the last round, before or after a task has seen it.
    let due = opened.saturating_sub(1)..=opened;
    match rounds.iter().find(|rounds| !due.contains(rounds)) {
        None => Ok(outcome),
        Some(odd) => {
            Fault::check(format!("a task took part in {odd} rounds of {opened}, not in each"))
        }
    }
}

type Handles<R> = Vec<<<R as Runtime>::Parker as Parker>::Unparker>;

/// A handle for each task, in order; none in the variant without parking.
fn unparkers<R: Runtime>(tokens: &[R::Parker], parks: bool) -> Handles<R> {
    tokens.iter().filter(|_| parks).map(Parker::unparker).collect()
}

/// Sleeps through the run, which ends at the first transfer after the requested time, or when the
/// user's patience has passed without a transfer.
fn watch(helm: &Helm, spec: &Spec) -> Outcome {
    let first = helm.transfers();
    let started = Instant::now();
    let mut seen = first;
    let mut progress = started;
    loop {
        thread::sleep(LOOK);
        let transfers = helm.transfers();
        let now = Instant::now();
        let (ops, seconds) = (u64::from(transfers - first), (now - started).as_secs_f64());
        if transfers != seen {
            if now - started >= spec.time {
                return Outcome { ops, seconds, dnc: false, footprint: None };
            }
            seen = transfers;
            progress = now;
        } else if now - progress > spec.patience {
            return Outcome { ops, seconds, dnc: true, footprint: None };
        }
    }
}
