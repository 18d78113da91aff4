//! Control of a runtime's clock: stopping, moving and starting it.
//!
//! # Standing
//! While the clock stands, no timer is due by the machine's clock: the published `next` of each
//! processor is never. The *mover*, the thread that moves the clock, fires timers: step by step,
//! from one deadline to the next. So timers fire in the order of their deadlines, and each woken
//! task finds the clock at its own deadline.
//!
//! # All idle
//! The clock moves by itself when no thread inside the runtime has anything to do. Then all workers
//! sleep, no task is ready, the relief on duty rests, and no thread is awake in `block_on` or in a
//! blocking closure. The last thread to become idle is the mover: a worker after it has announced
//! its sleep, the relief after it has announced its rest, another thread after it has counted
//! itself out. Each looks, under the lock of the clock, after its own announcement; so the thread
//! that takes the lock last sees all of them. The mover counts as awake until it has woken the
//! tasks of the fired timers, so that no other thread moves the clock before; then it looks once
//! more.
//!
//! That look covers many places, and meanwhile work might move from a place not yet looked at to
//! one already looked at. So the mover looks under the lock of the sleepers, which every thread
//! that wakes one takes. It also looks between two equal readings of a word that counts all threads
//! that come from outside.
//!
//! # Sockets
//! What a task has sent through a socket of this machine is ready when that task goes on, though no
//! task knows of it. So the clock does not move while the system has notes of a worker's set, or
//! the worker has taken them and still counts as asleep. That worker wakes, and looks in its turn
//! before it sleeps again. Of several, the last one that looks finds that the others have nothing
//! left. What comes from elsewhere, or later, may find that the clock has moved.

use super::timing;
use crate::primitives::atomic::Edge;
use crate::primitives::{fence, lock};
use crate::processor::shared::{Phase, Shared};
use crate::processor::{Processor, current};
use std::sync::Arc;

/// The time beyond which no caller moves a clock: 146 years. From there it can run on, and instants
/// hold as much again.
const LAST: u64 = i64::MAX as u64 / 2;

impl Shared {
    /// Stops the clock. Returns false if it stands already.
    pub(crate) fn stop_clock(&self) -> bool {
        let change = lock(&self.clock.change);
        if self.clock.stands() {
            return false;
        }
        self.clock.stop();
        self.refresh_timers();
        drop(change);
        // Each goes to sleep again as under a clock that stands.
        self.idle.unpark_all();
        true
    }

    /// Makes the clock run. Returns false if it does not stand.
    pub(crate) fn start_clock(&self) -> bool {
        let change = lock(&self.clock.change);
        if !self.clock.stands() {
            return false;
        }
        self.clock.run();
        self.refresh_timers();
        drop(change);
        // A sleeper knows no deadline, because there was none.
        self.idle.unpark_all();
        fence::full(Edge::IdlePush);
        if self.idle.counts().all_away {
            // A relief that has never been needed may have no thread yet.
            timing::call_in_time(self);
        }
        true
    }

    fn refresh_timers(&self) {
        for processor in self.processors.iter() {
            processor.timers.refresh();
        }
    }

    /// Moves a clock that stands ahead by `by`, by way of all deadlines in between. Returns false
    /// if it does not stand.
    pub(crate) fn move_clock(&self, by: u64) -> bool {
        let mut target = None;
        loop {
            let change = lock(&self.clock.change);
            if !self.clock.stands() {
                return target.is_some();
            }
            let now = self.clock.now();
            let target = *target.get_or_insert_with(|| now.saturating_add(by).min(LAST));
            let next = self.earliest().filter(|&next| next <= target);
            self.clock.stand_at(next.unwrap_or(target).max(now));
            self.clock.come();
            drop(change);
            self.fire_all();
            self.clock.go();
            if next.is_none() {
                // The caller is awake, so no other thread waits for the clock to move.
                return true;
            }
        }
    }

