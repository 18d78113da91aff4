//! The place where a local task or a fork leaves its outcome, and its joiner a waker.
//!
//! The completer and the joiner may be on two threads. Each changes the place under its lock:
//! either the joiner finds the outcome, or the completer finds the joiner's waker, or that there is
//! no joiner. No outcome and no waker is made, called or dropped under the lock: that may run a
//! caller's code.

use super::budget::Unit;
use crate::primitives::unwind::contain;
use crate::primitives::{Mutex, lock};
use std::mem;
use std::task::{Poll, Waker};

pub(crate) struct Outcome<T>(Mutex<State<T>>);

enum State<T> {
    /// The completer has yet to come. The waker is that of the joiner, if it waits.
    Open(Option<Waker>),
    /// The completer has come, and the joiner has yet to come.
    There(T),
    /// The joiner has gone, with the outcome or without it.
    Gone,
}

impl<T> Outcome<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(State::Open(None)))
    }

    /// Sets the outcome, and wakes the joiner. If the joiner has [detached](Self::detach), the
    /// outcome is dropped here, where a panic has no joiner to go to; the process's panic hook has
    /// reported it.
    pub(crate) fn complete(&self, outcome: T) {
        let mut next = State::There(outcome);
        {
            let mut state = lock(&self.0);
            if let State::Open(_) = *state {
                mem::swap(&mut *state, &mut next);
            }
        }
        match next {
            State::Open(joiner) => {
                contain(|| joiner.map(Waker::wake));
            }
            lost => {
                contain(|| drop(lost));
            }
        }
    }

    /// Takes the outcome, or leaves the joiner's waker. An outcome that comes without a wait takes
    /// a unit.
    pub(crate) fn poll(&self, waker: &Waker, unit: &mut Unit) -> Poll<T> {
        let mut fresh = None;
        loop {
            // Declared after the fresh waker, so that the lock is released before that is dropped.
            let mut state = lock(&self.0);
            match &mut *state {
                State::Open(left) => {
                    if !left.as_ref().is_some_and(|left| left.will_wake(waker)) {
                        if fresh.is_none() {
                            drop(state);
                            fresh = Some(waker.clone());
                            continue;
                        }
                        mem::swap(left, &mut fresh);
                    }
                    unit.owe();
                    return Poll::Pending;
                }
                _ if unit.take() => return Poll::Ready(state.take()),
                _ => {
                    drop(state);
                    return unit.yield_to(waker);
                }
            }
        }
    }

    /// Leaves the joiner's waker, in the place of an earlier one. Returns false if the outcome is
    /// there.
    pub(super) fn leave(&self, waker: &Waker) -> bool {
        // Declared before the guard: what is left in it at the end is dropped without the lock.
        let mut joiner = Some(waker.clone());
        let mut state = lock(&self.0);
        match &mut *state {
            State::Open(left) => {
                mem::swap(left, &mut joiner);
                true
            }
            _ => false,
        }
    }

    /// Takes the outcome if it is there.
    pub(super) fn try_take(&self) -> Option<T> {
        let mut state = lock(&self.0);
        matches!(*state, State::There(_)).then(|| state.take())
    }

    /// Returns whether the outcome is there, and not taken.
    pub(crate) fn is_there(&self) -> bool {
        matches!(*lock(&self.0), State::There(_))
    }

    /// The joiner goes without the outcome, which is dropped here or by the completer.
    pub(super) fn detach(&self) {
        let lost = mem::replace(&mut *lock(&self.0), State::Gone);
        contain(|| drop(lost));
    }
}

impl<T> State<T> {
    /// Takes an outcome that is there.
    fn take(&mut self) -> T {
        match mem::replace(self, Self::Gone) {
            Self::There(outcome) => outcome,
            _ => unreachable!("a joiner takes the outcome once, and polls no more"),
        }
    }
}
