//! How simulated processors fall asleep and are woken: the counts and the stack of the runtime.

use super::load::Load;
use super::machine::{Machine, Step};
use evenkeel_policy::{Look, searching, waking};

#[derive(Debug)]
pub(crate) struct Idle {
    pub(crate) searching: usize,
    /// The sleepers, the last to fall asleep on top; the bottom one is the watch.
    pub(crate) stack: Vec<usize>,
    armed: bool,
    processors: usize,
}

impl Idle {
    pub(crate) fn new(processors: usize) -> Self {
        Self { searching: 0, stack: Vec::new(), armed: false, processors }
    }

    pub(crate) fn sleeping(&self) -> usize {
        self.stack.len()
    }

    fn awake(&self) -> usize {
        self.processors - self.stack.len()
    }
}

impl<L: Load> Machine<L> {
    /// Starts a search, or announces a sleep if enough processors search.
    pub(crate) fn find_work(&mut self, me: usize, now: u64) {
        self.end_trial(me);
        let processor = &mut self.processors[me];
        if processor.polled.replace(processor.counted) != Some(processor.counted) {
            processor.lulls.begin(now);
        }
        if searching::may_search(self.idle.searching, self.idle.awake()) {
            self.idle.searching += 1;
            self.begin_search(me, now);
        } else {
            self.announce(me, now);
        }
    }

    pub(crate) fn begin_search(&mut self, me: usize, now: u64) {
        let processor = &mut self.processors[me];
        let is_seen = std::mem::take(&mut processor.is_to_search);
        let are_long = !is_seen && processor.lulls.are_long(now);
        let sleeps_at_once = processor.serves || are_long;
        processor.patience = searching::search_for(false, sleeps_at_once);
        processor.search_start = now;
        self.schedule(me, now, Step::Search);
    }

    pub(crate) fn announce(&mut self, me: usize, now: u64) {
        if let Some(request) = self.processors[me].request {
            // A sleeper's request would keep others from asking.
            self.give_up(me, request.victim);
        }
        self.counters.sleeps += 1;
        self.processors[me].slept = 0;
        self.idle.stack.push(me);
        self.audit.slept(now);
        self.schedule(me, now + self.costs.announce, Step::LastLook);
    }

    /// Looks between the announcement and the sleep, and after each bounded sleep.
    pub(crate) fn last_look(&mut self, me: usize, now: u64) {
        let Some(position) = self.idle.stack.iter().position(|&sleeper| sleeper == me) else {
            // Woken meanwhile, and counted as a searcher.
            self.processors[me].lulls.interrupt(now);
            self.begin_search(me, now);
            return;
        };
        let processor = &self.processors[me];
        let timer = processor.next_timer();
        let is_due = timer.is_some_and(|due| due <= now);
        let work = is_due || !processor.inbox.is_empty() || processor.gift.is_some();
        // A watch that has slept also looks for tasks for which a processor would not stay awake.
        let worth = if processor.slept > 0 { waking::after_watch } else { waking::before_sleep };
        if work || (self.idle.searching == 0 && self.any_other(me, now, worth)) {
            self.processors[me].is_to_search = !work && self.processors[me].slept > 0;
            self.take_off(position, now);
            self.processors[me].clock = now;
            self.processors[me].lulls.end(now);
            self.schedule(me, now, Step::EndBatch);
            return;
        }
        let timer = timer.map(|due| due + self.costs.wake_latency);
        let watch = if position > 0 {
            None
        } else if self.idle.awake() == 0 {
            self.idle.armed = false;
            None
        } else {
            self.idle.armed = true;
            let slept = (self.policy.next_watch)(self.processors[me].slept);
            self.processors[me].slept = slept;
            Some(now + slept)
        };
        match watch.into_iter().chain(timer).min() {
            Some(end) => self.schedule(me, end, Step::Sleep),
            None => self.suspend(me, Step::Sleep),
        }
    }

    /// Returns whether `worth` holds for the look at any other processor.
    pub(crate) fn any_other(&self, me: usize, now: u64, worth: fn(&Look) -> bool) -> bool {
        let mut others = self.processors[me].others.iter();
        others.any(|&other| worth(&self.processors[other].look(now, 0)))
    }

    /// Wakes the sleeper on top of the stack as a searcher. Returns the price, if one is woken.
    pub(crate) fn wake_one(&mut self, now: u64) -> Option<u64> {
        if self.idle.searching > 0 {
            return None;
        }
        let top = self.idle.sleeping().checked_sub(1)?;
        Some(self.woken(top, now))
    }

    /// Wakes the processor `number` as a searcher. Returns the price, if it sleeps.
    pub(crate) fn wake(&mut self, number: usize, now: u64) -> Option<u64> {
        let position = self.idle.stack.iter().position(|&sleeper| sleeper == number)?;
        Some(self.woken(position, now))
    }

    fn woken(&mut self, position: usize, now: u64) -> u64 {
        self.idle.searching += 1;
        let number = self.take_off(position, now);
        self.unpark(number, Step::Wake, now)
    }

    /// Takes a sleeper off the stack. If it is the watch, the next one goes on with its rounds.
    fn take_off(&mut self, position: usize, now: u64) -> usize {
        let number = self.idle.stack.remove(position);
        self.audit.woken(now, self.idle.sleeping());
        if position == 0
            && self.idle.armed
            && let Some(&bottom) = self.idle.stack.first()
        {
            self.unpark(bottom, Step::Sleep, now);
        }
        number
    }

    /// Makes a sleeper do `step` once it runs, and returns the price. One that is about to sleep
    /// does without the system call.
    fn unpark(&mut self, number: usize, step: Step, now: u64) -> u64 {
        if self.processors[number].step != Step::Sleep {
            return 0;
        }
        self.schedule(number, now + self.costs.wake_latency, step);
        self.costs.wake
    }

    /// Makes the watch begin its rounds.
    pub(crate) fn arm(&mut self, now: u64) -> u64 {
        let Some(&watch) = self.idle.stack.first() else { return 0 };
        if std::mem::replace(&mut self.idle.armed, true) {
            return 0;
        }
        self.unpark(watch, Step::Sleep, now)
    }
}
