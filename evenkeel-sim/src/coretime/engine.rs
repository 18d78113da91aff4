//! The simulated cores: tasks look up files in directories with and without homes.

use std::collections::VecDeque;

use evenkeel_policy::object::Verdict;

use super::memory::{BLOCK, CORES, Guesses, Memory, transfer};
use super::placing::{CYCLES, PERIOD, Placing};
use crate::events::Events;
use crate::lru::Block;
use crate::random::Random;

/// The entries of a directory and the bytes of an entry, as in the paper.
const ENTRIES: usize = 1_000;
const ENTRY: u64 = 32;
/// The bytes of a directory, as in the paper.
pub const DIRECTORY: u64 = ENTRIES as u64 * ENTRY;
const BLOCKS: usize = DIRECTORY.div_ceil(BLOCK) as usize;
const ENTRIES_PER_LINE: u64 = 64 / ENTRY;

/// A millisecond of simulated time, in cycles.
pub const MILLISECOND: u64 = 1_000_000 * CYCLES;

/// Which directories are popular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Popularity {
    /// All equally.
    Uniform,
    /// All, and the first sixteenth of them, by turns.
    Oscillating,
}

/// The unit of the length of a run and its phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Cycles.
    Time,
    /// Resolutions, however long they take.
    Work,
}

/// How long a run is, in its unit.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The unit of the other fields.
    pub unit: Unit,
    /// The time before counting begins.
    pub warm_up: u64,
    /// The time of counting. Like `warm_up`, it is an even number of phases, if there are any.
    pub counted: u64,
    /// The length of a phase, from one popularity to the other.
    pub phase: u64,
}

/// How operations run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A thread for each core, and a spin lock for each directory.
    Threads,
    /// Tasks that travel to a directory's home and back, if the policy gives it a home.
    Objects {
        /// Tasks for each core.
        tasks: usize,
    },
}

/// Returns the cycles that one end of a migration spends: both ends together spend half of it, and
/// the rest is in transit.
fn end_of(migration: u64) -> u64 {
    migration / 4
}

/// The parameters of a run.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// How many directories there are.
    pub directories: usize,
    /// Which of them are popular.
    pub popularity: Popularity,
    /// How operations run.
    pub mode: Mode,
    /// The seed of the run.
    pub seed: u64,
    /// The parameters of the memory that the paper does not give.
    pub guesses: Guesses,
    /// Cycles of a comparison with one entry's name.
    pub compare: u64,
    /// Cycles of a resolution beside the search: to split the path, and the thread's other work
    /// between two resolutions.
    pub fixed: u64,
    /// Cycles of one migration: a quarter each for the source and the destination, and half of them
    /// in transit.
    pub migration: u64,
    /// Cycles from one task to the next.
    pub switch: u64,
    /// How long the run is.
    pub span: Span,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The counted resolutions.
    pub operations: u64,
    /// The cycles of counting.
    pub cycles: u64,
    /// The busy share of all cores during counting; a spinning core is busy.
    pub busy: f64,
    /// Homes that rebalancing has changed, from the beginning.
    pub moves: u64,
    /// The verdict of the trials at the end.
    pub verdict: Verdict,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Begin,
    /// Has chosen a directory, and goes to it.
    Seek,
    /// Has arrived on another core.
    Land {
        is_back: bool,
    },
    /// Holds the lock.
    Locked,
    /// Searches this block next.
    Search {
        block: usize,
    },
}

struct Task {
    origin: usize,
    at: usize,
    step: Step,
    random: Random,
    directory: usize,
    /// Entries to compare with.
    entries: u64,
    /// When the task came to the lock, and when it got it.
    came: u64,
    began: u64,
    is_sampled: bool,
}

#[derive(Default)]
struct Core {
    ready: VecDeque<usize>,
    running: Option<usize>,
    /// Whether an event of the core is scheduled.
    is_going: bool,
    /// Busy cycles in this period, and during counting.
    busy: u64,
    counted: u64,
}

#[derive(Default)]
struct Lock {
    holder: Option<usize>,
    waiting: VecDeque<usize>,
    /// The core that held it last.
    last: usize,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A core continues.
    Go(usize),
    /// A task arrives at its core.
    Arrive(usize),
    /// The trial takes a step, and once per period the policy rebalances.
    Tick,
}

