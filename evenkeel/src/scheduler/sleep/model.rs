//! Models of falling asleep beside pushers, on the code that workers and pushers run.
//!
//! A push from outside meets the only worker of a runtime. Its sleep has no bound: loom reports a
//! deadlock if it is not woken. A worker that pushes is awake, so the sleeper beside it is the
//! watch and sleeps for a bounded time, and loom has no time. There the sleeper takes its steps up
//! to its last look, and the model asks whether that has found something or the pusher has woken
//! it.
//!
//! The worker that pushes jobs is the spawned thread: loom remembers one access to an atomic, and
//! misses its look at a request that the sleeper looks at and then makes.
//!
//! The threads share by `std`'s `Arc`: loom's `Arc` panics when it is dropped in a model that has
//! failed, which would end the process instead of the weakened run.

#![allow(unsafe_code, reason = "a timer by hand")]

use super::*;
use crate::deque::Level;
use crate::fork_join;
use crate::policy::Locality;
use crate::policy::timing::RESOLUTION;
use crate::primitives::mutation::{check, check_without};
use crate::processor::context::Context;
use crate::processor::neighbours::Neighbours;
use crate::processor::seat::Seat;
use crate::processor::shared::{Hooks, Shared};
use crate::raw_task::rights::Runnable;
use crate::scheduler::model::{fill_places, orphan, two_seats};
use crate::scheduler::{broadcast, errands, spawn, timing, wake};
use crate::task::word_waker::WordWaker;
use crate::task::{self, Task};
use crate::timers::{Armed, Entry, Rules};
use std::future::poll_fn;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Poll, Waker};

/// When tasks become ready: in the future, so that none has waited. Loom's clock goes on from one
/// execution to the next, and a lone task that has waited keeps a worker awake.
const READY: u64 = u64::MAX / 2;

/// A worker falls asleep, up to and with its last look. True if that has found something.
fn fall_asleep(context: &Context) -> bool {
    let mut worker = Worker::new(context);
    worker.announce();
    worker.last_look().is_some()
}

/// Worker 0 does `work` after `prepare`, and worker 1 falls asleep meanwhile. It has seen something
/// or was woken, or `otherwise` holds.
fn work_beside_a_sleeper<T: 'static>(
    prepare: fn(&Context, &Context) -> T,
    work: fn(&Context, T),
    otherwise: fn(&Shared) -> bool,
) {
    work_beside(prepare, work, otherwise, fall_asleep);
}

/// The same, where worker 1 does `fall_asleep`.
fn work_beside<T: 'static>(
    prepare: fn(&Context, &Context) -> T,
    work: fn(&Context, T),
    otherwise: fn(&Shared) -> bool,
    fall_asleep: fn(&Context) -> bool,
) {
    let (worker, sleeper) = two_seats();
    let shared = worker.shared().clone();
    let context = Context::new(worker, READY);
    let sleeper = Context::new(sleeper, 0);
    let prepared = prepare(&context, &sleeper);
    let worker = loom::thread::spawn(move || {
        work(&context, prepared);
        context
    });
    let has_seen = fall_asleep(&sleeper);
    let context = worker.join().unwrap();
    assert!(has_seen || !shared.idle.is_asleep(1) || otherwise(&shared));
    run_all(&context);
}

/// Polls all tasks in the queue of a processor, and those that these queue.
fn run_all(context: &Context) {
    while let Some(entry) = context.seat.pop(true) {
        context.enter(|| run::run(context, entry.task));
    }
}

fn spawn_here(context: &Context, future: impl Future<Output = ()> + Send + 'static) -> Task {
    let make = |birth| task::make(future, (), Location::caller(), birth);
    context.enter(|| spawn::on(context.shared(), make)).task()
}

/// A task that has been taken out of the queue, beside another in it: the sleeper looks at a queue
/// of two.
fn take_one_of_two(context: &Context, _: &Context) -> Runnable {
    spawn_here(context, async {});
    spawn_here(context, async {});
    context.seat.pop(true).expect("there are two").task
}

