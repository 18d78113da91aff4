//! The driver: a thread that runs the processor of a current-thread runtime while it waits.
//!
//! [`Driving`](crate::processor::driving) says which thread that is, and how the seat goes from one
//! to the next. A driver runs the loop of a worker, [`work`], and looks after each batch whether it
//! is to leave: to poll its future, or because it has what it has waited for. A future that has
//! yielded is polled behind the tasks that were ready then. The driver looks once more before it
//! sleeps. While no thread drives, the processor counts as awake: a pusher leaves its task, and the
//! next driver takes it in.
//!
//! # Why a driver that sleeps learns that it is to leave
//! A *waker* does what makes the driver's condition true, and then unparks the driver's thread,
//! which sleeps on a futex, or in the set of its sockets. An unpark from the futex is kept until
//! the next sleep. The set is known by the seat alone. So the waker asks, under the lock of the
//! seat's thread, whether its driver has the seat; if so, it unparks the seat, which ends a sleep
//! in the set as well. A driver notes itself there under that lock, before its first look at its
//! condition. So the waker finds it there, or the driver sees the condition. A driver that wakes
//! itself needs no unpark: it looks before it sleeps.
//!
//! # Rejected
//! A thread for the worker: the thread in `block_on` and the worker would wake each other at each
//! step. A loop of its own, as the [interleaver](super::interleave) has: it would lack timers,
//! sockets, errands and the order of the queue, or repeat them. Entering the main future into the
//! queue as a task: it may borrow, and need not be `Send`.

use super::leave::Leave;
use super::work;
use super::worker::Worker;
use crate::primitives::clock;
use crate::primitives::thread::{self, Thread};
use crate::processor::context::Context;
use crate::processor::current;
use crate::processor::driving::Driving;
use crate::processor::entered;
use crate::processor::meter::Doing;
use crate::processor::seat::Seat;
use crate::processor::shared::{Phase, Shared};
use crate::raw_task::party::Level;
use crate::topology::Distance;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

impl Worker<'_> {
    /// Returns whether this is a driver that is to leave the loop.
    pub(super) fn is_to_leave(&self) -> bool {
        self.leave
            .is_some_and(|leave| (self.is_behind_none() && (leave.is_due)()) || leave.is_late())
    }

    /// Returns whether the tasks have had their turns before which a driver does not go on.
    fn is_behind_none(&self) -> bool {
        self.context.ready() == 0 || self.context.counters().polls.get() >= self.behind
    }

    /// Bounds a sleep by the time at which a driver leaves.
    pub(super) fn bound_sleep(&self, limit: Option<Duration>) -> Option<Duration> {
        let rest = self.leave.and_then(|leave| leave.rest());
        limit.into_iter().chain(rest).min()
    }
}

/// The processor of a current-thread runtime, while this thread drives it.
pub(crate) struct Driver<'a>(Worker<'a>);

impl Driver<'_> {
    /// Polls the future for which this thread drives. It counts as a task: it has a budget, and
    /// must not block the thread. If it yields, it goes behind all tasks that are ready.
    fn poll<R>(&mut self, poll: impl FnOnce() -> R) -> R {
        let context = self.0.context;
        let result = context.while_main(poll);
        // What comes after it is another lull.
        self.0.out_after = u64::MAX;
        let has_yielded = self.0.leave.is_some_and(|leave| (leave.is_due)());
        let ready = if has_yielded { context.ready() as u64 } else { 0 };
        self.0.behind = context.counters().polls.get() + ready;
        result
    }

    /// Runs closures that threads outside have left, and no tasks, until `is_over`: the thread may
    /// hold a lock that a task takes. Returns whether there were any.
    fn serve(&mut self, is_over: &dyn Fn() -> bool) -> bool {
        let mut is_any = false;
        while !is_over() && self.0.any_errands() {
            self.0.run_errands();
            is_any = true;
        }
        is_any
    }

    /// Runs the loop until the driver is to leave. Returns false if the runtime is over.
    fn run(&mut self) -> bool {
        self.0.work();
        self.0.shared.phase() < Phase::Over
    }
}

