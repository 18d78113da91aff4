//! The place where a local task leaves its output, and its joiner a waker.
//!
//! Task and joiner may be on two threads. Each changes the place under its lock: either the joiner
//! finds the outcome, or the completer finds the joiner's waker, or that there is no joiner. No
//! output and no waker is made, called or dropped under the lock: that may run a caller's code.

use crate::primitives::unwind::contain;
use crate::primitives::{Mutex, lock};
use crate::task::error::Failure;
use std::mem;
use std::task::{Poll, Waker};

pub(super) struct Outcome<T>(Mutex<State<T>>);

enum State<T> {
    /// The task is not finished. The waker is that of the joiner, if it waits.
    Open(Option<Waker>),
    /// The task is finished, and its joiner has yet to come.
    There(Result<T, Failure>),
    /// The joiner has gone, with the outcome or without it.
    Gone,
}

/// The end of a task whose output's type is not known.
pub(super) trait Ending {
    /// Ends the task without an output.
    fn fail(&self, failure: Failure);
}

impl<T> Outcome<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(State::Open(None)))
    }

    /// Sets the outcome, and wakes the joiner. Without a joiner the outcome is dropped here, where
    /// a panic has none to go to; the process's panic hook has reported it.
    pub(super) fn complete(&self, result: Result<T, Failure>) {
        let mut next = State::There(result);
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

    /// Takes the outcome, or leaves the joiner's waker. `may_take` is called at most once, if the
    /// outcome is there at the first look: without its leave this is `None`, and nothing is taken.
    pub(super) fn poll(
        &self,
        waker: &Waker,
        may_take: impl FnOnce() -> bool,
    ) -> Option<Poll<Result<T, Failure>>> {
        {
            let mut state = lock(&self.0);
            match &*state {
                State::Open(Some(left)) if left.will_wake(waker) => return Some(Poll::Pending),
                State::Open(_) => {}
                _ if may_take() => return Some(Poll::Ready(state.take())),
                _ => return None,
            }
        }
        // Declared before the guard: what is left in it at the end is dropped without the lock.
        let mut joiner = Some(waker.clone());
        let mut state = lock(&self.0);
        match &mut *state {
            State::Open(left) => {
                mem::swap(left, &mut joiner);
                Some(Poll::Pending)
            }
            _ => Some(Poll::Ready(state.take())),
        }
    }

    /// Leaves the joiner's waker, in the place of an earlier one. Returns false if the task is
    /// finished.
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
    pub(super) fn try_take(&self) -> Option<Result<T, Failure>> {
        let mut state = lock(&self.0);
        matches!(*state, State::There(_)).then(|| state.take())
    }

    /// Returns whether the task is finished.
    pub(super) fn is_there(&self) -> bool {
        !matches!(*lock(&self.0), State::Open(_))
    }

    /// The joiner goes without the outcome, which is dropped here or by the completer.
    pub(super) fn detach(&self) {
        let lost = mem::replace(&mut *lock(&self.0), State::Gone);
        contain(|| drop(lost));
    }
}

impl<T> State<T> {
    /// Takes an outcome that is there.
    fn take(&mut self) -> Result<T, Failure> {
        match mem::replace(self, Self::Gone) {
            Self::There(result) => result,
            _ => unreachable!("a joiner takes the outcome once, and polls no more"),
        }
    }
}

impl<T> Ending for Outcome<T> {
    fn fail(&self, failure: Failure) {
        self.complete(Err(failure));
    }
}
