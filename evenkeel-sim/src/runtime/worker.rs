//! The loop of a simulated worker, step by step. It follows the real one, and calls the same
//! policy.

use super::load::{Load, Poll, Release};
use super::machine::{Entry, Machine, Step};
use super::task::{Place, Then};
use evenkeel_policy::helping::{self, Help};
use evenkeel_policy::{self as policy, Look, batch, searching, stealing, victim, waking};
use std::cmp::Reverse;

impl<L: Load> Machine<L> {
    /// Makes processor `me` do its step.
    pub(crate) fn step(&mut self, me: usize, now: u64) {
        match self.processors[me].step {
            Step::Pop => self.pop(me, now),
            Step::Return(task) => self.come_back(me, task, now),
            Step::EndBatch => self.end_batch(me, now),
            Step::Take { victim, switched, searching } => {
                let taken = self.take(me, victim, switched, now);
                if !searching {
                    self.begin_batch(me, now);
                } else if taken > 0 {
                    self.stolen(me, victim, now);
                } else {
                    self.next_round(me, now);
                }
            }
            Step::Search => self.search(me, now),
            Step::Await => self.have_waited(me, now),
            Step::LastLook => self.last_look(me, now),
            Step::Sleep => {
                self.processors[me].out_since = now;
                self.last_look(me, now);
            }
            Step::Wake => {
                self.processors[me].out_since = now;
                self.processors[me].lulls.interrupt(now);
                self.begin_search(me, now);
            }
            Step::Relieve => self.relieve(me, now),
            Step::Rest => unreachable!("a relief that rests has no event"),
        }
    }

    fn pop(&mut self, me: usize, now: u64) {
        if now < self.processors[me].claimed_until {
            let until = self.processors[me].claimed_until;
            self.schedule(me, until, Step::Pop);
            return;
        }
        let mut time = now;
        let processor = &self.processors[me];
        let is_to_look = processor.polls > 0 && !processor.inbox.is_empty();
        if is_to_look || processor.polls == processor.polls_per_batch {
            self.schedule(me, now + self.costs.end_batch, Step::EndBatch);
            return;
        }
        if self.processors[me].asked.is_some() {
            time += self.answer(me, false, now);
        }
        let processor = &mut self.processors[me];
        let Some(entry) = processor.ready.pop_front() else {
            self.schedule(me, time + self.costs.end_batch, Step::EndBatch);
            return;
        };
        processor.switches += 1;
        processor.polls += 1;
        if processor.polls == 1 {
            // The first task is the oldest.
            processor.wait = processor.clock.saturating_sub(entry.since);
        }
        let left = processor.ready.len();
        self.audit.queue(me, left, now);
        self.poll(me, entry, time + self.costs.switch);
    }

    /// Begins a poll. The poll wakes and spawns at its beginning, however long it lasts.
    fn poll(&mut self, me: usize, entry: Entry, now: u64) {
        let task = &mut self.tasks[entry.task];
        assert_eq!(task.place, Place::Ready, "task {} runs twice", entry.task);
        assert_eq!(task.stamp, entry.since, "the age of task {} is kept", entry.task);
        task.place = Place::Running;
        task.polled += 1;
        self.counters.polls += 1;
        self.audit.waited(entry.task, task, now);
        let stuck = task.stuck;
        self.audit.started(task, now);
        let Poll { length, spawns, wakes, then, release } =
            self.load.begin(entry.task, task, me, now);
        task.then = then;
        let mut price = 0;
        for child in spawns {
            price += self.push_woken(me, child, now);
        }
        if let Some(woken) = wakes {
            match self.tasks[woken].place {
                Place::Parked => price += self.push_woken(me, woken, now),
                Place::Running => self.tasks[woken].token = true,
                Place::Unborn | Place::Ready | Place::Complete => {}
            }
        }
        let length = self.beside_siblings(me, length);
        let end = now.saturating_add(length).saturating_add(if stuck { 0 } else { price });
        self.schedule(me, end, Step::Return(entry.task));
        if let Some(release) = release {
            self.release(release, now);
        }
    }

