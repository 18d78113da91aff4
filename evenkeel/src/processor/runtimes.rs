//! The runtimes of the process, by the addresses of their processors.
//!
//! A thread that signals a task from outside finds the task's runtime here. It can't follow the
//! address of the task's home: the task may become complete meanwhile, and its runtime end. A
//! worker that has lost its core counts here how many workers of the process compete for cores: no
//! word counts them, which all would have to write as they fall asleep and are woken.

use super::shared::{Phase, Shared};
use crate::primitives::unwind;
use std::ops::Range;
// No thread waits for anything under the lock, so models need not explore it.
use std::sync::{Arc, Mutex, Weak};

static ALL: Mutex<Vec<(Range<usize>, Weak<Shared>)>> = Mutex::new(Vec::new());

/// Enters a runtime, and forgets those that have ended.
pub(super) fn enter(shared: &Arc<Shared>) {
    let mut all = ALL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    all.retain(|(_, shared)| shared.strong_count() > 0);
    all.push((shared.processors.addresses(), Arc::downgrade(shared)));
}

/// Returns the runtime that has a processor at this address. A runtime that has ended since may be
/// missed, or another one that has taken its place be found.
pub(crate) fn with_processor(address: usize) -> Option<Arc<Shared>> {
    let all = ALL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let has_it = |(addresses, _): &&(Range<usize>, _)| addresses.contains(&address);
    // Of several the last is the youngest, and the only one that can be alive.
    all.iter().rev().find(has_it)?.1.upgrade()
}

/// Returns how many workers of all runtimes with worker threads are awake. A hint.
pub(crate) fn awake() -> usize {
    if cfg!(any(loom, shuttle)) {
        // The other runtimes are those of other models.
        return 0;
    }
    // The last holder of a runtime may drop it, so not under the lock.
    let all: Vec<_> = ALL
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .iter()
        .filter_map(|(_, shared)| shared.upgrade())
        .collect();
    let has_threads =
        |shared: &&Arc<Shared>| shared.driving.get().is_none() && shared.phase() < Phase::Over;
    let awake = |shared: &Arc<Shared>| shared.workers.saturating_sub(shared.idle.counts().sleeping);
    let awake = all.iter().filter(has_threads).map(awake).sum();
    // With a runtime its hooks may be dropped, which are a caller's.
    unwind::contain(|| drop(all));
    awake
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::awake;
    use std::sync::Barrier;

    #[test]
    fn the_workers_of_all_runtimes_are_counted_while_they_are_awake() {
        let [one, other] =
            [2, 3].map(|workers| crate::Builder::new().workers(workers).build().unwrap());
        let (all_in, counted) = (&Barrier::new(6), &Barrier::new(6));
        std::thread::scope(|scope| {
            for runtime in [&one, &other] {
                scope.spawn(|| {
                    runtime.handle().broadcast(|_| {
                        all_in.wait();
                        counted.wait();
                    });
                });
            }
            all_in.wait();
            // Other tests have runtimes too.
            assert!(awake() >= 5);
            counted.wait();
        });
    }
}
