//! The simulated workers: what they do when, by the runtime's own policy.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use evenkeel::Locality;
use evenkeel::policy::locality::{self, Last, Offer};
use evenkeel::policy::{forking, victim};
use evenkeel::topology::{Distance, Topology};

use super::caches::{Caches, L2, L3};
use super::work::{Node, Step, Work};
use crate::workload::random::Random;

/// Nanoseconds of a fork and its end on the worker that forks; of publishing jobs; of taking one back that is public. As measured
/// on real cores.
const FORK: u64 = 3;
const PUBLISH: u64 = 60;
const RECLAIM: u64 = 60;
/// Of a look at another worker's deque within the package and beyond; of taking a job there. One and four transfers of a line.
const LOOK: [u64; 2] = [30, 130];
const STEAL: [u64; 2] = [120, 520];
/// Of taking jobs from an owner inside a long leaf: a heavy fence.
const SEIZE: u64 = 10_000;
/// Between two looks of one that waits.
const PAUSE: u64 = 200;

type JobIndex = usize;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    InDeque,
    Taken(usize),
    Complete,
}

/// A second half.
struct Job {
    node: Node,
    reach: Distance,
    last: Option<usize>,
    /// Its number in the recursion.
    part: u64,
    state: State,
}

/// What a worker does after what it does now.
enum Frame {
    /// The end of the program.
    Whole,
    /// The next of a sequence.
    Sequence { node: Node, next: usize },
    /// The second half of a fork.
    Fork { job: JobIndex, part: u64 },
    /// The end of a second half that the owner runs itself: it is in that part again.
    Second { part: u64 },
    /// It waits for a job of its own.
    Wait { job: JobIndex },
    /// The end of a job that was stolen.
    Stolen { job: JobIndex, part: u64 },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Running,
    /// Without work since then.
    Searching(u64),
    /// For a job of its own, which the last frame names, and without work since then.
    Waiting(u64),
}

struct Worker {
    frames: Vec<Frame>,
    /// Its jobs, the oldest first; so many are public.
    deque: Vec<JobIndex>,
    public: usize,
    /// Somebody has asked for jobs.
    is_asked: bool,
    /// Since when it has asked each of the others.
    asked: Vec<Option<u64>>,
    doing: Doing,
    /// The part of the recursion that it is in.
    part: u64,
}

/// The others of a worker.
struct Neighbours {
    /// Nearest first.
    others: Vec<usize>,
    /// The parts of them that are equally far.
    groups: Vec<Range<usize>>,
}

impl Neighbours {
    fn of(topology: &Topology, me: usize, workers: usize) -> Self {
        let distance = |&other: &usize| topology.distance(me, other);
        let mut others: Vec<usize> = (0..workers).filter(|&other| other != me).collect();
        others.sort_by_key(distance);
        let parts = others.chunk_by(|a, b| distance(a) == distance(b));
        let group = |end: &mut usize, part: &[usize]| {
            let start = *end;
            *end += part.len();
            Some(start..*end)
        };
        let groups = parts.scan(0, group).collect();
        Self { others, groups }
    }
}

/// What a simulation has come to, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) makespan: u64,
    pub(super) execution: u64,
    pub(super) scheduling: u64,
    pub(super) idle: u64,
    /// Jobs taken within the package, and from another.
    pub(super) steals: [u64; 2],
}

/// Packages, each with so many cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    pub(super) packages: usize,
    pub(super) cores: usize,
}

pub(super) struct Engine<'a> {
    work: &'a Work,
    locality: Locality,
    topology: Topology,
    neighbours: Vec<Neighbours>,
    caches: Caches,
    workers: Vec<Worker>,
    jobs: Vec<Job>,
    runners: HashMap<u64, usize>,
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    sequence: u64,
    random: Random,
    outcome: Outcome,
}

impl<'a> Engine<'a> {
    /// A machine of which the first so many cores have workers.
    pub(super) fn new(
        work: &'a Work,
        machine: Machine,
        workers: usize,
        locality: Locality,
        seed: u64,
    ) -> Self {
        let Machine { packages, cores } = machine;
        let text = format!("{packages} packages, {cores} cores, l2 {L2}, l3 {L3}");
        let worker = |_| Worker {
            frames: Vec::new(),
            deque: Vec::new(),
            public: 0,
            is_asked: false,
            asked: vec![None; workers],
            doing: Doing::Searching(0),
            part: 0,
        };
        let topology: Topology = text.parse().expect("the text is made here");
        let neighbours = |me| Neighbours::of(&topology, me, workers);
        Self {
            work,
            locality,
            neighbours: (0..workers).map(neighbours).collect(),
            topology,
            caches: Caches::new(packages, cores),
            workers: (0..workers).map(worker).collect(),
            jobs: Vec::new(),
            runners: HashMap::new(),
            events: BinaryHeap::new(),
            sequence: 0,
            random: Random::new(seed, 0),
            outcome: Outcome::default(),
        }
    }

