//! How a class finds out where its operations run best: it tries each way.
//!
//! # Roles
//! Each worker *counts* operations, and for one in [some](crate::policy::object::sample::ONE_IN)
//! examines the class of that one. Of the workers that do so at the same time one *steers*: it asks
//! the class's [trial](Trial) in which mode operations run from now on, and says so in the class's
//! [route](super::class).
//!
//! # When the route changes
//! The route says which way tasks take, and excludes none. The workers forget what they know of the
//! objects' whereabouts.

use super::shares::Shares;
use crate::policy::object::{Mode, Trial, Verdict, trial};
use crate::primitives::atomic::{AtomicU64, Ordering};
use crate::primitives::{Mutex, lock};
use crate::processor::shared::Shared;

/// The least time between two steps, in nanoseconds: the shortest window of a trial ends at most a
/// fifth later than it should.
const STEP: u64 = trial::WATCH / 5;

/// The state that steers one class.
#[derive(Debug)]
pub(super) struct Steering {
    /// The operations of each worker. Those of reliefs are not counted.
    pub(super) shares: Shares,
    /// When to step next.
    next: AtomicU64,
    trial: Mutex<Trial>,
}

impl Steering {
    /// Makes the steering for a class of a runtime with `processors` workers.
    pub(super) fn new(processors: usize) -> Self {
        Self {
            shares: Shares::new(processors),
            next: AtomicU64::new(0),
            trial: Mutex::new(Trial::default()),
        }
    }

    /// Returns the result of the trials.
    pub(super) fn verdict(&self) -> Verdict {
        lock(&self.trial).verdict()
    }

    /// Steers the class if it is time: calls `go` with the mode that its trial asks for. The class
    /// `may_gather` if its objects have several homes.
    pub(super) fn steer(
        &self,
        shared: &Shared,
        now: u64,
        may_gather: impl FnOnce() -> bool,
        go: impl FnOnce(Mode),
    ) {
        if now < self.next.load(Ordering::Relaxed) {
            return;
        }
        // The worker that has the lock steers.
        let Ok(mut trial) = self.trial.try_lock() else { return };
        if now < self.next.load(Ordering::Relaxed) {
            // Another worker has steered meanwhile, and time never goes back.
            return;
        }
        self.next.store(now.saturating_add(STEP), Ordering::Relaxed);
        trial.set_may_gather(may_gather());
        go(trial.step(now, self.shares.operations(), || shared.misses.get()?.read()));
    }

    /// Calls `go` as the worker that steers does, and ends the trial: it is not asked again.
    #[cfg(all(test, any(loom, shuttle)))]
    pub(super) fn end(&self, go: impl FnOnce()) {
        let _trial = lock(&self.trial);
        go();
        self.next.store(u64::MAX, Ordering::Relaxed);
    }
}
