//! How simulated tasks change processors: on request first, by force last.

use super::load::Load;
use super::machine::{Entry, Machine, Request, Step};
use evenkeel_policy::stealing;

impl<L: Load> Machine<L> {
    /// Leaves a request with `victim`. Returns false if another thief is at it.
    pub(crate) fn ask(&mut self, me: usize, victim: usize, now: u64) -> bool {
        let patience = stealing::answer_within(&self.processors[victim].look(now, 0));
        let other = &mut self.processors[victim];
        if other.asked.is_some() || now < other.claimed_until {
            return false;
        }
        other.asked = Some(me);
        let switches = other.switches;
        self.processors[me].request = Some(Request { victim, until: now + patience, switches });
        true
    }

    /// Answers the request that another processor has left, and returns the price.
    pub(crate) fn answer(&mut self, me: usize, polling: bool, now: u64) -> u64 {
        let Some(taker) = self.processors[me].asked.take() else { return 0 };
        let theirs = self.processors[taker].ready.len();
        let worth = stealing::is_worth_half(&self.processors[me].look(now, 0));
        let ready = &mut self.processors[me].ready;
        let amount = stealing::give(ready.len(), theirs, polling, worth).min(ready.len());
        if polling || amount > 0 {
            let (kept, has) = (ready.len() - amount + usize::from(polling), theirs + amount);
            assert!(kept + 1 >= has || amount == 0, "the giver keeps {kept}, the taker has {has}");
        }
        let given: Vec<Entry> = ready.drain(..amount).collect();
        self.processors[me].switches += u64::from(!given.is_empty());
        self.audit.queue(me, self.processors[me].ready.len(), now);
        assert!(self.processors[taker].gift.is_none(), "one request at a time");
        self.processors[taker].gift = Some(given);
        let price = match self.are_near(me, taker) {
            true => self.costs.handover,
            false => self.costs.far_handover,
        };
        if self.processors[taker].step == Step::Await {
            self.schedule(taker, now + price, Step::Await);
        }
        price + self.wake(taker, now).unwrap_or(0)
    }

    /// Takes in the answer to a request, if it has come.
    pub(crate) fn receive(&mut self, me: usize) -> Option<usize> {
        let given = self.processors[me].gift.take()?;
        self.processors[me].request = None;
        let count = self.processors[me].take_in(given);
        Some(self.count_move(count))
    }

    /// Counts it as a move if a processor has got tasks of another, and returns their number.
    fn count_move(&mut self, tasks: usize) -> usize {
        self.counters.moves += u64::from(tasks > 0);
        tasks
    }

    /// Takes a request back. Returns false if it has been answered.
    pub(crate) fn give_up(&mut self, me: usize, victim: usize) -> bool {
        let open = self.processors[victim].asked == Some(me);
        if open {
            self.processors[victim].asked = None;
            self.processors[me].request = None;
        }
        open
    }

    /// Takes tasks from a victim that does not answer. Without a heavy fence it returns their
    /// number at once; with one, a [`Step::Take`] follows later.
    pub(crate) fn force(
        &mut self,
        me: usize,
        victim: usize,
        switched: bool,
        searching: bool,
        now: u64,
    ) -> Option<usize> {
        let other = &mut self.processors[victim];
        if other.ready.is_empty() || now < other.claimed_until {
            let count = self.take_inbox(me, victim, switched);
            return Some(self.count_move(count));
        }
        self.counters.heavy_fences += 1;
        let until = now + self.costs.heavy_fence;
        other.claimed_until = until;
        self.schedule(me, until, Step::Take { victim, switched, searching });
        None
    }

    /// Takes the tasks after the heavy fence, and returns their number.
    pub(crate) fn take(&mut self, me: usize, victim: usize, switched: bool, now: u64) -> usize {
        let ready = &mut self.processors[victim].ready;
        let amount = stealing::take(ready.len(), switched).min(ready.len());
        let taken: Vec<Entry> = ready.drain(..amount).collect();
        let left = ready.len();
        self.processors[victim].switches += u64::from(!taken.is_empty());
        self.audit.queue(victim, left, now);
        let count = self.processors[me].take_in(taken) + self.take_inbox(me, victim, switched);
        self.count_move(count)
    }

    fn take_inbox(&mut self, me: usize, victim: usize, switched: bool) -> usize {
        if switched {
            return 0;
        }
        let since = self.processors[victim].inbox_since;
        let entries: Vec<Entry> = std::mem::take(&mut self.processors[victim].inbox)
            .into_iter()
            .map(|task| Entry { task, since })
            .collect();
        for entry in &entries {
            self.tasks[entry.task].stamp = since;
        }
        // An empty answer stays, so that the victim sees that its request is over.
        let given = self.processors[victim].gift.as_mut().map(std::mem::take).unwrap_or_default();
        self.processors[me].take_in(entries) + self.processors[me].take_in(given)
    }
}