    /// Ends the poll of another processor, which may wake all tasks that wait.
    fn release(&mut self, release: Release, now: u64) {
        let Release { processor, task, length, wakes } = release;
        let mut price = 0;
        for other in (0..self.tasks.len()).filter(|&other| wakes && other != task) {
            match self.tasks[other].place {
                Place::Parked => price += self.push_woken(processor, other, now),
                Place::Running => self.tasks[other].token = true,
                Place::Unborn | Place::Ready | Place::Complete => {}
            }
        }
        self.schedule(processor, now + length + price, Step::Return(task));
    }

    /// Returns how long an action takes that takes `length` on a core of its own.
    fn beside_siblings(&self, me: usize, length: u64) -> u64 {
        let mut siblings = self.processors[me].siblings.iter();
        if siblings.any(|&sibling| self.processors[sibling].step != Step::Sleep) {
            length.saturating_mul(self.costs.beside_sibling) / 100
        } else {
            length
        }
    }

    fn push_woken(&mut self, me: usize, task: usize, now: u64) -> u64 {
        let ready = self.push(me, task, now);
        self.audit.queue(me, ready, now);
        let mut price = 0;
        if self.processors[me].asked.is_some() {
            price += self.answer(me, true, now);
        }
        let sleeping = self.idle.sleeping();
        let own = Look { ready, ..self.processors[me].look(now, 0) };
        if sleeping == 0 {
            price
        } else if (self.policy.after_push)(&own, sleeping, self.idle.searching) {
            price + self.wake_one(now).unwrap_or(0)
        } else {
            price + self.arm(now)
        }
    }

    /// Ends a poll.
    fn come_back(&mut self, me: usize, index: usize, now: u64) {
        let task = &mut self.tasks[index];
        self.audit.ended(task);
        if task.left == 1 {
            task.place = Place::Complete;
            self.unfinished -= usize::from(task.is_awaited());
            self.processors[me].completed += 1;
            return self.pop(me, now);
        }
        if task.left < u64::MAX {
            task.left -= 1;
        }
        if task.then == Then::Yield || std::mem::take(&mut task.token) {
            let ready = self.push(me, index, now);
            self.audit.queue(me, ready, now);
        } else {
            task.place = Place::Parked;
            if let Then::Sleep(until) = task.then {
                self.processors[me].timers.push(Reverse((until, index)));
            }
        }
        self.pop(me, now);
    }

    fn end_batch(&mut self, me: usize, now: u64) {
        let others = self.workers() - 1;
        let processor = &mut self.processors[me];
        let elapsed = now - std::mem::replace(&mut processor.clock, now);
        let polls = std::mem::take(&mut processor.polls);
        processor.counted += u64::from(polls);
        if polls > 0 {
            processor.out_since = now;
            processor.mean_wait = policy::smooth(processor.mean_wait, processor.wait);
            processor.mean_poll = policy::smooth(processor.mean_poll, elapsed / u64::from(polls));
            let span = batch::span(processor.serves, others);
            processor.caution = batch::caution(processor.caution, elapsed, span);
            processor.polls_per_batch =
                if processor.caution > 0 { 1 } else { batch::polls(processor.mean_poll, span) };
            let completed = std::mem::take(&mut processor.completed);
            processor.recent_polls = processor.recent_polls / 4 * 3 + u64::from(polls);
            processor.recent_completed = processor.recent_completed / 4 * 3 + completed;
            processor.mean_work = batch::work(
                processor.mean_poll,
                processor.recent_polls,
                processor.recent_completed,
            );
        }
        if self.gathers && !self.is_relief(me) {
            self.tend_gathering(me, now);
        }
        self.take_what_came(me, now);
        if self.processors[me].ready.is_empty() {
            if self.is_relief(me) {
                return self.relieve(me, now);
            }
            self.find_work(me, now);
        } else if let Some(price) = self.help(me, now) {
            self.begin_batch(me, now + price);
        }
    }

    /// Completes the end of a batch: the processor's own backlog must not wait beside a sleeper.
    fn begin_batch(&mut self, me: usize, now: u64) {
        let own = self.processors[me].look(now, 0);
        let (sleeping, searching) = (self.idle.sleeping(), self.idle.searching);
        let price = if sleeping == 0 {
            0
        } else if (self.policy.after_batch)(&own, sleeping, searching) {
            self.wake_one(now).unwrap_or(0)
        } else {
            // The tasks stay in this queue; the watch looks at them.
            self.arm(now)
        };
        self.audit.queue(me, own.ready, now);
        self.schedule(me, now + price, Step::Pop);
    }