    /// Runs the program to its end.
    pub(super) fn run(mut self) -> Outcome {
        for me in 1..self.workers.len() {
            self.at(0, me);
        }
        self.workers[0].doing = Doing::Running;
        self.workers[0].frames.push(Frame::Whole);
        self.begin(0, self.work.whole(), 0);
        while let Some(Reverse((now, _, me))) = self.events.pop() {
            let is_over = match self.workers[me].doing {
                Doing::Running => self.go_on(me, now),
                Doing::Searching(since) => {
                    self.search(me, now, since);
                    false
                }
                Doing::Waiting(since) => self.wait(me, now, since),
            };
            if is_over {
                return self.finish(now);
            }
        }
        unreachable!("a program ends")
    }

    /// Whatever a worker has not run or taken, it has been idle for.
    fn finish(mut self, now: u64) -> Outcome {
        self.outcome.makespan = now;
        let all = now * self.workers.len() as u64;
        self.outcome.idle = all - self.outcome.execution - self.outcome.scheduling;
        self.outcome
    }

    fn at(&mut self, time: u64, me: usize) {
        self.sequence += 1;
        self.events.push(Reverse((time, self.sequence, me)));
    }

    /// Begins a part of the program, down to its first leaf.
    fn begin(&mut self, me: usize, mut node: Node, now: u64) {
        let mut cost = 0;
        loop {
            match self.work.step(node) {
                Step::Sequence(parts) => {
                    self.workers[me].frames.push(Frame::Sequence { node, next: 1 });
                    node = parts[0];
                }
                Step::Fork { bytes, first, second } => {
                    cost += self.fork(me, *bytes, *second);
                    node = *first;
                }
                Step::Leaf { compute, touches } => {
                    cost += compute;
                    for &touch in touches {
                        cost += self.caches.touch(me, touch);
                    }
                    self.outcome.execution += cost;
                    self.at(now + cost, me);
                    return;
                }
            }
        }
    }

    /// Pushes the second half, and gives the time that it takes.
    fn fork(&mut self, me: usize, bytes: u64, second: Node) -> u64 {
        let before = self.workers[me].part;
        let part = locality::second_part(before, bytes);
        let caches = [(Distance::SmtSibling, L2), (Distance::SharedLlc, L3)];
        let reach = match self.locality {
            Locality::Off | Locality::Random => Distance::Remote,
            Locality::Biased | Locality::Strict => locality::reach(bytes, &caches),
        };
        let remembers = self.locality == Locality::Biased && reach > Distance::SmtSibling;
        let last = self.runners.get(&part).copied().filter(|&last| remembers && last != me);
        self.jobs.push(Job { node: second, reach, last, part, state: State::InDeque });
        let job = self.jobs.len() - 1;
        let worker = &mut self.workers[me];
        worker.deque.push(job);
        worker.frames.push(Frame::Fork { job, part: before });
        worker.part = locality::first_part(part);
        if !std::mem::take(&mut worker.is_asked) {
            return FORK;
        }
        self.publish(me);
        FORK + PUBLISH
    }

    /// The older half of what is private.
    fn publish(&mut self, me: usize) {
        let worker = &mut self.workers[me];
        worker.public += (worker.deque.len() - worker.public).div_ceil(2);
    }

    /// Goes on after a part has ended. True if that was the whole program.
    fn go_on(&mut self, me: usize, mut now: u64) -> bool {
        loop {
            match self.workers[me].frames.pop().expect("what runs has a frame") {
                Frame::Whole => return true,
                Frame::Sequence { node, next } => {
                    let Step::Sequence(parts) = self.work.step(node) else {
                        unreachable!("the frame of a sequence")
                    };
                    if let Some(&part) = parts.get(next) {
                        self.workers[me].frames.push(Frame::Sequence { node, next: next + 1 });
                        self.begin(me, part, now);
                        return false;
                    }
                }
                Frame::Second { part } => self.workers[me].part = part,
                Frame::Fork { job, part } => {
                    self.workers[me].part = part;
                    if self.jobs[job].state != State::InDeque {
                        return self.idle_in(me, now, Frame::Wait { job });
                    }
                    now += self.take_back(me, job);
                    self.enter(me, job, Frame::Second { part }, now);
                    return false;
                }
                Frame::Stolen { job, part } => {
                    self.jobs[job].state = State::Complete;
                    let worker = &mut self.workers[me];
                    assert!(worker.deque.is_empty(), "a job ends after all that it has forked");
                    worker.part = part;
                    let Some(frame @ Frame::Wait { .. }) = worker.frames.pop() else {
                        worker.doing = Doing::Searching(now);
                        self.at(now, me);
                        return false;
                    };
                    // It was run while another is waited for.
                    return self.idle_in(me, now, frame);
                }
                Frame::Wait { .. } => unreachable!("whoever waits does not run"),
            }
        }
    }

