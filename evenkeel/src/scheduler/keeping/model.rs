//! Models of the keep: of signallers, of the lookout and of a worker that keeps a task. They run
//! the code that runs.

use crate::policy::Locality;
use crate::policy::timing::RESOLUTION;
use crate::primitives::atomic::{AtomicUsize, Edge, Ordering};
use crate::primitives::mutation::{check, explore};
use crate::processor::context::Context;
use crate::processor::neighbours::Neighbours;
use crate::processor::seat::Seat;
use crate::processor::shared::{Hooks, Shared, Starter};
use crate::raw_task::blocks::{Birth, Room};
use crate::raw_task::id;
use crate::raw_task::rights::Reference;
use crate::raw_task::state::Signal;
use crate::scheduler::away::Away;
use crate::scheduler::{lookout, run, wake};
use crate::task;
use crate::task::word_waker::WordWaker;
use crate::timers::Rules;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::Poll;

/// A worker that has polled a task once, and keeps it. The task waits for a message.
struct Keeper {
    shared: Arc<Shared>,
    context: Context,
    task: Reference,
    message: Arc<AtomicUsize>,
    seen: Arc<AtomicUsize>,
}

impl Keeper {
    fn new() -> Self {
        let (shared, mut seats) = Seat::all(
            [Neighbours::flat(0, 1)].into(),
            Locality::default(),
            Hooks::default(),
            1,
            Rules::new::<WordWaker>(RESOLUTION),
        );
        let seat = seats.next().expect("there is a worker");
        // Its processor is there before others look at it.
        drop(Seat::of_relief(&shared, 1));
        let context = Context::new(seat, 0);
        let (message, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let future = {
            let (message, seen) = (message.clone(), seen.clone());
            poll_fn(move |_| {
                seen.store(message.load(Ordering::Relaxed), Ordering::Relaxed);
                Poll::<()>::Pending
            })
        };
        let birth = Birth { home: shared.home(0), id: id::take_one(), room: Room::Compact };
        let (right, handle) = task::make(future, (), Location::caller(), birth);
        drop(handle);
        let task = Reference::of(right.live());
        context.seat.push_new(right, 0);
        Self { shared, context, task, message, seen }
    }

    fn begin(&self) {
        self.context.seat.begin_to_keep();
    }

    /// Polls the task. It was in the queue.
    fn poll(&self) {
        let task = self.context.seat.pop(false).expect("the task is in the queue").task;
        self.context.enter(|| run::run(&self.context, task));
    }

    /// Another thread leaves the message, and signals the task.
    fn signal(&self) -> loom::thread::JoinHandle<()> {
        let (task, message) = (self.task.clone(), self.message.clone());
        loom::thread::spawn(move || send(&task, &message))
    }

    /// Polls the task as often as it is in the queue or the inbox, and ends it.
    fn end(self) {
        let seat = &self.context.seat;
        seat.settle(0);
        for task in seat.processor().inbox.take() {
            seat.push(task, 0);
        }
        while self.context.ready() > 0 {
            self.poll();
        }
        wake::signal(self.task.live(), Signal::Abort);
        let inbox = seat.processor().inbox.take();
        inbox.for_each(|task| {
            seat.push(task, 0);
        });
        self.poll();
    }
}

/// Leaves the message, and signals the task.
fn send(task: &Reference, message: &AtomicUsize) {
    message.store(1, Ordering::Relaxed);
    wake::signal(task.live(), Signal::Wake);
}

/// A signaller comes as the task is polled, or while it is kept.
#[test]
fn a_task_that_is_signalled_beside_its_keeper_is_polled_again() {
    explore(|| {
        let keeper = Keeper::new();
        keeper.begin();
        let signaller = keeper.signal();
        keeper.poll();
        signaller.join().unwrap();
        let seen = keeper.seen.clone();
        keeper.end();
        assert_eq!(seen.load(Ordering::Relaxed), 1, "the last poll sees the message");
    });
}

/// The keeper finds that the bell has rung.
#[test]
fn a_keeper_that_hears_the_bell_finds_the_task_signalled() {
    check(&[Edge::KeepRing, Edge::KeepAnswer], || {
        let keeper = Keeper::new();
        keeper.begin();
        keeper.poll();
        let (task, message) = (keeper.task.clone(), keeper.message.clone());
        // The thread that looks is the spawned one.
        let keeper = loom::thread::spawn(move || {
            let answered = keeper.context.seat.answer_bell(0);
            assert_eq!(answered.sent_to, None, "the signaller is no worker");
            keeper
        });
        send(&task, &message);
        let keeper = keeper.join().unwrap();
        let is_silent = !keeper.context.seat.processor().bell.has_rung();
        assert_eq!(keeper.context.ready(), usize::from(is_silent));
        keeper.end();
    });
}

/// The keeper wakes the task itself, while the lookout settles for it.
#[test]
fn a_task_that_is_woken_here_as_the_lookout_settles_is_queued_once() {
    explore(|| {
        let keeper = Keeper::new();
        keeper.begin();
        keeper.poll();
        let lookout = {
            let shared = keeper.shared.clone();
            loom::thread::spawn(move || lookout::settle(&shared.processors[0], 0))
        };
        keeper.message.store(1, Ordering::Relaxed);
        keeper.context.enter(|| wake::signal(keeper.task.live(), Signal::Wake));
        lookout.join().unwrap();
        assert_eq!(keeper.context.ready(), 1);
        let seen = keeper.seen.clone();
        keeper.end();
        assert_eq!(seen.load(Ordering::Relaxed), 1, "the last poll sees the message");
    });
}

/// The keeper begins to keep as the lookout is about to rest.
#[test]
fn the_lookout_does_not_rest_while_tasks_are_kept() {
    check(&[Edge::KeepBegin, Edge::WatchEnd], || {
        let keeper = Keeper::new();
        // Its end is not left out yet.
        keeper.poll();
        let idle = &keeper.shared.idle;
        assert!(idle.ask_to_look());
        assert!(idle.begin_look());
        let shared = keeper.shared.clone();
        let keeper = loom::thread::spawn(move || {
            keeper.begin();
            let keeps = !keeper.shared.idle.is_pusher_to_look();
            if !keeps {
                keeper.context.seat.settle(0);
            }
            (keeper, keeps)
        });
        // Not more of the round: beside a worker that is awake it would not end.
        let rests = shared.idle.end_looks() && lookout::is_left_alone(&shared);
        let (keeper, keeps) = keeper.join().unwrap();
        assert!(!(keeps && rests));
        keeper.end();
    });
}

/// The keeper, the last worker, goes away as the task is signalled.
#[test]
fn a_signal_beside_a_keeper_that_goes_away_has_the_relief_called() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let keeper = Keeper::new();
        let called = Arc::new(AtomicBool::new(false));
        let start = {
            let called = called.clone();
            move |_, _| !called.swap(true, Ordering::Relaxed)
        };
        assert!(keeper.shared.relief_starter.set(Starter(Box::new(start))).is_ok());
        keeper.begin();
        keeper.poll();
        let signaller = keeper.signal();
        std::mem::forget(Away::begin(&keeper.context));
        signaller.join().unwrap();
        assert!(called.load(Ordering::Relaxed));
        keeper.end();
    });
}
