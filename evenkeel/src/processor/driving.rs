//! Which thread drives a current-thread runtime.
//!
//! # Roles
//! Such a runtime has one processor, and no worker thread. The *driver* is the thread that has the
//! processor's [seat](super::seat) and runs the loop of a worker. A *waiter* is a thread that wants
//! the seat while another thread has it: it is inside `block_on`, waits for fork-join, or shuts the
//! runtime down.
//!
//! # States
//! The seat is *free*, *taken*, or *gone*: the runtime is over. The runtime is an *orphan* once its
//! `Runtime` is gone and no thread waits for its end.
//!
//! # Steps
//! All are under one lock, under which no caller's code runs and no thread is unparked.
//! - *Take*: a thread takes a free seat. If the seat is taken, the thread notes itself as the last
//!   waiter, and parks afterwards.
//! - *Give*: the driver gives the seat back, takes the first waiter off the list and unparks it.
//! - *Withdraw*: a waiter leaves the list, because its own future is to be polled, or because it
//!   has what it waits for. If the seat is free, it unparks the first waiter, as the giver would.
//! - *Orphan*: the thread that abandons the runtime takes a free seat. From then on a giver without
//!   waiters keeps the seat. Each of them has the runtime driven to its end.
//! - *Put back*: a thread that has kept the seat can start no thread that drives, and is inside a
//!   closure of `spawn_blocking`, for which the end of the runtime waits. It gives the seat back,
//!   also without waiters, and withdraws once more after the closure.
//! - *Close*: the driver of a runtime that is over keeps the seat, and unparks all waiters.
//!
//! # Why no waiter parks beside a free seat
//! A thread notes itself only where it finds the seat taken, and later the seat is given under the
//! same lock. The giver unparks a waiter, and that thread comes to the lock before it runs any code
//! of its caller: it takes the seat, or withdraws and so unparks the next. If another thread has
//! taken the seat first, the unparked one notes itself again, and that driver gives later. An
//! unpark is kept until the next park, so a thread that is unparked before it parks looks again.
//!
//! # Rejected
//! To unpark all waiters: where a hundred threads wait, each change of drivers would wake all of
//! them. A seat that stays with its first driver's thread: the tasks would stand still as soon as
//! that thread's future is complete, whatever others wait for.

use crate::primitives::thread::{self, Thread};
use crate::primitives::{Mutex, MutexGuard, lock};
use std::collections::VecDeque;

/// Whether the seat of a current-thread runtime is free, and the threads that want it.
#[derive(Debug, Default)]
pub(crate) struct Driving {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether a thread has the seat, or it is gone.
    is_taken: bool,
    waiters: VecDeque<Waiter>,
    /// The number of the next waiter.
    next: u64,
    is_orphan: bool,
    is_closed: bool,
}

#[derive(Debug)]
struct Waiter {
    number: u64,
    thread: Thread,
}

impl Driving {
    /// Returns a number for a thread that is about to wait.
    pub(crate) fn next_waiter(&self) -> u64 {
        let mut state = lock(&self.state);
        state.next += 1;
        state.next
    }

    /// Takes the seat if it is free; if not, returns false, and notes the caller as the waiter with
    /// this number. A waiter that is on the list stays at its place.
    pub(crate) fn take_or_wait(&self, number: u64) -> bool {
        let mut state = lock(&self.state);
        if !std::mem::replace(&mut state.is_taken, true) {
            state.remove(number);
            return true;
        }
        if !state.is_closed && state.waiters.iter().all(|waiter| waiter.number != number) {
            state.waiters.push_back(Waiter { number, thread: thread::current() });
        }
        false
    }

    /// Gives the seat back. Returns true if the caller keeps it, to have the runtime driven to its
    /// end.
    #[must_use]
    pub(crate) fn give(&self) -> bool {
        let mut state = lock(&self.state);
        state.is_taken = false;
        State::pass_on(state)
    }

    /// Takes the caller off the list. Returns true if the caller has the seat now, to have the
    /// runtime driven to its end.
    #[must_use]
    pub(crate) fn withdraw(&self, number: u64) -> bool {
        let mut state = lock(&self.state);
        state.remove(number);
        State::pass_on(state)
    }

    /// Notes that no thread waits for the runtime's end. Returns true if the caller has the seat
    /// now, to have the runtime driven to its end.
    #[must_use]
    pub(crate) fn orphan(&self) -> bool {
        let mut state = lock(&self.state);
        state.is_orphan = true;
        State::pass_on(state)
    }

    /// Gives back the seat of an orphan, which the caller cannot have driven now.
    pub(crate) fn put_back(&self) {
        let mut state = lock(&self.state);
        state.is_taken = false;
        if !state.waiters.is_empty() {
            State::pass_on(state);
        }
    }

    /// Sends all waiters on their way: the runtime is over.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        waiters.iter().for_each(|waiter| waiter.thread.unpark());
    }
}

impl State {
    fn remove(&mut self, number: u64) {
        self.waiters.retain(|waiter| waiter.number != number);
    }

    /// Unparks the first waiter, if the seat is free. If there is none, the caller takes the seat
    /// of an orphan.
    fn pass_on(mut state: MutexGuard<'_, Self>) -> bool {
        if state.is_taken {
            return false;
        }
        let Some(waiter) = state.waiters.pop_front() else {
            state.is_taken = state.is_orphan;
            return state.is_orphan;
        };
        drop(state);
        waiter.thread.unpark();
        false
    }
}
