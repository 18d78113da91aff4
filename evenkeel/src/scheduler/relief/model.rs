//! Models of the calling of the relief, on the code that pushers, workers and the relief run. Those
//! of [`idle`](crate::scheduler::idle) have all three at once, with a store and a fence for a push.

use super::*;
use crate::policy::Locality;
use crate::policy::timing::RESOLUTION;
use crate::primitives::atomic::Edge;
use crate::primitives::mutation::{check, check_without};
use crate::processor::neighbours::Neighbours;
use crate::processor::shared::{Hooks, Starter};
use crate::scheduler::away::Away;
use crate::scheduler::model::orphan;
use crate::scheduler::run;
use crate::task::word_waker::WordWaker;
use crate::timers::Rules;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One worker, and the seat of the relief.
fn worker_and_relief() -> (Arc<Shared>, Seat, Seat) {
    let (shared, mut seats) = Seat::all(
        (0..2).map(|me| Neighbours::flat(me, 2)).collect(),
        Locality::default(),
        Hooks::default(),
        true,
        Rules::new::<WordWaker>(RESOLUTION),
    );
    let worker = seats.next().expect("there is a worker");
    let relief = Seat::of_relief(&shared);
    (shared, worker, relief)
}

/// A thread outside leaves a task to the worker.
fn push_outside(shared: &Arc<Shared>) -> loom::thread::JoinHandle<()> {
    let shared = shared.clone();
    loom::thread::spawn(move || wake::leave(&shared, 0, orphan(None)))
}

fn empty(shared: &Shared) {
    shared.processors[0].inbox.take().for_each(run::run_elsewhere);
}

/// The relief has no thread yet, and the pusher or the worker has it started.
#[test]
fn a_push_beside_the_last_worker_that_goes_away_has_the_relief_called() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let (shared, worker, _) = worker_and_relief();
        let called = Arc::new(AtomicBool::new(false));
        let start = {
            let called = called.clone();
            move |_, _| !called.swap(true, Ordering::Relaxed)
        };
        assert!(shared.relief_starter.set(Starter(Box::new(start))).is_ok());
        let worker = Context::new(worker, 0);
        let pusher = push_outside(&shared);
        std::mem::forget(Away::begin(&worker));
        pusher.join().unwrap();
        assert!(called.load(Ordering::Relaxed));
        empty(&shared);
    });
}

/// The worker is away, and the relief is about to rest: loom reports a deadlock if it is not
/// called. The changes of its word are enough, so the fences are spared. They have their own edges
/// in a model of [`idle`](crate::scheduler::idle) without an unpark, which would stand for them.
#[test]
fn a_push_is_seen_by_a_relief_that_is_about_to_rest() {
    check_without(&[Edge::IdlePush, Edge::IdleSleep], &[], || {
        let (shared, worker, relief) = worker_and_relief();
        let _ = shared.idle.go_away(&worker.processor().absence);
        shared.idle.begin_relief();
        // It is not joined: a call may come late, and loom does not tell it from the end of a
        // thread.
        push_outside(&shared);
        let context = Context::new(relief, 0);
        assert!(Worker::new(&context).rest(&mut Relieving::new(0)));
        assert!(!shared.processors[0].inbox.is_empty(), "it sees what it is for");
        empty(&shared);
    });
}
