//! Spares: threads that run errands while workers wait.
//!
//! A worker that waits inside fork-join must not run an errand: its frames may hold a lock that the
//! errand takes (see [`wait`](crate::fork_join)). It leaves its core idle meanwhile, and the job
//! that it waits for may wait for the errand. So a *spare* comes: one more thread, with a deque of
//! its own and an empty stack.
//!
//! # Roles
//! A *sender* leaves an [errand](super::errands). A *waiter* is a worker, or a spare, that waits
//! inside fork-join and finds nothing there that it may run. A *spare* is a thread beside the
//! workers. It runs errands and the jobs that these fork; idle workers steal from its deque. It
//! polls no tasks: a task that an errand spawns there goes where a task from outside goes.
//!
//! # States
//! `waiting` counts the waiters, `called` the spares at work: a spare comes for a waiter that has
//! none. A worker that is back from its wait runs beside its spare until the spare's errand is
//! over. A place is *free*, without a thread; *called*; or *parked*, with a thread that stays for a
//! while. The place's processor is made at first need, and stays.
//!
//! # Protocol
//! - *Waiter*: it counts itself in when it sees an errand or is about to nap, and out when it runs
//!   a job. At each turn it looks at the errands; a nap is bounded. It calls a spare if all workers
//!   are away and it has waited for [`SPARE`](crate::policy::forking::SPARE), or if errands have
//!   waited for [`LAIN`](crate::policy::forking::LAIN): then the workers are in long polls, or wait
//!   within one.
//! - *Sender*: after the push and its fence it calls a spare if no worker sleeps or searches, all
//!   are away, and a waiter has no spare yet.
//! - *Lookout*: if all workers are away, it calls a spare at each round while errands lie there. If
//!   spares have taken none [for long](crate::policy::relieving::ERRANDS_LIE), it counts as stuck
//!   too each thread that sleeps inside an errand.
//! - *Call*: the caller adds one to `called`, if that is below `waiting`; the lookout, below the
//!   number of waiters, stuck workers and sleepers. Then it makes a parked place called and
//!   unparks its thread, or it makes a free place called and starts a thread.
//! - *Spare*: it runs an errand and all jobs that the errand leaves in its deque, then the next,
//!   until there is none, or more spares are at work than workers wait or, if all are away, than
//!   there are workers. Its deque is empty then. It parks its place,
//!   counts itself out, and waits for a call, for [`STAY`] or until the runtime is over. Then it
//!   frees its place by a compare-and-swap, which fails if it has been called.
//!
//! # Why no errand lies for ever
//! While an errand lies in the queue, each worker runs the program's code, or waits. If all run,
//! the errand is ordinary work that queues behind them, until the lookout has found one stuck. If
//! one waits, it looks again within a nap, and calls. A call fails if each waiter has a spare at
//! work, and then the lookout calls one for each that sleeps; if the system refuses a thread, and
//! then the caller tries again; or if all places are taken. There are as many places as workers,
//! and at least `FEWEST`. Errands that occupy all places and wait for a later errand wait for ever.
//! So do errands that compute in a loop until a later errand has run, beyond one for each stuck or
//! waiting worker: no delay tells them from those that compute for long.
//!
//! # Why the promise about locks holds
//! A spare begins an errand with an empty stack, as a dedicated thread would. So nothing that the
//! errand waits for lies below it on the stack. Idle workers, or workers that wait for a part of
//! the errand, take the jobs that it forks.
//!
//! # Rejected
//! Running the errand on the waiter, as rayon does: the errand takes a lock on top of the frame
//! that holds it across a fork. A [relief](super::relief): an errand that blocks would keep it
//! from the tasks. The thread that waits for an `install`: thieves cannot steal what it forks, and
//! errands without such a thread remain. The waiter's number for the spare: once the waiter is
//! back, two threads have one number. So a spare has none.
//!
//! # Jobs for which no spare comes
//! A spare takes no job of a worker's deque, so one may lie there for ever. A, in a scope, spawns J
//! and forks. B steals the second half and forks in it. A waits, takes a half of B's fork, and that
//! half blocks until J has run. J lies below it on A's deque; B waits for A, and must not take it.
//! A half that waits for more than locks and forks has to [yield](crate::fork_join::yield_now)
//! instead of blocking: then A runs J. A spare, with its empty stack, could take J. But no delay
//! tells a worker that blocks from one that computes for long. So in programs that never block,
//! jobs would by chance run without a [number](crate::fork_join::worker_index) too, and programs
//! keep a buffer for each number. Only calls from outside pay that price. B could take J after a
//! while, as rayon's waiter does at once: then J runs on top of frames that may hold its locks.
//!
//! # Source
//! Threads that compensate for one that blocks: Java's `ForkJoinPool` (Lea).

