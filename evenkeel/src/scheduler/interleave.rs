//! A processor on the thread that waits for its tasks, which takes them in an order that a seed
//! determines.
//!
//! # Roles
//! The *interleaver* is the only worker of its runtime, on the thread of whoever made it. It has no
//! loop of its own: its owner says what is next, so that a future which is no task can take turns
//! with the tasks.
//!
//! # Why a seed determines the order
//! Tasks become ready by what other tasks do, and by timers; each of these follows from the steps
//! before. The clock stands, and is moved here, when nothing is ready. No step goes by the
//! machine's time: not the length of a batch, of which there is none, nor when jobs of fork-join
//! are run, which is after the step that has left them there. There is no other worker, no relief,
//! and no thread for closures that block. What comes from another thread all the same is taken in
//! between two steps, and is beyond what the seed determines.
//!
//! # Rejected
//! The ordinary loop with another way to take from the queue: the paths that take 3 ns per switch
//! would ask which it is. A thread of its own for the worker: the thread in `block_on` and the
//! worker would wake each other, in an order that the system determines.

use super::run;
use super::worker::{Left, Worker};
use crate::primitives::{clock, thread};
use crate::processor::context::{self, Context};
use crate::processor::meter::Doing;
use crate::processor::seat::Seat;
use crate::processor::shared::{Phase, Shared};
use crate::raw_task::report::TaskInfo;
use crate::topology::Distance;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether there has been such a run in the process: programs that have none pay a load for the
/// question.
static SEEN: AtomicBool = AtomicBool::new(false);

/// Whether the caller is inside a run that a seed determines.
#[must_use]
#[inline(always)]
pub fn is_deterministic() -> bool {
    SEEN.load(Ordering::Relaxed) && is_here()
}

#[cold]
fn is_here() -> bool {
    context::with(|context| context.is_some_and(|context| context.shared().hooks.deterministic))
}

/// The worker of a runtime whose tasks take turns as its owner says.
pub(crate) struct Interleaver<'a>(Worker<'a>);

/// Makes this thread the worker of `seat` for as long as `f` runs, and ends the runtime then: every
/// task is complete when this returns.
///
/// `f` does not panic.
pub(crate) fn work<R>(seat: Seat, f: impl FnOnce(&mut Interleaver<'_>) -> R) -> R {
    SEEN.store(true, Ordering::Relaxed);
    let shared = seat.shared().clone();
    shared.idle.sit(seat.me());
    let _left = Left(&shared);
    let context = Context::new(seat, clock::now());
    context.switch(Doing::Running(Distance::Same), context.now.get());
    let result = context.enter(|| f(&mut Interleaver(Worker::new(&context))));
    context.switch(Doing::Asleep, clock::now());
    result
}

impl Interleaver<'_> {
    pub(crate) fn shared(&self) -> &Shared {
        &self.0.shared
    }

    /// Takes in what is there, and gives how many tasks are ready.
    pub(crate) fn ready(&mut self) -> usize {
        self.0.take_in();
        self.0.context.ready()
    }

    /// Polls the ready task that stands so many places behind the first, and tells `before` where
    /// it was spawned.
    pub(crate) fn poll(&mut self, places: usize, before: impl FnOnce(&'static Location<'static>)) {
        if let Some(entry) = self.0.context.seat.pop_behind(places) {
            before(entry.task.live().footer().site);
            run::run(self.0.context, entry.task);
            self.0.context.counters().polls.add(1);
        }
    }

    /// Runs what a step has left to fork-join: all of it, before the next step.
    pub(crate) fn run_jobs(&mut self) {
        while self.0.has_jobs() || self.0.any_errands() {
            if self.0.has_jobs() {
                self.0.drain_jobs();
            }
            if self.0.any_errands() {
                self.0.run_errands();
            }
        }
    }

    /// Moves the clock to the next deadline. False if there is none.
    pub(crate) fn move_clock(&mut self) -> bool {
        self.0.shared.move_clock_to_next()
    }

    /// The tasks that are not complete, in the order of their numbers.
    pub(crate) fn incomplete(&self) -> Vec<TaskInfo> {
        let registered = self.0.context.seat.registered();
        let mut tasks: Vec<_> = registered.iter().map(|task| TaskInfo::of(task.live())).collect();
        tasks.sort_by_key(|task| task.id);
        tasks
    }

    /// Ends the runtime: cancels all tasks, in the order that `choose` gives among so many.
    pub(crate) fn end(&mut self, mut choose: impl FnMut(usize) -> usize) {
        self.0.shared.advance(Phase::Aborting);
        self.0.abort_all();
        loop {
            let ready = self.ready();
            if ready > 0 {
                self.poll(choose(ready), |_| ());
                self.run_jobs();
            } else if self.0.any_errands() || self.0.has_jobs() {
                self.run_jobs();
            } else if self.0.shared.close_if_complete() {
                self.0.shared.advance(Phase::Over);
                return;
            } else {
                // Another thread has counted a task that it is about to leave here.
                thread::yield_now();
            }
        }
    }
}
