//! When a worker keeps tasks, and for how long; [`keep`](crate::queue::keep) has the protocol.

use super::worker::{Keeping, Worker};
use crate::policy::keeping::{self, Period};
use crate::primitives::atomic::Ordering;
use crate::processor::shared::Phase;

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
        self.keeping.ended += self.context.seat.answer_bell(self.context.now.get()) as u64;
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
