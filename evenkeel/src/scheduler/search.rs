//! Searching: a worker without work looks for some before it sleeps.

use super::handover;
use super::job::{Seen, Stolen, Victim};
use super::sleep::Wakened;
use super::worker::Worker;
use crate::idle::Counts;
use crate::policy::{Look, placement, searching, stealing, waking};
use crate::primitives::{clock, spin, thread};
use crate::processor::meter::Doing;
use crate::processor::shared::Phase;
use crate::topology::Distance;

impl Worker<'_> {
    /// Searches and sleeps until there is something to run. Returns false if the runtime is over.
    pub(super) fn find_work(&mut self) -> bool {
        self.trial = None;
        // The end of the batch has just read the clock.
        let now = self.context.now.get();
        self.context.switch(Doing::Searching, now);
        let polls = self.context.counters().polls.get();
        if std::mem::replace(&mut self.out_after, polls) != polls {
            self.out_since = now;
            self.lulls.begin(now);
        } else {
            // It stays awake for work that another thread has in hand, and that thread may wait for
            // this core.
            thread::yield_now();
        }
        let visited = self.has_been_visited();
        if visited && self.await_visitors() {
            self.context.switch(Doing::Running(Distance::Same), self.context.now.get());
            return true;
        }
        let workers = self.shared.workers;
        // What the watch has seen, a worker with sockets takes by a round for each watch: tasks
        // that travel are stranded only after several looks.
        let is_seen = self.is_to_search;
        let mut patience = self.patience(visited);
        let is_worth_it = patience > 0 || is_seen || self.is_any_elsewhere();
        if self.has_any() {
            // What was looked at for others has woken tasks of this worker, or spawned jobs here.
            // The worker must not sleep beside them, nor run a stolen job on top of them.
            self.context.switch(Doing::Running(Distance::Same), self.context.now.get());
            return true;
        }
        let mut searching = is_worth_it
            && self.shared.idle.begin_search(|counts: Counts| {
                searching::may_search(counts.searching, workers - counts.sleeping)
            });
        loop {
            if searching {
                self.context.counters().searches.add(1);
                let found = self.search(patience);
                let last = self.shared.idle.end_search();
                if found {
                    self.out_after = u64::MAX;
                    self.lulls.end(self.context.now.get());
                    self.context.switch(Doing::Running(Distance::Same), clock::now());
                    if self.context.seat.may_be_robbed() {
                        // After one idle worker another may follow, and steal from here.
                        self.context.fence(self.context.now.get());
                    }
                    if last {
                        self.wake_next();
                    }
                    return true;
                }
            }
            match self.sleep() {
                Wakened::Work => {
                    // The batch begins at the end of the sleep.
                    let now = self.context.now.get();
                    self.lulls.end(now);
                    self.context.switch(Doing::Running(Distance::Same), now);
                    return true;
                }
                Wakened::Searcher => {
                    self.lulls.interrupt(self.context.now.get());
                    (searching, patience) = (true, self.patience(visited));
                }
                Wakened::Over => return false,
            }
        }
    }

    /// Returns for how long the worker searches, now that it has run out of work or woken up.
    fn patience(&mut self, visited: bool) -> u64 {
        let is_seen = std::mem::take(&mut self.is_to_search);
        let are_long = !is_seen && self.lulls.are_long(self.context.now.get());
        searching::search_for(visited, self.has_sockets() || are_long)
    }

    /// Returns whether a search of a single round may find anything: only then does the worker
    /// count itself in as a searcher, and out again.
    fn is_any_elsewhere(&self) -> bool {
        let now = self.context.now.get();
        let is_any = self.fire_for_others(now) | self.look_for_others(now);
        is_any || self.request.is_some() || self.any_other(waking::before_sleep) || self.any_jobs()
    }

    /// Returns whether tasks have travelled here since the worker was last without work.
    fn has_been_visited(&mut self) -> bool {
        let heard = self.context.seat.processor().arrivals.heard();
        std::mem::replace(&mut self.heard, heard) != heard
    }

    /// Watches the bell alone for a moment: where operations travel, more come soon. A search would
    /// make other hosts use fences, and would read lines that they write.
    fn await_visitors(&mut self) -> bool {
        let processor = self.context.seat.processor();
        let until = clock::now().saturating_add(searching::AWAIT);
        loop {
            for _ in 0..8 {
                if processor.arrivals.has_rung() {
                    self.context.now.set(clock::now());
                    return self.take_in();
                }
                spin::pause();
            }
            let is_wanted = !processor.inbox.is_empty() || self.context.is_asked();
            if is_wanted || clock::now() >= until {
                return false;
            }
        }
    }

    /// Looks for work at the others, nearest first, until there is some or `patience` has passed.
    fn search(&mut self, patience: u64) -> bool {
        // A batch or a sleep has just ended, and read the clock: enough for a single round.
        let start = self.context.now.get();
        let mut now = if patience > 0 { clock::now() } else { start };
        let mut before: Option<u64> = None;
        let mut last = false;
        loop {
            self.context.now.set(now);
            if placement::looks_around(before.map(|before| now.saturating_sub(before))) {
                self.keep_apart(now);
            }
            before = Some(now);
            if let Some(request) = self.request {
                // The worker made the request while it had work.
                self.pursue(&request, now);
            }
            // A single round follows a look at the sockets, or a sleep among them.
            if self.take_in() || (patience > 0 && self.look_at_sockets()) {
                return true;
            }
            let is_any = self.fire_for_others(now) | self.look_for_others(now);
            if is_any && self.has_any() {
                return true;
            }
            let searched = now.saturating_sub(start);
            let idle = now.saturating_sub(self.out_since);
            let waited = searching::waited(patience, searched, idle);
            // Jobs come before tasks, except before tasks that have waited.
            if !self.any_other(waking::has_waited) && self.steal_job(now) {
                return true;
            }
            if let Some(other) = self.steal_once(now, waited) {
                self.context.counters().steals.add(1);
                self.count_steal(other, now);
                return true;
            }
            if self.steal_job(now) {
                return true;
            }
            if last || searched >= patience || self.must_stop_searching() {
                // A worker that makes a single round would not find out whether other threads want
                // its core. That decides how soon it takes such tasks again.
                if std::mem::take(&mut self.has_taken_served) && patience == 0 {
                    self.context.give_way(clock::now());
                }
                return false;
            }
            if searching::yields(searched) {
                // A thread that sleeps gets a core as soon as it is woken. A thread that has
                // yielded gets its core back only when the other thread has used up its time slice.
                last = !self.context.give_way(now);
            } else {
                for _ in 0..8 {
                    spin::pause();
                }
            }
            now = clock::now();
        }
    }

    fn must_stop_searching(&self) -> bool {
        if self.is_to_leave() {
            return true;
        }
        match self.shared.phase() {
            // A clock that stands moves only when all workers are idle.
            Phase::Running | Phase::Draining => self.shared.clock.stands(),
            // Each worker aborts its own tasks, and the last one that comes to sleep ends all.
            Phase::Aborting | Phase::Over => true,
        }
    }

    /// Looks once at the deque of each other worker, in the order of the policy: steals a public
    /// job, asks for private ones, and seizes those for which it has asked in vain.
    fn steal_job(&mut self, now: u64) -> bool {
        let shared = self.context.shared();
        let random = self.random.next();
        let (is_free, mut leaves) = (self.restraint.is_over(now), false);
        if self.victims.is_empty() {
            self.victims.resize_with(shared.spares.end(), Victim::default);
        }
        let others = shared.neighbours(self.me).map(|me| me.round(shared.locality, random));
        for other in others.into_iter().flatten().chain(shared.spares.numbers()) {
            let Victim { asked, sight } = &mut self.victims[other];
            let seen = Seen::of(self.context, other, sight, now, is_free);
            if !seen.may_take(self.context, other) {
                leaves |= seen.may_ever_take(self.context, other);
                continue;
            }
            let may_take = || seen.may_still_take(self.context, other);
            let deque = &shared.processor(other).deque;
            self.stolen = Stolen::take(shared, other, may_take);
            if self.stolen.is_none() && asked.is_in_vain(deque, now) && deque.seize() > 0 {
                self.stolen = Stolen::take(shared, other, may_take);
            }
            if self.stolen.is_some() {
                self.restraint.note(false, now);
                self.count_steal(other, now);
                return true;
            }
        }
        self.restraint.note(leaves, now);
        false
    }

    /// Looks once at each other processor: the near ones from a random one on, then the rest.
    /// Returns the processor from which it has taken tasks.
    fn steal_once(&mut self, now: u64, waited: u64) -> Option<usize> {
        let shared = self.context.shared();
        let neighbours = shared.neighbours(self.me)?;
        let (near, far) = neighbours.others.split_at(neighbours.near);
        for group in [near, far] {
            let start = (self.random.next() % group.len().max(1) as u64) as usize;
            for &other in group[start..].iter().chain(&group[..start]) {
                if self.steal_from(other, now, waited) {
                    return Some(other);
                }
            }
        }
        let mut reliefs = shared.other_reliefs(self.me);
        reliefs.find(|&relief| self.steal_from(relief, now, waited))
    }

    /// Looks at processor `other`, and steals if that is worth it. Returns whether it has taken
    /// tasks.
    fn steal_from(&mut self, other: usize, now: u64, waited: u64) -> bool {
        let look = self.view.look(self.context.shared(), other, now);
        let look = look.filter(|look| stealing::steal(look, waited));
        let Some(look) = look.filter(|look| self.steal(other, look, now)) else { return false };
        self.has_taken_served |= look.serves;
        self.begin_trial(other, &look, now);
        true
    }

    /// Counts a steal from `other`, by the round of looks that began at `now`.
    fn count_steal(&self, other: usize, now: u64) {
        let distance = self.context.distance(other);
        self.context.counters().count_steal(distance);
        self.context.switch(Doing::Stealing(distance), now);
    }

    fn steal(&mut self, other: usize, look: &Look, now: u64) -> bool {
        let context = self.context;
        let victim = &context.shared().processors[other];
        if victim.published.ready.len() == 0 || stealing::is_stranded(look) {
            return self.force(other, now, false);
        }
        if victim.local.is_fenced()
            && let Some(count) = handover::seize(context, other, look)
        {
            // Zero tasks are an answer like any other: they do not mean that the owner has been
            // preempted.
            return count > 0;
        }
        // A thief has one request at a time; and the victim may have the request of another thief.
        let free = self.request.is_none();
        let Some(request) = free.then(|| handover::ask(context, other, look, now)).flatten() else {
            return stealing::is_stuck(look) && self.force(other, now, false);
        };
        if !handover::await_answer(context, &request) && handover::give_up(context, &request) {
            return self.force(other, now, handover::has_switched(context, &request));
        }
        match handover::receive(context) {
            Some(count) => count > 0,
            None => {
                // The victim has taken the request and is about to answer.
                self.request = Some(request);
                false
            }
        }
    }

    fn force(&mut self, other: usize, now: u64, switched: bool) -> bool {
        let tasks = handover::force(self.context, other, switched);
        self.view.attempted(other, now, tasks);
        tasks > 0
    }

    /// Wakes the next sleeper if there is more work. The caller was the last searcher, and has
    /// found some.
    fn wake_next(&self) {
        let processor = self.context.seat.processor();
        // If the caller has found nothing else, it takes an errand itself.
        let is_free = !self.has_any() && self.stolen.is_none() && processor.parts.is_empty();
        let own = usize::from(is_free);
        let look = processor.look_at_backlog(self.context.ready(), self.context.now.get());
        let more = waking::after_search(&look)
            || self.shared.errands.waiting() > own
            || self.any_other(waking::before_sleep)
            || self.any_jobs();
        if more && self.shared.idle.counts().sleeping > 0 {
            self.shared.wake_one();
        } else if more {
            // This worker may be stuck in its next poll.
            self.shared.watch_if_unwatched();
        }
    }
}

#[cfg(all(test, loom))]
mod model;
