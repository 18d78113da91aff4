//! A simulated worker without work.

use evenkeel_policy::locality::{self, Last, Offer};
use evenkeel_policy::{Locality, forking, victim};

use super::{Engine, Neighbours};
use crate::forking::scheduler::{LEVELS, Scheduler};
use crate::forking::worker::{Doing, Frame, Job, JobIndex, State};

/// Nanoseconds of a look at another worker's deque, within the package and beyond, and of taking a
/// job there: one and four transfers of a line.
const LOOK: [u64; 2] = [30, 130];
const STEAL: [u64; 2] = [120, 520];
/// Nanoseconds of taking jobs from an owner inside a long leaf: a heavy fence.
pub const SEIZE: u64 = 10_000;
/// Nanoseconds between two looks of a waiting worker.
const PAUSE: u64 = 200;

/// A deque to look at: its owner, and its level.
type Place = (usize, usize);

/// What comes of a look at the oldest job of a deque.
enum Tried {
    /// The worker takes the job, after so much time.
    Taken(JobIndex, u64),
    /// It leaves the job to workers near its data for now.
    Left,
    /// There is nothing to take, or not yet.
    Nothing,
}

impl Engine<'_> {
    /// Makes one round of a worker without work.
    pub(super) fn search(&mut self, me: usize, now: u64) {
        if let Some(job) = self.workers[me].newest() {
            // A fork that is suspended at a join has left the job behind.
            return self.take_own(me, job, now);
        }
        let (mut cost, mut leaves) = (0, false);
        let is_over = self.workers[me].restraint.is_over(now);
        for (other, level) in self.round(me) {
            let class = self.class(me, other);
            cost += LOOK[class];
            let oldest = self.workers[other].deques[level].oldest();
            let sight = &mut self.workers[me].sights[other][level];
            let seen = sight.see(oldest.map(|job| job as u32), now + cost);
            let seen = if is_over { u64::MAX } else { seen };
            match self.try_take(me, (other, level), now + cost, seen) {
                Tried::Taken(job, more) => {
                    self.workers[me].restraint.note(false, now);
                    return self.steal(me, job, now, cost + more + STEAL[class]);
                }
                Tried::Left => leaves = true,
                Tried::Nothing => {}
            }
        }
        self.workers[me].restraint.note(leaves, now);
        self.at(now + cost + PAUSE / 4, me);
    }

    /// Returns the deques at which a worker looks, in the order of the policy.
    fn round(&mut self, me: usize) -> Vec<Place> {
        let random = self.random.below(usize::MAX) as u64;
        let Neighbours { others, groups, near } = &self.neighbours[me];
        let order = |groups, level| {
            let order = victim::order(self.scheduler.locality(), others, groups, random);
            order.map(move |other| (other, level))
        };
        match self.scheduler {
            // First the jobs of the package's cache, among the workers that share it, and then the
            // jobs that fit into no cache.
            Scheduler::CilkRestricted => {
                order(near, LEVELS - 2).chain(order(groups, LEVELS - 1)).collect()
            }
            _ => order(groups, 0).collect(),
        }
    }

    /// Makes one look of a worker that waits for a job. Returns true if the program is over.
    pub(super) fn wait(&mut self, me: usize, now: u64, since: u64) -> bool {
        let Some(&Frame::Wait { job, mut sight }) = self.workers[me].frames.last() else {
            unreachable!("a waiting worker has the frame of its job")
        };
        match self.jobs[job].state {
            State::Complete => {
                self.workers[me].frames.pop();
                self.workers[me].doing = Doing::Running;
                return self.go_on(me, now);
            }
            State::Taken(thief) => {
                let class = self.class(me, thief);
                let cost = LOOK[class];
                let oldest = self.workers[thief].deques[0].oldest();
                let seen = sight.see(oldest.map(|job| job as u32), now + cost);
                self.workers[me].frames.pop();
                self.workers[me].frames.push(Frame::Wait { job, sight });
                let seen = if forking::sleep(now - since) { u64::MAX } else { seen };
                match self.try_take(me, (thief, 0), now + cost, seen) {
                    Tried::Taken(job, more) => {
                        self.steal(me, job, now, cost + more + STEAL[class]);
                    }
                    Tried::Left | Tried::Nothing => self.at(now + cost + PAUSE, me),
                }
            }
            State::InDeque => unreachable!("it was found stolen"),
        }
        false
    }

    /// Makes the oldest job of a deque public, if this worker may take it after it has seen it for
    /// `seen`: by asking, and in the end by force.
    fn try_take(&mut self, me: usize, (other, level): Place, now: u64, seen: u64) -> Tried {
        let Some(oldest) = self.workers[other].deques[level].oldest() else {
            self.workers[me].asked[other] = None;
            return Tried::Nothing;
        };
        if !self.may_take(me, other, oldest, seen) {
            let may_ever_take = self.may_take(me, other, oldest, u64::MAX);
            return if may_ever_take { Tried::Left } else { Tried::Nothing };
        }
        if self.scheduler.is_cilk() || self.workers[other].deques[level].public > 0 {
            return Tried::Taken(oldest, 0);
        }
        match self.workers[me].asked[other] {
            Some(since) if self.workers[other].is_asked => {
                if !forking::seize(now - since) {
                    return Tried::Nothing;
                }
                self.workers[me].asked[other] = None;
                self.workers[other].deques[level].publish();
                Tried::Taken(oldest, SEIZE)
            }
            _ => {
                self.workers[other].is_asked = true;
                self.workers[me].asked[other] = Some(now);
                Tried::Nothing
            }
        }
    }

    /// Returns whether a worker that has seen a job of another for `seen` may take it.
    fn may_take(&self, me: usize, other: usize, job: JobIndex, seen: u64) -> bool {
        let Job { reach, last, .. } = self.jobs[job];
        let last = match last {
            None => Last::Owner,
            Some(last) if last == me => Last::Me,
            Some(_) => Last::Another,
        };
        let locality = match self.scheduler {
            // It looks only at deques from which it may take.
            Scheduler::CilkRestricted => Locality::Strict,
            scheduler => scheduler.locality(),
        };
        locality::may_take(locality, Offer { reach, last }, self.distance(me, other), seen)
    }

    /// Takes the oldest job of a deque in a look that began at `now`.
    fn steal(&mut self, me: usize, job: JobIndex, now: u64, cost: u64) {
        let Job { owner, level, reach, .. } = self.jobs[job];
        let is_restricted = self.scheduler == Scheduler::CilkRestricted;
        assert!(!is_restricted || self.distance(me, owner) <= reach, "a job of another's level");
        self.workers[owner].deques[level].steal();
        if !self.scheduler.is_cilk() {
            // The next thief need not ask first, nor the first thief of this worker.
            self.workers[owner].is_asked |= self.workers[owner].deques[level].public == 0;
            self.workers[me].is_asked = true;
        }
        self.jobs[job].state = State::Taken(me);
        self.outcome.scheduling += cost;
        self.outcome.steals[self.class(me, owner)] += 1;
        let part = self.workers[me].part;
        self.enter(me, job, Frame::Stolen { job, part }, now + cost);
    }

    /// Takes the worker's own newest job, which no thief has taken.
    fn take_own(&mut self, me: usize, job: JobIndex, now: u64) {
        self.workers[me].deques[self.jobs[job].level].pop();
        self.jobs[job].state = State::Taken(me);
        let part = self.workers[me].part;
        self.enter(me, job, Frame::Stolen { job, part }, now);
    }
}
