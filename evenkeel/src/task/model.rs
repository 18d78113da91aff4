//! Models of a task's state word and of what hangs on it: its output, its handle, its references.
//!
//! They share by `std`'s `Arc`: loom's `Arc` panics when it is dropped in a model that has failed,
//! which would end the process instead of the weakened run.
//!
//! The thread that only looks at the word is the spawned one: loom remembers one access to an
//! atomic, not one per thread, and misses a look that comes first and is followed by the other
//! thread's own.

#![allow(unsafe_code, reason = "cells that loom watches")]

use super::cell::{Name, make};
use super::join::JoinHandle;
use crate::policy::Locality;
use crate::policy::timing::RESOLUTION;
use crate::primitives::Mutex;
use crate::primitives::atomic::Edge;
use crate::primitives::mutation::{check, explore};
use crate::processor::context::Context;
use crate::processor::neighbours::Neighbours;
use crate::processor::seat::Seat;
use crate::processor::shared::Hooks;
use crate::raw_task::blocks::Birth;
use crate::raw_task::blocks::Room;
use crate::raw_task::id;
use crate::raw_task::rights::{Reference, Runnable};
use crate::raw_task::state::{Begin, End, Pending, Signal, State};
use crate::runtime::block_on;
use crate::scheduler::run::{give_up, run};
use crate::task::word_waker::WordWaker;
use crate::timers::Rules;
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering};
use std::future::poll_fn;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;
use std::task::{Poll, Waker};

/// A state word with a future beside it, which looks for messages.
struct Subject {
    state: State,
    /// The future and the tokens it has consumed. They belong to the poller.
    future: UnsafeCell<u8>,
    messages: [AtomicUsize; 2],
}

// SAFETY: loom fails a model in which two threads reach the future at once.
unsafe impl Sync for Subject {}

impl Subject {
    fn new() -> Arc<Self> {
        let messages = [AtomicUsize::new(0), AtomicUsize::new(0)];
        Arc::new(Self { state: State::new(), future: UnsafeCell::new(0), messages })
    }

    fn message(&self, index: usize) -> usize {
        self.messages[index].load(Ordering::Relaxed)
    }

    /// Polls until the task is idle, and returns what `poll` has seen. `poll` gets the count of
    /// consumed tokens.
    fn run(&self, mut poll: impl FnMut(&mut u8) -> usize) -> usize {
        let mut seen = 0;
        loop {
            let Begin::Poll(polled) = self.state.begin() else { unreachable!("there is no abort") };
            let tokens = self.future.with_mut(|tokens| {
                // SAFETY: this thread has the task.
                let tokens = unsafe { &mut *tokens };
                seen |= poll(tokens);
                // Tokens in hand are folded in when the poll ends idle, and stay in hand otherwise.
                std::mem::take(tokens)
            });
            match self.state.end(polled, Pending { tokens, ..Pending::default() }) {
                End::Idle => return seen,
                // SAFETY: this thread still has the task.
                End::Again => self.future.with_mut(|future| unsafe { *future = tokens }),
            }
        }
    }

    /// Leaves a message and signals. True if that made the task the caller's.
    fn signal(&self, index: usize, signal: Signal) -> bool {
        self.messages[index].store(1, Ordering::Relaxed);
        let mut word = self.state.load();
        loop {
            let was_idle = word.is_idle();
            match self.state.signal(word, signal, false) {
                Ok(_) => return was_idle,
                Err(actual) => word = actual,
            }
        }
    }
}

#[test]
fn a_wake_is_seen_by_the_poll_or_causes_another() {
    check(&[Edge::StateWake, Edge::StateBegin, Edge::StateEnd], || {
        let subject = Subject::new();
        let waker = {
            let subject = subject.clone();
            loom::thread::spawn(move || match subject.signal(0, Signal::Wake) {
                true => subject.run(|_| subject.message(0)),
                false => 0,
            })
        };
        let seen = subject.run(|_| subject.message(0)) | waker.join().unwrap();
        assert_eq!(seen, 1);
        assert!(subject.state.load().is_idle());
    });
}

#[test]
fn no_wake_is_lost_beyond_what_the_field_can_count() {
    check(&[Edge::StateWake], || {
        let subject = Subject::new();
        let look = |subject: &Subject| subject.message(0) | subject.message(1) << 1;
        let waker = |index| {
            let subject = subject.clone();
            loom::thread::spawn(move || {
                let mut seen = 0;
                for _ in 0..2 {
                    if subject.signal(index, Signal::Wake) {
                        seen |= subject.run(|_| look(&subject));
                    }
                }
                seen
            })
        };
        let wakers = [waker(0), waker(1)];
        let mut seen = subject.run(|_| look(&subject));
        for waker in wakers {
            seen |= waker.join().unwrap();
        }
        assert_eq!(seen, 0b11);
        assert!(subject.state.load().is_idle());
    });
}

