//! What a worker does while a thief has one of its jobs, or while it waits for workers of another
//! runtime.
//!
//! It runs descendants of that job, taken from the thief's deque (*leapfrogging*: Wagner and
//! Calder, "Leapfrogging: a portable technique for implementing efficient futures", 1993), and what
//! those spawn. So a job on top of a waiting frame is always part of what that frame waits for, and
//! adds no wait. Each wait here, for a lock or for a half, would also exist with a thread for each
//! fork. If a program's jobs wait for nothing but locks and forks, and it cannot deadlock with a
//! thread for each fork, then it cannot deadlock here, whatever locks it holds across a fork.
//! (Plain calls in place of forks are one of the orders that such threads can take. Two halves that
//! take two locks in opposite orders can deadlock here as threads can, though as calls they do
//! not.)
//!
//! Three things are excepted from that rule, because without them some thread would wait for ever
//! (see [`guest`](crate::scheduler::guest)): parts of broadcasts, errands beside a wait for another
//! runtime, and what a program runs by yielding. Two more are excepted because jobs lie in one
//! deque. A job that is spawned in FIFO order may run on top of a frame that began after it was
//! spawned. A job without a joiner, or of a scope further out, may run at the end of a fork or a
//! scope within which it was spawned: under the locks that are held across that, and while the
//! result of that closure, which may be a guard, already exists.
//!
//! A [`spare`](crate::scheduler::spare) runs errands that come while all workers are inside
//! fork-join; a worker that waits calls it.
//!
//! A worker knows nothing of a task or an errand, which may wait for locks. So it begins none while
//! jobs of scopes lie in its deque, for which their owners wait (see [`Context`]).

use super::outside;
use crate::deque::latch::Latch;
use crate::policy::locality::Sight;
use crate::policy::{forking, searching};
use crate::primitives::atomic::{Edge, Ordering};
use crate::primitives::spin::{self, Backoff};
use crate::primitives::{clock, fence, thread, unwind};
use crate::processor::context::Context;
use crate::processor::entered;
use crate::processor::meter::Doing;
use crate::processor::shared::Shared;
use crate::processor::spares::Waiting;
use crate::runtime::Handle;
use crate::scheduler::job::{self, Asked, Seen, Stolen};
use crate::scheduler::{broadcast, driver, errands, stuck};
use crate::topology::Distance;
use std::cell::Cell;
use std::time::Duration;

/// What a worker can do while it waits.
pub(super) enum Meanwhile {
    /// It may run this job.
    Job(Stolen),
    /// It has done something already.
    Done,
    /// This worker works for what the caller waits for, and may have jobs for it.
    Ask(usize),
    /// Nothing.
    Nothing,
}

/// A worker without work, as it asks for some.
#[derive(Clone, Copy)]
pub(super) struct Idle {
    pub(super) now: u64,
    /// How long it has been without.
    pub(super) waited: u64,
}

/// Waits for a job that was stolen. The caller is its owner.
#[cold]
pub(super) fn wait_for(context: &Context, latch: &Latch) {
    let sight = Cell::default();
    let meanwhile = |idle| leap(context, latch, &sight, idle);
    wait(context, &|| latch.is_complete(), &|| latch.fall_asleep(), &meanwhile);
}

/// Takes a descendant of the stolen job that the caller waits for, if its thief is known.
fn leap(context: &Context, latch: &Latch, sight: &Cell<Sight>, idle: Idle) -> Meanwhile {
    let Some(thief) = latch.thief() else { return Meanwhile::Nothing };
    let mut last = sight.get();
    // It leaves no job alone when it may go to sleep.
    let seen = Seen::of(context, thief, &mut last, idle.now, forking::sleep(idle.waited));
    sight.set(last);
    if !seen.may_take(context, thief) {
        return Meanwhile::Nothing;
    }
    let guests = &context.shared().processor(thief).guests;
    let holds = || {
        !latch.is_complete()
            && guests.load(Ordering::Relaxed) == 0
            && seen.may_still_take(context, thief)
    };
    match Stolen::take(context.shared(), thief, holds) {
        Some(stolen) => Meanwhile::Job(stolen),
        None => Meanwhile::Ask(thief),
    }
}

