//! The workers' part in [timers](crate::timers), and the choice of a timer's processor.

#![allow(unsafe_code, reason = "it passes the promises of a timer's future on")]

use super::worker::Worker;
use crate::policy::{relieving, timing};
use crate::primitives::atomic::Edge;
use crate::primitives::wait_word::Word;
use crate::primitives::{clock, fence};
use crate::processor::Processor;
use crate::processor::context::Context;
use crate::processor::shared::Shared;
use crate::timers::{Armed, Entry, NEVER, Timers};
use std::ptr::NonNull;
use std::time::Duration;

impl Worker<'_> {
    /// Fires due timers of this processor.
    #[inline(always)]
    pub(super) fn fire_own(&self) {
        let timers = &self.context.seat.processor().timers;
        let now = self.context.now.get();
        if now >= timers.next() {
            timers.fire_some(now);
        }
    }

    /// Returns whether another processor has overdue timers to which its worker does not come.
    fn is_to_fire_for(&self, other: usize, now: u64) -> bool {
        let next = self.shared.processors[other].timers.next();
        now >= next && timing::fires_for(now, next, self.shared.is_away(other))
    }

    /// Fires overdue timers of another processor, if its worker does not come to them. Returns
    /// their number.
    pub(super) fn fire_for(&self, other: usize, now: u64) -> usize {
        if !self.is_to_fire_for(other, now) {
            return 0;
        }
        let fired = self.shared.processors[other].timers.fire_if_free(now);
        self.context.counters().timers_fired_for_others.add(fired as u64);
        fired
    }

    /// Does the same for all other processors. Returns whether it has fired any.
    pub(super) fn fire_for_others(&self, now: u64) -> bool {
        let others = (0..self.shared.workers).filter(|&other| other != self.me);
        others.map(|other| self.fire_for(other, now)).sum::<usize>() > 0
    }

    /// Returns whether there are any to fire.
    pub(super) fn is_to_fire_for_others(&self, now: u64) -> bool {
        let mut others = (0..self.shared.workers).filter(|&other| other != self.me);
        others.any(|other| self.is_to_fire_for(other, now))
    }

    /// Returns the longest sleep, after its announcement; `watch` bounds the sleep of the watch.
    pub(super) fn sleep_limit(&self, watch: Option<u64>) -> Option<Duration> {
        let next = self.context.seat.processor().timers.refresh();
        // The watch wakes up to fire for others too.
        let of_all = if watch.is_some() { next_of_all(&self.shared) } else { next };
        let now = if of_all == NEVER { 0 } else { clock::now() };
        let watch = watch.map(|watch| timing::watch_limit(watch, now, of_all));
        timing::sleep_limit(watch, now, next).map(Duration::from_nanos)
    }

    /// Returns the longest rest of the relief: if it `relieves` workers, until it next has to.
    pub(super) fn rest_limit(&self, relieves: bool) -> Option<Duration> {
        let next = if relieves { next_for_relief(&self.shared) } else { NEVER };
        self.shared.idle.rest_until(next);
        let now = if next == NEVER { 0 } else { clock::now() };
        timing::sleep_limit(None, now, next).map(Duration::from_nanos)
    }
}

/// Returns when the next timer of a runtime may be due.
pub(super) fn next_of_all(shared: &Shared) -> u64 {
    shared.processors.iter().map(|processor| processor.timers.next()).min().unwrap_or(NEVER)
}

/// Returns when the relief next has to act for workers that are all away: when the next timer may
/// be due, or when visitors are not left to their worker any more.
fn next_for_relief(shared: &Shared) -> u64 {
    let stranded = shared.processors.iter().map(Processor::stranded_from).min();
    next_of_all(shared).min(stranded.unwrap_or(NEVER))
}

/// Calls the relief if it has to act before its rest ends. All workers are away, so that only the
/// relief fires timers, and comes to visitors.
pub(super) fn call_in_time(shared: &Shared) {
    if next_for_relief(shared) < shared.idle.rests_until() {
        shared.call_relief();
    }
}

/// Arms a timer of a future that a worker polls, at its processor.
///
/// # Safety
/// As [`Timers::arm`].
#[inline]
pub(crate) unsafe fn arm_here(
    context: &Context,
    entry: NonNull<Entry>,
    deadline: u64,
    waker: impl Word,
) -> (Armed, &'static Timers) {
    let timers = context.seat.processor().timers.get();
    let mut machine = context.now.get();
    let runtime = &context.shared().clock;
    // A deadline that is not due by the clock that is never behind is not due.
    if timing::looks_at_clock(deadline, runtime.at(machine))
        && deadline <= runtime.at(context.ahead.now())
    {
        machine = clock::now();
    }
    // SAFETY: the caller's promise.
    let armed = unsafe { timers.arm(entry, deadline, machine, waker) };
    if armed == (Armed::Waits { is_next: true }) {
        // The lookout, which may find the caller's worker stuck at the same time, makes the heavy
        // fence.
        fence::light_if_paired(Edge::TimerArm);
        // Once the lookout counts the caller's worker in, another worker may go away last, or the
        // relief may rest: neither makes a heavy fence then.
        if context.seat.processor().absence.is_away() {
            fence::full(Edge::TimerArmAway);
        }
        if context.shared().idle.is_pusher_to_look() {
            see_to_it(context.shared());
        }
    }
    (armed, timers)
}

/// Arms a timer of a future that another thread polls, at the processor of some worker.
///
/// # Safety
/// As [`Timers::arm`].
#[cold]
pub(crate) unsafe fn arm_outside(
    shared: &Shared,
    entry: NonNull<Entry>,
    deadline: u64,
    waker: impl Word,
) -> (Armed, &'static Timers) {
    // The addresses of nodes spread timers over the processors.
    let target = entry.addr().get() / size_of::<Entry>() % shared.workers;
    let timers = shared.processors[target].timers.get();
    // SAFETY: the caller's promise.
    let armed = unsafe { timers.arm(entry, deadline, clock::now(), waker) };
    if armed == (Armed::Waits { is_next: true }) {
        if shared.idle.is_asleep(target) {
            shared.idle.unpark(target);
        }
        fence::full(Edge::IdlePush);
        if shared.idle.is_pusher_to_look() {
            see_to_it(shared);
        }
    }
    (armed, timers)
}

/// Calls the relief, or has the watch or the lookout begin its rounds, for a timer that its own
/// worker may not fire.
#[cold]
fn see_to_it(shared: &Shared) {
    let counts = shared.idle.counts();
    if counts.all_away {
        return call_in_time(shared);
    }
    if counts.sleeping > 0 {
        shared.arm();
    }
    if next_of_all(shared).saturating_add(relieving::GRACE) < shared.idle.watches_from() {
        shared.watch();
    }
}
