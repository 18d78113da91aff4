//! Models of the relief: of its calls, of the timers that it fires, and of how it finds stuck
//! workers. Pushers, armers, workers and the relief run the code that runs.
//!
//! A rest is left out, because loom has no time: the models ask, once all threads are done, whether
//! the relief has found something, or rests for a bounded time, or has been called meanwhile. So
//! its calls unpark a thread that has ended: loom cannot tell an unpark from the end of a thread.
//!
//! The threads share by `std`'s `Arc`: loom's `Arc` panics when it is dropped in a model that has
//! failed, which would end the process instead of the weakened run.

#![allow(unsafe_code, reason = "timers by hand")]

use super::*;
use crate::idle::Appointed;
use crate::policy::Locality;
use crate::policy::timing::RESOLUTION;
use crate::primitives::atomic::Edge;
use crate::primitives::mutation::{check, check_without};
use crate::processor::neighbours::Neighbours;
use crate::processor::shared::{Hooks, Starter};
use crate::scheduler::away::Away;
use crate::scheduler::journeys::announce;
use crate::scheduler::model::orphan;
use crate::scheduler::{run, timing};
use crate::task::word_waker::WordWaker;
use crate::timers::{Armed, Entry, Rules, Timers};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

/// The workers of a runtime, and the seat of its relief.
fn workers_and_relief<const WORKERS: usize>() -> (Arc<Shared>, [Seat; WORKERS], Seat) {
    let (shared, mut seats) = Seat::all(
        (0..WORKERS).map(|me| Neighbours::flat(me, WORKERS)).collect(),
        Locality::default(),
        Hooks::default(),
        1,
        Rules::new::<WordWaker>(RESOLUTION),
    );
    let workers = std::array::from_fn(|_| seats.next().expect("there is a worker"));
    let relief = Seat::of_relief(&shared, WORKERS);
    (shared, workers, relief)
}

/// Registers a relief that runs, and a thread of its own that has ended.
fn begin_relief(shared: &Arc<Shared>, relief: usize) {
    let shared = shared.clone();
    loom::thread::spawn(move || shared.idle.begin_relief(relief)).join().unwrap();
}

/// One worker, and the relief, which runs. Its last rest was a bounded one.
fn worker_and_relief() -> (Arc<Shared>, Seat, Context) {
    let (shared, [worker], relief) = workers_and_relief();
    begin_relief(&shared, shared.workers);
    shared.idle.rest_until(0);
    (shared, worker, Context::new(relief, 0))
}

/// The relief's memory, once it rests without having been called.
fn rested() -> Relieving {
    Relieving { is_called: false, ..Relieving::new(0) }
}

/// The relief prepares a rest, with its last look. Returns whether the rest is without a bound.
fn prepares_long_rest(relief: &Context) -> bool {
    match Worker::new(relief).prepare_rest(&rested()) {
        Ok(limit) => limit.is_none(),
        Err(reason) => {
            assert_eq!(reason, Wakened::Work);
            false
        }
    }
}

/// A thread outside leaves a task to the worker.
fn push_outside(shared: &Arc<Shared>) -> loom::thread::JoinHandle<()> {
    let shared = shared.clone();
    loom::thread::spawn(move || wake::leave(&shared, 0, orphan(None)))
}

/// The worker goes away, and stays away.
fn go_away(worker: Seat) -> loom::thread::JoinHandle<()> {
    loom::thread::spawn(move || {
        let context = Context::new(worker, 0);
        std::mem::forget(Away::begin(&context));
    })
}

fn empty(shared: &Shared) {
    for processor in shared.processors.iter() {
        processor.inbox.take().for_each(run::run_elsewhere);
    }
}

/// The relief has no thread yet, and the pusher or the worker has it started.
#[test]
fn a_push_beside_the_last_worker_that_goes_away_has_the_relief_called() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let (shared, [worker], _) = workers_and_relief();
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

/// The last worker goes away, and the relief is about to rest, while a pusher pushes one task.
#[test]
fn a_push_beside_the_last_worker_that_goes_away_reaches_the_relief() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let (shared, worker, relief) = worker_and_relief();
        let (pusher, worker) = (push_outside(&shared), go_away(worker));
        let rests = prepares_long_rest(&relief);
        pusher.join().unwrap();
        worker.join().unwrap();
        assert!(!rests || !shared.idle.is_resting());
        empty(&shared);
    });
}

