//! Threads that start late: those of reliefs, the lookout and spares, once they are called.

use crate::primitives::{Mutex, lock};
use crate::processor::current;
use crate::processor::shared::Shared;
use std::sync::Arc;
use std::thread::JoinHandle;

/// The threads that a runtime has started for its processors.
pub(super) type Threads = Arc<Mutex<Vec<JoinHandle<()>>>>;

/// What is needed to start a thread from another thread's call. What the new thread inherits does
/// not depend on which thread calls.
pub(super) struct LateThread {
    role: &'static str,
    affinity: Affinity,
    threads: Threads,
}

impl LateThread {
    /// Makes one with this role. Its thread may run wherever the caller may.
    pub(super) fn new(role: &'static str, threads: &Threads) -> Self {
        Self { role, affinity: Affinity::of_caller(), threads: threads.clone() }
    }

    /// Starts the thread for the scheduler that has called it. False if the system refuses it.
    pub(super) fn start(&self, shared: &Arc<Shared>, work: impl FnOnce() + Send + 'static) -> bool {
        let own = shared.clone();
        let affinity = self.affinity.clone();
        let started = shared.thread(self.role).spawn(move || {
            affinity.apply();
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

/// Where a thread may run.
#[derive(Clone)]
struct Affinity(#[cfg(target_os = "linux")] Option<rustix::thread::CpuSet>);

#[cfg(target_os = "linux")]
impl Affinity {
    fn of_caller() -> Self {
        Self(rustix::thread::sched_getaffinity(None).ok())
    }

    /// Moves this thread there. If the system refuses, the thread stays where its parent was.
    fn apply(&self) {
        if let Some(set) = &self.0 {
            let _ = rustix::thread::sched_setaffinity(None, set);
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Affinity {
    fn of_caller() -> Self {
        Self()
    }

    fn apply(&self) {}
}
