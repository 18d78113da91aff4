//! How a thread that is no worker waits for workers.

use crate::policy::forking;
use crate::policy::searching::{self, Rest};
use crate::primitives::{clock, cpu, thread};
use crate::processor::shared::Shared;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Whether a thread of the process waits awake. One at a time: a crowd would be in the way of the
/// workers that it waits for. A hint, like the rest: it orders nothing.
static AWAKE: AtomicBool = AtomicBool::new(false);

/// The [`Rest`] in which no thread waits awake, because one has lost its core.
static RESTS_UNTIL: AtomicU64 = AtomicU64::new(0);
static REST_LENGTH: AtomicU64 = AtomicU64::new(0);

fn rest() -> Rest {
    Rest { until: RESTS_UNTIL.load(Relaxed), length: REST_LENGTH.load(Relaxed) }
}

/// The right to wait awake.
struct Awake;

impl Awake {
    fn begin(now: u64) -> Option<Self> {
        let is_free = rest().is_over(now) && !AWAKE.load(Relaxed);
        (is_free && !AWAKE.swap(true, Relaxed)).then_some(Self)
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        AWAKE.store(false, Relaxed);
    }
}

/// Waits until workers of `shared` have made sure that it is `over`. The worker that does so
/// unparks this thread afterwards.
///
/// At first the thread stays awake, if there is room for it: what a worker does for others is often
/// short, and a sleep and a wake-up cost some 25 µs, with an interrupt of the other core. The core
/// itself goes at each turn to any other thread that can run there.
pub(super) fn wait(shared: &Shared, over: &dyn Fn() -> bool) {
    if over() {
        return;
    }
    let start = clock::now();
    if may_stay(shared, has_others(shared))
        && let Some(_awake) = Awake::begin(start)
        && wait_awake(shared, start, over)
    {
        return;
    }
    while !over() {
        thread::park(None);
    }
}

/// Waits awake since `start`. False if the call is not over when the thread has to stop.
fn wait_awake(shared: &Shared, start: u64, over: &dyn Fn() -> bool) -> bool {
    let mut now = start;
    while may_stay(shared, false) {
        thread::yield_now();
        let before = std::mem::replace(&mut now, clock::now());
        if searching::has_lost_core(before, now) {
            let rest = rest().next(now);
            REST_LENGTH.store(rest.length, Relaxed);
            RESTS_UNTIL.store(rest.until, Relaxed);
            return over();
        }
        if over() {
            // It has gone well.
            REST_LENGTH.store(0, Relaxed);
            return true;
        }
        if forking::sleep(now.saturating_sub(start)) {
            return false;
        }
    }
    false
}

fn may_stay(shared: &Shared, with_others: bool) -> bool {
    let sleeping = shared.idle.counts().sleeping;
    let awake = shared.workers.saturating_sub(sleeping);
    searching::may_wait_awake(searching::Busy { awake, sleeping, with_others }, cpu::count())
}

/// Whether there is work beside what one thread waits for.
fn has_others(shared: &Shared) -> bool {
    shared.errands.waiting() > 1
        || shared.processors.iter().any(|processor| processor.published.ready.len() > 0)
}