/// The worker is away, and the relief is about to rest. The changes of the word by which it is
/// called are enough, so the fences are spared.
#[test]
fn a_push_is_seen_by_a_relief_that_is_about_to_rest() {
    use Edge::{IdlePush, IdleSleep, ReliefCall, ReliefRest};
    check_without(&[IdlePush, IdleSleep], &[ReliefCall, ReliefRest], || {
        let (shared, worker, relief) = worker_and_relief();
        let _ = shared.idle.go_away(&worker.processor().absence);
        let pusher = push_outside(&shared);
        let rests = prepares_long_rest(&relief);
        pusher.join().unwrap();
        assert!(!rests || !shared.idle.is_resting());
        empty(&shared);
    });
}

/// A thread outside leaves a task directly to the relief, which is about to rest.
#[test]
fn a_task_in_the_inbox_of_the_relief_is_seen() {
    use Edge::{IdlePush, IdleSleep, ReliefCall, ReliefRest};
    check_without(&[IdlePush, IdleSleep], &[ReliefCall, ReliefRest], || {
        let (shared, worker, relief) = worker_and_relief();
        let _ = shared.idle.go_away(&worker.processor().absence);
        let pusher = {
            let shared = shared.clone();
            loom::thread::spawn(move || wake::send(&shared, 0, orphan(None)))
        };
        let rests = prepares_long_rest(&relief);
        pusher.join().unwrap();
        assert!(!shared.processors[1].inbox.is_empty(), "it is left to the relief");
        assert!(!rests || !shared.idle.is_resting());
        empty(&shared);
    });
}

/// The relief finds the last worker stuck, and is about to rest, while a pusher pushes one task.
#[test]
fn a_push_beside_a_worker_that_is_found_stuck_reaches_the_relief() {
    // The fence before the relief's rest does not pair with a pusher's light fence.
    check_without(&[Edge::IdleSleep], &[Edge::IdlePush, Edge::StuckFind], || {
        let (shared, worker, relief) = worker_and_relief();
        let pusher = push_outside(&shared);
        assert!(shared.idle.find_stuck(0, &worker.processor().absence));
        let rests = prepares_long_rest(&relief);
        pusher.join().unwrap();
        assert!(!rests || !shared.idle.is_resting());
        empty(&shared);
    });
}

/// The same, while that worker goes away by itself.
#[test]
fn a_push_beside_a_worker_that_goes_away_stuck_reaches_the_relief() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let (shared, worker, relief) = worker_and_relief();
        let (pusher, worker) = (push_outside(&shared), go_away(worker));
        assert!(shared.idle.find_stuck(0, &shared.processors[0].absence));
        let rests = prepares_long_rest(&relief);
        pusher.join().unwrap();
        worker.join().unwrap();
        assert!(!rests || !shared.idle.is_resting());
        empty(&shared);
    });
}

/// The relief counts the last worker in by an older observation, and the worker falls asleep by
/// then. A pusher that sees all away calls the relief, and does not wake the sleeper.
#[test]
fn a_push_beside_a_sleeper_that_is_found_stuck_is_found() {
    // The sleeper's second fence is spared: it follows its request for jobs.
    check_without(&[Edge::DequeAsked], &[Edge::IdlePush, Edge::IdleSleep], || {
        let (shared, worker, relief) = worker_and_relief();
        let pusher = push_outside(&shared);
        let worker = loom::thread::spawn(move || {
            let context = Context::new(worker, 0);
            let mut worker = Worker::new(&context);
            worker.announce();
            worker.last_look().is_some()
        });
        assert!(shared.idle.find_stuck(0, &shared.processors[0].absence));
        let rests = prepares_long_rest(&relief);
        pusher.join().unwrap();
        let has_seen = worker.join().unwrap();
        // A worker that was woken counts itself out, makes a fence and looks again. A relief that
        // was called looks again, and takes the task if the worker is still counted.
        let looks_again = !shared.idle.is_resting() && shared.idle.counts().all_away;
        assert!(has_seen || !shared.idle.is_asleep(0) || !rests || looks_again);
        empty(&shared);
    });
}

