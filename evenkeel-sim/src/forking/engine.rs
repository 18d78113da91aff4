//! The simulated workers, by the runtime's own policy or by that of the paper.

mod stealing;

use std::collections::HashMap;

use evenkeel::topology::Topology;
use evenkeel_policy::locality::Sight;
use evenkeel_policy::victim::Groups;
use evenkeel_policy::{Distance, Locality, locality};

use super::caches::{Caches, L2, L3};
use super::scheduler::Scheduler;
use super::work::{Node, Step, Work};
use super::worker::{Doing, Frame, Job, JobIndex, State, Worker};
use crate::events::Events;
use crate::random::Random;
pub use stealing::SEIZE;

/// Nanoseconds of a fork and its end on the forking worker, as measured on real cores.
const FORK: u64 = 3;

/// Nanoseconds of publishing jobs, as measured on real cores.
pub const PUBLISH: u64 = 60;

/// Nanoseconds of taking back a public job, as measured on real cores.
pub const RECLAIM: u64 = 60;

/// The other workers, as one worker sees them.
struct Neighbours {
    /// Nearest first.
    others: Vec<usize>,
    groups: Groups,
    /// The groups within its package.
    near: Groups,
}

impl Neighbours {
    fn of(topology: &Topology, me: usize, workers: usize) -> Self {
        let distance = |other| topology.distance(me, other);
        let mut others: Vec<usize> = (0..workers).filter(|&other| other != me).collect();
        others.sort_by_key(|&other| distance(other));
        let near = others.partition_point(|&other| distance(other) <= Distance::SharedLlc);
        let (groups, near) = (Groups::of(&others, distance), Groups::of(&others[..near], distance));
        Self { others, groups, near }
    }
}

/// The result of a simulation, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// From the beginning of the program to its end.
    pub makespan: u64,
    /// The time that all workers together spend on the program.
    pub execution: u64,
    /// The time that they spend on taking jobs from each other.
    pub scheduling: u64,
    /// The time that they spend on neither.
    pub idle: u64,
    /// Jobs taken within the package, and from another one.
    pub steals: [u64; 2],
}

/// A machine of packages with equally many cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The number of packages, with a last-level cache each.
    pub packages: usize,
    /// Cores of each package.
    pub cores: usize,
}

pub(super) struct Engine<'a> {
    work: &'a Work,
    scheduler: Scheduler,
    topology: Topology,
    neighbours: Vec<Neighbours>,
    caches: Caches,
    workers: Vec<Worker>,
    jobs: Vec<Job>,
    /// The worker that last ran each part of the recursion.
    runners: HashMap<u64, usize>,
    /// The frames that continue once a job is complete, and their part: joins of the paper's
    /// schedulers, at which no worker waits.
    suspended: HashMap<JobIndex, (Vec<Frame>, u64)>,
    events: Events<usize>,
    random: Random,
    outcome: Outcome,
}

