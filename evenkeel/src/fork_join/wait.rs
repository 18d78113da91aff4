//! What a worker does while a job of its own is with a thief.
//!
//! It runs descendants of that job, taken from the thief's deque (*leapfrogging*: Wagner and Calder, "Leapfrogging: a
//! portable technique for implementing efficient futures", 1993), and what those spawn, and nothing else. Let a program's
//! *serial elision* be the same program with a fork and a spawn being calls. Whatever runs on top of a frame that waits
//! would, in the elision, run inside that frame or inside the half that it waits for: a program whose elision cannot deadlock cannot
//! deadlock here, whatever locks it holds across a fork.

use crate::policy::forking;
use crate::primitives::spin::{self, Backoff};
use crate::primitives::{clock, thread};
use crate::scheduler::context::Context;
use crate::scheduler::job::{self, Asked, Stolen};
use crate::scheduler::latch::Latch;
use crate::scheduler::meter::Doing;
use crate::topology::Distance;
use std::time::Duration;

/// Waits for a job that was stolen. The caller is its owner.
#[cold]
pub(super) fn wait_for(context: &Context, latch: &Latch) {
    let leap = |waited| {
        let thief = latch.thief()?;
        if !job::may_take(context, thief, waited) {
            return None;
        }
        Some((thief, Stolen::take(context.shared(), thief, || !latch.is_complete())))
    };
    wait(context, || latch.is_complete(), || latch.fall_asleep(), leap);
}

/// Waits until `over`. `leap` gives a worker that has something to do with it, and a job of that one that may be run meanwhile, after so long without
/// one;
/// `fall_asleep` says that this worker is about to park, unless it need not.
pub(super) fn wait(
    context: &Context,
    over: impl Fn() -> bool,
    fall_asleep: impl Fn() -> bool,
    leap: impl Fn(u64) -> Option<(usize, Option<Stolen>)>,
) {
    if over() {
        return;
    }
    let before = context.switch(Doing::Searching, clock::now());
    wait_idly(context, over, fall_asleep, leap);
    context.switch(before, clock::now());
}

/// The same for a worker that has something to wait for: what it does is that it searches.
fn wait_idly(
    context: &Context,
    over: impl Fn() -> bool,
    fall_asleep: impl Fn() -> bool,
    leap: impl Fn(u64) -> Option<(usize, Option<Stolen>)>,
) {
    let shared = context.shared();
    let floor = context.seat.processor().deque.head();
    let mut asked = Asked::default();
    let mut backoff = Backoff::new();
    let mut since = None;
    let mut slept = 0;
    while !over() {
        if context.seat.processor().deque.head() > floor {
            // Jobs that were run here have spawned others, which somebody else waits for.
            context.while_running(Distance::Same, || job::run_above(context, floor));
        }
        let now = clock::now();
        let waited = now.saturating_sub(*since.get_or_insert(now));
        match leap(waited) {
            Some((victim, Some(stolen))) => {
                let distance = context.distance(victim);
                context.counters().count_steal(distance);
                context.switch(Doing::Stealing(distance), now);
                context.while_running(distance, || stolen.run(context));
                context.switch(Doing::Searching, clock::now());
                (since, slept, backoff) = (None, 0, Backoff::new());
                continue;
            }
            Some((thief, None)) => {
                let deque = &shared.processors[thief].deque;
                if asked.is_in_vain(deque, now) && deque.seize() > 0 {
                    continue;
                }
            }
            None => {}
        }
        if !forking::sleep(waited) {
            for _ in 0..4 {
                spin::pause();
            }
        } else if fall_asleep() {
            slept = forking::next_nap(slept);
            context.switch(Doing::Asleep, now);
            thread::park(Some(Duration::from_nanos(slept)));
            context.switch(Doing::Searching, clock::now());
        } else {
            backoff.snooze();
        }
    }
}
