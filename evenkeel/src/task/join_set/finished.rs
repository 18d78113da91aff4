//! The line of finished tasks, and the wakers that append to it. The [set](super) has the protocol.

use crate::primitives::unwind::wake_all;
use crate::primitives::{Mutex, lock};
use crate::raw_task::id::Id;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::task::{Wake, Waker};

/// A task of a set: its slot, and its number, by which a late report finds that the slot has
/// another task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) slot: usize,
    pub(super) id: Id,
}

/// The line. Its lock is held for a few instructions, and never while a waker is cloned, called or
/// dropped: that may run a caller's code.
#[derive(Debug)]
pub(super) struct Finished(Mutex<State>);

#[derive(Debug)]
struct State {
    line: VecDeque<Member>,
    joiner: Option<Waker>,
}

impl Finished {
    pub(super) fn new() -> Self {
        Self(Mutex::new(State { line: VecDeque::new(), joiner: None }))
    }

    /// Appends a finished task, and wakes the joiner if it waits.
    pub(super) fn push(&self, member: Member) {
        let joiner = {
            let mut state = lock(&self.0);
            state.line.push_back(member);
            state.joiner.take()
        };
        wake_all(joiner);
    }

    /// Moves the line into `batch`, which is empty. Returns whether there was one.
    pub(super) fn take(&self, batch: &mut VecDeque<Member>) -> bool {
        lock(&self.0).take(batch)
    }

    /// Does the same, or else leaves the joiner's waker for the next task that finishes.
    pub(super) fn take_or_wait(&self, batch: &mut VecDeque<Member>, waker: &Waker) -> bool {
        {
            let mut state = lock(&self.0);
            if state.take(batch) {
                return true;
            }
            if state.joiner.as_ref().is_some_and(|left| left.will_wake(waker)) {
                return false;
            }
        }
        // Declared before the guard: what is left in it at the end is dropped without the lock.
        let mut joiner = Some(waker.clone());
        let mut state = lock(&self.0);
        if state.take(batch) {
            return true;
        }
        mem::swap(&mut state.joiner, &mut joiner);
        false
    }
}

impl State {
    fn take(&mut self, batch: &mut VecDeque<Member>) -> bool {
        if self.line.is_empty() {
            return false;
        }
        mem::swap(&mut self.line, batch);
        true
    }
}

/// What a task of a set wakes when it finishes.
pub(super) struct Report {
    pub(super) finished: Arc<Finished>,
    pub(super) member: Member,
}

impl Wake for Report {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.finished.push(self.member);
    }
}
