//! Models of the calling of spares, on the code that senders, waiters and sleepers run.

use super::*;
use crate::primitives::mutation::{check, check_without};
use crate::processor::shared::Starter;
use crate::processor::spares::Waiting;
use crate::scheduler::model::two_seats;
use crate::scheduler::worker::Worker;
use std::sync::atomic::AtomicBool;

/// Gives calls a spare that has no thread. The returned flag says whether there was a call.
pub(crate) fn start_none(shared: &Shared) -> Arc<AtomicBool> {
    let called = Arc::new(AtomicBool::new(false));
    let start = {
        let called = called.clone();
        move |_, _| {
            called.store(true, Ordering::Relaxed);
            true
        }
    };
    assert!(shared.spare_starter.set(Starter(Box::new(start))).is_ok());
    called
}

/// A spare that has found no errand parks its place. Returns whether it has been called again.
pub(crate) fn park(shared: &Arc<Shared>, number: usize) -> bool {
    Spare { shared: shared.clone(), number }.is_called_again()
}

/// Where one misses the other, the errand waits until the waiter's next turn.
#[test]
fn a_sender_sees_the_waiter_or_the_waiter_sees_the_errand() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let (seat, _other) = two_seats();
        let shared = seat.shared().clone();
        for processor in shared.processors.iter() {
            let _ = shared.idle.go_away(&processor.absence);
        }
        let called = start_none(&shared);
        let sender = {
            let shared = shared.clone();
            loom::thread::spawn(move || errands::send(&shared, Box::new(|| {})))
        };
        let _waiting = Waiting::begin(&shared.spares);
        let has_seen = !shared.errands.is_empty();
        sender.join().unwrap();
        assert!(has_seen || called.load(Ordering::Relaxed));
    });
}

/// A worker of the runtime is enlisted while it waits for another runtime. Here it parks without a
/// bound: loom reports a deadlock if the sender does not unpark it.
#[test]
fn a_sender_unparks_the_enlisted_worker_or_that_sees_the_errand() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let (seat, _other) = two_seats();
        let shared = seat.shared().clone();
        let sender = {
            let shared = shared.clone();
            loom::thread::spawn(move || errands::send(&shared, Box::new(|| {})))
        };
        shared.idle.sit(0);
        shared.errands.enlist(0);
        if shared.errands.is_empty() {
            thread::park(None);
        }
        assert!(!shared.errands.is_empty());
        shared.errands.dismiss(0);
        sender.join().unwrap();
    });
}

/// A spare that begins asks itself for its first fork, or a worker that falls asleep asks it.
#[test]
fn a_spare_sees_the_sleeper_or_the_sleeper_asks_it() {
    // The sleeper's second fence is spared: it follows the request.
    check_without(&[Edge::DequeAsked], &[Edge::IdlePush, Edge::IdleSleep], || {
        let (seat, sleeper) = two_seats();
        let shared = seat.shared().clone();
        start_none(&shared);
        let number = shared.spares.first;
        let _waiting = Waiting::begin(&shared.spares);
        let spare = {
            let shared = shared.clone();
            loom::thread::spawn(move || {
                shared.call_spare();
                offer_jobs(&Context::new(super::seat(&shared, number), 0));
            })
        };
        Worker::new(&Context::new(sleeper, 0)).announce();
        spare.join().unwrap();
        assert!(shared.processor(number).deque.is_asked());
    });
}
