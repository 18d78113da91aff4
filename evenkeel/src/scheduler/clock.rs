//! What stops, moves and starts a runtime's clock.
//!
//! # Standing
//! While the clock stands, no timer is due by the machine's clock: `next` is never, wherever it is
//! published. Timers fire where the clock is moved, by whoever moves it: step by step, from one
//! deadline to the next, so that they fire in the order of their deadlines, and each task that is
//! woken finds its own.
//!
//! # All idle
//! The clock moves by itself when nobody inside the runtime has anything to do: all workers sleep,
//! no task is ready, the relief rests, and nobody is awake in `block_on` or in a closure that
//! blocks. Whoever is the last to become idle moves it: a worker after it has announced its sleep,
//! another after it has counted itself out. Each looks, under the lock of the clock, after its own
//! announcement; so the one that takes the lock last sees all of them. Whoever has moved the clock
//! counts as awake until it has woken what has fired, so nobody moves it again before; then it
//! looks once more.
//!
//! That look is at many places, between which what is to be done might slip from one that has not
//! been looked at to one that has. So it is made under the lock of the sleepers, which whoever
//! wakes one takes, and between two equal readings of a word that counts everybody who comes from
//! outside.

use crate::primitives::lock;
use crate::processor::Processor;
use crate::processor::shared::{Phase, Shared};
use crate::timers::NEVER;

impl Shared {
    /// Stops the clock. False if it stands.
    pub(crate) fn stop_clock(&self) -> bool {
        let change = lock(&self.clock.change);
        if self.clock.stands() {
            return false;
        }
        self.clock.stop();
        self.refresh_timers();
        drop(change);
        true
    }

    /// Has the clock go on. False if it does not stand.
    pub(crate) fn start_clock(&self) -> bool {
        let change = lock(&self.clock.change);
        if !self.clock.stands() {
            return false;
        }
        self.clock.run();
        self.refresh_timers();
        drop(change);
        // Who sleeps knows no deadline, for there was none.
        self.idle.unpark_all();
        true
    }

    fn refresh_timers(&self) {
        for processor in self.processors.iter() {
            processor.timers.refresh();
        }
    }

    /// Moves a clock that stands so far ahead, by way of all deadlines in between. False if it does
    /// not stand.
    pub(crate) fn move_clock(&self, by: u64) -> bool {
        let mut target = None;
        loop {
            let change = lock(&self.clock.change);
            if !self.clock.stands() {
                return target.is_some();
            }
            let now = self.clock.now();
            let target = *target.get_or_insert_with(|| now.saturating_add(by).min(NEVER - 1));
            let next = self.earliest().filter(|&next| next <= target);
            self.clock.stand_at(next.unwrap_or(target).max(now));
            self.clock.come();
            drop(change);
            self.fire_all();
            self.clock.go();
            if next.is_none() {
                // The caller is awake, so nobody else waits for it.
                return true;
            }
        }
    }

    /// For whoever is about to sleep: [`move_clock_if_idle`](Self::move_clock_if_idle), if the
    /// clock stands. Most never do.
    #[inline]
    pub(crate) fn move_clock_if_stands(&self) -> bool {
        self.clock.stands() && self.move_clock_if_idle()
    }

    /// Moves a clock that stands to the next deadline, if everybody is idle, and again if whom that
    /// has woken is not of the runtime. True if it has fired anything.
    #[cold]
    pub(crate) fn move_clock_if_idle(&self) -> bool {
        let mut fired = 0;
        while let Some(next) = self.move_to_next_if_idle() {
            // The caller counts as awake.
            fired += self.fire_all();
            self.clock.go();
            debug_assert!(next <= self.clock.now(), "a clock does not go back");
        }
        fired > 0
    }

    fn move_to_next_if_idle(&self) -> Option<u64> {
        let _change = lock(&self.clock.change);
        if !self.clock.stands() {
            return None;
        }
        self.idle.if_all_sleep(|| {
            // No worker is woken meanwhile. Whoever comes from outside meanwhile and has gone again
            // has been counted.
            let before = self.clock.outside();
            if !before.is_empty() || !self.is_nothing_to_do() || self.clock.outside() != before {
                return None;
            }
            let next = self.earliest()?.max(self.clock.now());
            self.clock.stand_at(next);
            self.clock.come();
            Some(next)
        })?
    }

    /// Counts somebody out who was awake inside the runtime, and lets a clock that stands move on
    /// if that was the last.
    pub(crate) fn go_outside(&self) {
        self.clock.go();
        self.move_clock_if_stands();
    }

    /// Has the clock stand at `time`, before anybody has looked at it.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn begin_clock_at(&self, time: u64) {
        let change = lock(&self.clock.change);
        self.clock.stop();
        self.clock.stand_at(time);
        self.refresh_timers();
        drop(change);
    }

    /// Moves a clock that stands to the next deadline and fires what is due, for a caller who knows
    /// that there is nothing else to do. False if there is no timer.
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
        self.idle.is_resting()
            && self.phase() < Phase::Over
            && self.errands.is_empty()
            && self.processors.iter().all(is_free)
    }

    fn earliest(&self) -> Option<u64> {
        self.processors.iter().filter_map(|processor| processor.timers.earliest()).min()
    }

    fn fire_all(&self) -> usize {
        // The clock stands, so the machine's is not asked.
        self.processors.iter().map(|processor| processor.timers.fire(0)).sum()
    }
}
