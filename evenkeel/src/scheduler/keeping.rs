//! When a worker keeps tasks, and for how long; [`keep`](crate::queue::keep) has the protocol.

use super::wake;
use super::worker::{Keeping, Worker};
use crate::policy::keeping::{self, Period};
use crate::primitives::atomic::Ordering;
use crate::processor::context::Context;
use crate::processor::shared::Phase;

/// Answers the bell, and wakes the worker to which it has sent tasks, or another one, if that is
/// necessary. Returns the number of polls that it has ended.
fn answer(context: &Context) -> usize {
    let answered = context.seat.answer_bell(context.now.get());
    if let Some(signaller) = answered.sent_to {
        wake::follow(context.shared(), signaller);
    }
    answered.ended
}

impl Worker<'_> {
    fn keeps(&self) -> bool {
        self.context.seat.processor().published.keeps.load(Ordering::Relaxed)
    }

    /// Begins to keep tasks, looks at those that are kept, or settles, at the end of a batch.
    #[inline(always)]
    pub(super) fn tend_keep(&mut self, now: u64) {
        if now >= self.keeping.until || (self.keeps() && !self.may_keep()) {
            self.turn_keep(now);
        }
    }

    /// Ends a period or a pause.
    #[inline(never)]
    fn turn_keep(&mut self, now: u64) {
        match (self.keeps(), self.may_keep()) {
            (true, goes_on) => self.end_period(now, goes_on),
            (false, true) => self.begin_to_keep(now),
            (false, false) => {}
        }
    }

    /// Begins to keep tasks, if the lookout makes rounds.
    fn begin_to_keep(&mut self, now: u64) {
        self.context.take_kept_woken();
        self.begin_period(now.saturating_add(keeping::PERIOD), self.keeping.pause);
        self.context.seat.begin_to_keep();
        if self.shared.idle.is_pusher_to_look() {
            self.context.seat.settle(now);
        }
    }

    fn begin_period(&mut self, until: u64, pause: u64) {
        let since = self.context.counters().polls.get();
        self.keeping = Keeping { until, pause, since, ended: 0 };
    }

    /// Ends a period, and begins another one or a pause.
    fn end_period(&mut self, now: u64, goes_on: bool) {
        let (seat, polls) = (&self.context.seat, self.context.counters().polls.get());
        let began = self.keeping.until.saturating_sub(keeping::PERIOD);
        let period = Period {
            length: now.saturating_sub(began),
            polls: polls - self.keeping.since,
            woken: self.context.take_kept_woken(),
            ended: self.keeping.ended + seat.end_old(now) as u64,
        };
        let pause = keeping::pause(self.keeping.pause, period);
        if !goes_on || pause > 0 {
            seat.settle(now);
        }
        self.begin_period(now.saturating_add(pause.max(keeping::PERIOD)), pause);
    }

    /// Answers the bell.
    #[cold]
    pub(super) fn answer_bell(&mut self) {
        self.keeping.ended += answer(self.context) as u64;
    }

    /// Settles, if the worker keeps tasks. Returns whether any task is ready then.
    #[inline(always)]
    pub(super) fn end_keeping(&mut self) -> bool {
        if self.keeps() {
            self.end_period(self.context.now.get(), false);
        }
        self.context.ready() > 0
    }

    /// Returns whether the worker has enough tasks to poll meanwhile, no worker sleeps, and the
    /// lookout makes rounds.
    fn may_keep(&self) -> bool {
        keeping::may_keep(self.context.ready(), self.shared.workers)
            && !self.shared.idle.is_pusher_to_look()
            && self.shared.idle.has_reliefs()
            && !self.context.is_relief()
            && self.shared.phase() == Phase::Running
            && !crate::detect::is_on()
    }
}

#[cfg(all(test, loom))]
mod model;

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::policy::Locality;
    use crate::policy::timing::RESOLUTION;
    use crate::processor::neighbours::Neighbours;
    use crate::processor::seat::Seat;
    use crate::processor::shared::Hooks;
    use crate::raw_task::blocks::{Birth, Room};
    use crate::raw_task::id;
    use crate::raw_task::rights::Reference;
    use crate::raw_task::state::Signal;
    use crate::scheduler::run;
    use crate::task;
    use crate::task::word_waker::WordWaker;
    use crate::timers::Rules;
    use crate::topology::Topology;
    use std::future::pending;
    use std::panic::Location;

    /// Has worker 0 of two keep a task, has each of the `signallers` wake it, a worker or another
    /// thread, and answers the bell. Returns whether the task is then in the inbox of worker 1.
    fn goes_to_worker_1(signallers: &[Option<usize>]) -> bool {
        let (shared, seats) = Seat::all(
            Neighbours::all(&Topology::flat(2), &[0, 1]),
            Locality::default(),
            Hooks::default(),
            0,
            Rules::new::<WordWaker>(RESOLUTION),
        );
        let contexts: Vec<_> = seats.map(|seat| Context::new(seat, 0)).collect();
        let keeper = &contexts[0];
        let poll = || {
            let task = keeper.seat.pop(false).expect("the task is in the queue").task;
            keeper.enter(|| run::run(keeper, task));
        };
        let birth = Birth { home: shared.home(0), id: id::take_one(), room: Room::Compact };
        let (right, handle) = task::make(pending::<()>(), (), Location::caller(), birth);
        drop(handle);
        let task = Reference::of(right.live());
        keeper.seat.push_new(right, 0);
        keeper.seat.begin_to_keep();
        poll();
        for signaller in signallers {
            let signal = || wake::signal(task.live(), Signal::Wake);
            match signaller {
                Some(worker) => contexts[*worker].enter(signal),
                None => signal(),
            }
        }
        assert_eq!(keeper.ready(), 0, "the bell has rung, and is not answered yet");
        shared.idle.sit(1);
        shared.idle.announce(1);
        let ended = answer(keeper);
        let sent: Vec<_> = shared.processors[1].inbox.take().collect();
        assert_eq!((ended, keeper.ready() + sent.len()), (1, 1));
        let goes = !sent.is_empty();
        assert_eq!(shared.idle.is_asleep(1), !goes, "it is woken for the task");
        for task in sent {
            keeper.seat.push(task, 0);
        }
        wake::signal(task.live(), Signal::Abort);
        poll();
        goes
    }

    #[test]
    fn a_kept_task_goes_to_the_worker_that_has_woken_it() {
        assert!(goes_to_worker_1(&[Some(1)]));
        assert!(goes_to_worker_1(&[Some(1), Some(1)]));
        assert!(!goes_to_worker_1(&[None]));
        assert!(!goes_to_worker_1(&[None, Some(1)]));
    }
}
