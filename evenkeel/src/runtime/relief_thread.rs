//! How the relief of a runtime gets its thread.

use super::blocking::Pool;
use super::enter;
use super::handle::Handle;
use crate::primitives::{Mutex, lock};
use crate::scheduler::relief;
use crate::scheduler::seat::Seat;
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};

/// The threads that a runtime has started for its processors.
pub(super) type Threads = Arc<Mutex<Vec<JoinHandle<()>>>>;

/// What the thread is made from once somebody calls the relief. Whoever that is: what a thread inherits is not to depend on it.
pub(super) struct ReliefThread {
    /// Weak, for the scheduler keeps this.
    pool: Weak<Pool>,
    name: String,
    stack_size: Option<usize>,
    affinity: Affinity,
    threads: Threads,
}

impl ReliefThread {
    /// One that may run wherever the caller may.
    pub(super) fn new(
        pool: &Arc<Pool>,
        name: &str,
        stack_size: Option<usize>,
        threads: Threads,
    ) -> Self {
        let (pool, name) = (Arc::downgrade(pool), format!("{name}-relief"));
        Self { pool, name, stack_size, affinity: Affinity::of_caller(), threads }
    }

    /// Starts it. False if the system refuses it, or the runtime is gone.
    pub(super) fn start(&self, seat: Seat) -> bool {
        let Some(pool) = self.pool.upgrade() else { return false };
        let handle = Handle::new(seat.shared().clone(), pool);
        let affinity = self.affinity.clone();
        let mut builder = thread::Builder::new().name(self.name.clone());
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        let started = builder.spawn(move || {
            affinity.apply();
            let _entered = enter::enter(&handle);
            drop(handle);
            relief::work(seat);
        });
        started.map(|thread| lock(&self.threads).push(thread)).is_ok()
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
