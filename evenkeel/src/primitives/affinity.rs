//! On which hardware threads a thread may run. A thread inherits that of the thread that starts it.

/// Where a thread may run.
#[derive(Clone, Debug)]
pub(crate) struct Affinity(#[cfg(target_os = "linux")] Option<rustix::thread::CpuSet>);

#[cfg(target_os = "linux")]
impl Affinity {
    pub(crate) fn of_caller() -> Self {
        Self(rustix::thread::sched_getaffinity(None).ok())
    }

    /// Moves this thread there. If the system refuses, the thread stays where its parent was.
    pub(crate) fn apply(&self) {
        if let Some(set) = &self.0 {
            let _ = rustix::thread::sched_setaffinity(None, set);
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Affinity {
    pub(crate) fn of_caller() -> Self {
        Self()
    }

    pub(crate) fn apply(&self) {}
}
