//! Models of the semaphore.

#![allow(unsafe_code, reason = "a datum that loom watches")]

use super::{Permit, Semaphore};
use crate::primitives::atomic::Edge;
use crate::primitives::mutation::check;
use crate::runtime::block_on;
use loom::cell::UnsafeCell;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A datum whose accesses loom watches.
struct Watched(UnsafeCell<u32>);

// SAFETY: loom fails a model in which two threads reach the value at once.
unsafe impl Send for Watched {}

fn datum() -> Watched {
    Watched(UnsafeCell::new(7))
}

fn look(datum: &Watched) {
    datum.0.with_mut(|value| {
        // SAFETY: this thread has the permit.
        assert_eq!(unsafe { *value }, 7);
    });
}

/// Polls an `acquire` up to `polls` times, then drops it.
fn acquire_impatiently(semaphore: &Semaphore<Watched>, polls: usize) -> Option<Watched> {
    let mut acquire = pin!(semaphore.acquire());
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..polls {
        if let Poll::Ready(permit) = acquire.as_mut().poll(&mut context) {
            return Some(permit.into_inner());
        }
    }
    None
}

#[test]
fn a_waiter_that_gives_up_while_it_is_granted_loses_no_permit() {
    check(&[Edge::SpinLock, Edge::SpinUnlock], || {
        let semaphore = Arc::new(Semaphore::empty());
        let releaser = {
            let semaphore = semaphore.clone();
            loom::thread::spawn(move || {
                let datum = datum();
                look(&datum);
                semaphore.hand_over(datum);
            })
        };
        let mut datum = acquire_impatiently(&semaphore, 2);
        releaser.join().unwrap();
        assert_eq!(semaphore.available_permits() + usize::from(datum.is_some()), 1);
        assert_eq!(semaphore.waiting(), 0);
        datum = datum.or_else(|| semaphore.try_acquire().map(Permit::into_inner));
        look(&datum.expect("the permit is in one place"));
    });
}

#[test]
fn the_permit_of_a_waiter_that_gives_up_goes_to_the_one_behind() {
    check(&[Edge::WaitEnd, Edge::WaitEnded], || {
        let semaphore = Arc::new(Semaphore::<Watched>::empty());
        let mut context = Context::from_waker(Waker::noop());
        let mut impatient = Box::pin({
            let semaphore = semaphore.clone();
            async move { semaphore.take().await }
        });
        assert!(impatient.as_mut().poll(&mut context).is_pending());
        let mut patient = pin!(semaphore.acquire());
        assert!(patient.as_mut().poll(&mut context).is_pending());
        let impatient = loom::thread::spawn(move || drop(impatient));
        let datum = datum();
        look(&datum);
        semaphore.hand_over(datum);
        look(&block_on(patient).into_inner());
        impatient.join().unwrap();
        assert_eq!((semaphore.available_permits(), semaphore.waiting()), (0, 0));
    });
}
