//! Searching: what a processor without work does before it sleeps.

use super::handover;
use super::job::{self, Stolen};
use super::sleep::Wakened;
use super::worker::Worker;
use crate::idle::Counts;
use crate::policy::{Look, placement, searching, stealing, waking};
use crate::primitives::{clock, spin};
use crate::processor::meter::Doing;
use crate::processor::shared::Phase;
use crate::topology::Distance;

impl Worker<'_> {
    /// Searches and sleeps until there is something to run. False if the runtime is over.
    pub(super) fn find_work(&mut self) -> bool {
        self.trial = None;
        // The end of the batch has just read the clock.
        self.context.switch(Doing::Searching, self.context.now.get());
        let visited = self.has_been_visited();
        if visited && self.await_visitors() {
            self.context.switch(Doing::Running(Distance::Same), self.context.now.get());
            return true;
        }
        let awake = self.shared.workers;
        let mut searching = self.shared.idle.begin_search(|counts: Counts| {
            searching::may_search(counts.searching, awake - counts.sleeping)
        });
        loop {
            if searching {
                self.context.counters().searches.add(1);
                let found = self.search(searching::search_for(visited));
                let last = self.shared.idle.end_search();
                if found {
                    self.context.switch(Doing::Running(Distance::Same), clock::now());
                    if self.context.seat.may_be_robbed() {
                        // Where one was idle, the next may be.
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
                    self.context.switch(Doing::Running(Distance::Same), clock::now());
                    return true;
                }
                Wakened::Searcher => searching = true,
                Wakened::Over => return false,
            }
        }
    }

    /// Whether tasks have travelled here since it was last without work.
    fn has_been_visited(&mut self) -> bool {
        let heard = self.context.seat.processor().arrivals.heard();
        std::mem::replace(&mut self.heard, heard) != heard
    }

    /// Looks at nothing but the bell for a moment: where operations travel, more come soon. A
    /// search would have their hosts make fences, and read lines that they write.
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

    /// Looks for work at the others, nearest first, until there is some or as much time is up.
    fn search(&mut self, patience: u64) -> bool {
        let start = clock::now();
        let mut before: Option<u64> = None;
        let mut last = false;
        loop {
            let now = clock::now();
            self.context.now.set(now);
            if placement::looks_around(before.map(|before| now.saturating_sub(before))) {
                self.keep_apart(now);
            }
            before = Some(now);
            if let Some(request) = self.request {
                // It has gone out while there was work.
                self.pursue(&request, now);
            }
            if self.take_in() || (self.fire_for_others(now) && self.context.ready() > 0) {
                return true;
            }
            let waited = now.saturating_sub(start);
            // Jobs come first, but tasks that have waited come before them.
            if !self.any_other(waking::has_waited) && self.steal_job(now, waited) {
                return true;
            }
            if let Some(other) = self.steal_once(now, waited) {
                self.context.counters().steals.add(1);
                self.count_steal(other, now);
                return true;
            }
            if self.steal_job(now, waited) {
                return true;
            }
            if last || waited >= patience || self.must_stop_searching() {
                return false;
            }
            if searching::yields(waited) {
                // Whoever sleeps gets the core as soon as it is woken; whoever has given it away,
                // when the other has used up its time.
                last = !self.context.give_way(now);
            } else {
                for _ in 0..8 {
                    spin::pause();
                }
            }
        }
    }

    fn must_stop_searching(&self) -> bool {
        match self.shared.phase() {
            // A clock that stands waits for nothing but that all are idle.
            Phase::Running | Phase::Draining => self.shared.clock.stands(),
            Phase::Aborting => !self.aborted,
            Phase::Over => true,
        }
    }

    /// Goes round the others' fork-join jobs once, in the order of the policy: takes what is
    /// public, asks for what is not, and seizes what has been asked for in vain.
    fn steal_job(&mut self, now: u64, waited: u64) -> bool {
        let shared = self.context.shared();
        let random = self.random.next();
        let others = shared.neighbours[self.me].round(shared.locality, random);
        for other in others.chain(shared.spares.numbers()) {
            // Once more within the steal: another job may lie there by then.
            let may_take = || job::may_take(self.context, other, waited);
            if !may_take() {
                continue;
            }
            let deque = &shared.processor(other).deque;
            self.stolen = Stolen::take(shared, other, may_take);
            if self.stolen.is_none()
                && self.asked[other].is_in_vain(deque, now)
                && deque.seize() > 0
            {
                self.stolen = Stolen::take(shared, other, may_take);
            }
            if self.stolen.is_some() {
                self.count_steal(other, now);
                return true;
            }
        }
        false
    }

    /// Goes round the others once: the near ones from a random one on, then the rest. Gives whom it
    /// has taken tasks from.
    fn steal_once(&mut self, now: u64, waited: u64) -> Option<usize> {
        let shared = self.context.shared();
        let neighbours = &shared.neighbours[self.me];
        let (near, far) = neighbours.others.split_at(neighbours.near);
        for group in [near, far] {
            let start = (self.random.next() % group.len().max(1) as u64) as usize;
            for other in group[start..].iter().chain(&group[..start]) {
                let Some(look) = self.view.look(shared, *other, now) else { continue };
                if stealing::steal(&look, waited) && self.steal(*other, &look, now) {
                    self.begin_trial(*other, &look, now);
                    return Some(*other);
                }
            }
        }
        None
    }

    /// Notes that the look round that has begun at `now` has ended with work of `other`.
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
            // Nothing is an answer like any other: it is no sign of an owner that has been
            // preempted.
            return count > 0;
        }
        // One request at a time; and the victim may have one of somebody else's.
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

    /// The last searcher has found work: if there is more, the next one is woken.
    fn wake_next(&self) {
        // If it has found nothing else, it takes an errand itself.
        let own = usize::from(self.context.ready() == 0 && self.stolen.is_none());
        let more = self.context.ready() >= 2
            || self.shared.errands.waiting() > own
            || self.any_other(waking::before_sleep)
            || self.any_jobs();
        if more && self.shared.idle.counts().sleeping > 0 {
            self.shared.idle.wake_one();
        }
    }
}
