//! How a class finds out where its operations run best: it tries each way.
//!
//! # Roles
//! Each worker *counts* operations, and with one in
//! [some](crate::policy::object::sample::ONE_IN) looks after the class of that one. Of those that
//! do so at the same time one *steers*: it asks the class's [trial](Trial) in which mode operations
//! run from now on, and says so in the class's [route](super::class).
//!
//! # When the route changes
//! It says which way tasks take, and excludes none. Whatever workers know of the objects'
//! whereabouts is forgotten.

use super::class::Class;
use super::shares::Shares;
use crate::policy::object::{Mode, Trial, Verdict, trial};
use crate::primitives::atomic::{AtomicU64, Ordering};
use crate::primitives::{Mutex, lock};
use crate::processor::shared::Shared;

/// The least time between two steps, in nanoseconds: the shortest window of a trial ends at most a
/// fifth later than it should.
const STEP: u64 = trial::WATCH / 5;

/// What steers one class.
#[derive(Debug)]
pub(super) struct Steering {
    /// That of each worker, and of the relief.
    pub(super) shares: Shares,
    /// When to step next.
    next: AtomicU64,
    trial: Mutex<Trial>,
}

impl Steering {
    /// For a class of a runtime with so many processors.
    pub(super) fn new(processors: usize) -> Self {
        Self {
            shares: Shares::new(processors),
            next: AtomicU64::new(0),
            trial: Mutex::new(Trial::default()),
        }
    }

    /// What the trials have come to.
    pub(super) fn verdict(&self) -> Verdict {
        lock(&self.trial).verdict()
    }

    /// Steers `class`, whose this is, if it is time.
    pub(super) fn steer(&self, class: &Class, shared: &Shared, now: u64) {
        if now < self.next.load(Ordering::Relaxed) {
            return;
        }
        // The worker that has it steers.
        let Ok(mut trial) = self.trial.try_lock() else { return };
        if now < self.next.load(Ordering::Relaxed) {
            // Another one has meanwhile, and time never goes back.
            return;
        }
        self.next.store(now.saturating_add(STEP), Ordering::Relaxed);
        trial.set_may_gather(class.may_gather());
        let mode = trial.step(now, self.shares.operations(), || shared.misses.get()?.read());
        self.go(class, shared, mode);
    }

    /// Has the objects of `class` entered in this mode.
    fn go(&self, class: &Class, shared: &Shared, mode: Mode) {
        if class.set_mode(mode) {
            shared.forget_whereabouts();
        }
    }

    /// Has the objects of `class` entered in this mode, whatever the trial says.
    #[cfg(all(test, any(loom, shuttle)))]
    pub(super) fn turn(&self, class: &Class, shared: &Shared, mode: Mode) {
        let _trial = lock(&self.trial);
        self.go(class, shared, mode);
        // The trial is not asked again.
        self.next.store(u64::MAX, Ordering::Relaxed);
    }
}