    /// Fires due timers, and takes in tasks from the inbox and from answers. What a fire costs is a
    /// part of the poll that follows it.
    fn take_what_came(&mut self, me: usize, now: u64) {
        while self.processors[me].next_timer().is_some_and(|due| due <= now) {
            let fired = self.processors[me].timers.pop();
            fired.into_iter().for_each(|Reverse((_, task))| _ = self.push(me, task, now));
        }
        let processor = &mut self.processors[me];
        let since = processor.inbox_since.min(processor.clock);
        for task in processor.inbox.drain(..) {
            processor.ready.push_back(Entry { task, since });
            self.tasks[task].stamp = since;
        }
        self.receive(me);
        let ready = self.processors[me].ready.len();
        self.audit.queue(me, ready, now);
    }

    /// Returns the processor to look at by the look with this `number`: another worker or, now and
    /// then, a relief.
    fn next_other(&mut self, me: usize, number: usize) -> Option<usize> {
        let processor = &mut self.processors[me];
        processor.turn += 1;
        let others = processor.others.len();
        if let Some(round) = helping::round_of_relief(number, others)
            && let Some(relief) = self.next_relief(me, round)
        {
            return Some(relief);
        }
        let processor = &self.processors[me];
        if self.is_relief(me) {
            return Some(processor.others[number % others]);
        }
        // Multiples of the golden ratio come near every number within the fewest steps.
        let random = processor.turn.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        victim::pick(random, &processor.others, processor.near)
    }

    /// Looks at one other processor, if it is time, and helps it if its work is much older. Returns
    /// the price, or none if it has to stand by for a heavy fence.
    fn help(&mut self, me: usize, now: u64) -> Option<u64> {
        if let Some(request) = self.processors[me].request {
            let waits = now < request.until;
            if waits || !self.give_up(me, request.victim) {
                return Some(0);
            }
            let switched = self.processors[request.victim].switches != request.switches;
            return self.force(me, request.victim, switched, false, now).map(|_| 0);
        }
        let others = self.workers() - 1;
        let processor = &mut self.processors[me];
        if !processor.looks.are_due(now, others, processor.mean_poll) {
            return Some(0);
        }
        let number = processor.looks.begin(now);
        let Some(other) = self.next_other(me, number) else {
            self.processors[me].looks.end(false);
            return Some(0);
        };
        let price = self.price_of_look(me, other);
        let theirs = self.look(me, other, now);
        let own = self.processors[me].look(now, 0);
        let help = (self.policy.help)(&own, &theirs);
        self.processors[me].looks.end(helping::is_find(help, &theirs));
        match help {
            Help::No => Some(price),
            Help::Ask => {
                self.ask(me, other, now);
                Some(price)
            }
            Help::Take => self.force(me, other, false, false, now).map(|_| price),
        }
    }

    pub(crate) fn look(&mut self, me: usize, other: usize, now: u64) -> Look {
        let switches = self.processors[other].switches;
        let before = std::mem::replace(&mut self.processors[me].seen[other], switches);
        let mut look = self.processors[other].look(now, before);
        if look.switched || (look.ready == 0 && !look.inbox) {
            self.processors[me].departed[other] = now;
        }
        look.stalled = now - self.processors[me].departed[other];
        look
    }

    fn price_of_look(&self, me: usize, other: usize) -> u64 {
        if self.are_near(me, other) { self.costs.look } else { self.costs.far_look }
    }

    /// Returns whether two processors are behind the same last-level cache.
    pub(crate) fn are_near(&self, me: usize, other: usize) -> bool {
        self.processors[me].group == self.processors[other].group
    }

