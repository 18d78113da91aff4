//! A simulated worker: its frames, its jobs, and its activity.

use std::collections::VecDeque;

use evenkeel_policy::Distance;
use evenkeel_policy::locality::{Restraint, Sight};

use super::scheduler::LEVELS;
use super::work::Node;

/// The place of a job among all jobs. Later jobs have higher places.
pub(super) type JobIndex = usize;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    InDeque,
    Taken(usize),
    Complete,
}

/// The second half of a fork.
pub(super) struct Job {
    pub(super) node: Node,
    /// The worker that has forked it, and the level of the deque.
    pub(super) owner: usize,
    pub(super) level: usize,
    pub(super) reach: Distance,
    pub(super) last: Option<usize>,
    /// Its number in the recursion.
    pub(super) part: u64,
    pub(super) state: State,
}

/// What a worker does after its present part.
pub(super) enum Frame {
    /// The end of the program.
    Whole,
    /// The next of a sequence.
    Sequence { node: Node, next: usize },
    /// The second half of a fork.
    Fork { job: JobIndex, part: u64 },
    /// The end of a second half that was not stolen: the worker is in that part again.
    Second { part: u64 },
    /// The worker waits for a job of its own. It has seen the oldest job of the thief so.
    Wait { job: JobIndex, sight: Sight },
    /// The end of a stolen job.
    Stolen { job: JobIndex, part: u64 },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Running,
    /// The worker is without work.
    Searching,
    /// The worker waits for its own job, which the last frame names, and has been without work
    /// since this time.
    Waiting(u64),
}

/// Jobs, the oldest first. The first `public` ones are public, for thieves that ask.
#[derive(Default)]
pub(super) struct Deque {
    jobs: VecDeque<JobIndex>,
    pub(super) public: usize,
}

impl Deque {
    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    pub(super) fn oldest(&self) -> Option<JobIndex> {
        self.jobs.front().copied()
    }

    pub(super) fn newest(&self) -> Option<JobIndex> {
        self.jobs.back().copied()
    }

    pub(super) fn push(&mut self, job: JobIndex) {
        self.jobs.push_back(job);
    }

    /// Makes the older half of the private jobs public.
    pub(super) fn publish(&mut self) {
        self.public += (self.jobs.len() - self.public).div_ceil(2);
    }

    /// Takes the oldest job.
    pub(super) fn steal(&mut self) {
        self.jobs.pop_front();
        self.public = self.public.saturating_sub(1);
    }

    /// Takes the newest job, and returns whether it was public. If so, half of the others stay
    /// public.
    pub(super) fn pop(&mut self) -> bool {
        self.jobs.pop_back();
        let was_public = self.public > self.jobs.len();
        if was_public {
            self.public = self.jobs.len() / 2;
        }
        was_public
    }

    /// Takes a job from any place in the deque.
    pub(super) fn remove(&mut self, job: JobIndex) {
        self.jobs.retain(|&other| other != job);
        self.public = self.public.min(self.jobs.len());
    }
}

pub(super) struct Worker {
    pub(super) frames: Vec<Frame>,
    /// One deque for each level of memory, or only the first.
    pub(super) deques: [Deque; LEVELS],
    /// Whether a thief has asked for jobs, or the worker itself when it begins a stolen one.
    pub(super) is_asked: bool,
    /// When it has asked each of the others.
    pub(super) asked: Vec<Option<u64>>,
    /// The oldest jobs of the others' deques, as it has seen them in searches.
    pub(super) sights: Vec<[Sight; LEVELS]>,
    pub(super) restraint: Restraint,
    pub(super) doing: Doing,
    /// Its part of the recursion.
    pub(super) part: u64,
}

impl Worker {
    /// Creates one of `workers` workers, without work.
    pub(super) fn new(workers: usize) -> Self {
        Self {
            frames: Vec::new(),
            deques: Default::default(),
            is_asked: false,
            asked: vec![None; workers],
            sights: vec![Default::default(); workers],
            restraint: Restraint::default(),
            doing: Doing::Searching,
            part: 0,
        }
    }

    /// Returns the last job that it has pushed and that no thief has taken.
    pub(super) fn newest(&self) -> Option<JobIndex> {
        self.deques.iter().filter_map(Deque::newest).max()
    }

    pub(super) fn has_jobs(&self) -> bool {
        self.deques.iter().any(|deque| !deque.is_empty())
    }
}
