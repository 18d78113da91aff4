//! Simulated reliefs and the lookout that calls them, as in the runtime's `scheduler/relief.rs` and
//! `scheduler/lookout.rs`.
//!
//! The reliefs are the processors behind those of the workers. The lookout is an event of its own.
//! It makes rounds all the time: a lookout that rests is called by the first pusher, which takes
//! less time than a nap.

use super::load::Load;
use super::machine::{Machine, Step};
use evenkeel_policy::helping;
use evenkeel_policy::relieving::{self, Found, Sight, Thread};
use std::mem;

/// How much later than asked the lookout's nap ends.
pub(crate) const SLACK: u64 = 60_000;

/// Starting a thread, until it takes tasks.
pub(crate) const START: u64 = 100_000;

/// What the lookout has seen of a processor.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    switches: u64,
    since: Option<u64>,
}

/// The state of the lookout, and which relief is on duty.
#[derive(Debug)]
pub(crate) struct Relieving {
    workers: usize,
    seen: Vec<Seen>,
    nap: u64,
    alert: u64,
    /// The workers that are counted as stuck.
    away: Vec<bool>,
    /// The relief on duty.
    duty: usize,
    is_called: bool,
    /// Whether a relief has ever run.
    is_up: bool,
}

impl Relieving {
    pub(crate) fn new(workers: usize, reliefs: usize) -> Self {
        Self {
            workers,
            seen: vec![Seen::default(); workers + reliefs],
            nap: 0,
            alert: 0,
            away: vec![false; workers],
            duty: workers,
            is_called: false,
            is_up: false,
        }
    }

    fn all_away(&self) -> bool {
        self.away.iter().all(|&away| away)
    }
}

impl<L: Load> Machine<L> {
    /// Makes a round of the lookout.
    pub(crate) fn round(&mut self, now: u64) {
        let mut found = Found::Nothing;
        let slept = self.relieving.nap + SLACK;
        for worker in 0..self.relieving.workers {
            if self.relieving.away[worker] {
                continue;
            }
            if self.idle.stack.contains(&worker) {
                self.relieving.seen[worker].since = None;
                continue;
            }
            let (is_stuck, is_suspect) = self.look_at(worker, slept, now);
            if is_stuck {
                self.relieving.away[worker] = true;
                self.relieving.alert = now + relieving::ALERT;
                self.leave_behind(worker, now);
            } else if is_suspect {
                found = Found::Suspect;
            }
        }
        let duty = self.relieving.duty;
        if self.processors[duty].step != Step::Rest {
            let (is_stuck, is_suspect) = self.look_at(duty, slept, now);
            if is_stuck && duty + 1 < self.processors.len() {
                self.relieving.duty += 1;
                self.relieving.is_called = false;
                self.call(now);
            }
            if is_suspect {
                found = Found::Suspect;
            }
        }
        if now < self.relieving.alert {
            found = Found::Suspect;
        }
        self.relieving.nap = relieving::next_nap(found, self.relieving.nap);
        self.schedule_round(now + self.relieving.nap + SLACK);
    }

    /// Looks at a processor that is awake. Returns whether it is stuck, and whether it may be.
    fn look_at(&mut self, processor: usize, slept: u64, now: u64) -> (bool, bool) {
        let Step::Return(task) = self.processors[processor].step else {
            self.relieving.seen[processor].since = None;
            return (false, false);
        };
        let switches = self.processors[processor].switches;
        let seen = &mut self.relieving.seen[processor];
        let departures = switches - seen.switches;
        if departures > 0 {
            *seen = Seen { switches, ..Seen::default() };
        }
        let lasts = now - *seen.since.get_or_insert(now);
        let mut sight = Sight { lasts, forks: false, thread: None };
        if relieving::lasts(sight) {
            // Each thread has a core.
            let blocks = self.tasks[task].blocks;
            sight.thread = Some(if blocks { Thread::Asleep } else { Thread::Ready(lasts) });
        }
        let is_suspect = lasts > 0 || relieving::is_suspect(departures, slept);
        (relieving::is_stuck(sight), is_suspect)
    }

    fn has_work(&self, processor: usize) -> bool {
        let processor = &self.processors[processor];
        let has_gift = processor.gift.as_ref().is_some_and(|gift| !gift.is_empty());
        !processor.ready.is_empty() || !processor.inbox.is_empty() || has_gift
    }

    /// Follows the step by which a worker was counted as stuck.
    fn leave_behind(&mut self, worker: usize, now: u64) {
        if self.has_work(worker) {
            let comes = self.idle.searching > 0 || self.wake_one(now).is_some();
            if !comes {
                self.call(now);
            }
        } else if self.relieving.all_away()
            && (0..self.relieving.workers).any(|worker| self.has_work(worker))
        {
            self.call(now);
        }
    }

    /// Calls the relief for a task that has been pushed, if no worker comes to it.
    pub(crate) fn call_if_all_away(&mut self, now: u64) {
        if self.has_reliefs() && self.relieving.all_away() {
            self.call(now);
        }
    }

    pub(crate) fn workers(&self) -> usize {
        self.relieving.workers
    }

    pub(crate) fn has_reliefs(&self) -> bool {
        self.processors.len() > self.relieving.workers
    }

    fn call(&mut self, now: u64) {
        let duty = self.relieving.duty;
        if !mem::replace(&mut self.relieving.is_called, true)
            && self.processors[duty].step == Step::Rest
        {
            self.schedule(duty, now + START, Step::Relieve);
        }
    }

    /// Returns whether this processor is a relief's.
    pub(crate) fn is_relief(&self, me: usize) -> bool {
        me >= self.relieving.workers
    }

    /// Returns the relief that `me` looks at in this round, if a relief has ever run, and another
    /// one has work.
    pub(crate) fn next_relief(&self, me: usize, round: usize) -> Option<usize> {
        if !self.relieving.is_up {
            return None;
        }
        let others = (self.relieving.workers..self.processors.len()).filter(|&other| other != me);
        let (among, pick) = helping::reliefs_of_round(round, others.clone().count());
        let among = others.skip(among.start).take(among.len());
        let with_work: Vec<usize> = among.filter(|&relief| self.has_work(relief)).collect();
        pick.checked_rem(with_work.len()).map(|pick| with_work[pick])
    }

    /// Does the relief's work between two batches: it takes the tasks of stuck workers and of
    /// other reliefs once it has none, or rests.
    pub(crate) fn relieve(&mut self, me: usize, now: u64) {
        self.relieving.is_up = true;
        if me != self.relieving.duty {
            // In reserve: the next one takes its tasks.
            return self.suspend(me, Step::Rest);
        }
        if !self.processors[me].ready.is_empty() {
            return self.schedule(me, now, Step::Pop);
        }
        self.processors[me].clock = now;
        let mut price = 0;
        for other in (0..self.processors.len()).filter(|&other| other != me) {
            price += self.costs.look;
            if (self.is_relief(other) || self.relieving.away[other]) && self.has_work(other) {
                price += self.costs.heavy_fence;
                self.take(me, other, false, now);
            }
        }
        if self.processors[me].ready.is_empty() {
            self.relieving.is_called = false;
            self.suspend(me, Step::Rest);
        } else {
            self.schedule(me, now + price, Step::Pop);
        }
    }
}