/// Waits for workers of the runtime of `handle`, which is not the caller's. They unpark this thread
/// when it is `over`. A worker runs errands of its own runtime meanwhile.
pub(super) fn wait_for_others(handle: &Handle, over: &dyn Fn() -> bool) {
    // Others use the caller's frame meanwhile. In a model a panic is how a run fails.
    if cfg!(any(loom, shuttle)) {
        wait_in_place(handle, over);
    } else {
        unwind::never(|| wait_in_place(handle, over));
    }
}

fn wait_in_place(handle: &Handle, over: &dyn Fn() -> bool) {
    entered::with_worker(|context| match context {
        None => {
            if driver::wait(handle.shared(), over, None).is_none() {
                outside::wait(handle.shared(), over);
            }
        }
        Some(context) => {
            let (list, me) = (&context.shared().errands, context.seat.me());
            let serve = || driver::serve(handle.shared(), over);
            let run_errand = |_| match errands::run_one(context) || serve() {
                true => Meanwhile::Done,
                false => Meanwhile::Nothing,
            };
            list.enlist(me);
            wait(context, over, &|| !over(), &run_errand);
            list.dismiss(me);
        }
    });
}

/// Waits until `over`. `meanwhile` does or returns work that belongs to what is waited for.
/// `fall_asleep` says that this worker is about to park; it returns false if the worker need not.
pub(super) fn wait(
    context: &Context,
    over: &dyn Fn() -> bool,
    fall_asleep: &dyn Fn() -> bool,
    meanwhile: &dyn Fn(Idle) -> Meanwhile,
) {
    if over() {
        return;
    }
    let before = context.switch(Doing::Searching, clock::now());
    let _waiting = stuck::Waiting::begin(context);
    wait_idly(context, over, fall_asleep, meanwhile);
    context.switch(before, clock::now());
}

/// Sleeps for `length` ns at most. The thread that completes what the caller waits for wakes it. So
/// does `host`, which may have jobs for it, when it publishes some.
fn nap(context: &Context, host: Option<usize>, length: u64) {
    if is_to_nap(context, host) {
        context.switch(Doing::Asleep, clock::now());
        thread::park(Some(Duration::from_nanos(length)));
        context.switch(Doing::Searching, clock::now());
    }
}

/// Announces a nap to `host`. Returns false if `host` has jobs for the caller.
///
/// The caller leaves its number, makes a fence, asks, makes a fence and looks. The host publishes,
/// makes a fence and looks for a number. By the first fence, a host that takes the request sees the
/// number. By the second, a host that puts a job into its overflow sees the request, or the caller
/// sees the job. If a push has not seen the request, the next push makes up for it, or the end of
/// the nap.
fn is_to_nap(context: &Context, host: Option<usize>) -> bool {
    let Some(host) = host else { return true };
    let host = context.shared().processor(host);
    host.napper.store(context.seat.me() + 1, Ordering::Relaxed);
    fence::full(Edge::NapNumber);
    host.deque.ask();
    fence::full(Edge::DequeAsked);
    host.guests.load(Ordering::Relaxed) > 0 || !host.deque.has_any()
}

/// What a waiting worker sees of the errands that it must not run: see
/// [`spare`](crate::scheduler::spare).
#[derive(Default)]
struct Errands<'a> {
    /// Since when errands have been lying there.
    since: Option<u64>,
    waiting: Option<Waiting<'a>>,
}

