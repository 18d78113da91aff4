//! Models of the split deque. The models of [`sleep`](crate::scheduler) and of naps have the thief
//! that falls asleep, with the fences of the code that runs.

#![allow(unsafe_code, reason = "models read and write the jobs in slots")]

use super::*;
use crate::primitives::mutation::{check, check_without};
use crate::primitives::spin::Backoff;
use loom::cell::UnsafeCell;
use loom::sync::Arc;

/// Counts how often each of two jobs has been taken, without atomics. So loom finds two takers that
/// do not exclude each other, a taker that does not see the writes before the push, and an owner
/// that uses a slot while a thief does.
struct Bench {
    deque: Home,
    taken: [UnsafeCell<u32>; 2],
}

// SAFETY: the model checks that one thread at a time reaches the cells.
unsafe impl Send for Bench {}
// SAFETY: as above.
unsafe impl Sync for Bench {}

impl Bench {
    fn new() -> Arc<Self> {
        let taken = [UnsafeCell::new(0), UnsafeCell::new(0)];
        Arc::new(Self { deque: Home::new(), taken })
    }

    /// Pushes a job into the place with its number.
    fn push(&self, job: u32) {
        let head = self.deque.head();
        assert_eq!(head, self.deque.place(job));
        assert!(self.deque.has_room(head), "no thief asks");
        // SAFETY: the slot is free.
        self.deque.slot(job).with_body(|body: *mut u32| unsafe { body.write(job) });
        self.deque.push(head);
    }

    /// Runs the job of a slot.
    fn run(&self, index: u32) {
        // SAFETY: the caller has taken the job, so it has the slot.
        let job = self.deque.slot(index).with_body(|body: *mut u32| unsafe { body.read() });
        assert_eq!(job, index);
        // SAFETY: the caller has taken the job, so only it accesses the count.
        self.taken[job as usize].with_mut(|count| unsafe { *count += 1 });
    }

    /// A thief's part.
    fn steal(&self) {
        if let Some(index) = self.deque.steal() {
            self.run(index);
            self.deque.slot(index).latch.complete();
        }
    }

    /// The end of the owner's fork.
    fn join(&self, index: u32) {
        let place = self.deque.place(index);
        if self.deque.pop(place) || self.deque.reclaim(place) == Reclaimed::Own {
            return self.run(index);
        }
        let mut backoff = Backoff::new();
        while !self.deque.slot(index).latch.is_complete() {
            backoff.snooze();
        }
        self.deque.retire(place);
    }

    fn count(&self, job: usize) -> u32 {
        // SAFETY: the threads have ended.
        self.taken[job].with(|count| unsafe { *count })
    }
}

#[test]
fn owner_and_thief_share_what_is_public() {
    // The ordering of the thief's first look is left out: the word may have come back to the same
    // value, with other jobs.
    let edges = [Edge::DequePublish, Edge::DequeSteal, Edge::LatchSet, Edge::LatchSeen];
    check_without(&[Edge::DequeLook], &edges, || {
        let bench = Bench::new();
        let thief = {
            let bench = bench.clone();
            loom::thread::spawn(move || {
                bench.steal();
            })
        };
        bench.push(0);
        bench.push(1);
        bench.deque.publish();
        bench.join(1);
        bench.join(0);
        // The owner uses the places again.
        bench.push(0);
        assert!(bench.deque.pop(bench.deque.place(0)));
        thief.join().unwrap();
        assert_eq!((bench.count(0), bench.count(1)), (1, 1));
    });
}

#[test]
fn a_seizer_takes_nothing_that_the_owner_has_popped() {
    check(&[Edge::DequeLight, Edge::DequeHeavy], || {
        let bench = Bench::new();
        bench.push(0);
        bench.push(1);
        let thief = {
            let bench = bench.clone();
            loom::thread::spawn(move || {
                bench.deque.seize();
                bench.steal();
            })
        };
        bench.join(1);
        bench.join(0);
        thief.join().unwrap();
        assert_eq!((bench.count(0), bench.count(1)), (1, 1));
    });
}

#[test]
fn a_seizer_sees_what_the_owner_has_pushed() {
    // The fences are left out: there is no pop.
    check_without(
        &[Edge::DequeLight, Edge::DequeHeavy],
        &[Edge::DequePush, Edge::DequeHead],
        || {
            let bench = Bench::new();
            let thief = {
                let bench = bench.clone();
                loom::thread::spawn(move || {
                    let seized = bench.deque.seize();
                    bench.steal();
                    seized
                })
            };
            bench.push(0);
            let seized = thief.join().unwrap();
            assert_eq!(bench.count(0), seized);
        },
    );
}

/// The seizer sees the head that the pop stores, not the one that the push stored.
#[test]
fn a_seizer_sees_what_lies_below_what_the_owner_has_popped() {
    // The owner pops no published job, so the fences of that pair are spared.
    check_without(
        &[Edge::DequeLight, Edge::DequeHeavy],
        &[Edge::DequePush, Edge::DequePop, Edge::DequeHead],
        || {
            let bench = Bench::new();
            let thief = {
                let bench = bench.clone();
                loom::thread::spawn(move || {
                    let seized = bench.deque.seize();
                    bench.steal();
                    seized
                })
            };
            bench.push(0);
            bench.push(1);
            bench.join(1);
            let seized = thief.join().unwrap();
            assert_eq!((bench.count(0), bench.count(1)), (seized, 1));
        },
    );
}

/// The head and the word that the owner stores when it retires a place are ordered by the lock.
#[test]
fn a_seizer_takes_nothing_out_of_a_place_that_is_retired() {
    check(&[Edge::SpinLock, Edge::SpinUnlock, Edge::DequeHeavy, Edge::DequeLight], || {
        let bench = Bench::new();
        bench.push(0);
        bench.deque.publish();
        bench.steal();
        let thief = {
            let bench = bench.clone();
            loom::thread::spawn(move || {
                bench.deque.seize();
                bench.steal();
            })
        };
        bench.join(0);
        bench.push(0);
        bench.join(0);
        thief.join().unwrap();
        assert_eq!(bench.count(0), 2);
    });
}

/// A deque without places.
fn full() -> Arc<Home> {
    Arc::new(Home::with_places(false, 0))
}

/// The lock is the ordering, so there is no edge to weaken.
#[test]
fn a_job_that_is_spilled_is_taken_once() {
    check(&[], || {
        let deque = full();
        let owner = {
            let deque = deque.clone();
            loom::thread::spawn(move || {
                let floor = deque.level();
                deque.spill(Spilled::numbered(0));
                deque.pop_spilled(floor).is_some()
            })
        };
        let stolen = deque.steal_spilled(|| true).is_some();
        assert_ne!(owner.join().unwrap(), stolen);
        assert!(deque.is_empty() && !deque.has_spilled());
    });
}