    /// Makes one round of a search: the near processors from a random one on, then the rest.
    fn search(&mut self, me: usize, now: u64) {
        self.processors[me].clock = now;
        self.take_what_came(me, now);
        if !self.processors[me].ready.is_empty() {
            self.found(me, now);
            return;
        }
        if let Some(request) = self.processors[me].request {
            // The processor asked as a helper, and has run out of work since.
            if now >= request.until {
                self.have_waited(me, now);
            } else {
                self.schedule(me, now + self.costs.pauses, Step::Search);
            }
            return;
        }
        let processor = &self.processors[me];
        let (searched, idle) = (now - processor.search_start, now - processor.out_since);
        let waited = searching::waited(processor.patience, searched, idle);
        let count = self.processors[me].others.len();
        let near = self.processors[me].near;
        let mut time = now;
        for (group, price) in [(0..near, self.costs.look), (near..count, self.costs.far_look)] {
            let start = self.random.next() as usize % group.len().max(1);
            for step in 0..group.len() {
                let position = group.start + (start + step) % group.len();
                let other = self.processors[me].others[position];
                time += price;
                let look = self.look(me, other, now);
                if !stealing::steal(&look, waited) {
                    continue;
                }
                if look.ready == 0 {
                    if self.force(me, other, false, true, now) > Some(0) {
                        self.begin_trial(me, other, &look, now);
                        self.found(me, time);
                        return;
                    }
                } else if self.ask(me, other, now) {
                    self.processors[me].stolen = Some(look);
                    let until = self.processors[me].request.map_or(now, |request| request.until);
                    // It has paid for its looks before it asks.
                    self.schedule(me, until + (time - now), Step::Await);
                    return;
                }
            }
        }
        self.next_round(me, time);
    }

    fn next_round(&mut self, me: usize, now: u64) {
        if now - self.processors[me].search_start >= self.processors[me].patience {
            self.idle.searching -= 1;
            self.announce(me, now);
        } else {
            self.schedule(me, now + self.costs.pauses, Step::Search);
        }
    }

    /// Ends the wait for an answer.
    fn have_waited(&mut self, me: usize, now: u64) {
        let request = self.processors[me].request.expect("it stands by for an answer");
        let count = match self.receive(me) {
            Some(count) => Some(count),
            None => {
                assert!(self.give_up(me, request.victim), "no answer, so it is still there");
                let switched = self.processors[request.victim].switches != request.switches;
                self.force(me, request.victim, switched, true, now)
            }
        };
        match count {
            Some(0) => self.next_round(me, now),
            Some(_) => self.stolen(me, request.victim, now),
            None => {}
        }
    }

    /// Ends a search that has got tasks of a processor which it asked.
    fn stolen(&mut self, me: usize, victim: usize, now: u64) {
        if let Some(look) = self.processors[me].stolen.take() {
            self.begin_trial(me, victim, &look, now);
        }
        self.found(me, now);
    }

    /// Ends a search that has found work.
    fn found(&mut self, me: usize, now: u64) {
        self.idle.searching -= 1;
        self.processors[me].lulls.end(now);
        self.processors[me].polled = None;
        let mut price = 0;
        if self.idle.searching == 0 {
            let more = waking::after_search(&self.processors[me].look(now, 0))
                || self.any_other(me, now, waking::before_sleep);
            if more {
                price = self.wake_one(now).unwrap_or(0);
            }
        }
        let ready = self.processors[me].ready.len();
        self.audit.queue(me, ready, now);
        self.schedule(me, now + price, Step::Pop);
    }

    /// Leaves a task from outside in the inbox of `target`, and makes sure that a processor is
    /// awake.
    pub(crate) fn send(&mut self, target: usize, task: usize, now: u64) {
        self.ready(task, now, now);
        self.leave(target, task, now);
    }

    /// Leaves a task that is ready in the inbox of `target`.
    pub(crate) fn leave(&mut self, target: usize, task: usize, now: u64) {
        let processor = &mut self.processors[target];
        if processor.inbox.is_empty() {
            processor.inbox_since = now;
        }
        processor.inbox.push(task);
        let (sleeping, searching) = (self.idle.sleeping(), self.idle.searching);
        self.call_if_all_away(now);
        if sleeping == 0 {
            return;
        }
        let ready = self.processors[target].ready.len();
        if self.wake(target, now).is_none() {
            let look = self.processors[target].look(now, 0);
            let look = Look { ready: ready + 1, mean_work: u64::MAX, ..look };
            let lasts = now.saturating_sub(self.processors[target].clock);
            if waking::after_send(&look, lasts, sleeping, searching) {
                self.wake_one(now);
            } else {
                self.arm(now);
            }
        }
    }
}
