//! What a worker does while a job of its own is with a thief.
//!
//! It runs descendants of that job, taken from the thief's deque (*leapfrogging*: Wagner and Calder, "Leapfrogging: a
//! portable technique for implementing efficient futures", 1993), and nothing else. So whatever runs on top of a
//! frame would, run serially, run inside that frame too: a program that cannot deadlock when it runs serially cannot
//! deadlock here, whatever locks it holds across a fork.

use super::latch::Latch;
use crate::policy::forking;
use crate::primitives::{clock, spin, thread};
use crate::scheduler::context::Context;
use crate::scheduler::job::{self, Stolen};
use std::time::Duration;

/// Waits for a job that was stolen. The caller is its owner, and has retired its place.
#[cold]
pub(super) fn wait_for(context: &Context, latch: &Latch) {
    let leap = || {
        let thief = latch.thief()?;
        Some((thief, Stolen::take(context.shared(), thief, || !latch.is_complete())))
    };
    wait(context, || latch.is_complete(), || latch.fall_asleep(), leap);
}

/// Waits until `over`. `leap` gives a worker that has something to do with it, and a job of that one that may be run meanwhile;
/// `fall_asleep` says that this worker is about to park, unless it need not.
pub(super) fn wait(
    context: &Context,
    over: impl Fn() -> bool,
    fall_asleep: impl Fn() -> bool,
    leap: impl Fn() -> Option<(usize, Option<Stolen>)>,
) {
    let shared = context.shared();
    let floor = context.seat.processor().deque.head();
    let mut since = None;
    let mut slept = 0;
    while !over() {
        let mut asked = None;
        if let Some((thief, stolen)) = leap() {
            if let Some(stolen) = stolen {
                stolen.run(context);
                // What it has spawned and left here may be waited for where the thief's job goes on.
                job::run_above(context, floor);
                (since, slept) = (None, 0);
                continue;
            }
            asked = Some(&shared.processors[thief].deque).filter(|deque| deque.has_private());
        }
        let now = clock::now();
        let waited = now.saturating_sub(*since.get_or_insert(now));
        if let Some(deque) = asked {
            deque.ask();
            if forking::seize(waited) && deque.seize() > 0 {
                continue;
            }
        }
        if forking::sleep(waited) {
            if fall_asleep() {
                slept = forking::next_nap(slept);
                thread::park(Some(Duration::from_nanos(slept)));
            }
        } else {
            for _ in 0..4 {
                spin::pause();
            }
        }
    }
}
