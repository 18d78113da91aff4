//! Guests: what runs on top of a waiting worker's stack without being a descendant of what that
//! worker waits for.
//!
//! A worker that waits runs descendants of what it waits for (see [`deque`](crate::deque)), and for
//! three reasons something else: its part of a [`broadcast`](super::broadcast), which no other
//! worker may run; an [`errand`](super::errands) of its runtime, while it waits for another
//! runtime, whose workers may wait for that errand in turn; and whatever there is, where the
//! program yields.
//!
//! # What a guest must not do
//! Whoever waits for a job that runs on this worker takes what lies in this worker's deque for a
//! descendant of that job. What a guest forks is none. So the worker counts its guests where those
//! who wait look before they take, and changes the tag of its deque when one comes and when it
//! goes: a thief that has seen none, and whose exchange of the word succeeds, takes nothing that a
//! guest has forked. The idle take it all the same.
//!
//! # Why nobody waits for ever
//! Suppose that everybody waits. Of all frames that wait, on all stacks, take the one that began
//! last, which is the top of its stack. What it waits for has begun after it or has not begun. If
//! it has begun, whatever lies on top of it has begun later still and waits too: a contradiction.
//! If it has not begun, it is a job in a deque that its owner, or whoever waits for it, can reach;
//! a part, which its worker runs as soon as it waits; or an errand of a runtime all of whose
//! workers wait. Were none of them to wait for another runtime, the last to have begun to wait
//! would wait for something that began later in this runtime, or for a part, as above; so one does,
//! and it runs the errand. The argument counts forks, calls and broadcasts alone: a lock that is
//! held across one of them and taken by a guest breaks it, as it does in every runtime.

use super::job;
use crate::primitives::atomic::Ordering;
use crate::processor::context::Context;
use crate::topology::Distance;

/// Runs `guest`, which does not panic and comes from so far, and the jobs that it leaves in the
/// deque, on a worker that waits or yields.
pub(crate) fn host(context: &Context, distance: Distance, guest: impl FnOnce()) {
    let processor = context.seat.processor();
    let floor = processor.deque.level();
    let root = processor.root.load(Ordering::Relaxed);
    let guests = processor.guests.load(Ordering::Relaxed);
    // Nor is it a part of a sized recursion below.
    let part = context.part.replace(0);
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
    context.part.set(part);
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

    /// A worker takes in a guest, which forks, while another looks for descendants of what the
    /// worker ran before.
    #[test]
    fn whoever_waits_takes_nothing_that_a_guest_has_forked() {
        check(&[Edge::DequeLook, Edge::DequePublish], || {
            let worker = Arc::new(Worker { guests: AtomicU32::new(0), deque: Home::new() });
            let host = {
                let worker = worker.clone();
                loom::thread::spawn(move || {
                    worker.guests.store(1, Ordering::Relaxed);
                    worker.deque.change_root();
                    // What lies in the slot does not matter: nobody may take it.
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
