//! Models of the protocols between processors, on the scheduler's own types.
//!
//! The threads share by `std`'s `Arc`: loom's `Arc` panics when it is dropped in a model that has
//! failed, which would end the process instead of the weakened run.

use super::handover;
use super::job::Stolen;
use super::run;
use crate::deque::PLACES;
use crate::fork_join;
use crate::idle::{Idle, Watch};
use crate::policy::timing::RESOLUTION;
use crate::policy::{Locality, Look};
use crate::primitives::atomic::{Edge, Ordering};
use crate::primitives::fence;
use crate::primitives::mutation::{check, check_without, explore};
use crate::processor::context::Context;
use crate::processor::neighbours::Neighbours;
use crate::processor::seat::Seat;
use crate::processor::shared::Hooks;
use crate::queue::inbox::Inbox;
use crate::raw_task::blocks::Birth;
use crate::raw_task::blocks::Room;
use crate::raw_task::id::{self, Id};
use crate::raw_task::rights::Runnable;
use crate::task;
use crate::task::word_waker::WordWaker;
use crate::timers::Rules;
use loom::sync::atomic::AtomicUsize;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// Processor `me` sleeps until it finds the task in `queue`, as in [`sleep`](super::sleep).
fn sleep_until_found(idle: &Idle, me: usize, queue: &AtomicUsize) {
    let mut seen = None;
    loop {
        if queue.load(Ordering::Relaxed) == 1 {
            idle.cancel(me);
            return;
        }
        let limit = (idle.watch(me, &mut seen) == Watch::Duty).then_some(Duration::from_millis(1));
        if idle.sleep(me, limit, false).is_woken {
            return;
        }
    }
}

/// Pushes a lone task that its pusher will not run, and leaves it to the watch. The store and the
/// fence stand for any push: the models of [`sleep`](super::sleep) have those that run.
fn push_alone(idle: &Idle, queue: &AtomicUsize) {
    queue.store(1, Ordering::Relaxed);
    fence::full(Edge::IdlePush);
    if idle.counts().sleeping > 0 {
        _ = idle.arm();
    }
}

#[test]
fn a_lone_task_is_found_by_the_heir_of_a_watch_that_has_been_woken() {
    explore(|| {
        let idle = Arc::new(Idle::new(2, 0));
        let queue = Arc::new(AtomicUsize::new(0));
        idle.sit(1);
        idle.announce(1);
        assert_eq!(idle.watch(1, &mut None), Watch::Duty);
        let sleeper = {
            let (idle, queue) = (idle.clone(), queue.clone());
            loom::thread::spawn(move || {
                idle.sit(0);
                idle.announce(0);
                sleep_until_found(&idle, 0, &queue);
            })
        };
        assert!(idle.wake(1));
        push_alone(&idle, &queue);
        sleeper.join().unwrap();
    });
}

#[test]
fn a_lone_task_is_found_by_a_watch_that_saw_everybody_asleep() {
    explore(|| {
        let idle = Arc::new(Idle::new(2, 0));
        let queue = Arc::new(AtomicUsize::new(0));
        let watch = {
            let (idle, queue) = (idle.clone(), queue.clone());
            loom::thread::spawn(move || {
                idle.sit(0);
                idle.announce(0);
                sleep_until_found(&idle, 0, &queue);
            })
        };
        idle.sit(1);
        idle.announce(1);
        // Processor 1 leaves at once, whether it is the watch or not.
        idle.watch(1, &mut None);
        assert!(idle.wake(1));
        push_alone(&idle, &queue);
        watch.join().unwrap();
    });
}

/// Makes a new task without a handle or a joiner.
pub(crate) fn orphan(seat: Option<&Seat>) -> Runnable {
    let home = seat.map_or(std::ptr::null(), |seat| seat.shared().home(seat.me()));
    let birth = Birth { home, id: id::take_one(), room: Room::Compact };
    let (task, handle) = task::make(async {}, (), Location::caller(), birth);
    drop(handle);
    task
}

