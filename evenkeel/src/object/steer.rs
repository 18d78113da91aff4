//! How a class finds out where its operations run best: it tries both ways.
//!
//! # Roles
//! Each worker *counts* operations, and with one in [`TURN`] of them looks after the class of that one. Of those that do so at the same time one *steers*.
//!
//! # Steps
//! *To at home*: mode := *fencing*; a full fence; mode := *at home* (release).
//! *To in place*: mode := *fencing*; a heavy fence; the notes of all workers are read; mode := *draining*. When each worker has left what it was inside of then, mode := *in place*; whoever
//! steers looks whether that is so.
//! [`door`](super::door) says what those do that enter meanwhile, and why they exclude each other.
//!
//! What mode there is to be, [`policy::object`](crate::policy::object) says: at home only where enough tasks are ready for the journeys to overlap, and then what a trial has shown to be better.

use super::class::{Class, Mode};
use crate::policy::object::assign::RUNNABLE;
use crate::policy::object::{Decision, Mode as Wanted, Trial, Verdict};
use crate::policy::smooth;
use crate::primitives::atomic::{AtomicU64, Edge, Ordering};
use crate::primitives::{Mutex, clock, fence, lock};
use crate::scheduler::inside;
use crate::scheduler::operations::TURN;
use crate::scheduler::shared::Shared;
use crossbeam_utils::CachePadded;
use std::fmt;

/// The least time between two steps, in nanoseconds: a fifth of the shortest window of a trial. An estimate; no benchmark sets it.
const STEP: u64 = 100_000;

/// Ready tasks are averaged in so many parts.
const PARTS: u64 = 16;

/// What steers one class.
pub(super) struct Steering {
    /// Operations of each worker, and of the relief, in steps of [`TURN`]: a line for each, which nobody else writes to.
    operations: Box<[CachePadded<AtomicU64>]>,
    /// When to step next.
    next: AtomicU64,
    course: Mutex<Course>,
}

/// What only the one who steers looks at.
#[derive(Default)]
struct Course {
    trial: Trial,
    /// Ready tasks per worker, in parts.
    runnable: u64,
    /// What workers were inside of when the class began to be entered in place.
    inside: Vec<inside::Seen>,
}

impl fmt::Debug for Steering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steering").finish_non_exhaustive()
    }
}

impl Steering {
    /// For a class of a runtime with so many processors.
    pub(super) fn new(processors: usize) -> Self {
        Self {
            operations: (0..processors).map(|_| CachePadded::default()).collect(),
            next: AtomicU64::new(0),
            course: Mutex::new(Course::default()),
        }
    }

    /// Operations so far, about.
    pub(super) fn operations(&self) -> u64 {
        self.operations.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// What the trials have come to.
    pub(super) fn verdict(&self) -> Verdict {
        lock(&self.course).trial.verdict()
    }

    /// Counts [`TURN`] operations of processor `me`, and steers `class`, whose this is, if it is time.
    pub(super) fn count(&self, class: &Class, shared: &Shared, me: usize, automatic: bool) {
        if let Some(count) = self.operations.get(me) {
            count.store(count.load(Ordering::Relaxed) + u64::from(TURN), Ordering::Relaxed);
        }
        if !automatic {
            return;
        }
        let now = clock::now();
        if now < self.next.load(Ordering::Relaxed) {
            return;
        }
        // Whoever has it steers.
        let Ok(mut course) = self.course.try_lock() else { return };
        self.next.store(now.saturating_add(STEP), Ordering::Relaxed);
        course.step(class, shared, now, self.operations());
    }

    /// Begins the change to `wanted`, or goes on with it, whatever the trial says. True once it is made.
    #[cfg(all(test, any(loom, shuttle)))]
    pub(super) fn turn(&self, class: &Class, shared: &Shared, wanted: Wanted) -> bool {
        lock(&self.course).turn(class, shared, wanted);
        match wanted {
            Wanted::AtHome => class.mode() == Mode::Home,
            Wanted::InPlace => class.mode() == Mode::InPlace,
        }
    }
}

impl Course {
    fn step(&mut self, class: &Class, shared: &Shared, now: u64, operations: u64) {
        if class.mode() == Mode::Draining {
            self.end_draining(class, shared);
            return;
        }
        let workers = &shared.processors[..shared.workers];
        let ready: usize = workers.iter().map(|processor| processor.published.len()).sum();
        self.runnable = smooth(self.runnable, ready as u64 * PARTS / workers.len() as u64);
        let wanted = if self.runnable < u64::from(RUNNABLE) * PARTS {
            if self.trial.verdict().mode != Wanted::InPlace || !self.trial.is_held() {
                self.trial.rest(Decision::TooFewTasks);
            }
            Wanted::InPlace
        } else {
            self.trial.step(now, operations)
        };
        self.turn(class, shared, wanted);
    }

    /// Begins a change of mode, or goes on with it.
    fn turn(&mut self, class: &Class, shared: &Shared, wanted: Wanted) {
        match (class.mode(), wanted) {
            (Mode::InPlace, Wanted::AtHome) => {
                class.set_mode(Mode::Fencing);
                fence::full(Edge::ObjectMode);
                class.set_mode(Mode::Home);
            }
            (Mode::Home, Wanted::InPlace) => self.begin_draining(class, shared),
            (Mode::Draining, _) => self.end_draining(class, shared),
            _ => {}
        }
    }

    fn begin_draining(&mut self, class: &Class, shared: &Shared) {
        class.set_mode(Mode::Fencing);
        if fence::is_asymmetric() && !fence::heavy(Edge::ObjectMode) {
            // The kernel has refused: another time.
            class.set_mode(Mode::Home);
            return;
        }
        fence::full(Edge::ObjectMode);
        let workers = &shared.processors[..shared.workers];
        self.inside = workers.iter().map(|processor| processor.inside.see()).collect();
        class.set_mode(Mode::Draining);
        shared.forget_whereabouts();
        self.end_draining(class, shared);
    }

    fn end_draining(&mut self, class: &Class, shared: &Shared) {
        let workers = shared.processors.iter().zip(&mut self.inside);
        // Each is looked at: one of them may read an object again and again.
        let left = workers.map(|(processor, seen)| processor.inside.has_left(seen));
        if left.fold(true, |all, left| all & left) {
            class.set_mode(Mode::InPlace);
        }
    }
}
