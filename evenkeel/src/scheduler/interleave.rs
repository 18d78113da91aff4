//! The interleaver: a processor on the thread that waits for its tasks. A seed determines the order
//! in which it polls them.
//!
//! # Roles
//! The *interleaver* is the only worker of its runtime, on the thread of its *owner*, which made
//! it. It has no loop of its own: the owner chooses the next step, so that a future that is not a
//! task can take turns with the tasks.
//!
//! # Why a seed determines the order
//! Other tasks and timers make tasks ready, and each of these events follows from the steps before.
//! The clock stands, and the interleaver moves it when nothing is ready. No step depends on the
//! machine's time: there are no batches, and fork-join jobs run right after the step that has left
//! them there. There is no other worker, no relief, and no thread for blocking closures. Tasks that
//! another thread sends all the same are taken in between two steps, and the seed does not
//! determine them.
//!
//! # Rejected
//! The ordinary loop with another way to take from the queue: the paths that take 3 ns per switch
//! would have to test for it. A thread of its own for the worker: the thread in `block_on` and the
//! worker would wake each other, in an order that the system determines.

use super::run;
use super::worker::{Left, Worker};
use crate::primitives::{clock, thread, unwind};
use crate::processor::context::Context;
use crate::processor::entered;
use crate::processor::meter::Doing;
use crate::processor::seat::Seat;
use crate::processor::shared::{Phase, Shared};
use crate::raw_task::id::Ids;
use crate::raw_task::report::TaskInfo;
use crate::topology::Distance;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the process has had a deterministic run: programs without one pay a load for the
/// question.
static SEEN: AtomicBool = AtomicBool::new(false);

/// Returns whether the caller is inside a run that a seed determines.
#[must_use]
#[inline(always)]
pub fn is_deterministic() -> bool {
    SEEN.load(Ordering::Relaxed) && is_here()
}

#[cold]
fn is_here() -> bool {
    entered::with(|context| context.is_some_and(|context| context.shared().hooks.deterministic))
}

/// The worker of a deterministic runtime, and the numbers of its tasks; its owner chooses the
/// steps.
pub(crate) struct Interleaver<'a>(Worker<'a>, Ids);

/// Makes this thread the worker of `seat` while `f` runs. `f` ends the runtime, so that every task
/// is complete when this returns.
///
/// If `f` panics, the process aborts: tasks that are not complete would outlive the runtime.
pub(crate) fn work<R>(seat: Seat, f: impl FnOnce(&mut Interleaver<'_>) -> R) -> R {
    SEEN.store(true, Ordering::Relaxed);
    let shared = seat.shared().clone();
    shared.idle.sit(seat.me());
    let _left = Left { shared: &shared, is_worker: true };
    let context = Context::new(seat, clock::now());
    context.switch(Doing::Running(Distance::Same), context.now.get());
    let row = context.begin_row();
    let work = || f(&mut Interleaver(Worker::new(&context), row));
    let result = context.enter(|| unwind::never(work));
    context.switch(Doing::Asleep, clock::now());
    result
}

impl Interleaver<'_> {
    pub(crate) fn shared(&self) -> &Shared {
        &self.0.shared
    }

    /// Takes in new and woken tasks, and returns the number of ready tasks.
    pub(crate) fn ready(&mut self) -> usize {
        self.0.take_in();
        self.0.context.ready()
    }

    /// Begins a poll: the operations of the polls before it do not count.
    pub(crate) fn begin_poll(&self) {
        self.0.context.slice.begin_seeded();
    }

    /// Polls the ready task that stands `places` behind the first, and passes its spawn site and
    /// its number among the run's tasks to `before`.
    pub(crate) fn poll(
        &mut self,
        places: usize,
        before: impl FnOnce(&'static Location<'static>, Option<u64>),
    ) {
        if let Some(entry) = self.0.context.seat.pop_behind(places) {
            let footer = entry.task.live().footer();
            before(footer.site, self.1.place(footer.id));
            self.begin_poll();
            run::run(self.0.context, entry.task);
            self.0.context.counters().polls.add(1);
        }
    }

    /// Runs all errands and fork-join jobs that a step has left, before the next step.
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

    /// Moves the clock to the next deadline. Returns false if there is none.
    pub(crate) fn move_clock(&mut self) -> bool {
        self.0.shared.move_clock_to_next()
    }

    /// Returns the tasks that are not complete, in the order of their numbers.
    pub(crate) fn incomplete(&self) -> Vec<TaskInfo> {
        let registered = self.0.context.seat.registered();
        let mut tasks: Vec<_> = registered.iter().map(|task| TaskInfo::of(task.live())).collect();
        tasks.sort_by_key(|task| task.id);
        tasks
    }

    /// Ends the runtime: cancels all tasks, one at a time, and `choose` picks each among the given
    /// number of ready tasks.
    pub(crate) fn end(&mut self, mut choose: impl FnMut(usize) -> usize) {
        self.0.shared.advance(Phase::Aborting);
        self.0.abort_all();
        loop {
            let ready = self.ready();
            if ready > 0 {
                self.poll(choose(ready), |_, _| ());
                self.run_jobs();
            } else if self.0.any_errands() || self.0.has_jobs() {
                self.run_jobs();
            } else if self.0.shared.close_if_complete() {
                self.0.shared.advance(Phase::Over);
                return;
            } else {
                // Another thread has counted a task that it is about to send here.
                thread::yield_now();
            }
        }
    }
}
