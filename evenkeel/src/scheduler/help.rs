//! Helping: a processor with work takes older work from another.
//!
//! At the end of a batch a processor looks at one other if it is [time](helping::Looks): after each
//! batch while it finds work to help with, or if there are [as many processors as batches in a
//! round](helping::ROUND); more rarely otherwise. It sends its request for work and begins the next
//! batch; at the end of that it takes the answer in.

use super::handover::{self, Request};
use super::worker::Worker;
use crate::policy::helping::{self, Help, PASSED};
use crate::policy::victim;

impl Worker<'_> {
    /// Looks at one other processor, if it is time, and helps it if its work is much older.
    pub(super) fn help(&mut self, now: u64) {
        if let Some(request) = self.request {
            self.pursue(&request, now);
            return;
        }
        if !self.looks.are_due(now, self.shared.workers - 1, self.pace.mean_poll) {
            return;
        }
        let number = self.looks.begin(now);
        let found = self.next_other(number, now).is_some_and(|other| self.look_at(other, now));
        self.looks.end(found);
    }

    /// Looks at another processor, and helps it. Returns whether it has work to help with, or has
    /// work and stands still, left alone or not.
    fn look_at(&mut self, other: usize, now: u64) -> bool {
        let context = self.context;
        self.fire_for(other, now);
        self.look_for(other, now);
        let Some(theirs) = self.view.look(&self.shared, other, now) else { return true };
        if !theirs.has_work() {
            return false;
        }
        let own = context.seat.processor().look(now, &mut 0);
        let help = helping::help(&own, &theirs);
        match help {
            Help::No => {}
            Help::Ask => self.request = handover::ask(context, other, &theirs, now),
            Help::Take => self.help_by_force(other, now, false),
        }
        helping::is_find(help, &theirs)
    }

    /// Returns the processor to look at by the look with this `number`: another worker or, now and
    /// then, a relief with work.
    fn next_other(&mut self, number: usize, now: u64) -> Option<usize> {
        let turn = self.next_turn();
        let shared = &self.shared;
        let neighbours = shared.neighbours(self.me);
        let others = neighbours.map_or(shared.workers, |neighbours| neighbours.others.len());
        if shared.idle.is_up()
            && let Some(round) = helping::round_of_relief(number, others)
        {
            let reliefs = || shared.other_reliefs(self.me);
            let (among, pick) = helping::reliefs_of_round(round, reliefs().count());
            let (mut with_work, mut count) = ([0; PASSED], 0);
            for relief in reliefs().skip(among.start).take(among.len()) {
                with_work[count] = relief;
                count += usize::from(shared.processors[relief].is_to_be_relieved(now));
            }
            if let Some(pick) = pick.checked_rem(count) {
                return Some(with_work[pick]);
            }
        }
        match neighbours {
            Some(neighbours) => victim::pick(turn, &neighbours.others, neighbours.near),
            // A relief is far from all workers.
            None => Some(number % shared.workers),
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
