//! Helping: a processor with work takes older work from another.
//!
//! At the end of a batch a processor looks at one other, so that on average each is looked at once
//! per batch, if there are [as many as batches in a round](helping::ROUND) or the polls are quick;
//! with fewer, looks are rarer. It sends its request for work and begins the next batch; at the end
//! of that it takes the answer in.

use super::handover::{self, Request};
use super::worker::{Looks, Worker};
use crate::policy::helping::{self, Help};
use crate::policy::victim;

impl Worker<'_> {
    /// Looks at one other processor, if it is time, and helps it if its work is much older.
    pub(super) fn help(&mut self, now: u64) {
        let context = self.context;
        if let Some(request) = self.request {
            self.pursue(&request, now);
            return;
        }
        if !helping::is_due(now, self.looks.last, self.shared.workers - 1, self.mean_poll) {
            return;
        }
        self.looks = Looks { last: now, count: self.looks.count.wrapping_add(1) };
        let Some(other) = self.next_other() else { return };
        self.fire_for(other, now);
        self.look_for(other, now);
        let Some(theirs) = self.view.look(&self.shared, other, now) else { return };
        if !theirs.has_work() {
            return;
        }
        let own = context.seat.processor().look(now, &mut 0);
        match helping::help(&own, &theirs) {
            Help::No => {}
            Help::Ask => self.request = handover::ask(context, other, &theirs, now),
            Help::Take => self.help_by_force(other, now, false),
        }
    }

    /// Returns the processor to look at next: another worker or, now and then, a relief.
    fn next_other(&mut self) -> Option<usize> {
        let turn = self.next_turn();
        let shared = &self.shared;
        let reliefs = || shared.other_reliefs(self.me);
        let neighbours = shared.neighbours(self.me);
        let others = neighbours.map_or(shared.workers, |neighbours| neighbours.others.len());
        let looks = self.looks.count;
        if shared.idle.is_up()
            && let Some(round) = helping::round_of_relief(looks, others)
        {
            let count = reliefs().count();
            if count > 0 {
                return reliefs().nth(round % count);
            }
        }
        match neighbours {
            Some(neighbours) => victim::pick(turn, &neighbours.others, neighbours.near),
            // A relief is far from all workers.
            None => Some(looks % shared.workers),
        }
    }

    /// Pursues a pending request: if the answer is overdue, the victim is inside a long poll.
    pub(super) fn pursue(&mut self, request: &Request, now: u64) {
        if now >= request.until && handover::give_up(self.context, request) {
            self.request = None;
            let switched = handover::has_switched(self.context, request);
            self.help_by_force(request.victim, now, switched);
        }
    }

    fn help_by_force(&mut self, other: usize, now: u64, switched: bool) {
        let tasks = handover::force(self.context, other, switched);
        self.view.attempted(other, now, tasks);
        if tasks > 0 {
            self.context.counters().helps.add(1);
        }
    }
}