/// Takes and completes the tasks in `inbox`, and returns their numbers.
fn receive(inbox: &Inbox<Runnable>) -> Vec<Id> {
    let tasks = inbox.take().map(|task| {
        let id = task.live().footer().id;
        run::run_elsewhere(task);
        id
    });
    tasks.collect()
}

#[test]
fn two_senders_and_two_receivers_neither_lose_nor_double_a_task() {
    check(&[Edge::InboxPush, Edge::InboxTake], || {
        let inbox = Arc::new(Inbox::new());
        let sender = |tasks: Vec<Runnable>| {
            let inbox = inbox.clone();
            loom::thread::spawn(move || tasks.into_iter().for_each(|task| inbox.push(task)))
        };
        let tasks: Vec<_> = (0..3).map(|_| orphan(None)).collect();
        let mut sent: Vec<_> = tasks.iter().map(|task| task.live().footer().id).collect();
        let mut tasks = tasks.into_iter();
        let one = sender(tasks.by_ref().take(2).collect());
        let other = sender(tasks.collect());
        let receiver = {
            let inbox = inbox.clone();
            loom::thread::spawn(move || receive(&inbox))
        };
        let mut received = receive(&inbox);
        received.extend(receiver.join().unwrap());
        one.join().unwrap();
        other.join().unwrap();
        received.extend(receive(&inbox));
        received.sort_unstable();
        sent.sort_unstable();
        assert_eq!(received, sent);
    });
}

/// Returns the seats of two processors without workers.
pub(crate) fn two_seats() -> (Seat, Seat) {
    let neighbours = (0..2).map(|me| Neighbours::flat(me, 2));
    let (_, mut seats) = Seat::all(
        neighbours.collect(),
        Locality::default(),
        Hooks::default(),
        0,
        Rules::new::<WordWaker>(RESOLUTION),
    );
    let mut next = || seats.next().expect("there are two processors");
    (next(), next())
}

/// Fills the deque of worker 0, and has another worker run all jobs. The next one that worker 0
/// spawns goes into the overflow, and no thief has asked for it.
pub(crate) fn fill_places(owner: &Context, thief: &Context) {
    let shared = owner.shared();
    owner.enter(|| (0..=PLACES).for_each(|_| fork_join::spawn(|| {})));
    while let Some(stolen) = Stolen::take(shared, 0, || true) {
        thief.enter(|| stolen.run(thief));
    }
    shared.processor(0).deque.publish();
}

/// Completes the tasks in the queue of a processor, and returns their number.
pub(crate) fn drain(seat: &Seat) -> usize {
    std::iter::from_fn(|| seat.pop(true)).map(|entry| run::run_elsewhere(entry.task)).count()
}

/// A taker asks an owner that makes one pop and then stays away for good. The taker withdraws its
/// request and takes by force, or falls asleep until the answer is there.
#[test]
fn a_task_changes_hands_by_answer_or_by_force_and_is_in_one_place() {
    use Edge::{BiasedBusy, BiasedClaim, BiasedClaimed, BiasedFenced, BiasedHeavy};
    use Edge::{BiasedLeave, BiasedLight, BiasedUnclaim, IdlePush, IdleSleep};
    let fences = [BiasedLight, BiasedHeavy, BiasedFenced, BiasedClaimed];
    let accesses = [BiasedLeave, BiasedBusy, BiasedUnclaim, BiasedClaim];
    check(&[&fences[..], &accesses, &[IdlePush, IdleSleep]].concat(), || {
        let (owner, taker) = two_seats();
        let shared = owner.shared().clone();
        owner.push(orphan(Some(&owner)), 0);
        owner.push(orphan(Some(&owner)), 0);
        let owner = loom::thread::spawn(move || {
            let context = Context::new(owner, 0);
            if context.is_asked() {
                handover::answer(&context, false);
            }
            let popped = context.seat.pop(true).expect("the younger task stays");
            run::run_elsewhere(popped.task);
            if context.is_asked() {
                handover::answer(&context, false);
            }
            drain(&context.seat) + 1
        });
        let context = Context::new(taker, 0);
        let idle = &shared.idle;
        idle.sit(1);
        let request = handover::ask(&context, 0, &Look::default(), 0).expect("no other taker asks");
        if handover::give_up(&context, &request) {
            handover::force(&context, 0, true);
        } else {
            idle.announce(1);
            if context.seat.processor().gift.is_ready() {
                idle.cancel(1);
            } else {
                while !idle.sleep(1, None, false).is_woken {}
            }
            assert!(handover::receive(&context).is_some(), "the answer is here");
        }
        let taken = drain(&context.seat);
        assert_eq!(owner.join().unwrap() + taken, 2);
    });
}

