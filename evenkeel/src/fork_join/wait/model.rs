//! Models of a nap beside a host that forks. The end of the nap is left out, because loom has no
//! time: the models ask whether the host has taken the worker's number, or the worker has seen a
//! job.
//!
//! The host is the spawned thread: loom remembers one access to an atomic, and misses the host's
//! look at a request that the worker looks at and then makes.

use super::*;
use crate::deque::Level;
use crate::fork_join;
use crate::primitives::mutation::{check, check_without};
use crate::processor::Processor;
use crate::scheduler::model::{fill_places, two_seats};

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