/// A model that does not need the later fences of a sleeper, after its request for jobs and after
/// its count of complete tasks. Those are spared: beside a push of a task they would stand for the
/// first, and beside a fork loom does not explore an owner that answers between the request and a
/// fence, which is no step to loom.
fn check_push(model: fn()) {
    let spared = [Edge::DequeAsked, Edge::IdleCounted];
    check_without(&spared, &[Edge::IdlePush, Edge::IdleSleep], model);
}

#[test]
fn a_spawn_finds_the_sleeper_or_the_sleeper_finds_the_task() {
    check_push(|| {
        let prepare = |context: &Context, _: &Context| _ = spawn_here(context, async {});
        let spawn = |context: &Context, ()| _ = spawn_here(context, async {});
        work_beside_a_sleeper(prepare, spawn, |_| false);
    });
}

/// The worker that pushes relies on a searcher, which ends its search and falls asleep.
#[test]
fn a_spawn_that_is_left_to_a_searcher_is_found_before_it_sleeps() {
    check_push(|| {
        let prepare = |context: &Context, searcher: &Context| {
            assert!(searcher.shared().idle.begin_search(|_| true));
            spawn_here(context, async {});
        };
        let spawn = |context: &Context, ()| _ = spawn_here(context, async {});
        work_beside(
            prepare,
            spawn,
            |_| false,
            |searcher| {
                searcher.shared().idle.end_search();
                fall_asleep(searcher)
            },
        );
    });
}

#[test]
fn a_task_that_leaves_its_berth_finds_the_sleeper_or_the_sleeper_finds_it() {
    check_push(|| {
        let queue = |context: &Context, task| context.enter(|| wake::queue(task));
        work_beside_a_sleeper(take_one_of_two, queue, |_| false);
    });
}

/// A task is idle, and another lies in the queue.
#[test]
fn a_wake_finds_the_sleeper_or_the_sleeper_finds_the_task() {
    check_push(|| {
        let prepare = |context: &Context, _: &Context| {
            let mut polled = false;
            let idle = poll_fn(move |_| match std::mem::replace(&mut polled, true) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            });
            let idle = spawn_here(context, idle);
            run_all(context);
            spawn_here(context, async {});
            idle
        };
        let wake = |context: &Context, task: Task| context.enter(|| task.unpark());
        work_beside_a_sleeper(prepare, wake, |_| false);
    });
}

/// The owner takes the job back before the sleeper looks, or after. A push that does not see the
/// request leaves it to the next push.
fn fork_beside_a_sleeper(prepare: fn(&Context, &Context)) {
    let fork = |context: &Context, ()| {
        context.enter(|| {
            fork_join::spawn(|| {});
            job::run_above(context, Level::FLOOR);
        });
    };
    let is_asked = |shared: &Shared| shared.processor(0).deque.is_asked();
    work_beside_a_sleeper(prepare, fork, is_asked);
}

#[test]
fn a_fork_wakes_the_sleeper_that_has_asked_or_its_request_stays() {
    check_push(|| fork_beside_a_sleeper(|_, _| {}));
}

#[test]
fn a_fork_wakes_a_sleeper_for_which_another_thief_has_asked() {
    check_push(|| {
        fork_beside_a_sleeper(|owner, _| owner.seat.processor().deque.ask());
    });
}

/// The owner forks three jobs, and runs the oldest by a yield. Two of them become public then, so
/// one is left for the sleeper.
#[test]
fn a_yield_wakes_the_sleeper_that_has_asked_or_its_request_stays() {
    check_push(|| {
        let yields = |context: &Context, ()| {
            context.enter(|| {
                (0..3).for_each(|_| fork_join::spawn(|| {}));
                fork_join::yield_local();
                job::run_above(context, Level::FLOOR);
            });
        };
        let is_asked = |shared: &Shared| shared.processor(0).deque.is_asked();
        work_beside_a_sleeper(|_, _| {}, yields, is_asked);
    });
}