/// The deadline of the models' timers, which never passes.
const DEADLINE: u64 = 1 << 50;

/// A timer that one thread arms.
struct Timer(Entry);

impl Timer {
    fn arm(
        self: Box<Self>,
        arm: impl FnOnce(NonNull<Entry>, WordWaker) -> (Armed, &'static Timers),
    ) -> (Box<Self>, &'static Timers) {
        let (armed, timers) = arm(NonNull::from(&self.0), WordWaker::of(Waker::noop()));
        assert_eq!(armed, Armed::Waits { is_next: true });
        (self, timers)
    }

    fn cancel((timer, timers): (Box<Self>, &'static Timers)) {
        // SAFETY: it was armed there.
        assert!(unsafe { timers.cancel::<WordWaker>(NonNull::from(&timer.0)) }.is_some());
    }
}

/// A worker arms a timer in its poll.
fn arm_here(worker: Seat) -> loom::thread::JoinHandle<(Box<Timer>, &'static Timers)> {
    let timer = Box::new(Timer(Entry::new()));
    loom::thread::spawn(move || {
        let context = Context::new(worker, 0);
        // SAFETY: the entry is idle, and is cancelled before it ends.
        timer.arm(|entry, waker| unsafe { timing::arm_here(&context, entry, DEADLINE, waker) })
    })
}

/// The last worker goes away, and the relief is about to rest, while a thread outside arms a timer.
#[test]
fn the_relief_learns_of_a_timer_of_workers_that_are_away() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let (shared, worker, relief) = worker_and_relief();
        let timer = Box::new(Timer(Entry::new()));
        let armer = {
            let shared = shared.clone();
            // SAFETY: the entry is idle, and is cancelled before it ends.
            let arm =
                move |entry, waker| unsafe { timing::arm_outside(&shared, entry, DEADLINE, waker) };
            loom::thread::spawn(move || timer.arm(arm))
        };
        let worker = go_away(worker);
        let rests = prepares_long_rest(&relief);
        worker.join().unwrap();
        Timer::cancel(armer.join().unwrap());
        assert!(!rests || !shared.idle.is_resting());
    });
}

/// A worker arms a timer in its poll, behind a light fence, while the relief finds it stuck.
#[test]
fn the_relief_learns_of_a_timer_of_the_worker_that_it_finds_stuck() {
    // The fence before the relief's rest does not pair with a light fence. The worker's second
    // fence does, and the end of a former rest is the business of the next model.
    let spared = [Edge::IdleSleep, Edge::TimerArmAway];
    check_without(&spared, &[Edge::TimerArm, Edge::StuckFind], || {
        let (shared, worker, relief) = worker_and_relief();
        shared.idle.rest_until(u64::MAX);
        let armer = arm_here(worker);
        assert!(shared.idle.find_stuck(0, &shared.processors[0].absence));
        let rests = prepares_long_rest(&relief);
        Timer::cancel(armer.join().unwrap());
        assert!(!rests || !shared.idle.is_resting());
    });
}

/// A worker arms a timer in its poll while the relief, which has found it stuck before, is about to
/// rest again.
#[test]
fn the_relief_learns_of_a_timer_of_the_worker_that_it_has_found_stuck() {
    // The light fence does not pair with the fence before the relief's rest.
    check_without(&[Edge::TimerArm], &[Edge::TimerArmAway, Edge::IdleSleep], || {
        let (shared, worker, relief) = worker_and_relief();
        assert!(shared.idle.find_stuck(0, &worker.processor().absence));
        let armer = arm_here(worker);
        let rests = prepares_long_rest(&relief);
        Timer::cancel(armer.join().unwrap());
        assert!(!rests || !shared.idle.is_resting());
    });
}

/// A worker that the relief has found stuck arms a timer in its poll while another worker, the last
/// one, goes away. The relief rests without a bound.
#[test]
fn the_relief_learns_of_a_timer_beside_the_last_worker_that_goes_away() {
    // The light fence does not pair with the full fence of a worker.
    check_without(&[Edge::TimerArm], &[Edge::TimerArmAway, Edge::IdleSleep], || {
        let (shared, [stuck, other], relief) = workers_and_relief();
        begin_relief(&shared, shared.workers);
        assert!(shared.idle.find_stuck(0, &stuck.processor().absence));
        assert!(prepares_long_rest(&Context::new(relief, 0)));
        let armer = arm_here(stuck);
        let other = go_away(other);
        other.join().unwrap();
        Timer::cancel(armer.join().unwrap());
        assert!(!shared.idle.is_resting());
    });
}

