//! The hardware thread under a thread, where the operating system says which, and their number.

use std::sync::OnceLock;

/// Returns the number of threads that the process can run at once, as of the first call: that of
/// the thread that builds the first runtime. A pinned worker would count its own core alone.
pub(crate) fn count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
mod system {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

    /// The hardware thread that the caller runs on, by the operating system's number.
    pub(crate) fn current() -> Option<usize> {
        Some(sched_getcpu())
    }

    /// Moves the caller to the next hardware thread that it may run on and that is `free`, and
    /// returns its number. The caller keeps its affinity mask. Returns `None` if there is no such
    /// hardware thread, or if the system refuses.
    pub(crate) fn leave_for(free: impl Fn(usize) -> bool) -> Option<usize> {
        let allowed = sched_getaffinity(None).ok()?;
        let here = sched_getcpu();
        let mut round = (here + 1..CpuSet::MAX_CPU).chain(0..here);
        let there = round.find(|&cpu| allowed.is_set(cpu) && free(cpu))?;
        let mut only = CpuSet::new();
        only.set(there);
        sched_setaffinity(None, &only).ok()?;
        // If the system refuses, it has withdrawn a hardware thread meanwhile, and decides anyway
        // where the thread runs.
        let _ = sched_setaffinity(None, &allowed);
        Some(there)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_thread_goes_to_another_core_and_may_come_back() {
            let before = sched_getaffinity(None).unwrap();
            let here = current().unwrap();
            let went = leave_for(|cpu| cpu != here);
            // A machine with one hardware thread has no other.
            assert_eq!(went.is_some(), before.count() > 1);
            assert_ne!(went, Some(here));
            assert_eq!(sched_getaffinity(None).unwrap(), before);
        }

        #[test]
        fn no_thread_goes_where_nothing_is_free() {
            assert_eq!(leave_for(|_| false), None);
        }
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
mod system {
    pub(crate) fn current() -> Option<usize> {
        None
    }

    pub(crate) fn leave_for(_free: impl Fn(usize) -> bool) -> Option<usize> {
        None
    }
}

pub(crate) use system::{current, leave_for};
