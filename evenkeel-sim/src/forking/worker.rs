//! A simulated worker: its frames, its jobs, and what it does.

use std::collections::VecDeque;

use evenkeel_policy::Distance;

use super::scheduler::LEVELS;
use super::work::Node;

/// A job, by its place among all. Later ones have higher places.
pub(super) type JobIndex = usize;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    InDeque,
    Taken(usize),
    Complete,
}

/// A second half.
pub(super) struct Job {
    pub(super) node: Node,
    /// In whose deque it was put, and in which one.
    pub(super) owner: usize,
    pub(super) level: usize,
    pub(super) reach: Distance,
    pub(super) last: Option<usize>,
    /// Its number in the recursion.
    pub(super) part: u64,
    pub(super) state: State,
}

/// What a worker does after what it does now.
pub(super) enum Frame {
    /// The end of the program.
    Whole,
    /// The next of a sequence.
    Sequence { node: Node, next: usize },
    /// The second half of a fork.
    Fork { job: JobIndex, part: u64 },
    /// The end of a second half that was not stolen: it is in that part again.
    Second { part: u64 },
    /// It waits for a job of its own.
    Wait { job: JobIndex },
    /// The end of a job that was stolen.
    Stolen { job: JobIndex, part: u64 },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Running,
    /// Without work since then.
    Searching(u64),
    /// For a job of its own, which the last frame names, and without work since then.
    Waiting(u64),
}

/// Jobs, the oldest first; so many are public, for thieves that ask.
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

    /// Makes the older half of what is private public.
    pub(super) fn publish(&mut self) {
        self.public += (self.jobs.len() - self.public).div_ceil(2);
    }

    /// Takes the oldest job.
    pub(super) fn steal(&mut self) {
        self.jobs.pop_front();
        self.public = self.public.saturating_sub(1);
    }

    /// Takes the newest job, and says whether it was public. Then half of the others stay so.
    pub(super) fn pop(&mut self) -> bool {
        self.jobs.pop_back();
        let was_public = self.public > self.jobs.len();
        if was_public {
            self.public = self.jobs.len() / 2;
        }
        was_public
    }

    /// Takes a job from wherever it lies.
    pub(super) fn remove(&mut self, job: JobIndex) {
        self.jobs.retain(|&other| other != job);
        self.public = self.public.min(self.jobs.len());
    }
}

pub(super) struct Worker {
    pub(super) frames: Vec<Frame>,
    /// One for each level of memory, or the first alone.
    pub(super) deques: [Deque; LEVELS],
    /// Somebody has asked for jobs.
    pub(super) is_asked: bool,
    /// Since when it has asked each of the others.
    pub(super) asked: Vec<Option<u64>>,
    pub(super) doing: Doing,
    /// The part of the recursion that it is in.
    pub(super) part: u64,
}

impl Worker {
    /// One of so many, which has nothing to do.
    pub(super) fn new(workers: usize) -> Self {
        Self {
            frames: Vec::new(),
            deques: Default::default(),
            is_asked: false,
            asked: vec![None; workers],
            doing: Doing::Searching(0),
            part: 0,
        }
    }

    /// The last job that it has pushed and nobody has taken.
    pub(super) fn newest(&self) -> Option<JobIndex> {
        self.deques.iter().filter_map(Deque::newest).max()
    }

    pub(super) fn has_jobs(&self) -> bool {
        self.deques.iter().any(|deque| !deque.is_empty())
    }
}
