//! Guests: work that runs on top of a waiting worker's stack and is not a descendant of the job
//! that the worker waits for.
//!
//! A worker that waits for a job runs descendants of that job (see [`deque`](crate::deque)), and
//! three kinds of other work. These are its part of a [`broadcast`](super::broadcast), which no
//! other worker may run; an [`errand`](super::errands) of its runtime, while it waits for another
//! runtime, the workers of which may wait for that errand in turn; and any work, where the program
//! yields. The worker is the guest's *host*.
//!
//! # What a guest must not do
//! A *waiter*, for a job that runs on the host, assumes that the jobs in the host's deque are
//! descendants of that job. The jobs that a guest forks are not. So the host counts its guests
//! where waiters look before they take, and changes the tag of its deque when a guest begins and
//! ends. A waiter that has seen no guest, and then succeeds in its exchange of the word, takes
//! nothing that a guest has forked. Idle workers take such jobs all the same.
//!
//! # Why no worker waits for ever
//! Suppose that all workers wait. Of all frames that wait, on all stacks, take the one that began
//! last, which is the top of its stack. The work that it waits for has begun after it or has not
//! begun. If the work has begun, the frame on top of it has begun later still and waits too: a
//! contradiction. If it has not begun, it is one of three things. It is a job in a deque, which its
//! owner or its waiter can reach; or a part, which its worker runs as soon as that waits; or an
//! errand of a runtime in which all workers wait. If none of them waited for another runtime, the
//! last to have begun to wait would wait for work that began later in this runtime, or for a part,
//! as above. So one of them waits for another runtime, and it runs the errand. The argument covers
//! forks, calls and broadcasts alone: a lock that is held across one of them and taken by a guest
//! breaks it, as it does in every runtime.

use super::job;
use crate::primitives::atomic::Ordering;
use crate::processor::context::Context;
use crate::topology::Distance;

/// Runs `guest`, which does not panic and comes from this distance, and the jobs that it leaves in
/// the deque, on a worker that waits or yields.
pub(crate) fn host(context: &Context, distance: Distance, guest: impl FnOnce()) {
    let processor = context.seat.processor();
    let floor = processor.deque.level();
    let root = processor.root.load(Ordering::Relaxed);
    let guests = processor.guests.load(Ordering::Relaxed);
    // The guest is not a part of a sized recursion below either.
    let part = context.forks.part.replace(0);
    processor.root.store(0, Ordering::Relaxed);
    processor.guests.store(guests + 1, Ordering::Relaxed);
    processor.deque.change_root();
    context.while_running(distance, || {
        guest();
        job::run_above(context, floor);
    });
    processor.deque.change_root();
    processor.guests.store(guests, Ordering::Relaxed);
    processor.root.store(root, Ordering::Relaxed);
    context.forks.part.set(part);
}

#[cfg(all(test, loom))]
mod model {
    use crate::deque::{Home, Spilled};
    use crate::primitives::atomic::{AtomicU32, Edge, Ordering};
    use crate::primitives::mutation::check;
    use loom::sync::Arc;

    struct Worker {
        guests: AtomicU32,
        deque: Home,
    }

    /// A host begins a guest, which forks, while a waiter looks for descendants of the host's
    /// former job.
    #[test]
    fn a_worker_that_waits_takes_nothing_that_a_guest_has_forked() {
        check(&[Edge::DequeLook, Edge::DequePublish], || {
            let worker = Arc::new(Worker { guests: AtomicU32::new(0), deque: Home::new() });
            let host = {
                let worker = worker.clone();
                loom::thread::spawn(move || {
                    worker.guests.store(1, Ordering::Relaxed);
                    worker.deque.change_root();
                    // The contents of the slot do not matter: the waiter must not take it.
                    worker.deque.push(worker.deque.head());
                    worker.deque.publish();
                })
            };
            let holds = || worker.guests.load(Ordering::Relaxed) == 0;
            assert!(worker.deque.steal_while(holds).is_none());
            host.join().unwrap();
        });
    }

    /// The same where the host has no place left. The lock is the ordering, so there is no edge to
    /// weaken.
    #[test]
    fn a_waiter_takes_nothing_that_a_guest_has_spilled() {
        check(&[], || {
            let worker =
                Arc::new(Worker { guests: AtomicU32::new(0), deque: Home::with_places(false, 0) });
            let host = {
                let worker = worker.clone();
                loom::thread::spawn(move || {
                    worker.guests.store(1, Ordering::Relaxed);
                    worker.deque.change_root();
                    worker.deque.spill(Spilled::numbered(0));
                })
            };
            let holds = || worker.guests.load(Ordering::Relaxed) == 0;
            assert!(worker.deque.steal_spilled(holds).is_none());
            host.join().unwrap();
        });
    }
}