use super::errands;
use super::job;
use crate::deque::Level;
use crate::primitives::atomic::{Edge, Ordering, edge};
use crate::primitives::thread;
use crate::primitives::{clock, fence, lock};
use crate::processor::Processor;
use crate::processor::context::Context;
use crate::processor::seat::Seat;
use crate::processor::shared::{Phase, Shared};
use crate::processor::spares::{CALLED, FREE, PARKED, Place};
use std::sync::Arc;
use std::time::Duration;

/// The time for which a spare waits for another call before its thread ends. An estimate; no
/// benchmark sets it. A model has no use for a thread that waits.
const STAY: Duration = Duration::from_secs(if cfg!(any(loom, shuttle)) { 0 } else { 10 });

/// The thread of a place that is called.
struct Spare {
    shared: Arc<Shared>,
    number: usize,
}

impl Spare {
    fn place(&self) -> &Place {
        let spares = &self.shared.spares;
        &spares.places[self.number - spares.first]
    }

    /// Waits for another call. Returns false, and frees the place, if there was none.
    fn is_called_again(&self) -> bool {
        let place = self.place();
        place.state.store(PARKED, Ordering::Relaxed);
        self.shared.spares.count_out();
        let start = clock::now();
        while self.shared.phase() != Phase::Over {
            let passed = Duration::from_nanos(clock::now().saturating_sub(start));
            let Some(rest) = STAY.checked_sub(passed).filter(|rest| !rest.is_zero()) else { break };
            if place.state.load(edge(Edge::SpareCalled, Ordering::Acquire)) == CALLED {
                return true;
            }
            thread::park(Some(rest));
        }
        // Before another thread can take the place.
        let own = lock(&place.thread).take();
        if place.change(PARKED, FREE) {
            return false;
        }
        *lock(&place.thread) = own;
        true
    }
}

/// Runs errands, call after call, on the calling thread, which is that of the spare with this
/// number.
pub(crate) fn work(shared: Arc<Shared>, number: usize) {
    let spare = Spare { shared, number };
    let (shared, place) = (&spare.shared, spare.place());
    place.probe.take();
    *lock(&place.thread) = Some(thread::current());
    let context = Context::new(seat(shared, number), clock::now());
    context.enter(|| {
        loop {
            serve(&context);
            if !spare.is_called_again() {
                break;
            }
        }
    });
}

/// Makes the seat of the spare with this number, and its processor if it has none yet.
pub(crate) fn seat(shared: &Arc<Shared>, number: usize) -> Seat {
    let spares = &shared.spares;
    spares.places[number - spares.first].processor.get_or_init(|| {
        let scheduler = Arc::downgrade(shared);
        Box::new(Processor::new(scheduler, 0, true, spares.rules.clone()))
    });
    Seat::of_spare(shared, number)
}

/// Runs errands until there are none or workers are back.
fn serve(context: &Context) {
    let spares = &context.shared().spares;
    loop {
        offer_jobs(context);
        let Some(errand) = context.shared().errands.queue.pop() else { return };
        spares.taken.fetch_add(1, Ordering::Relaxed);
        errands::run(context, errand);
        job::run_above(context, Level::FLOOR);
        let shared = context.shared();
        // Otherwise some worker comes for errands, or waits.
        let away = if shared.are_all_away() { shared.workers } else { 0 };
        if !spares.stays(away) {
            return;
        }
    }
}

/// Asks this spare's deque, if a worker is idle, so that the first fork publishes and wakes a
/// sleeper. A worker that falls asleep later asks for itself.
fn offer_jobs(context: &Context) {
    fence::full(Edge::IdlePush);
    let counts = context.shared().idle.counts();
    if counts.sleeping + counts.searching > 0 {
        context.seat.processor().deque.ask();
    }
}

#[cfg(all(test, loom))]
pub(crate) mod model;