#[test]
fn a_job_that_is_spilled_finds_the_sleeper_or_the_sleeper_finds_it() {
    check(&[Edge::IdlePush, Edge::DequeAsked], || {
        let spill = |context: &Context, ()| context.enter(|| fork_join::spawn(|| {}));
        work_beside_a_sleeper(fill_places, spill, |_| false);
    });
}

/// A task of the worker that falls asleep becomes complete at the other one, while the runtime
/// drains.
#[test]
fn a_complete_task_that_goes_home_finds_the_sleeper_or_the_sleeper_finds_it() {
    check_push(|| {
        let prepare = |_: &Context, home: &Context| {
            spawn_here(home, async {});
            home.shared().advance(Phase::Draining);
            home.seat.pop(true).expect("it is there").task
        };
        let run = |context: &Context, task| context.enter(|| run::run(context, task));
        work_beside_a_sleeper(prepare, run, |_| false);
    });
}

/// Each of two workers takes the last of its tasks back, which became complete elsewhere.
#[test]
fn of_two_workers_that_count_their_last_tasks_one_sees_the_end() {
    check(&[Edge::IdleCounted], || {
        let (one, other) = two_seats();
        let shared = one.shared().clone();
        let contexts = [Context::new(one, READY), Context::new(other, READY)];
        for context in &contexts {
            spawn_here(context, async {});
            cancel_elsewhere(&shared, context.seat.pop(true).expect("it is there").task);
        }
        shared.advance(Phase::Draining);
        let [one, other] = contexts;
        let one = loom::thread::spawn(move || fall_asleep(&one));
        fall_asleep(&other);
        one.join().unwrap();
        assert_eq!(shared.phase(), Phase::Over);
    });
}

/// A thread that is no worker drops a queued task's future.
fn cancel_elsewhere(shared: &Shared, task: Runnable) {
    run::abort_queued(&task);
    run::cancel_elsewhere(shared, task);
}

/// The only worker of a runtime sleeps, for real, while a thread outside does `push` after
/// `prepare`. Loom reports a deadlock if the worker is not woken. At the end of its sleep `woken`
/// holds.
fn push_from_outside<T: 'static>(
    prepare: fn(&Seat) -> T,
    push: fn(&Shared, T),
    woken: fn(&Worker, Wakened) -> bool,
) {
    push_in(worker(false), prepare, push, woken);
}

/// The only worker of a runtime, which has a `relief` or none.
fn worker(relief: bool) -> (Arc<Shared>, Seat) {
    let (shared, mut seats) = Seat::all(
        (0..1).map(|me| Neighbours::flat(me, 1)).collect(),
        Locality::default(),
        Hooks::default(),
        usize::from(relief),
        Rules::new::<WordWaker>(RESOLUTION),
    );
    (shared, seats.next().expect("there is a worker"))
}

fn push_in<T: 'static>(
    (shared, seat): (Arc<Shared>, Seat),
    prepare: fn(&Seat) -> T,
    push: fn(&Shared, T),
    woken: fn(&Worker, Wakened) -> bool,
) {
    let prepared = prepare(&seat);
    let sleeper = loom::thread::spawn(move || {
        seat.shared().idle.sit(0);
        let context = Context::new(seat, 0);
        let mut worker = Worker::new(&context);
        let reason = worker.sleep();
        assert!(woken(&worker, reason), "it sees what it is awake for");
    });
    push(&shared, prepared);
    sleeper.join().unwrap();
    shared.processors[0].inbox.take().for_each(run::run_elsewhere);
}

#[test]
fn a_task_from_outside_finds_the_sleeper_or_the_sleeper_finds_the_task() {
    check_push(|| {
        let woken = |worker: &Worker, _| !worker.context.seat.processor().inbox.is_empty();
        push_from_outside(|_| orphan(None), |shared, task| wake::leave(shared, 0, task), woken);
    });
}