/// A worker sends a task to one that is away, and goes away last, while the relief is about to
/// rest.
#[test]
fn the_relief_learns_of_a_visitor_beside_the_last_worker_that_goes_away() {
    // The fence of the line is for a receiver that sleeps or is stuck.
    check_without(&[Edge::TravelSent], &[Edge::IdleSleep], || {
        let (shared, [host, sender], relief) = workers_and_relief();
        begin_relief(&shared, shared.workers);
        shared.idle.rest_until(0);
        let _ = shared.idle.go_away(&host.processor().absence);
        let sender = loom::thread::spawn(move || {
            let context = Context::new(sender, 0);
            if context.seat.depart(orphan(None), 0) {
                announce(context.shared(), 0);
            }
            context.seat.send_departed(|target| announce(context.shared(), target));
            std::mem::forget(Away::begin(&context));
        });
        let rests = prepares_long_rest(&Context::new(relief, 0));
        sender.join().unwrap();
        assert!(!rests || !shared.idle.is_resting());
        let mut arrived = Vec::new();
        let mut local = host.processor().local.claim(true).expect("its owner is away");
        host.processor().drain_travellers(&mut local, 0, &mut arrived);
        drop(local);
        assert_eq!(arrived.len(), 1);
        arrived.into_iter().for_each(|entry| run::run_elsewhere(entry.task));
    });
}

/// A pusher leaves a task to a relief, while the lookout puts another on duty. Both reliefs are
/// about to rest, and the one off duty has not found that out yet.
#[test]
fn a_task_that_is_left_to_a_relief_off_duty_is_seen() {
    use Edge::{IdlePush, IdleSleep, ReliefCall, ReliefRest};
    check_without(&[IdlePush, IdleSleep], &[ReliefCall, ReliefRest], || {
        let (shared, worker, [former, relief]) = two_reliefs();
        let _ = shared.idle.go_away(&worker.processor().absence);
        let pusher = {
            let shared = shared.clone();
            loom::thread::spawn(move || wake::send(&shared, 0, orphan(None)))
        };
        let former = loom::thread::spawn(move || prepares_long_rest(&Context::new(former, 0)));
        shared.idle.put_on_duty(2);
        let rests = prepares_long_rest(&Context::new(relief, 0));
        let former_rests = former.join().unwrap();
        pusher.join().unwrap();
        assert!(!rests || !former_rests || !shared.idle.is_resting());
        empty(&shared);
    });
}

/// A relief in reserve is appointed while it takes itself out.
#[test]
fn a_relief_leaves_the_reserve_by_itself_or_is_appointed() {
    check(&[], || {
        let (shared, _worker, [_former, relief]) = two_reliefs();
        let lookout = {
            let shared = shared.clone();
            loom::thread::spawn(move || shared.idle.appoint())
        };
        shared.idle.enter_reserve(relief.me());
        let has_left = shared.idle.leave_reserve(relief.me());
        // A thread that finds it appointed finds it on duty.
        let appointed = lookout.join().unwrap();
        assert_ne!(appointed == Appointed::Reserve, has_left, "{appointed:?}");
    });
}

/// A worker, and two reliefs. The first is on duty and has rested.
fn two_reliefs() -> (Arc<Shared>, Seat, [Seat; 2]) {
    let (shared, mut seats) = Seat::all(
        (0..1).map(|me| Neighbours::flat(me, 1)).collect(),
        Locality::default(),
        Hooks::default(),
        2,
        Rules::new::<WordWaker>(RESOLUTION),
    );
    let worker = seats.next().expect("there is a worker");
    let reliefs = [1, 2].map(|number| Seat::of_relief(&shared, number));
    [2, 1].iter().for_each(|&number| begin_relief(&shared, number));
    shared.idle.rest_until(0);
    (shared, worker, reliefs)
}
