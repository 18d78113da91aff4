//! Threads that start late: those of reliefs, the lookout and spares, once they are called.

use crate::primitives::{Mutex, lock};
use crate::processor::current;
use crate::processor::shared::Shared;
use std::sync::Arc;
use std::thread::JoinHandle;

/// The threads that a runtime has started for its processors.
pub(super) type Threads = Arc<Mutex<Vec<JoinHandle<()>>>>;

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
        let started = shared.start_thread(self.role, move || {
            let _entered = current::enter(&own);
            drop(own);
            work();
        });
        let Ok(started) = started else { return false };
        let mut threads = lock(&self.threads);
        // Spares come and go.
        threads.retain(|thread| !thread.is_finished());
        threads.push(started);
        true
    }
}
