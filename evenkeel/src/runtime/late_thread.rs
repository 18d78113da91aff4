//! Threads that start late: those of reliefs, the lookout and spares, once they are called.

use super::own_thread::OwnThread;
use crate::primitives::{Mutex, lock};
use crate::processor::current;
use crate::processor::shared::Shared;
use std::sync::Arc;

/// The threads that a runtime has started for its processors.
pub(super) type Threads = Arc<Mutex<Vec<OwnThread>>>;

/// What is needed to start a thread from another thread's call.
pub(super) struct LateThread {
    role: &'static str,
    threads: Threads,
}

impl LateThread {
    /// Makes one with this role.
    pub(super) fn new(role: &'static str, threads: &Threads) -> Self {
        Self { role, threads: threads.clone() }
    }

    /// Starts the thread for the scheduler that has called it. False if the system refuses it.
    pub(super) fn start(&self, shared: &Arc<Shared>, work: impl FnOnce() + Send + 'static) -> bool {
        let own = shared.clone();
        let started = OwnThread::start(|beginning| {
            shared.start_thread(self.role, move || {
                beginning.begin();
                let _entered = current::enter(&own);
                drop(own);
                work();
            })
        });
        let Ok(started) = started else { return false };
        let mut threads = lock(&self.threads);
        // Spares come and go.
        threads.retain(|thread| !thread.has_ended());
        threads.push(started);
        true
    }
}
