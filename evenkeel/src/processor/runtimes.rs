//! The runtimes of the process, by the addresses of their processors.
//!
//! A thread that signals a task from outside finds the task's runtime here. It can't follow the
//! address of the task's home: the task may become complete meanwhile, and its runtime end. A
//! worker that has lost its core counts here how many workers of the process compete for cores. A
//! word with their number would be written by all workers, as they fall asleep and are woken.

use super::Processor;
use super::shared::Shared;
use crate::primitives::unwind;
use std::ops::Range;
// No thread waits for anything under the lock, so models need not explore it.
use std::sync::{Arc, Mutex, Weak};
use std::thread;

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

/// Returns how many workers of all runtimes compete for cores. A hint.
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
    let awake = all.iter().map(|shared| awake_in(shared)).sum();
    // With a runtime its hooks may be dropped, which are a caller's. Not on this worker: the frames
    // below may hold a lock that a hook's destructor takes.
    for last in all.into_iter().filter_map(Arc::into_inner) {
        unwind::contain(|| thread::Builder::new().spawn(move || drop(last)));
    }
    awake
}

/// Returns how many workers of a runtime are not parked, and do not say that they block.
fn awake_in(shared: &Shared) -> usize {
    let workers = &shared.processors[..shared.workers];
    let competes = |worker: &&Processor| !worker.meter.is_asleep() && !worker.absence.is_blocked();
    workers.iter().filter(competes).count()
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::{awake, awake_in};
    use crate::Runtime;
    use std::sync::Barrier;
    use std::thread;

    /// A relief would poll a task of a worker whose core the system has taken.
    fn runtime(workers: usize) -> Runtime {
        crate::Builder::new().workers(workers).reliefs(0).build().unwrap()
    }

    #[test]
    fn the_workers_of_all_runtimes_are_counted_while_they_are_awake() {
        let [one, other] = [2, 3].map(runtime);
        let (all_in, counted) = (&Barrier::new(6), &Barrier::new(6));
        thread::scope(|scope| {
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

    #[test]
    fn workers_that_are_parked_or_say_that_they_block_are_not_counted() {
        let [one, other] = [1, 2].map(runtime);
        let handle = one.handle();
        one.install(|| {
            other.install(|| {
                while awake_in(handle.shared()) > 0 {
                    thread::yield_now();
                }
            });
            assert_eq!(awake_in(handle.shared()), 1);
        });
        let of = handle.clone();
        let blocks = async move {
            crate::block_in_place(|| assert_eq!(awake_in(of.shared()), 0));
            assert_eq!(awake_in(of.shared()), 1);
        };
        crate::block_on(one.spawn(blocks)).unwrap();
    }
}
