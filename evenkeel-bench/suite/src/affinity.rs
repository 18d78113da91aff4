//! Limits a run to as many cores as it has processors.
//!
//! A runtime with one processor still has helper threads, a collector or a monitor, which would use
//! the other cores. Every runtime is measured within the same mask, so that one processor means one
//! core for all of them.

use std::thread;

/// The cores that this thread, and every thread and process it starts, may run on.
pub fn cores() -> Vec<usize> {
    system::mask()
        .unwrap_or_else(|| (0..thread::available_parallelism().map_or(1, usize::from)).collect())
}

/// Returns the numbers of processors that are measured by default: one, and as many as there are
/// cores.
pub fn processor_counts(cores: usize) -> Vec<usize> {
    if cores > 1 { vec![1, cores] } else { vec![1] }
}

/// Runs `work` with the calling thread limited to the first `procs` of its cores. Threads and
/// processes that it starts inherit the limit. With as many processors as cores, nothing is
/// limited.
pub fn confined<T>(procs: usize, work: impl FnOnce() -> T) -> T {
    let _restored = Restore::limit_to(&cores(), procs);
    work()
}

/// Moves the calling thread to one core for the rest of its life. Returns `false` if the system
/// refuses.
pub fn settle_on(core: usize) -> bool {
    system::set_mask(&[core])
}

/// Gives the calling thread its cores back, even when the run panics.
struct Restore(Option<Vec<usize>>);

impl Restore {
    fn limit_to(cores: &[usize], procs: usize) -> Restore {
        let limited = procs < cores.len() && system::set_mask(&cores[..procs]);
        Restore(limited.then(|| cores.to_vec()))
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        if let Some(cores) = &self.0 {
            system::set_mask(cores);
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    pub(super) fn mask() -> Option<Vec<usize>> {
        let set = sched_getaffinity(None).ok()?;
        Some((0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect())
    }

    pub(super) fn set_mask(cores: &[usize]) -> bool {
        let mut set = CpuSet::new();
        for &core in cores {
            set.set(core);
        }
        sched_setaffinity(None, &set).is_ok()
    }
}

/// Other systems cannot limit threads to cores; runs with fewer processors are then less alike.
#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn mask() -> Option<Vec<usize>> {
        None
    }

    pub(super) fn set_mask(_cores: &[usize]) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confined_run_and_its_threads_see_one_core() {
        let before = cores();
        let (own, child) = confined(1, || (cores(), thread::spawn(cores).join().unwrap()));
        assert_eq!(own, before[..1]);
        assert_eq!(child, before[..1]);
        assert_eq!(cores(), before);
    }

    #[test]
    fn more_processors_than_cores_limit_nothing() {
        let before = cores();
        assert_eq!(confined(before.len() + 7, cores), before);
    }

    #[test]
    fn a_machine_with_one_core_is_measured_once() {
        assert_eq!(processor_counts(1), [1]);
        assert_eq!(processor_counts(8), [1, 8]);
    }
}