/// The lookout has found the worker stuck. A pusher that sees that leaves the task to the relief,
/// which has no thread here and leaves it to the worker.
#[test]
fn a_task_beside_a_stuck_worker_that_falls_asleep_is_found() {
    check_push(|| {
        let prepare = |seat: &Seat| {
            let absence = &seat.processor().absence;
            assert!(seat.shared().idle.find_stuck(0, absence));
            orphan(None)
        };
        let woken = |worker: &Worker, _| !worker.context.seat.processor().inbox.is_empty();
        push_in(worker(true), prepare, |shared, task| wake::leave(shared, 0, task), woken);
    });
}

/// A thread outside arms a timer of a worker that is about to sleep without a bound.
#[test]
fn a_sleeper_learns_of_an_earlier_timer() {
    check(&[Edge::SpinLock, Edge::SpinUnlock], || {
        let (shared, seat) = worker(false);
        let sleeper = loom::thread::spawn(move || {
            seat.shared().idle.sit(0);
            let context = Context::new(seat, 0);
            let worker = Worker::new(&context);
            worker.announce();
            // Loom reports a deadlock if the sleeper is not unparked.
            while worker.sleep_limit(None).is_none() {
                assert!(!worker.shared.idle.sleep(0, None, false).is_woken, "it learns of no task");
            }
            assert!(worker.shared.idle.cancel(0));
        });
        let entry = Entry::new();
        let (node, waker) = (NonNull::from(&entry), WordWaker::of(Waker::noop()));
        // SAFETY: the entry is idle, and is cancelled before it ends.
        let (armed, timers) = unsafe { timing::arm_outside(&shared, node, DEADLINE, waker) };
        assert_eq!(armed, Armed::Waits { is_next: true });
        sleeper.join().unwrap();
        // SAFETY: it was armed there.
        assert!(unsafe { timers.cancel::<WordWaker>(node) }.is_some());
    });
}

/// A deadline that never passes.
const DEADLINE: u64 = 1 << 50;

#[test]
fn an_errand_finds_the_sleeper_or_the_sleeper_finds_the_errand() {
    check_push(|| {
        let send = |shared: &Shared, ()| errands::send(shared, Box::new(|| {}));
        push_from_outside(|_| {}, send, |worker, _| worker.any_errands());
    });
}

#[test]
fn a_task_that_is_cancelled_elsewhere_finds_the_sleeper_or_the_sleeper_finds_it() {
    check_push(|| {
        let prepare = |seat: &Seat| {
            let task = orphan(Some(seat));
            seat.push_new(task, 0);
            seat.pop(true).expect("it is there").task
        };
        let woken = |worker: &Worker, _| !worker.context.seat.processor().returned.is_empty();
        push_from_outside(prepare, cancel_elsewhere, woken);
    });
}

/// The worker waits for nothing but a closure that blocks.
#[test]
fn the_end_of_the_last_closure_finds_the_sleeper_or_the_sleeper_finds_the_end() {
    check_push(|| {
        let prepare = |seat: &Seat| {
            seat.shared().enter_jobs(1);
            seat.shared().advance(Phase::Draining);
        };
        let complete = |shared: &Shared, ()| shared.note_completed_outside();
        push_from_outside(prepare, complete, |worker, _| worker.shared.close_if_complete());
    });
}

#[test]
fn a_new_phase_finds_the_sleeper_or_the_sleeper_finds_the_phase() {
    check_push(|| {
        let advance = |shared: &Shared, ()| shared.advance(Phase::Draining);
        let woken = |worker: &Worker, _| worker.shared.phase() > Phase::Running;
        push_from_outside(|_| {}, advance, woken);
    });
}

/// The unpark is the ordering, so there is no edge to weaken.
#[test]
fn a_part_of_a_broadcast_wakes_the_sleeper_or_has_it_look_again() {
    check_without(&[Edge::DequeAsked, Edge::IdlePush, Edge::IdleSleep], &[], || {
        let send =
            |shared: &Shared, ()| assert!(broadcast::send(shared, |_| Box::new(|| {})), "it runs");
        push_from_outside(|_| {}, send, |worker, _| worker.any_errands());
    });
}