#[test]
fn a_park_takes_the_token_of_an_unpark_and_no_other_wake_ends_it() {
    check(&[Edge::StateWake, Edge::StateBegin, Edge::StateEnd], || {
        let subject = Subject::new();
        let park = |subject: &Subject, consumed: &mut u8| match subject.state.take_token(*consumed)
        {
            Some(count) => {
                *consumed = count;
                assert_eq!(subject.message(0), 1, "what was before the unpark is seen");
                1
            }
            None => 0,
        };
        let unparker = {
            let subject = subject.clone();
            loom::thread::spawn(move || match subject.signal(0, Signal::Unpark) {
                true => subject.run(|consumed| park(&subject, consumed)),
                false => 0,
            })
        };
        let mut parked = subject.run(|consumed| park(&subject, consumed));
        if subject.signal(1, Signal::Wake) {
            parked += subject.run(|consumed| park(&subject, consumed));
        }
        assert_eq!(parked + unparker.join().unwrap(), 1, "one token ends one park");
    });
}

/// More unparks than the field can count, the last of them while the poller takes all tokens.
#[test]
fn a_park_that_takes_all_tokens_sees_what_came_before_each_unpark() {
    check(&[Edge::StateWake, Edge::StateTokens], || {
        let subject = Subject::new();
        for _ in 0..3 {
            assert!(!subject.signal(0, Signal::Unpark), "the task is queued");
        }
        let park = |subject: &Subject, consumed: &mut u8| {
            subject.state.take_token(*consumed).map_or(0, |count| {
                *consumed = count;
                subject.message(1)
            })
        };
        let unparker = {
            let subject = subject.clone();
            loom::thread::spawn(move || match subject.signal(1, Signal::Unpark) {
                true => subject.run(|consumed| park(&subject, consumed)),
                false => 0,
            })
        };
        let seen = subject.run(|consumed| park(&subject, consumed)) | unparker.join().unwrap();
        assert_eq!(seen, 1, "the park that takes the last token sees the message");
    });
}

/// More wakes than the field can count, the last of them while the poller begins.
#[test]
fn a_poll_that_empties_a_full_field_sees_what_came_before_each_wake() {
    check(&[Edge::StateWake, Edge::StateSaturated], || {
        let subject = Subject::new();
        for _ in 0..2 {
            assert!(!subject.signal(0, Signal::Wake), "the task is queued");
        }
        let waker = {
            let subject = subject.clone();
            loom::thread::spawn(move || match subject.signal(1, Signal::Wake) {
                true => subject.run(|_| subject.message(1)),
                false => 0,
            })
        };
        let seen = subject.run(|_| subject.message(1)) | waker.join().unwrap();
        assert_eq!(seen, 1);
    });
}

#[test]
fn a_joiner_that_finds_the_task_complete_sees_its_output() {
    check(&[Edge::StateComplete, Edge::StateJoined], || {
        let subject = Subject::new();
        let joiner = {
            let subject = subject.clone();
            loom::thread::spawn(move || {
                if subject.state.load_joined().is_complete() {
                    // SAFETY: the task is complete, and this is its joiner.
                    subject.future.with_mut(|output| assert_eq!(unsafe { *output }, 7));
                }
            })
        };
        // SAFETY: the task is not complete, and this is its poller.
        subject.future.with_mut(|output| unsafe { *output = 7 });
        let mut word = subject.state.load();
        while let Err(actual) = subject.state.complete(word, Pending::default(), true) {
            word = actual;
        }
        joiner.join().unwrap();
    });
}

/// A part of a task: loom watches which thread reads it, and it counts its end.
struct Watched {
    cell: UnsafeCell<()>,
    dropped: Arc<Count>,
}

// SAFETY: loom fails a model in which a thread drops it while another reads it.
unsafe impl Send for Watched {}

impl Watched {
    fn new() -> (Self, Arc<Count>) {
        let dropped = Arc::new(Count::new(0));
        (Self { cell: UnsafeCell::new(()), dropped: dropped.clone() }, dropped)
    }

