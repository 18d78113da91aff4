//! Models of the split deque.

#![allow(unsafe_code, reason = "models follow pointers to jobs")]

use super::*;
use crate::primitives::cell::UnsafeCell;
use crate::primitives::mutation::{check, check_without};
use loom::sync::Arc;

/// A job that notes how often it has been taken, without an atomic: loom finds two takers that do not exclude each
/// other, and one that does not see what was written before the push.
struct Job(UnsafeCell<u32>);

// SAFETY: what the model checks is that one thread at a time reaches the cell.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

struct Bench {
    deque: Deque<Job>,
    jobs: [Job; 2],
}

impl Bench {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            deque: Deque::new(),
            jobs: [Job(UnsafeCell::new(0)), Job(UnsafeCell::new(0))],
        })
    }

    fn push(&self, index: u32) {
        let job = &self.jobs[index as usize];
        // SAFETY: the job has not been pushed yet.
        job.0.with_mut(|count| unsafe { *count = 0 });
        assert!(self.deque.push(index, NonNull::from(job)), "nobody asks");
    }

    fn run(job: NonNull<Job>) {
        // SAFETY: the jobs outlive the model's threads.
        let job = unsafe { job.as_ref() };
        // SAFETY: whoever has taken the job is alone with it.
        job.0.with_mut(|count| unsafe { *count += 1 });
    }

    /// The end of the owner's fork.
    fn join(&self, index: u32) {
        if self.deque.pop(index) || self.deque.reclaim(index) == Reclaimed::Own {
            Self::run(NonNull::from(&self.jobs[index as usize]));
        } else {
            self.deque.retire(index);
        }
    }

    fn count(&self, index: usize) -> u32 {
        // SAFETY: the threads have ended.
        self.jobs[index].0.with(|count| unsafe { *count })
    }
}

#[test]
fn owner_and_thief_share_what_is_public() {
    // The thief's first look is spared: what it saw may have come back since, with other jobs.
    check_without(&[Edge::DequeLook], &[Edge::DequePublish, Edge::DequeSteal], || {
        let bench = Bench::new();
        let thief = {
            let bench = bench.clone();
            loom::thread::spawn(move || {
                bench.deque.steal().into_iter().for_each(Bench::run);
            })
        };
        bench.push(0);
        bench.push(1);
        bench.deque.publish();
        bench.join(1);
        bench.join(0);
        // The places serve again.
        bench.deque.push(0, NonNull::from(&bench.jobs[0]));
        assert!(bench.deque.pop(0));
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
                bench.deque.steal().into_iter().for_each(Bench::run);
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
    // The fences of the pop that never comes are spared.
    check_without(
        &[Edge::DequeLight, Edge::DequeHeavy],
        &[Edge::DequePush, Edge::DequeHead],
        || {
            let bench = Bench::new();
            let thief = {
                let bench = bench.clone();
                loom::thread::spawn(move || {
                    let seized = bench.deque.seize();
                    bench.deque.steal().into_iter().for_each(Bench::run);
                    seized
                })
            };
            bench.push(0);
            let seized = thief.join().unwrap();
            assert_eq!(bench.count(0), seized);
        },
    );
}
