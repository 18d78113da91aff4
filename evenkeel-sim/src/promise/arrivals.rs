//! Adversarial loads, made from a seed.

use crate::runtime::costs::Costs;
use crate::runtime::machine::Policy;
use crate::runtime::random::Random;
use crate::runtime::task::{NEVER, Task, Then};
use crate::runtime::{Arrival, Seat, Setup};
use std::fmt;
use std::ops::RangeInclusive;

/// Lengths of polls, from a quick one to one with some work.
const QUICK: RangeInclusive<u64> = 10..=200;
const USUAL: RangeInclusive<u64> = 100..=5_000;
const UNEQUAL: RangeInclusive<u64> = 10..=100_000;

const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000_000;

/// The most reliefs that get stuck.
const MOST_STUCK_RELIEFS: usize = 8;

/// What makes a load hard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All tasks in one queue, and no other processor has any.
    OneQueue,
    /// A set of tasks at one processor that yields for ever, beside others that do so too.
    Greedy,
    /// Polls that last 100 ms or for ever, with tasks behind them, while the other processors work.
    Stuck,
    /// The same while the other processors have nothing to do.
    StuckAlone,
    /// Bursts from outside, into one inbox or dealt out.
    Bursts,
    /// Polls between 10 ns and 100 µs, side by side.
    Unequal,
    /// Tasks that wake each other by turns.
    Pairs,
    /// Thieves leave all queues together, whatever their tasks are: a trial may be wrong.
    Together,
    /// Every processor gets stuck, by a poll that computes or blocks, with tasks behind it, and
    /// more come from outside: a relief polls them.
    AllStuck,
    /// The same, and some of the reliefs get stuck in their turn.
    ReliefsStuck,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::OneQueue,
        Self::Greedy,
        Self::Stuck,
        Self::StuckAlone,
        Self::Bursts,
        Self::Unequal,
        Self::Pairs,
        Self::Together,
        Self::AllStuck,
        Self::ReliefsStuck,
    ];
}

/// The bit of a seed with which sockets wake the tasks.
pub const SOCKETS: u64 = 1 << 40;

pub(crate) struct Scenario {
    pub(crate) kind: Kind,
    pub(crate) seed: u64,
    pub(crate) processors: usize,
    /// Reliefs beside them, of which fewer than all get stuck.
    pub(crate) reliefs: usize,
    /// Processors behind one last-level cache.
    pub(crate) group: usize,
    /// Whether sockets wake the tasks.
    pub(crate) serves: bool,
    /// Whether threads that are no workers want the processors' cores.
    pub(crate) contended: bool,
    pub(crate) tasks: Vec<Task>,
    /// Processors, each with a task in its queue at the beginning.
    pub(crate) queued: Vec<(usize, usize)>,
    pub(crate) arrivals: Vec<Arrival>,
    /// The run ends when `least` has passed and all tasks that can complete have, or at the
    /// horizon.
    pub(crate) least: u64,
    pub(crate) horizon: u64,
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?}, seed {}: {} processors in groups of {}, {} make progress, {} tasks{}{}",
            self.kind,
            self.seed,
            self.processors,
            self.group,
            self.progress(),
            self.tasks.len(),
            if self.serves { " that sockets wake" } else { "" },
            if self.contended { ", contended cores" } else { "" },
        )
    }
}

impl Scenario {
    pub(crate) fn new(kind: Kind, seed: u64, processors: usize) -> Self {
        let mut random = Random::new(seed ^ ((kind as u64 + 1) << 32));
        let mut scenario = Self {
            kind,
            seed,
            processors,
            reliefs: 0,
            group: [1, 4, 8, processors][random.count(0..=3)].min(processors),
            serves: seed & SOCKETS != 0,
            contended: seed & 1 != 0,
            tasks: Vec::new(),
            queued: Vec::new(),
            arrivals: Vec::new(),
            least: 200 * MICROSECOND,
            horizon: 30 * MILLISECOND,
        };
        match kind {
            Kind::OneQueue => scenario.one_queue(&mut random),
            Kind::Greedy => scenario.greedy(&mut random),
            Kind::Stuck => scenario.stuck(&mut random, true),
            Kind::StuckAlone if processors > 2 && random.chance(2) => {
                scenario.stuck_late(&mut random);
            }
            Kind::StuckAlone => scenario.stuck(&mut random, false),
            Kind::Bursts => scenario.bursts(&mut random),
            Kind::Unequal => scenario.unequal(&mut random),
            Kind::Pairs => scenario.pairs(&mut random),
            Kind::Together => match random.count(0..=3) {
                0 => scenario.one_queue(&mut random),
                1 => scenario.stuck(&mut random, true),
                2 => scenario.stuck_with_inboxes(&mut random),
                _ => scenario.pairs(&mut random),
            },
            Kind::AllStuck => scenario.all_stuck(&mut random, 0),
            Kind::ReliefsStuck => {
                let more = random.count(1..=MOST_STUCK_RELIEFS);
                scenario.all_stuck(&mut random, more);
            }
        }
        scenario.arrivals.sort_by_key(|arrival| arrival.time);
        scenario
    }

