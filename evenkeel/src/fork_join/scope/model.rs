//! A model of the end of a scope, on the code that counts its jobs.

#![allow(unsafe_code, reason = "data that loom watches, and jobs by hand")]

use super::*;
use crate::primitives::mutation::check;
use crate::scheduler::model::two_seats;
use loom::cell::UnsafeCell;

/// A datum for each job.
struct Watched([UnsafeCell<u32>; 2]);

// SAFETY: loom fails a model in which two threads reach a datum at once.
unsafe impl Send for Watched {}
// SAFETY: as above.
unsafe impl Sync for Watched {}

/// The owner may see that its scope is over before the last job unparks it.
#[test]
fn an_owner_sees_what_all_jobs_have_done() {
    check(&[Edge::ScopeOut, Edge::ScopeOver], || {
        let (seat, _other) = two_seats();
        let data = Arc::new(Watched([UnsafeCell::new(0), UnsafeCell::new(0)]));
        let scope = Arc::new(Scope::new(Handle::new(seat.shared().clone()), 0));
        let jobs = [0, 1].map(|index| {
            let (data, kept) = (data.clone(), scope.clone());
            // SAFETY: the scope is not over, so only its job has the datum.
            let body = move || data.0[index].with_mut(|datum| unsafe { *datum = 1 });
            // SAFETY: the thread keeps the scope.
            let job = unsafe { erase(scope.job(1, body)) };
            loom::thread::spawn(move || {
                job();
                drop(kept);
            })
        });
        assert!(scope.run(|| {}).0.is_ok());
        while !scope.is_over() {
            loom::thread::yield_now();
        }
        for datum in &data.0 {
            // SAFETY: the scope is over, so only its owner has the data.
            datum.with(|datum| assert_eq!(unsafe { *datum }, 1));
        }
        for job in jobs {
            job.join().unwrap();
        }
    });
}