    /// Waits from now on.
    fn idle_in(&mut self, me: usize, now: u64, frame: Frame) -> bool {
        self.workers[me].frames.push(frame);
        self.workers[me].doing = Doing::Waiting(now);
        self.at(now, me);
        false
    }

    /// Pops the job of the last fork, and gives the time that it takes.
    fn take_back(&mut self, me: usize, job: JobIndex) -> u64 {
        let worker = &mut self.workers[me];
        let taken = worker.deque.pop();
        assert_eq!(taken, Some(job), "the last job is that of the last fork");
        if worker.public <= worker.deque.len() {
            return 0;
        }
        worker.public = worker.deque.len() / 2;
        self.outcome.execution += RECLAIM;
        RECLAIM
    }

    /// Begins a job.
    fn enter(&mut self, me: usize, job: JobIndex, frame: Frame, now: u64) {
        let Job { node, part, .. } = self.jobs[job];
        let worker = &mut self.workers[me];
        worker.frames.push(frame);
        worker.part = part;
        worker.doing = Doing::Running;
        self.runners.insert(part, me);
        self.begin(me, node, now);
    }

    /// One round of a worker without work.
    fn search(&mut self, me: usize, now: u64, since: u64) {
        let mut cost = 0;
        for other in self.round(me) {
            let class = usize::from(self.distance(me, other) > Distance::SharedLlc);
            cost += LOOK[class];
            let waited = now + cost - since;
            if let Some(more) = self.try_take(me, other, now + cost, waited) {
                cost += more + STEAL[class];
                self.steal(me, other, now, cost, class);
                return;
            }
        }
        self.at(now + cost + PAUSE / 4, me);
    }

    /// One look of a worker that waits for a job. True if the program is over.
    fn wait(&mut self, me: usize, now: u64, since: u64) -> bool {
        let Some(&Frame::Wait { job }) = self.workers[me].frames.last() else {
            unreachable!("whoever waits says for what")
        };
        match self.jobs[job].state {
            State::Complete => {
                self.workers[me].frames.pop();
                self.workers[me].doing = Doing::Running;
                return self.go_on(me, now);
            }
            State::Taken(thief) => {
                let class = usize::from(self.distance(me, thief) > Distance::SharedLlc);
                let cost = LOOK[class];
                if let Some(more) = self.try_take(me, thief, now + cost, now - since) {
                    self.steal(me, thief, now, cost + more + STEAL[class], class);
                } else {
                    self.at(now + cost + PAUSE, me);
                }
            }
            State::InDeque => unreachable!("it was found stolen"),
        }
        false
    }

    /// Makes sure that the oldest job of `other` is public, if this worker may take it: by asking, and in the end by force.
    /// Gives the time that it takes; none if there is nothing to take yet.
    fn try_take(&mut self, me: usize, other: usize, now: u64, waited: u64) -> Option<u64> {
        let Some(&oldest) = self.workers[other].deque.first() else {
            self.workers[me].asked[other] = None;
            return None;
        };
        let Job { reach, last, .. } = self.jobs[oldest];
        let last = match last {
            None => Last::Owner,
            Some(last) if last == me => Last::Me,
            Some(_) => Last::Another,
        };
        let offer = Offer { reach, last };
        if !locality::may_take(self.locality, offer, self.distance(me, other), waited) {
            return None;
        }
        if self.workers[other].public > 0 {
            return Some(0);
        }
        match self.workers[me].asked[other] {
            Some(since) if self.workers[other].is_asked => {
                if !forking::seize(now - since) {
                    return None;
                }
                self.workers[me].asked[other] = None;
                self.publish(other);
                Some(SEIZE)
            }
            _ => {
                self.workers[other].is_asked = true;
                self.workers[me].asked[other] = Some(now);
                None
            }
        }
    }

    /// Takes the oldest job of `other`, which is public, in a look that began at `now`.
    fn steal(&mut self, me: usize, other: usize, now: u64, cost: u64, class: usize) {
        let victim = &mut self.workers[other];
        let job = victim.deque.remove(0);
        victim.public -= 1;
        self.jobs[job].state = State::Taken(me);
        self.outcome.scheduling += cost;
        self.outcome.steals[class] += 1;
        let part = self.workers[me].part;
        self.enter(me, job, Frame::Stolen { job, part }, now + cost);
    }

    /// All others, in the order of the policy.
    fn round(&mut self, me: usize) -> Vec<usize> {
        let random = self.random.below(usize::MAX) as u64;
        let Neighbours { others, groups } = &self.neighbours[me];
        victim::order(self.locality, groups, random).map(|place| others[place]).collect()
    }

    fn distance(&self, a: usize, b: usize) -> Distance {
        self.topology.distance(a, b)
    }
}