    /// Returns the machine on which it happens.
    pub(crate) fn setup(&self, policy: Policy) -> Setup {
        let seat = |worker| Seat { core: worker, cache: worker / self.group };
        Setup {
            seed: self.seed,
            seats: (0..self.processors).map(seat).collect(),
            reliefs: self.reliefs,
            progress: self.progress(),
            tasks: self.tasks.clone(),
            queued: self.queued.clone(),
            together: self.kind == Kind::Together,
            serves: self.serves,
            contended: self.contended,
            gathers: true,
            costs: Costs::default(),
            policy,
        }
    }

    /// Returns the number of processors that make progress in any case.
    pub(crate) fn progress(&self) -> usize {
        if self.reliefs > 0 {
            // The relief on duty.
            return 1;
        }
        self.processors - self.tasks.iter().filter(|task| task.stuck).count()
    }

    /// Returns the length of the longest poll that returns.
    pub(crate) fn longest_poll(&self) -> u64 {
        let polls = self.tasks.iter().filter(|task| !task.stuck).map(|task| *task.polls.end());
        polls.max().unwrap_or(0)
    }

    fn add(&mut self, task: Task) -> usize {
        self.tasks.push(task);
        self.tasks.len() - 1
    }

    fn queue(&mut self, processor: usize, task: Task) -> usize {
        let task = self.add(task);
        self.queued.push((processor, task));
        task
    }

    fn arrive(&mut self, time: u64, processor: usize, task: Task) {
        let task = self.add(task);
        self.arrivals.push(Arrival { time, processor, task });
    }

    fn any(&self, random: &mut Random) -> usize {
        random.count(0..=self.processors - 1)
    }

    fn one_queue(&mut self, random: &mut Random) {
        let count = random.count(1..=8 * self.processors.max(4));
        let polls = [QUICK, USUAL, UNEQUAL][random.count(0..=2)].clone();
        let target = self.any(random);
        if random.chance(2) {
            for _ in 0..count {
                let left = random.within(1..=8);
                self.queue(target, Task::new(polls.clone(), left));
            }
        } else {
            // One poll spawns them all, and may last longer.
            let parent = self.queue(target, Task::new(polls.clone(), 1));
            let first = self.tasks.len();
            for _ in 0..count {
                self.add(Task::new(polls.clone(), 1));
            }
            self.tasks[parent].spawns = first..first + count;
        }
    }

    fn greedy(&mut self, random: &mut Random) {
        let target = self.any(random);
        let polls = [QUICK, USUAL][random.count(0..=1)].clone();
        for _ in 0..random.count(1..=100) {
            self.queue(target, Task::new(polls.clone(), u64::MAX));
        }
        let others = [QUICK, USUAL][random.count(0..=1)].clone();
        for processor in 0..self.processors {
            for _ in 0..random.count(0..=3) {
                self.queue(processor, Task::new(others.clone(), u64::MAX));
            }
        }
        for _ in 0..random.count(1..=20) {
            let time = random.within(0..=self.least);
            let left = random.within(1..=4);
            self.arrive(time, target, Task::new(others.clone(), left));
        }
    }

    fn stuck(&mut self, random: &mut Random, busy: bool) {
        let stuck = match self.processors {
            1 => 0,
            processors if random.chance(4) => processors - 1,
            processors => random.count(1..=processors / 2),
        };
        let polls = [QUICK, USUAL][random.count(0..=1)].clone();
        for processor in 0..stuck {
            let length = if random.chance(2) { NEVER } else { 100 * MILLISECOND };
            if busy && random.chance(3) {
                let time = random.within(0..=self.least);
                self.arrive(time, processor, Task::stuck(length));
                for _ in 0..random.count(0..=20) {
                    self.queue(processor, Task::new(polls.clone(), u64::MAX));
                }
                continue;
            }
            let early = random.count(0..=5);
            for _ in 0..early {
                self.queue(processor, Task::new(polls.clone(), 3));
            }
            let task = self.queue(processor, Task::stuck(length));
            let count = random.count(0..=5);
            if random.chance(2) {
                // The poll that does not return has spawned them.
                let first = self.tasks.len();
                for _ in 0..count {
                    self.add(Task::new(polls.clone(), 2));
                }
                self.tasks[task].spawns = first..first + count;
            } else {
                for _ in 0..count {
                    self.queue(processor, Task::new(polls.clone(), 2));
                }
            }
            if random.chance(4) {
                let time = random.within(MICROSECOND..=self.least);
                self.arrive(time, processor, Task::new(polls.clone(), 1));
            }
        }
        if busy {
            for processor in stuck..self.processors {
                for _ in 0..random.count(1..=20) {
                    self.queue(processor, Task::new(polls.clone(), u64::MAX));
                }
            }
        }
    }