/// The owner makes full fences while it makes one pop; the thief never makes a heavy one.
#[test]
fn a_task_is_seized_from_a_fenced_owner_or_stays_with_it() {
    use Edge::{BiasedClaimed, BiasedFenced, BiasedShow, BiasedUnfence};
    let edges = [BiasedFenced, BiasedUnfence, BiasedShow, BiasedClaimed];
    check_without(&[Edge::BiasedLight], &edges, || {
        let (owner, thief) = two_seats();
        let tasks = [orphan(Some(&owner)), orphan(Some(&owner))];
        let owner = loom::thread::spawn(move || {
            for task in tasks {
                owner.push(task, 0);
            }
            owner.set_fenced(true);
            let popped = owner.pop(true).map(|entry| run::run_elsewhere(entry.task));
            owner.set_fenced(false);
            usize::from(popped.is_some()) + drain(&owner)
        });
        let thief = loom::thread::spawn(move || {
            let context = Context::new(thief, 0);
            handover::seize(&context, 0, &Look::default());
            drain(&context.seat)
        });
        assert_eq!(owner.join().unwrap() + thief.join().unwrap(), 2);
    });
}

/// A task of one processor is polled at the other processor, where it spawns a task, and is then
/// complete at home.
#[test]
fn a_worker_that_sees_a_task_complete_sees_what_it_has_spawned() {
    check(&[Edge::CountComplete, Edge::CountRead], || {
        let (home, elsewhere) = two_seats();
        let shared = home.shared().clone();
        home.processor().counters.spawned.count_ordered();
        // In one thread, because the inbox through which a complete task goes home orders the two
        // in the same way.
        let both = loom::thread::spawn(move || {
            elsewhere.processor().counters.spawned.count_ordered();
            home.processor().counters.taken_back.count_ordered();
        });
        let closer = loom::thread::spawn(move || {
            assert!(!shared.close_if_complete(), "the second task is not complete");
        });
        both.join().unwrap();
        closer.join().unwrap();
    });
}

/// A closure from outside spawns a task at a processor, and is complete.
#[test]
fn a_thread_that_sees_a_closure_complete_sees_what_it_has_spawned() {
    check(&[Edge::OutsideComplete, Edge::OutsideRead], || {
        let (seat, _other) = two_seats();
        let shared = seat.shared().clone();
        shared.enter_jobs(1);
        let closer = {
            let shared = shared.clone();
            loom::thread::spawn(move || {
                assert!(!shared.close_if_complete(), "the task is not complete");
            })
        };
        seat.processor().counters.spawned.count_ordered();
        shared.note_completed_outside();
        closer.join().unwrap();
    });
}

#[test]
fn a_spawn_from_outside_is_refused_or_keeps_the_scheduler_open() {
    explore(|| {
        let (seat, _other) = two_seats();
        let shared = seat.shared().clone();
        let outside = {
            let shared = shared.clone();
            loom::thread::spawn(move || shared.enter_outside().is_some())
        };
        let closer = loom::thread::spawn(move || shared.close_if_complete());
        let (closed, entered) = (closer.join().unwrap(), outside.join().unwrap());
        assert!(closed != entered, "the one or the other");
    });
}
