//! The queue of ready local tasks, and the wakers of the drivers. The [set](super) has the
//! protocol.

use crate::primitives::slab::Slab;
use crate::primitives::unwind::{contain, wake_all};
use crate::primitives::{Mutex, lock};
use crate::raw_task::id::Id;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::task::Waker;

/// A task of a set: its slot, and its number, by which a late wake finds that the slot has another
/// task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) slot: usize,
    pub(super) id: Id,
}

/// The queue. Its lock is held for a few instructions, and never while a waker is cloned, called or
/// dropped: that may run a caller's code.
#[derive(Debug)]
pub(super) struct Ready(Mutex<State>);

#[derive(Debug)]
struct State {
    line: VecDeque<Member>,
    /// The waker of each driver that waits.
    drivers: Slab<Option<Waker>>,
    is_over: bool,
}

impl Ready {
    pub(super) fn new() -> Self {
        Self(Mutex::new(State { line: VecDeque::new(), drivers: Slab::new(), is_over: false }))
    }

    /// Appends a task, and wakes the drivers that wait. A queue that is over takes none.
    pub(super) fn push(&self, member: Member) {
        let drivers = {
            let mut state = lock(&self.0);
            if state.is_over {
                return;
            }
            state.line.push_back(member);
            state.take_drivers()
        };
        wake_all(drivers);
    }

    /// Moves the queue into `batch`, which is empty. Returns whether there was one.
    pub(super) fn take(&self, batch: &mut VecDeque<Member>) -> bool {
        let mut state = lock(&self.0);
        if state.line.is_empty() {
            return false;
        }
        mem::swap(&mut state.line, batch);
        true
    }

    /// Takes no tasks from now on, and drops those that are queued.
    pub(super) fn close(&self) {
        let (line, drivers) = {
            let mut state = lock(&self.0);
            state.is_over = true;
            (mem::take(&mut state.line), state.take_drivers())
        };
        drop(line);
        contain(|| drop(drivers));
    }

    pub(super) fn is_over(&self) -> bool {
        lock(&self.0).is_over
    }
}

impl State {
    /// Takes the wakers of the drivers that wait, without an allocation for a single one.
    fn take_drivers(&mut self) -> impl Iterator<Item = Waker> + use<> {
        let mut wakers = self.drivers.iter_mut().filter_map(Option::take);
        let first = wakers.next();
        first.into_iter().chain(wakers.collect::<Vec<_>>())
    }
}

/// The place of a driver, where it leaves its waker.
#[derive(Debug)]
pub(super) struct Place {
    ready: Arc<Ready>,
    key: Option<usize>,
}

impl Place {
    /// A driver that has not waited yet.
    pub(super) fn new(ready: Arc<Ready>) -> Self {
        Self { ready, key: None }
    }

    /// Leaves the driver's waker for the next task that becomes ready. Returns false if there is
    /// one.
    pub(super) fn wait(&mut self, waker: &Waker) -> bool {
        {
            let mut state = lock(&self.ready.0);
            if !state.line.is_empty() {
                return false;
            }
            let left = self.key.and_then(|key| state.drivers.get_mut(key)?.as_ref());
            if left.is_some_and(|left| left.will_wake(waker)) {
                return true;
            }
        }
        // Declared before the guard: what is left in it at the end is dropped without the lock.
        let mut waker = Some(waker.clone());
        let mut state = lock(&self.ready.0);
        if !state.line.is_empty() {
            return false;
        }
        match self.key.and_then(|key| state.drivers.get_mut(key)) {
            Some(left) => mem::swap(left, &mut waker),
            None => self.key = Some(state.drivers.insert(waker.take())),
        }
        true
    }

    /// Gives the place up, until the driver waits again.
    pub(super) fn leave(&mut self) {
        if let Some(key) = self.key.take() {
            let left = lock(&self.ready.0).drivers.remove(key);
            drop(left);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
    }
}
