//! Work that threads outside have a runtime's workers do.

use crate::deque::closures::{Closure, Closures};
use crate::primitives::thread::Thread;
use crate::processor::errands::Errand;
use crate::runtime::Handle;
use crate::scheduler::errands;
use std::sync::Arc;

/// Has a worker of the runtime run `errand`; drops it if the runtime has begun to shut down.
pub(super) fn send(handle: &Handle, errand: Errand) {
    if handle.shared().refuses_spawns() {
        return drop(errand);
    }
    errands::send(handle.shared(), errand);
}

/// Jobs of a scope that threads outside its runtime have spawned. For each of them an errand is on
/// its way.
#[derive(Debug)]
pub(super) struct Outside {
    jobs: Closures,
    /// The thread that waits for the scope.
    owner: Thread,
}

impl Outside {
    pub(super) fn new(owner: Thread) -> Arc<Self> {
        Arc::new(Self { jobs: Closures::default(), owner })
    }

    /// The oldest job.
    pub(super) fn take(&self) -> Option<Closure> {
        self.jobs.pop()
    }

    /// Runs the oldest job. False if there is none.
    pub(super) fn run_one(&self) -> bool {
        self.take().map(|job| job()).is_some()
    }

    /// Leaves a job to a worker of the runtime or to the owner of the scope, whichever comes first.
    pub(super) fn send(self: &Arc<Self>, handle: &Handle, job: Closure) {
        self.jobs.push(job);
        let mut call = Come { outside: self.clone(), has_come: false };
        send(handle, Box::new(move || call.come()));
        if handle.is_shutting_down() {
            // An owner that drives may sleep among its sockets.
            handle.shared().idle.unpark_thread(&self.owner);
        }
    }
}

/// The errand for a job of a scope.
struct Come {
    outside: Arc<Outside>,
    has_come: bool,
}

impl Come {
    fn come(&mut self) {
        self.has_come = true;
        self.outside.run_one();
    }
}

impl Drop for Come {
    /// If no worker comes, the owner of the scope has to run the job itself.
    fn drop(&mut self) {
        if !self.has_come {
            self.outside.owner.unpark();
        }
    }
}
