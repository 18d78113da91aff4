//! Models of what a worker looks at while it waits: of a nap beside a host that forks, and of
//! spares. The end of the nap is left out, because loom has no time: the models ask whether the
//! host has taken the worker's number, or the worker has seen a job.
//!
//! The host is the spawned thread: loom remembers one access to an atomic, and misses the host's
//! look at a request that the worker looks at and then makes.

#![allow(unsafe_code, reason = "a half by hand")]

use super::*;
use crate::deque::Level;
use crate::fork_join;
use crate::fork_join::half::{Half, Here, Room};
use crate::primitives::mutation::{check, check_without};
use crate::processor::Processor;
use crate::scheduler::model::{fill_places, two_seats};
use crate::scheduler::spare;

/// Worker 0, the host, does `work` after `prepare`, and worker 1 is about to nap meanwhile. The
/// host has taken the napper's number, or the napper has seen a job, or `otherwise` holds.
fn work_beside_a_napper(
    prepare: fn(&Context, &Context),
    work: fn(&Context),
    otherwise: fn(&Processor) -> bool,
) {
    let (host, napper) = two_seats();
    let shared = host.shared().clone();
    let (host, napper) = (Context::new(host, 0), Context::new(napper, 0));
    prepare(&host, &napper);
    let worker = loom::thread::spawn(move || host.enter(|| work(&host)));
    let naps = is_to_nap(&napper, Some(0));
    worker.join().unwrap();
    let host = shared.processor(0);
    assert!(!naps || host.napper.load(Ordering::Relaxed) == 0 || otherwise(host));
}

/// The host takes the job back before the worker looks, or after. A push that does not see the
/// request leaves it to the next push.
fn fork_beside_a_napper(prepare: fn(&Context, &Context)) {
    let fork = |context: &Context| {
        fork_join::spawn(|| {});
        job::run_above(context, Level::FLOOR);
    };
    work_beside_a_napper(prepare, fork, |host| host.deque.is_asked());
}

/// The edges of a fork. The fence after the request is spared: loom does not explore a host that
/// answers between the two, because a fence is no step to loom.
fn check_fork(model: fn()) {
    check_without(&[Edge::DequeAsked], &[Edge::IdlePush, Edge::NapNumber], model);
}

#[test]
fn a_fork_wakes_the_napper_that_has_asked_or_its_request_stays() {
    check_fork(|| fork_beside_a_napper(|_, _| {}));
}

#[test]
fn a_fork_wakes_a_napper_for_which_another_thief_has_asked() {
    check_fork(|| {
        fork_beside_a_napper(|host, _| host.seat.processor().deque.ask());
    });
}

#[test]
fn a_job_that_is_spilled_wakes_the_napper_or_the_napper_sees_it() {
    check(&[Edge::IdlePush, Edge::DequeAsked], || {
        let spill = |_: &Context| fork_join::spawn(|| {});
        work_beside_a_napper(fill_places, spill, |_| false);
    });
}

/// A spare that yields steals from any worker, and this one has looked at no spare yet.
#[test]
fn a_waiter_finds_the_deque_of_the_spare_that_has_its_half() {
    check(&[Edge::LatchTake, Edge::LatchThief], || {
        let (owner, _other) = two_seats();
        let shared = owner.shared().clone();
        let deque = &shared.processor(0).deque;
        let (place, mut room) = (deque.head(), Room::new());
        // SAFETY: the place is the head, and there is a slot.
        let half = unsafe { Half::put(place, &mut room, |_: Here<'_>| {}) };
        deque.push(place);
        deque.publish();
        let thief = {
            let shared = shared.clone();
            loom::thread::spawn(move || {
                let spare = Context::new(spare::seat(&shared, shared.spares.first), 0);
                let stolen = Stolen::take(&shared, 0, || true).expect("there is a half");
                spare.enter(|| stolen.run(&spare));
            })
        };
        let owner = Context::new(owner, 0);
        // SAFETY: the half is not at its end.
        let latch = unsafe { half.latch() };
        assert!(
            !matches!(
                leap(&owner, latch, &Cell::default(), Idle { now: 0, waited: 0 }),
                Meanwhile::Job(_)
            ),
            "it has no descendants"
        );
        thief.join().unwrap();
        assert!(latch.is_complete());
        // SAFETY: it is complete.
        unsafe { half.take_result() }.expect("it does not panic");
        deque.retire(place);
    });
}

/// A waiter calls a spare for an errand that it has seen, while that spare parks its place.
#[test]
fn a_spare_that_is_called_again_sees_the_errand() {
    check(&[Edge::SpareCall, Edge::SpareCalled], || {
        let (seat, _other) = two_seats();
        let shared = seat.shared().clone();
        spare::model::start_none(&shared);
        let other = Waiting::begin(&shared.spares);
        shared.call_spare();
        let spare = {
            let shared = shared.clone();
            loom::thread::spawn(move || {
                let is_called = spare::model::park(&shared, shared.spares.first);
                assert!(!is_called || !shared.errands.is_empty(), "it was called for one");
            })
        };
        let waiter = {
            let shared = shared.clone();
            loom::thread::spawn(move || {
                let waiting = Some(Waiting::begin(&shared.spares));
                Errands { since: Some(0), waiting }.look(&shared, READY, READY);
            })
        };
        errands::send(&shared, Box::new(|| {}));
        waiter.join().unwrap();
        spare.join().unwrap();
        drop(other);
    });
}

/// A time by which the errand has lain for long.
const READY: u64 = u64::MAX / 2;
