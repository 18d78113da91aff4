//! Models of monitors: hand-over, signal and accept, each beside a future that is dropped. `drops`
//! has the models of sets, of acceptors and of limits, `parts` those of split sets.

#![allow(unsafe_code, reason = "a value that loom watches")]

mod drops;
mod parts;

use super::{Accepted, Clause, Condition, Entry, Held, Monitor, call};
use crate::primitives::atomic::Edge;
use crate::primitives::mutation::check;
use crate::runtime::block_on;
use loom::cell::UnsafeCell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A number whose accesses loom watches.
struct Watched(UnsafeCell<u32>);

// SAFETY: loom fails a model in which two threads reach the value at once.
unsafe impl Send for Watched {}

impl Watched {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn add(&self, count: u32) -> u32 {
        self.0.with_mut(|value| {
            // SAFETY: the caller is inside the monitor, which loom checks.
            let value = unsafe { &mut *value };
            *value += count;
            *value
        })
    }
}

/// Adds inside a monitor. If loom objects, the monitor stays held: leaving it takes steps, and loom
/// allows no more.
fn add(held: Held<&Monitor<Watched>>, count: u32) -> u32 {
    match catch_unwind(AssertUnwindSafe(|| held.add(count))) {
        Ok(value) => value,
        Err(objection) => {
            std::mem::forget(held);
            resume_unwind(objection)
        }
    }
}

#[derive(Clone, Copy)]
struct Call;

impl Entry for Call {
    fn number(self) -> u32 {
        0
    }
}

fn poll_once(future: std::pin::Pin<&mut impl Future>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

/// Waits for a future. It first polls twice without a waker, so that only the grant orders it after
/// the granting thread.
fn look_or_wait<F: Future>(mut future: std::pin::Pin<&mut F>) -> F::Output {
    for _ in 0..2 {
        let poll = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if let Poll::Ready(output) = poll {
            return output;
        }
    }
    block_on(future)
}

#[test]
fn an_entrant_sees_what_the_holder_before_it_has_done() {
    // The acceptor's model shows that the grant alone suffices for it.
    check(&[], || {
        let monitor = Arc::new(Monitor::new(Watched::new()));
        let held = monitor.try_enter().unwrap();
        let mut entrant = Box::pin({
            let monitor = monitor.clone();
            async move { add(monitor.enter().await, 1) }
        });
        assert!(!poll_once(entrant.as_mut()));
        let entrant = loom::thread::spawn(move || look_or_wait(entrant.as_mut()));
        add(held, 1);
        assert_eq!(entrant.join().unwrap(), 2);
        assert_eq!(monitor.try_enter().unwrap().add(0), 2);
    });
}

#[test]
fn an_entrant_that_gives_up_while_it_is_granted_leaves() {
    check(&[Edge::SpinLock, Edge::SpinUnlock], || {
        let monitor = Arc::new(Monitor::new(Watched::new()));
        let held = monitor.try_enter().unwrap();
        let mut entrant = Box::pin({
            let monitor = monitor.clone();
            async move { monitor.enter().await.add(1) }
        });
        assert!(!poll_once(entrant.as_mut()));
        let dropper = loom::thread::spawn(move || drop(entrant));
        held.add(1);
        drop(held);
        dropper.join().unwrap();
        assert_eq!(monitor.try_enter().expect("it is free").add(0), 1);
    });
}

#[test]
fn the_signal_of_a_waiter_that_gives_up_goes_to_the_next() {
    check(&[Edge::SpinLock, Edge::SpinUnlock], || {
        let monitor = Arc::new(Monitor::with_conditions(Watched::new(), Condition::new()));
        let wait = || {
            let monitor = monitor.clone();
            Box::pin(async move {
                let held = monitor.enter().await;
                monitor.conditions().wait(held).await.add(1)
            })
        };
        let (mut impatient, mut patient) = (wait(), wait());
        assert!(!poll_once(impatient.as_mut()));
        assert!(!poll_once(patient.as_mut()));
        let dropper = loom::thread::spawn(move || drop(impatient));
        let mut held = monitor.try_enter().unwrap();
        assert!(monitor.conditions().signal(&mut held));
        held.add(1);
        drop(held);
        // Without the signal the patient waiter would wait for ever.
        assert_eq!(block_on(patient), 2);
        dropper.join().unwrap();
        assert!(monitor.try_enter().is_some());
    });
}

#[test]
fn an_acceptor_sees_what_its_call_has_done() {
    check(&[Edge::WaitEnd, Edge::WaitEnded], || {
        let monitor = Arc::new(Monitor::new(Watched::new()));
        let mut accept = Box::pin({
            let monitor = monitor.clone();
            async move {
                let held = monitor.enter().await;
                let (held, accepted) = Held::accept(held, [Clause::new(Call)]).await;
                assert_eq!(accepted, Accepted::Call(0));
                add(held, 1)
            }
        });
        assert!(!poll_once(accept.as_mut()));
        let acceptor = loom::thread::spawn(move || look_or_wait(accept.as_mut()));
        let body = async |held: Held<&Monitor<Watched>>| add(held, 1);
        assert_eq!(block_on(call(&*monitor, Call, body)), 1);
        assert_eq!(acceptor.join().unwrap(), 2);
    });
}

#[test]
fn a_call_that_gives_up_breaks_off_or_was_never_accepted() {
    check(&[Edge::SpinLock, Edge::SpinUnlock], || {
        let monitor = Arc::new(Monitor::new(Watched::new()));
        let held = monitor.try_enter().unwrap();
        let body = |monitor: Arc<Monitor<Watched>>| async move {
            monitor.call(Call, async |held: Held<&Monitor<Watched>>| held.add(1)).await
        };
        let mut caller = Box::pin(body(monitor.clone()));
        assert!(!poll_once(caller.as_mut()));
        let dropper = loom::thread::spawn(move || drop(caller));
        let (held, accepted) = block_on(Held::accept_or_else(held, [Clause::new(Call)]));
        assert!(matches!(accepted, Accepted::Broken(0) | Accepted::Else), "{accepted:?}");
        held.add(1);
        drop(held);
        dropper.join().unwrap();
        assert_eq!(monitor.try_enter().expect("it is free").add(0), 1);
    });
}