impl<'a> Engine<'a> {
    /// Creates a machine of which the first `workers` cores have workers.
    pub(super) fn new(
        work: &'a Work,
        machine: Machine,
        workers: usize,
        scheduler: Scheduler,
        seed: u64,
    ) -> Self {
        let Machine { packages, cores } = machine;
        let text = format!("{packages} packages, {cores} cores, l2 {L2}, l3 {L3}");
        let topology: Topology = text.parse().expect("the text is made here");
        Self {
            work,
            scheduler,
            neighbours: (0..workers).map(|me| Neighbours::of(&topology, me, workers)).collect(),
            topology,
            caches: Caches::new(packages, cores),
            workers: (0..workers).map(|_| Worker::new(workers)).collect(),
            jobs: Vec::new(),
            runners: HashMap::new(),
            suspended: HashMap::new(),
            events: Events::default(),
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
        while let Some((now, me)) = self.events.take_before(u64::MAX) {
            let is_over = match self.workers[me].doing {
                Doing::Running => self.go_on(me, now),
                Doing::Searching => {
                    self.search(me, now);
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

    /// Ends the run. Time in which a worker has neither executed nor taken jobs is idle time.
    fn finish(mut self, now: u64) -> Outcome {
        self.outcome.makespan = now;
        let all = now * self.workers.len() as u64;
        self.outcome.idle = all - self.outcome.execution - self.outcome.scheduling;
        self.outcome
    }

    fn at(&mut self, time: u64, me: usize) {
        self.events.add(time, me);
    }

    /// Begins a part of the program, down to its first leaf.
    fn begin(&mut self, me: usize, mut node: Node, now: u64) {
        let work = self.work;
        let mut cost = 0;
        loop {
            match work.step(node) {
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

    /// Pushes the second half, and returns the time that it takes.
    fn fork(&mut self, me: usize, bytes: u64, second: Node) -> u64 {
        let before = self.workers[me].part;
        let part = locality::second_part(before, bytes);
        let reach = self.scheduler.reach(bytes);
        let level = self.scheduler.level(reach);
        let remembers = self.scheduler.locality() == Locality::Biased && locality::remembers(reach);
        let last = self.runners.get(&part).copied().filter(|&last| remembers && last != me);
        let state = State::InDeque;
        self.jobs.push(Job { node: second, owner: me, level, reach, last, part, state });
        let job = self.jobs.len() - 1;
        let publishes = self.scheduler.publishes(reach);
        let worker = &mut self.workers[me];
        let deque = &mut worker.deques[level];
        deque.push(job);
        worker.frames.push(Frame::Fork { job, part: before });
        worker.part = locality::first_part(part);
        if !std::mem::take(&mut worker.is_asked) && !publishes {
            return FORK;
        }
        deque.publish();
        FORK + PUBLISH
    }

    /// Continues after a part has ended. Returns true if that was the whole program.
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
                    match self.jobs[job].state {
                        State::InDeque => {
                            now += self.take_back(me, job);
                            self.enter(me, job, Frame::Second { part }, now);
                            return false;
                        }
                        // The second half has come to the join first.
                        State::Complete if self.scheduler.is_cilk() => {}
                        State::Taken(_) if self.scheduler.is_cilk() => {
                            let frames = std::mem::take(&mut self.workers[me].frames);
                            self.suspended.insert(job, (frames, part));
                            return self.look_for_work(me, now);
                        }
                        _ => {
                            let sight = Sight::default();
                            return self.idle_in(me, now, Frame::Wait { job, sight });
                        }
                    }
                }
                Frame::Stolen { job, part } => {
                    self.jobs[job].state = State::Complete;
                    if let Some((frames, part)) = self.suspended.remove(&job) {
                        // The first half has come to the join first.
                        let worker = &mut self.workers[me];
                        assert!(worker.frames.is_empty(), "a thief has no frames");
                        (worker.frames, worker.part) = (frames, part);
                        continue;
                    }
                    let worker = &mut self.workers[me];
                    if self.scheduler.is_cilk() {
                        return self.look_for_work(me, now);
                    }
                    assert!(!worker.has_jobs(), "a job ends after all that it has forked");
                    worker.part = part;
                    let Some(frame @ Frame::Wait { .. }) = worker.frames.pop() else {
                        return self.look_for_work(me, now);
                    };
                    // The worker ran it while it waits for another job.
                    return self.idle_in(me, now, frame);
                }
                Frame::Wait { .. } => unreachable!("a waiting worker does not run"),
            }
        }
    }

    /// Makes the worker search for work.
    fn look_for_work(&mut self, me: usize, now: u64) -> bool {
        self.workers[me].doing = Doing::Searching;
        self.at(now, me);
        false
    }

    /// Makes the worker wait.
    fn idle_in(&mut self, me: usize, now: u64, frame: Frame) -> bool {
        self.workers[me].frames.push(frame);
        self.workers[me].doing = Doing::Waiting(now);
        self.at(now, me);
        false
    }

    /// Takes back the job of the last fork, and returns the time that it takes.
    fn take_back(&mut self, me: usize, job: JobIndex) -> u64 {
        let Job { owner, level, .. } = self.jobs[job];
        let deque = &mut self.workers[owner].deques[level];
        let costs = if owner == me {
            assert_eq!(deque.newest(), Some(job), "the last job is that of the last fork");
            deque.pop()
        } else {
            // The fork has continued here after a join, and has left its job at its owner.
            deque.remove(job);
            true
        };
        if !costs {
            return 0;
        }
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

    fn distance(&self, a: usize, b: usize) -> Distance {
        self.topology.distance(a, b)
    }

    /// Returns 0 within the package, 1 beyond.
    fn class(&self, a: usize, b: usize) -> usize {
        usize::from(self.distance(a, b) > Distance::SharedLlc)
    }
}