/// Drives the runtime while `f` runs, and gives the seat back. The caller has taken it.
fn drive<R>(shared: &Arc<Shared>, leave: Leave<'_>, f: impl FnOnce(&mut Driver<'_>) -> R) -> R {
    let seat = Seat::of_driver(shared);
    let me = seat.me();
    shared.idle.sit(me);
    let context = Context::new(seat, clock::now());
    context.switch(Doing::Running(Distance::Same), context.now.get());
    let result = context.enter(|| {
        let mut driver = Driver(Worker { leave: Some(leave), ..Worker::new(&context) });
        work::call(&shared.hooks.worker_start, me);
        let result = catch_unwind(AssertUnwindSafe(|| f(&mut driver)));
        // The jobs that the last poll of the future has left may be those of a scope.
        driver.0.end_batch(0);
        driver.0.stop();
        result
    });
    // The end of the batch has just read the clock.
    let has_hook = shared.hooks.worker_stop.is_some();
    context.switch(Doing::Asleep, if has_hook { clock::now() } else { context.now.get() });
    drop(context);
    give(shared);
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Gives the seat back, or counts the only worker of a runtime that is over as left.
fn give(shared: &Arc<Shared>) {
    let Some(driving) = shared.driving.get() else { return };
    if shared.phase() == Phase::Over {
        shared.note_left(true);
        driving.close();
    } else if driving.give() {
        finish(shared);
    }
}

/// Has a thread of its own drive an abandoned runtime to its end. The caller has taken the seat. If
/// the system refuses the thread, the caller drives; but not inside a closure of the runtime, where
/// it would wait for itself.
fn finish(shared: &Arc<Shared>) {
    let own = shared.clone();
    let work = move || {
        let _entered = current::enter(&own);
        let _level = Level::begin();
        drive(&own, Leave { is_due: &|| false, until: None }, |driver| driver.run());
    };
    if shared.start_thread("driver", work.clone()).is_ok() {
        return;
    }
    match shared.driving.get() {
        Some(driving) if shared.is_own_thread() => driving.put_back(),
        _ => work(),
    }
}

/// Notes that no thread waits for the runtime's end. If it is a current-thread runtime that no
/// thread drives, and none is about to, a thread of its own drives it from now on.
pub(crate) fn orphan(shared: &Arc<Shared>) {
    if shared.driving.get().is_some_and(Driving::orphan) {
        finish(shared);
    }
}

/// Unparks a thread that may be the driver of `shared`, after what makes it leave. `number` is
/// [its own](crate::raw_task::id::among_threads).
pub(crate) fn unpark(shared: &Shared, thread: &Thread, number: u64) {
    let is_driver = entered::with(|context| {
        context.is_some_and(|own| own.thread == number && std::ptr::eq(&**own.shared(), shared))
    });
    if !is_driver {
        shared.idle.unpark_thread(thread);
    }
}

/// A thread that waits, and drives the runtime meanwhile if no other thread does.
pub(crate) struct Place<'a> {
    shared: &'a Arc<Shared>,
    driving: &'a Driving,
    number: u64,
}

impl<'a> Place<'a> {
    /// Makes the place of this thread; none if the runtime has worker threads.
    pub(crate) fn of(shared: &'a Arc<Shared>) -> Option<Self> {
        let driving = shared.driving.get()?;
        Some(Self { shared, driving, number: driving.next_waiter() })
    }

    /// Drives until `poll` is ready, if the seat is free. It calls `poll` at once, and whenever
    /// `is_due`. Returns false if another thread drives, which unparks this one when it leaves; or
    /// if the runtime is over.
    pub(crate) fn drive(
        &self,
        is_due: &dyn Fn() -> bool,
        poll: &mut dyn FnMut() -> Poll<()>,
    ) -> bool {
        if !self.driving.take_or_wait(self.number) {
            return false;
        }
        drive(self.shared, Leave { is_due, until: None }, |driver| {
            loop {
                if driver.poll(&mut *poll).is_ready() {
                    return true;
                }
                if !driver.run() {
                    return false;
                }
            }
        })
    }

    /// Waits until `is_over`, and drives meanwhile if it can. A thread that makes it so
    /// [unparks](unpark) the caller. Returns false if it is not over at the time `until`, by the
    /// machine's clock; the thread has driven for one batch by then, if the seat was free.
    fn wait(&self, is_over: &dyn Fn() -> bool, until: Option<u64>) -> bool {
        let leave = Leave { is_due: is_over, until };
        let _level = Level::begin();
        while !is_over() {
            if self.driving.take_or_wait(self.number) {
                drive(self.shared, leave, |driver| {
                    driver.serve(is_over);
                    if !is_over() {
                        driver.run();
                    }
                });
            } else {
                thread::park(leave.rest());
            }
            if leave.is_late() {
                return is_over();
            }
        }
        true
    }

    /// Gives the place up until the next call: this thread is about to run its caller's code.
    pub(crate) fn withdraw(&self) {
        if self.driving.withdraw(self.number) {
            finish(self.shared);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.withdraw();
    }
}

/// Runs closures that threads outside have left, until `is_over`, if no thread drives the runtime:
/// for a worker of another runtime, which waits for one of them. Returns whether there were any.
pub(crate) fn serve(shared: &Arc<Shared>, is_over: &dyn Fn() -> bool) -> bool {
    let Some(place) = Place::of(shared) else { return false };
    let _entered = current::enter(shared);
    if !place.driving.take_or_wait(place.number) {
        return false;
    }
    drive(shared, Leave { is_due: is_over, until: None }, |driver| driver.serve(is_over))
}

/// Waits as [`Place::wait`] does. Returns `None`, at once, if the runtime has worker threads.
pub(crate) fn wait(
    shared: &Arc<Shared>,
    is_over: &dyn Fn() -> bool,
    limit: Option<Duration>,
) -> Option<bool> {
    let place = Place::of(shared)?;
    let _entered = current::enter(shared);
    let nanos = |limit: Duration| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
    let until = limit.map(|limit| clock::now().saturating_add(nanos(limit)));
    Some(place.wait(is_over, until))
}

#[cfg(all(test, loom))]
mod model;