impl<'a> Errands<'a> {
    /// Says that the worker has found nothing to run, and is about to nap. True if that is the
    /// first time.
    fn wait(&mut self, shared: &'a Shared) -> bool {
        let is_first = self.waiting.is_none();
        self.waiting.get_or_insert_with(|| Waiting::begin(&shared.spares));
        is_first
    }

    /// Calls a spare if errands lie there and no worker comes for them. `waited` is how long the
    /// worker has waited.
    fn look(&mut self, shared: &'a Shared, now: u64, waited: u64) {
        if shared.errands.is_empty() {
            self.since = None;
            return;
        }
        let lain = now.saturating_sub(*self.since.get_or_insert(now));
        if forking::send_spare(waited, lain, shared.are_all_away()) {
            self.wait(shared);
            shared.call_spare();
        }
    }
}

/// A time in which a waiting worker finds nothing to run.
#[derive(Default)]
struct Lull<'a> {
    since: Option<u64>,
    /// The length of the last nap in it.
    slept: u64,
    backoff: Backoff,
    errands: Errands<'a>,
}

impl<'a> Lull<'a> {
    /// Returns how long it has lasted.
    fn lasts(&mut self, now: u64) -> u64 {
        now.saturating_sub(*self.since.get_or_insert(now))
    }

    /// Spins, yields or naps once. The worker's `host` may have jobs for it.
    fn rest(
        &mut self,
        context: &'a Context,
        Idle { now, waited }: Idle,
        host: Option<usize>,
        fall_asleep: &dyn Fn() -> bool,
    ) {
        let shared = context.shared();
        self.errands.look(shared, now, waited);
        if !forking::sleep(waited) {
            if !searching::yields(waited) {
                return (0..4).for_each(|_| spin::pause());
            }
            // The thief may be waiting for this very core.
            if context.give_way(now) {
                return;
            }
        }
        if !fall_asleep() {
            return self.backoff.snooze();
        }
        self.slept = forking::next_nap(self.slept);
        if self.errands.wait(shared) {
            // Errands may have come before this worker was counted in, unseen by their senders.
            self.errands.look(shared, now, waited);
        }
        nap(context, host, self.slept);
    }
}

/// As [`wait`], for a worker that has to wait: its time counts as searching.
fn wait_idly(
    context: &Context,
    over: &dyn Fn() -> bool,
    fall_asleep: &dyn Fn() -> bool,
    meanwhile: &dyn Fn(Idle) -> Meanwhile,
) {
    let own = &context.seat.processor().deque;
    let floor = own.level();
    let run_above = || context.while_running(Distance::Same, || job::run_above(context, floor));
    let mut asked = Asked::default();
    let mut lull = Lull::default();
    while !over() {
        if own.level() > floor {
            // Jobs that were run here have spawned others, for which other frames wait.
            lull.errands = Errands::default();
            run_above();
        }
        let now = clock::now();
        let idle = Idle { now, waited: lull.lasts(now) };
        let meanwhile = if broadcast::run_one(context) { Meanwhile::Done } else { meanwhile(idle) };
        let host = match meanwhile {
            Meanwhile::Job(stolen) => {
                // Before it runs: it needs no spare then.
                lull = Lull::default();
                let distance = context.distance(stolen.victim());
                context.counters().count_steal(distance);
                context.switch(Doing::Stealing(distance), now);
                context.while_running(distance, || stolen.run(context));
                context.switch(Doing::Searching, clock::now());
                continue;
            }
            Meanwhile::Done => {
                lull = Lull::default();
                continue;
            }
            Meanwhile::Ask(thief) => {
                let deque = &context.shared().processor(thief).deque;
                if asked.is_in_vain(deque, now) && deque.seize() > 0 {
                    continue;
                }
                Some(thief)
            }
            Meanwhile::Nothing => None,
        };
        lull.rest(context, idle, host, fall_asleep);
    }
    if own.level() > floor {
        // The last of the jobs too: the caller finds its deque as it has left it.
        run_above();
    }
}

#[cfg(all(test, loom))]
mod model;