    fn look(&self) {
        self.cell.with(|_| ());
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.cell.with_mut(|_| ());
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

impl Name for Watched {
    fn get(&self) -> Option<&str> {
        self.look();
        None
    }
}

/// The seat of the only processor of a runtime without workers.
fn seat() -> Seat {
    let alone = Neighbours::flat(0, 1);
    let (_, mut seats) = Seat::all(
        Box::new([alone]),
        Locality::default(),
        Hooks::default(),
        0,
        Rules::new::<WordWaker>(RESOLUTION),
    );
    seats.next().expect("there is a processor")
}

/// A task of `seat`, its handle, and the count of its ends.
fn spawn<F>(seat: &Seat, future: F) -> (Runnable, JoinHandle<F::Output>, Arc<Count>)
where
    F: Future<Output: Send> + Send + 'static,
{
    let (name, freed) = Watched::new();
    let birth = Birth { home: seat.shared().home(0), id: id::take_one(), room: Room::Compact };
    let (task, handle) = make(future, name, Location::caller(), birth);
    seat.push_new(task, 0);
    let task = seat.pop(true).expect("it has been pushed").task;
    (task, handle, freed)
}

/// A task with a [`Watched`] output runs on one thread while `join` does something with its handle.
fn join_meanwhile(join: fn(JoinHandle<Watched>)) {
    let seat = seat();
    let (output, dropped) = Watched::new();
    let (task, handle, freed) = spawn(&seat, async move {
        output.look();
        output
    });
    let joiner = loom::thread::spawn(move || join(handle));
    let context = Context::new(seat, 0);
    context.enter(|| run(&context, task));
    joiner.join().unwrap();
    assert_eq!(dropped.load(Ordering::Relaxed), 1, "the output ends once");
    assert_eq!(freed.load(Ordering::Relaxed), 1, "the task is freed once");
}

/// Polls a handle once. It may be ready.
fn poll_once(handle: &mut JoinHandle<Watched>) {
    let mut context = std::task::Context::from_waker(Waker::noop());
    if let Poll::Ready(output) = Pin::new(handle).poll(&mut context) {
        output.expect("the task does not panic").look();
    }
}

#[test]
fn a_joiner_is_woken_and_takes_the_output() {
    check(&[Edge::StateComplete, Edge::StateJoined, Edge::StateJoin], || {
        join_meanwhile(|handle| {
            block_on(handle).expect("the task does not panic").look();
        });
    });
}

#[test]
fn a_joiner_may_change_its_waker() {
    explore(|| {
        join_meanwhile(|mut handle| {
            let mut first = true;
            block_on(poll_fn(|context| {
                if std::mem::take(&mut first) {
                    let mut other = std::task::Context::from_waker(Waker::noop());
                    if let Poll::Ready(output) = Pin::new(&mut handle).poll(&mut other) {
                        return Poll::Ready(output);
                    }
                }
                Pin::new(&mut handle).poll(context)
            }))
            .expect("the task does not panic")
            .look();
        });
    });
}

#[test]
fn a_handle_that_is_dropped_at_the_end_of_its_task_drops_the_output_or_leaves_it() {
    check(&[Edge::StateJoin], || join_meanwhile(drop));
}

#[test]
fn a_handle_that_has_left_a_waker_takes_it_along() {
    check(&[Edge::StateJoin], || join_meanwhile(|mut handle| poll_once(&mut handle)));
}

/// A task whose poll does not return before the handle has been given up, or is about to return.
/// One thread gives the handle up, as the ender does; another does something with the handle. The
/// poll returns at any time. The handle's result is the output if the task was complete before, and
/// *stuck* otherwise.
fn give_up_meanwhile(join: fn(JoinHandle<Watched>) -> Option<bool>, returns: bool) {
    let seat = seat();
    let (output, dropped) = Watched::new();
    let (task, handle, freed) = spawn(&seat, async move {
        output.look();
        output
    });
    let reference = Reference::of(task.live());
    let joiner = loom::thread::spawn(move || join(handle));
    let context = Context::new(seat, 0);
    let given_up = if returns {
        let ender = loom::thread::spawn(move || {
            assert_eq!(reference.live().name(), None);
            give_up(&reference)
        });
        context.enter(|| run(&context, task));
        ender.join().unwrap()
    } else {
        let given_up = give_up(&reference);
        drop(reference);
        assert!(given_up, "the task is not complete");
        let is_stuck = joiner.join().unwrap();
        context.enter(|| run(&context, task));
        assert_ne!(is_stuck, Some(false), "there was no output");
        assert_eq!(dropped.load(Ordering::Relaxed), 1, "the output ends once");
        assert_eq!(freed.load(Ordering::Relaxed), 1, "the task is freed once");
        return;
    };
    if let Some(is_stuck) = joiner.join().unwrap() {
        assert_eq!(is_stuck, given_up);
    }
    assert_eq!(dropped.load(Ordering::Relaxed), 1, "the output ends once");
    assert_eq!(freed.load(Ordering::Relaxed), 1, "the task is freed once");
}

/// Waits for the handle. True if it is stuck.
fn wait(handle: JoinHandle<Watched>) -> Option<bool> {
    Some(match block_on(handle) {
        Ok(output) => {
            output.look();
            false
        }
        Err(error) => {
            assert!(error.is_stuck());
            true
        }
    })
}

/// Polls the handle once with one waker, then with another. True if it is stuck.
fn wait_with_two_wakers(mut handle: JoinHandle<Watched>) -> Option<bool> {
    let mut context = std::task::Context::from_waker(Waker::noop());
    match Pin::new(&mut handle).poll(&mut context) {
        Poll::Ready(joined) => Some(joined.is_err_and(|error| error.is_stuck())),
        Poll::Pending => wait(handle),
    }
}

/// Polls the handle once and drops it.
fn leave(mut handle: JoinHandle<Watched>) -> Option<bool> {
    let mut context = std::task::Context::from_waker(Waker::noop());
    match Pin::new(&mut handle).poll(&mut context) {
        Poll::Ready(joined) => Some(joined.is_err_and(|error| error.is_stuck())),
        Poll::Pending => None,
    }
}

fn abandon(handle: JoinHandle<Watched>) -> Option<bool> {
    drop(handle);
    None
}

#[test]
fn a_joiner_of_a_stuck_task_is_woken_before_the_poll_returns() {
    check(&[Edge::StateGiveUp, Edge::StateJoin], || give_up_meanwhile(wait, false));
}

#[test]
fn a_joiner_of_a_stuck_task_may_change_its_waker() {
    check(&[Edge::StateGiveUp, Edge::StateJoin], || {
        give_up_meanwhile(wait_with_two_wakers, false);
    });
}

#[test]
fn a_handle_of_a_stuck_task_that_is_dropped_ends_its_hold_once() {
    explore(|| give_up_meanwhile(abandon, false));
    check(&[Edge::StateGiveUp, Edge::StateJoin], || give_up_meanwhile(leave, false));
}

#[test]
fn a_task_that_completes_as_it_is_given_up_is_complete_or_stuck() {
    check(&[Edge::StateComplete], || give_up_meanwhile(wait, true));
}

#[test]
fn a_task_that_completes_as_it_is_given_up_and_dropped_ends_once() {
    explore(|| give_up_meanwhile(abandon, true));
    check(&[Edge::StateRelease], || give_up_meanwhile(leave, true));
}

#[test]
fn the_last_reference_frees_the_task_after_all_others_have_looked() {
    check(&[Edge::StateRelease, Edge::StateComplete], || {
        let seat = seat();
        let (task, handle, freed) = spawn(&seat, async {});
        let reference = handle.task();
        drop(handle);
        let holder = loom::thread::spawn(move || {
            assert_eq!(reference.name(), None);
            drop(reference);
        });
        let context = Context::new(seat, 0);
        context.enter(|| {
            assert_eq!(task.live().name(), None);
            run(&context, task);
        });
        holder.join().unwrap();
        assert_eq!(freed.load(Ordering::Relaxed), 1);
    });
}

/// The first poll hands out a waker that is counted only in its closing exchange. Another thread
/// uses the waker up before or after that.
#[test]
fn a_waker_may_be_used_up_before_its_poller_has_counted_it() {
    explore(|| {
        let seat = seat();
        let slot = Arc::new(Mutex::new(None));
        let mut polled = false;
        let (task, handle, freed) = spawn(&seat, {
            let slot = slot.clone();
            poll_fn(move |context| {
                if std::mem::replace(&mut polled, true) {
                    return Poll::Ready(());
                }
                let waker = context.waker().clone();
                drop(waker.clone());
                *crate::primitives::lock(&slot) = Some(waker);
                Poll::Pending
            })
        });
        drop(handle);
        let take = |slot: &Mutex<Option<Waker>>| crate::primitives::lock(slot).take();
        let waker = {
            let slot = slot.clone();
            loom::thread::spawn(move || take(&slot).map(Waker::wake).is_some())
        };
        let context = Context::new(seat, 0);
        context.enter(|| {
            run(&context, task);
            if !waker.join().unwrap() {
                take(&slot).expect("no other thread has taken the waker").wake();
            }
            let inbox = context.seat.processor().inbox.take();
            let local = std::iter::from_fn(|| context.seat.pop(true)).map(|entry| entry.task);
            inbox.chain(local).for_each(|task| run(&context, task));
        });
        assert_eq!(freed.load(Ordering::Relaxed), 1);
    });
}