pub(super) struct Engine {
    setting: Setting,
    memory: Memory,
    placing: Placing,
    cores: Vec<Core>,
    tasks: Vec<Task>,
    locks: Vec<Lock>,
    events: Events<Event>,
    now: u64,
    /// All resolutions, and those before counting began.
    done: u64,
    before: u64,
    /// When counting began.
    counted_from: Option<u64>,
}

/// Cycles between two steps of a trial: a fifth of its shortest window.
const TICK: u64 = PERIOD / 5;

impl Engine {
    pub(super) fn new(setting: Setting) -> Self {
        let per_core = match setting.mode {
            Mode::Threads => 1,
            Mode::Objects { tasks } => tasks,
        };
        let task = |number: usize| Task {
            origin: number % CORES,
            at: number % CORES,
            step: Step::Begin,
            random: Random::new(setting.seed, number),
            directory: 0,
            entries: 0,
            came: 0,
            began: 0,
            is_sampled: false,
        };
        Self {
            memory: Memory::new(setting.directories * BLOCKS, setting.guesses),
            placing: Placing::new(setting.directories),
            cores: (0..CORES).map(|_| Core::default()).collect(),
            tasks: (0..CORES * per_core).map(task).collect(),
            locks: (0..setting.directories).map(|_| Lock::default()).collect(),
            events: Events::default(),
            now: 0,
            done: 0,
            before: 0,
            counted_from: None,
            setting,
        }
    }

    /// Runs until counting is over.
    pub(super) fn run(mut self) -> Outcome {
        for task in 0..self.tasks.len() {
            self.at(0, Event::Arrive(task));
        }
        if self.has_homes() {
            self.at(TICK, Event::Tick);
        }
        let Span { warm_up, counted, .. } = self.setting.span;
        while let Some((now, event)) = self.events.take_before(u64::MAX) {
            self.now = now;
            let progress = self.progress();
            if progress >= warm_up + counted {
                break;
            }
            if progress >= warm_up && self.counted_from.is_none() {
                (self.before, self.counted_from) = (self.done, Some(now));
            }
            match event {
                Event::Go(core) => self.go(core),
                Event::Arrive(task) => self.arrive(task),
                Event::Tick => self.tick(),
            }
        }
        let busy: u64 = self.cores.iter().map(|core| core.counted).sum();
        let cycles = self.now - self.counted_from.unwrap_or(self.now);
        Outcome {
            operations: self.done - self.before,
            cycles,
            busy: busy as f64 / (CORES as u64 * cycles) as f64,
            moves: self.placing.moves,
            verdict: self.placing.verdict(),
        }
    }

    fn has_homes(&self) -> bool {
        matches!(self.setting.mode, Mode::Objects { .. })
    }

    /// Returns the progress of the run, in its unit.
    fn progress(&self) -> u64 {
        match self.setting.span.unit {
            Unit::Time => self.now,
            Unit::Work => self.done,
        }
    }

    fn at(&mut self, time: u64, event: Event) {
        self.events.add(time, event);
    }

    /// Makes the core busy for `cycles`, after which it continues.
    fn spend(&mut self, core: usize, cycles: u64) {
        let is_counted = self.counted_from.is_some();
        let of = &mut self.cores[core];
        of.busy += cycles;
        of.counted += if is_counted { cycles } else { 0 };
        of.is_going = true;
        self.at(self.now + cycles, Event::Go(core));
    }

    fn arrive(&mut self, task: usize) {
        let core = self.tasks[task].at;
        self.cores[core].ready.push_back(task);
        if !self.cores[core].is_going && self.cores[core].running.is_none() {
            self.go(core);
        }
    }

    fn go(&mut self, core: usize) {
        self.cores[core].is_going = false;
        match self.cores[core].running {
            Some(task) => self.step(core, task),
            None => {
                self.cores[core].running = self.cores[core].ready.pop_front();
                if self.cores[core].running.is_some() {
                    // A thread with its own core needs no switch.
                    let cycles = if self.has_homes() { self.setting.switch } else { 0 };
                    self.spend(core, cycles);
                }
            }
        }
    }

