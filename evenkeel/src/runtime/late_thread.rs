//! How the relief and the spares of a runtime get their threads, once they are called.

use super::blocking::Pool;
use super::enter;
use super::handle::Handle;
use crate::primitives::{Mutex, lock};
use crate::scheduler::shared::Shared;
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};

/// The threads that a runtime has started for its processors.
pub(super) type Threads = Arc<Mutex<Vec<JoinHandle<()>>>>;

/// What a thread is made from that is started by another thread's call: which one that is does not
/// matter to what the new thread inherits.
pub(super) struct LateThread {
    /// Weak, for the scheduler keeps this.
    pool: Weak<Pool>,
    name: String,
    stack_size: Option<usize>,
    affinity: Affinity,
    threads: Threads,
}

impl LateThread {
    /// One with this role that may run wherever the caller may.
    pub(super) fn new(
        pool: &Arc<Pool>,
        (name, role): (&str, &str),
        stack_size: Option<usize>,
        threads: &Threads,
    ) -> Self {
        let (pool, name) = (Arc::downgrade(pool), format!("{name}-{role}"));
        Self { pool, name, stack_size, affinity: Affinity::of_caller(), threads: threads.clone() }
    }

    /// Starts it for the scheduler that has called it. False if the system refuses it, or the
    /// runtime is gone.
    pub(super) fn start(&self, shared: &Arc<Shared>, work: impl FnOnce() + Send + 'static) -> bool {
        let Some(pool) = self.pool.upgrade() else { return false };
        let handle = Handle::new(shared.clone(), pool);
        let affinity = self.affinity.clone();
        let mut builder = thread::Builder::new().name(self.name.clone());
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        let started = builder.spawn(move || {
            affinity.apply();
            let _entered = enter::enter(&handle);
            drop(handle);
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

    /// Has this thread run there. If the system refuses it, the thread stays where its parent was.
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