    /// Calls [`move_clock_if_idle`](Self::move_clock_if_idle) if the clock stands, for a thread
    /// that is about to sleep. Most clocks never stand.
    #[inline]
    pub(crate) fn move_clock_if_stands(&self, me: Option<usize>) -> bool {
        self.clock.stands() && self.move_clock_if_idle(me)
    }

    /// Moves a clock that stands to the next deadline if all threads are idle, and again while only
    /// threads outside the runtime are woken. The caller is the worker `me`, or another thread.
    /// Returns true if it has fired any timer.
    #[cold]
    pub(crate) fn move_clock_if_idle(&self, me: Option<usize>) -> bool {
        let mut fired = 0;
        while let Some(next) = self.move_to_next_if_idle(me) {
            // The caller counts as awake.
            fired += self.fire_all();
            self.clock.go();
            debug_assert!(next <= self.clock.now(), "a clock does not go back");
        }
        fired > 0
    }

    fn move_to_next_if_idle(&self, me: Option<usize>) -> Option<u64> {
        let _change = lock(&self.clock.change);
        if !self.clock.stands() {
            return None;
        }
        // Under the lock: of two workers that come here, the second one sees that the first has
        // nothing left to tell.
        if let Some(set) = me.and_then(|me| self.idle.set(me).get()) {
            set.come_in();
        }
        self.idle.if_all_sleep(|| {
            // No thread wakes a worker meanwhile. A thread that comes from outside meanwhile and
            // has gone again has been counted.
            let before = self.clock.outside();
            if !before.is_empty() || !self.is_nothing_to_do() || self.clock.outside() != before {
                return None;
            }
            // Their worker comes out of its sleep, and comes here before it sleeps again.
            if self.idle.has_untold() {
                return None;
            }
            let next = self.earliest()?.max(self.clock.now());
            self.clock.stand_at(next);
            self.clock.come();
            Some(next)
        })?
    }

    /// Counts out a thread that was awake inside the runtime, and lets a clock that stands move on
    /// if it was the last.
    pub(crate) fn go_outside(&self) {
        self.clock.go();
        self.move_clock_if_stands(None);
    }

    /// Calls `f`, which may arm a timer. The thread counts as awake meanwhile, so that a clock that
    /// stands moves on afterwards if the thread was the last one; unless it is
    /// [counted](current::is_counted) anyway.
    pub(crate) fn while_awake<R>(self: &Arc<Self>, f: impl FnOnce() -> R) -> R {
        if current::is_counted(self) {
            return f();
        }
        self.clock.come();
        let result = f();
        self.go_outside();
        result
    }

    /// Makes the clock stand at `time`, before any thread has looked at it.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn begin_clock_at(&self, time: u64) {
        let change = lock(&self.clock.change);
        self.clock.stand_at(time);
        self.refresh_timers();
        drop(change);
    }

    /// Moves a clock that stands to the next deadline and fires the due timers, for a caller that
    /// has nothing else to do. Returns false if there is no timer.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn move_clock_to_next(&self) -> bool {
        let change = lock(&self.clock.change);
        let Some(next) = self.earliest() else { return false };
        self.clock.stand_at(next.max(self.clock.now()));
        drop(change);
        self.fire_all();
        true
    }

    fn is_nothing_to_do(&self) -> bool {
        let is_free = |processor: &Processor| {
            !processor.look(0, &mut 0).has_work() && processor.parts.is_empty()
        };
        self.idle.do_reliefs_rest()
            && self.phase() < Phase::Over
            && self.errands.is_empty()
            && self.processors.iter().all(is_free)
    }

    fn earliest(&self) -> Option<u64> {
        self.processors.iter().filter_map(|processor| processor.timers.earliest()).min()
    }

    fn fire_all(&self) -> usize {
        // The clock stands, so the machine's time does not matter.
        self.processors.iter().map(|processor| processor.timers.fire(0)).sum()
    }
}