    fn step(&mut self, core: usize, task: usize) {
        match self.tasks[task].step {
            Step::Begin => {
                self.choose(task);
                self.tasks[task].step = Step::Seek;
                self.spend(core, self.setting.fixed);
            }
            Step::Land { is_back } => {
                let own = &mut self.tasks[task];
                own.step = if is_back { Step::Begin } else { Step::Seek };
                let receipt = end_of(self.setting.migration);
                self.spend(core, receipt);
            }
            Step::Seek => {
                let directory = self.tasks[task].directory;
                match self.placing.host(directory) {
                    Some(host) if self.has_homes() && host != core => self.send(core, task, host),
                    _ => self.lock(core, task),
                }
            }
            Step::Locked => {
                let directory = self.tasks[task].directory;
                let cycles = transfer(self.locks[directory].last, core);
                self.locks[directory].last = core;
                self.tasks[task].step = Step::Search { block: 0 };
                self.tasks[task].began = self.now + cycles;
                self.tasks[task].is_sampled = self.placing.is_sampled(core);
                self.spend(core, cycles);
            }
            Step::Search { block } => self.search(core, task, block),
        }
    }

    fn choose(&mut self, task: usize) {
        let all = self.setting.directories;
        let is_few = self.progress() / self.setting.span.phase % 2 == 1;
        let popular = match self.setting.popularity {
            Popularity::Oscillating if is_few => (all / 16).max(1),
            _ => all,
        };
        let own = &mut self.tasks[task];
        own.directory = own.random.below(popular);
        own.entries = own.random.below(ENTRIES) as u64 + 1;
    }

    fn send(&mut self, core: usize, task: usize, to: usize) {
        let is_back = matches!(self.tasks[task].step, Step::Begin);
        self.tasks[task].step = Step::Land { is_back };
        self.tasks[task].at = to;
        self.cores[core].running = None;
        let dispatch = end_of(self.setting.migration);
        self.spend(core, dispatch);
        // The destination's share follows on arrival.
        self.at(self.now + self.setting.migration - dispatch, Event::Arrive(task));
    }

    fn lock(&mut self, core: usize, task: usize) {
        self.tasks[task].step = Step::Locked;
        self.tasks[task].came = self.now;
        let lock = &mut self.locks[self.tasks[task].directory];
        if lock.holder.is_none() {
            lock.holder = Some(task);
            return self.step(core, task);
        }
        lock.waiting.push_back(task);
        if self.has_homes() {
            // The task waits, and the core does not.
            self.cores[core].running = None;
            self.go(core);
        }
    }

    fn search(&mut self, core: usize, task: usize, block: usize) {
        let per_block = BLOCK / ENTRY;
        let own = &self.tasks[task];
        let before = block as u64 * per_block;
        if before >= own.entries {
            return self.leave(core, task);
        }
        let entries = (own.entries - before).min(per_block);
        let place = (own.directory * BLOCKS + block) as Block;
        let lines = entries.div_ceil(ENTRIES_PER_LINE);
        let work = self.setting.compare * ENTRIES_PER_LINE;
        let cycles = self.memory.read(core, place, lines, work, self.now);
        self.tasks[task].step = Step::Search { block: block + 1 };
        self.spend(core, cycles);
    }

    fn leave(&mut self, core: usize, task: usize) {
        let Task { origin, directory, began, is_sampled, .. } = self.tasks[task];
        let nanos = is_sampled.then(|| (self.now - began) / CYCLES);
        self.placing.operated(core, directory, nanos);
        self.done += 1;
        let lock = &mut self.locks[directory];
        lock.holder = lock.waiting.pop_front();
        if let Some(next) = lock.holder {
            self.grant(next);
        }
        self.tasks[task].step = Step::Begin;
        if origin != core {
            self.send(core, task, origin);
        } else if self.has_homes() {
            // Other ready tasks come first.
            self.cores[core].running = None;
            self.cores[core].ready.push_back(task);
            self.go(core);
        } else {
            self.step(core, task);
        }
    }

    /// Gives the lock to a waiting task.
    fn grant(&mut self, task: usize) {
        if self.has_homes() {
            self.at(self.now, Event::Arrive(task));
        } else {
            // Its core has been spinning.
            let Task { at, came, .. } = self.tasks[task];
            if let Some(from) = self.counted_from {
                self.cores[at].counted += self.now - came.max(from);
            }
            self.at(self.now, Event::Go(at));
        }
    }

    fn tick(&mut self) {
        self.placing.step(self.now, self.done);
        if self.now.is_multiple_of(PERIOD) {
            let mut busy = [0; CORES];
            for (share, core) in busy.iter_mut().zip(&mut self.cores) {
                *share = std::mem::take(&mut core.busy);
            }
            self.placing.period(&busy);
        }
        self.at(self.now + TICK, Event::Tick);
    }
}