    /// A poll that does not return keeps one processor awake, and the watch on its rounds. A task
    /// that gets another processor stuck comes so late that the watch sleeps for long.
    fn stuck_late(&mut self, random: &mut Random) {
        (self.least, self.horizon) = (25 * MILLISECOND, 60 * MILLISECOND);
        let awake = self.any(random);
        self.queue(awake, Task::stuck(NEVER));
        let target = (awake + random.count(1..=self.processors - 1)) % self.processors;
        let time = random.within(15 * MILLISECOND..=24 * MILLISECOND);
        self.arrive(time, target, Task::stuck(NEVER));
        // It spawns a lone task, or some that are worth a wake-up.
        let first = self.tasks.len();
        for _ in 0..[1, 1, 5][random.count(0..=2)] {
            self.add(Task::new(QUICK, 1));
        }
        self.tasks[first - 1].spawns = first..self.tasks.len();
    }

    /// All processors get stuck, and `more` reliefs.
    fn all_stuck(&mut self, random: &mut Random, more: usize) {
        self.reliefs = more + 1;
        self.least = 25 * MILLISECOND;
        self.horizon = 150 * MILLISECOND;
        let polls = [QUICK, USUAL][random.count(0..=1)].clone();
        for processor in 0..self.processors {
            for _ in 0..random.count(0..=5) {
                self.queue(processor, Task::new(polls.clone(), 3));
            }
            self.queue(processor, Task { blocks: random.chance(2), ..Task::stuck(NEVER) });
            for _ in 0..random.count(0..=5) {
                self.queue(processor, Task::new(polls.clone(), 2));
            }
        }
        for _ in 0..more {
            let stuck = Task { blocks: random.chance(2), ..Task::stuck(NEVER) };
            let time = random.within(0..=self.least);
            let processor = self.any(random);
            self.arrive(time, processor, stuck);
        }
        if random.chance(2) {
            let processor = self.any(random);
            self.queue(processor, Task::new(polls.clone(), u64::MAX));
        }
        for _ in 0..random.count(1..=50) {
            let time = random.within(0..=self.least);
            let processor = self.any(random);
            let left = random.within(1..=3);
            self.arrive(time, processor, Task::new(polls.clone(), left));
        }
    }

    /// Polls that do not return, with tasks behind them that have come from outside or been given.
    fn stuck_with_inboxes(&mut self, random: &mut Random) {
        self.stuck(random, false);
        let stuck = self.processors - self.progress();
        let polls = [QUICK, USUAL][random.count(0..=1)].clone();
        for processor in 0..stuck {
            for _ in 0..random.count(1..=20) {
                let time = random.within(0..=self.least);
                self.arrive(time, processor, Task::new(polls.clone(), 2));
            }
        }
    }

    fn bursts(&mut self, random: &mut Random) {
        let polls = [QUICK, USUAL, UNEQUAL][random.count(0..=2)].clone();
        let target = random.chance(2).then(|| self.any(random));
        if random.chance(2) {
            return self.spawned_burst(random, polls);
        }
        for _ in 0..random.count(1..=4) {
            let time = random.within(0..=self.least);
            for spawned in 0..random.count(1..=4 * self.processors.max(4)) {
                let processor = target.unwrap_or(spawned % self.processors);
                let left = random.within(1..=3);
                self.arrive(time, processor, Task::new(polls.clone(), left));
            }
        }
    }

    /// A task that comes when all processors sleep spawns many: only their pusher wakes others.
    fn spawned_burst(&mut self, random: &mut Random, polls: RangeInclusive<u64>) {
        let time = random.within(100 * MICROSECOND..=self.least);
        let target = self.any(random);
        self.arrive(time, target, Task::new(polls.clone(), 1));
        let first = self.tasks.len();
        for _ in 0..random.count(1..=8 * self.processors.max(16)) {
            let left = random.within(1..=8);
            self.add(Task::new(polls.clone(), left));
        }
        self.tasks[first - 1].spawns = first..self.tasks.len();
    }

    fn unequal(&mut self, random: &mut Random) {
        for _ in 0..random.count(1..=4 * self.processors) {
            let processor = self.any(random);
            let polls = [QUICK, USUAL, UNEQUAL, 100_000..=100_000][random.count(0..=3)].clone();
            let left = if random.chance(4) { u64::MAX } else { random.within(1..=20) };
            self.queue(processor, Task::new(polls, left));
        }
        self.least *= 5;
    }

    fn pairs(&mut self, random: &mut Random) {
        let polls = [QUICK, USUAL, UNEQUAL][random.count(0..=2)].clone();
        let everywhere = random.chance(2);
        let target = self.any(random);
        for _ in 0..random.count(1..=2 * self.processors) {
            let processor = if everywhere { self.any(random) } else { target };
            let pair = [0, 1].map(|_| {
                let task = Task { then: Then::Park, ..Task::new(polls.clone(), u64::MAX) };
                self.queue(processor, task)
            });
            self.tasks[pair[0]].wakes = Some(pair[1]);
            self.tasks[pair[1]].wakes = Some(pair[0]);
        }
        for _ in 0..random.count(1..=10) {
            let time = random.within(0..=self.least);
            let processor = self.any(random);
            self.arrive(time, processor, Task::new(polls.clone(), 2));
        }
    }
}
