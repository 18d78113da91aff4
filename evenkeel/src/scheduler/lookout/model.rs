//! Models of the lookout: of its rounds beside hosts, thieves and pushers. They run the code that
//! runs.
//!
//! Naps and rests are left out, because loom has no time. Workers are asleep at first: beside one
//! that is awake the lookout never ends its rounds.

use super::*;
use crate::deque::Level;
use crate::fork_join;
use crate::idle::Called;
use crate::policy::Locality;
use crate::policy::timing::RESOLUTION;
use crate::primitives::atomic::Edge;
use crate::primitives::mutation::{check, check_without};
use crate::processor::context::Context;
use crate::processor::neighbours::Neighbours;
use crate::processor::seat::Seat;
use crate::processor::shared::Hooks;
use crate::scheduler::errands;
use crate::scheduler::job::{self, Stolen};
use crate::scheduler::model::orphan;
use crate::scheduler::stuck::Waiting;
use crate::scheduler::worker::Worker;
use crate::scheduler::{run, wake};
use crate::task::word_waker::WordWaker;
use crate::timers::Rules;

/// Sleeping workers of a runtime whose lookout makes rounds.
fn sleepers<const WORKERS: usize>() -> (Arc<Shared>, [Seat; WORKERS]) {
    let (shared, mut seats) = Seat::all(
        (0..WORKERS).map(|me| Neighbours::flat(me, WORKERS)).collect(),
        Locality::default(),
        Hooks::default(),
        1,
        Rules::new::<WordWaker>(RESOLUTION),
    );
    let workers = std::array::from_fn(|_| seats.next().expect("there is a worker"));
    // Its processor is there before the lookout looks at it.
    drop(Seat::of_relief(&shared, WORKERS));
    let lookout = shared.clone();
    loom::thread::spawn(move || lookout.idle.begin_lookout()).join().unwrap();
    assert!(shared.idle.ask_to_look());
    (0..WORKERS).for_each(|worker| shared.idle.announce(worker));
    (shared, workers)
}

/// Wakes a worker, as the pusher of its task does.
fn awake(seat: Seat) -> Context {
    assert!(seat.shared().idle.wake(seat.me()));
    Context::new(seat, 0)
}

/// The lookout makes rounds until there has to be none, and is about to rest. Meanwhile a thread
/// does `work` on workers that it wakes. Then the lookout has to go on, or has been asked.
fn rests_beside<T: 'static, const WORKERS: usize>(
    work: impl FnOnce([Seat; WORKERS]) -> T + 'static,
) -> T {
    let (shared, workers) = sleepers::<WORKERS>();
    let worker = loom::thread::spawn(move || work(workers));
    let mut lookout = Lookout::default();
    // The first round has been asked for.
    let rests = lookout.round(&shared).is_some()
        && lookout.round(&shared).is_none()
        && prepare_rest(&shared).is_some();
    let result = worker.join().unwrap();
    assert!(!rests || shared.idle.is_to_look());
    result
}

/// A worker wakes, and waits inside a fork for a job that a thief has taken from its deque.
#[test]
fn a_lookout_that_is_about_to_rest_sees_a_host_that_waits() {
    check(&[Edge::StuckWait, Edge::StuckLook], || {
        rests_beside(|[host]: [_; 1]| std::mem::forget(Waiting::begin(&awake(host))));
    });
}

/// A thief steals a job of a host. The host's fork comes before the theft, so one thread makes
/// both.
#[test]
fn a_lookout_that_is_about_to_rest_sees_the_host_of_a_stolen_job() {
    check(&[Edge::IdleSleep, Edge::StuckLook], || {
        let [host, thief] = rests_beside(|workers: [_; 2]| {
            let [host, thief] = workers.map(awake);
            host.enter(|| fork_join::spawn(|| {}));
            host.seat.processor().deque.publish();
            let stolen = Stolen::take(host.shared(), 0, || true).expect("there is a job");
            let away = Worker::new(&thief).leave_for(stolen.victim());
            thief.enter(|| stolen.run(&thief));
            std::mem::forget(away);
            [host, thief]
        });
        host.enter(|| job::run_above(&host, Level::FLOOR));
        drop(thief);
    });
}

/// A worker wakes and makes a task ready, which it does not come to.
fn push<const WORKERS: usize>() {
    let context = rests_beside(|workers: [Seat; WORKERS]| {
        for other in &workers[1..] {
            // It is stuck, and does not see the task either.
            assert!(other.shared().idle.cancel(other.me()));
            assert!(other.shared().idle.find_stuck(other.me(), &other.processor().absence));
        }
        let context = awake(workers.into_iter().next().expect("there is a worker"));
        let ready = context.seat.push_new(orphan(Some(&context.seat)), 0);
        wake::after_push(&context, ready);
        context
    });
    let task = context.seat.pop(false).expect("it has been pushed").task;
    context.seat.unregister(0);
    run::run_elsewhere(task);
}

/// The only worker makes a light fence, and the lookout the heavy one.
#[test]
fn a_lookout_that_is_about_to_rest_sees_a_task_of_the_only_worker() {
    check(&[Edge::LonePush, Edge::WatchEnd], push::<1>);
}

/// A relief begins and, if `rests` is set, ends a rest. It is about to poll what may occupy it.
fn relieve(rests: bool) {
    let worker = rests_beside(move |[worker]: [Seat; 1]| {
        let shared = worker.shared();
        assert_eq!(shared.idle.call(), Called::Start);
        shared.idle.begin_relief(1);
        if rests {
            shared.idle.announce_rest();
            assert!(!shared.idle.end_rest());
        }
        shared.watch();
        worker
    });
    assert!(!worker.shared().idle.is_resting());
}

#[test]
fn a_lookout_that_is_about_to_rest_sees_a_relief_that_begins() {
    check(&[Edge::StuckWait, Edge::StuckLook], || relieve(false));
}

#[test]
fn a_lookout_that_is_about_to_rest_sees_a_relief_that_has_rested() {
    check(&[Edge::StuckWait, Edge::StuckLook], || relieve(true));
}

/// All workers are stuck, and an errand is sent.
#[test]
fn a_lookout_that_is_about_to_rest_sees_an_errand() {
    check(&[Edge::IdlePush, Edge::WatchEnd], || {
        rests_beside(|[worker]: [Seat; 1]| {
            let shared = worker.shared();
            assert!(shared.idle.cancel(worker.me()));
            assert!(shared.idle.find_stuck(worker.me(), &worker.processor().absence));
            errands::send(shared, Box::new(|| {}));
            worker
        });
    });
}

/// Another worker is stuck.
#[test]
fn a_lookout_that_is_about_to_rest_sees_a_task_beside_a_stuck_worker() {
    check_without(&[Edge::LonePush], &[Edge::IdlePush, Edge::WatchEnd], push::<2>);
}
