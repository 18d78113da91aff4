//! The queue of closures that block, and a count of the threads that run them.
//!
//! # Roles
//! A *spawner* queues a closure, as a task that completes in one poll. A *blocking thread* takes
//! the oldest closure and runs it (`runtime/blocking.rs` has its loop). The thread that shuts the
//! runtime down *closes* the queue and waits for the blocking threads to leave.
//!
//! # Steps
//! All state is under one lock. *Push*: the spawner queues its closure. If the queue is longer than
//! there are idle threads, and there are fewer threads than the builder's `blocking_threads`, the
//! spawner has to start one; otherwise it notifies one. *Take*: a blocking thread waits until the
//! queue has a closure, and takes it. A thread leaves once it has been idle for [`KEEP_ALIVE`],
//! counted from the end of its last closure: a notification does not prolong that if another thread
//! takes the closure. *Close*: the queue is emptied, and every thread is notified.
//!
//! # Why nothing is lost
//! The thread that changes the state under the lock notifies after the change, and a blocking
//! thread looks at the state before each wait.

use crate::primitives::slab::Slab;
use crate::primitives::{Condvar, Mutex, MutexGuard, lock};
use crate::raw_task::rights::{Reference, Runnable};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The most blocking threads by default: Tokio's number, which its users have come to count on.
pub(crate) const DEFAULT_THREADS: usize = 512;

/// The time for which an idle thread stays.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// The closures of one runtime that wait for a thread, and its blocking threads.
#[derive(Debug)]
pub(crate) struct Blocking {
    /// The most threads.
    most: usize,
    state: Mutex<State>,
    /// Wakes idle threads for a closure, or at the end.
    queued: Condvar,
    /// Wakes the thread that shuts the runtime down once the last blocking thread has left.
    left: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Runnable>,
    /// The closures that run.
    running: Slab<Reference>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl State {
    /// Takes the oldest closure, which is about to run, and returns its key too.
    fn begin(&mut self) -> Option<(Runnable, usize)> {
        let closure = self.queue.pop_front()?;
        let key = self.running.insert(Reference::of(closure.live()));
        Some((closure, key))
    }

    /// Notes that a closure has returned. The last reference frees memory alone, so no caller's
    /// code runs under the lock.
    fn end(&mut self, done: Option<usize>) {
        drop(done.and_then(|done| self.running.remove(done)));
    }
}

/// The result of a push.
#[must_use]
pub(crate) enum Pushed {
    /// A thread comes for the closure.
    Awaited,
    /// The caller has to start a thread, which is counted already.
    NeedsThread,
    /// The queue is closed; this is the closure.
    Refused(Runnable),
}

impl Blocking {
    /// Makes an empty queue, for at most `most` threads.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, state: Mutex::default(), queued: Condvar::new(), left: Condvar::new() }
    }

    /// Returns the number of threads, and of closures that wait for one.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = lock(&self.state);
        (state.threads, state.queue.len())
    }

    /// Queues a closure.
    pub(crate) fn push(&self, closure: Runnable) -> Pushed {
        let mut state = lock(&self.state);
        if state.closed {
            return Pushed::Refused(closure);
        }
        state.queue.push_back(closure);
        if state.queue.len() > state.idle && state.threads < self.most {
            state.threads += 1;
            return Pushed::NeedsThread;
        }
        self.queued.notify_one();
        Pushed::Awaited
    }

    /// Counts out a thread that the system has refused. The caller has to run what is
    /// [unattended](Self::take_unattended) then.
    pub(crate) fn refused_thread(&self) {
        self.leave(&mut lock(&self.state));
    }

    /// Takes the oldest closure for a spawner, which has run `done` before, if there is no thread
    /// to run it. Of several spawners whose threads are refused at once the last one finds the
    /// closures of all, so it takes until there is none.
    pub(crate) fn take_unattended(&self, done: Option<usize>) -> Option<(Runnable, usize)> {
        let mut state = lock(&self.state);
        state.end(done);
        if state.threads == 0 { state.begin() } else { None }
    }

    /// Takes the oldest closure for the calling thread, which has run `done` before. Waits for one
    /// if there is none. If it returns `None`, the thread is counted out, and has to end.
    pub(crate) fn take(&self, done: Option<usize>) -> Option<(Runnable, usize)> {
        let mut state = lock(&self.state);
        state.end(done);
        if state.queue.is_empty() {
            state = self.wait_for_closure(state);
        }
        let begun = state.begin();
        if begun.is_none() {
            self.leave(&mut state);
        }
        begun
    }

    /// Waits until a closure is queued. If none is when this returns, the thread has to leave.
    fn wait_for_closure<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let end = Instant::now() + KEEP_ALIVE;
        state.idle += 1;
        while state.queue.is_empty() && !state.closed {
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                break;
            }
            let waited = self.queued.wait_timeout(state, rest);
            state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        state.idle -= 1;
        state
    }

    /// Counts a thread out.
    fn leave(&self, state: &mut State) {
        state.threads -= 1;
        if state.threads == 0 {
            self.left.notify_all();
        }
    }

    /// Refuses later closures, and returns those that have not begun.
    #[must_use]
    pub(crate) fn close(&self) -> Vec<Runnable> {
        let mut state = lock(&self.state);
        state.closed = true;
        let queue = std::mem::take(&mut state.queue);
        drop(state);
        self.queued.notify_all();
        queue.into()
    }

    /// Waits until all threads have left, or until `deadline`, and returns the closures that run,
    /// or have just returned.
    pub(crate) fn wait_for_threads(&self, deadline: Option<Instant>) -> Vec<Reference> {
        let mut state = lock(&self.state);
        while state.threads > 0 {
            state = match deadline {
                None => self.left.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner()),
                Some(deadline) => {
                    let rest = deadline.saturating_duration_since(Instant::now());
                    if rest.is_zero() {
                        break;
                    }
                    let waited = self.left.wait_timeout(state, rest);
                    waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0
                }
            };
        }
        state.running.iter().cloned().collect()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::raw_task::blocks::{Birth, Room};
    use crate::raw_task::id;
    use crate::scheduler::run;
    use crate::task;
    use std::panic::Location;

    fn push(blocking: &Blocking) -> Pushed {
        let birth = Birth { home: std::ptr::null(), id: id::take_one(), room: Room::Compact };
        blocking.push(task::make(async {}, (), Location::caller(), birth).0)
    }

    #[test]
    fn spawners_whose_threads_are_refused_at_once_leave_no_closure_behind() {
        let blocking = Blocking::new(DEFAULT_THREADS);
        for _ in 0..2 {
            assert!(matches!(push(&blocking), Pushed::NeedsThread));
        }
        blocking.refused_thread();
        assert!(blocking.take_unattended(None).is_none(), "the other thread may come yet");
        blocking.refused_thread();
        let (mut closures, mut done) = (0, None);
        while let Some((closure, key)) = blocking.take_unattended(done) {
            run::run_elsewhere(closure);
            closures += 1;
            done = Some(key);
        }
        assert_eq!(closures, 2);
        assert!(blocking.wait_for_threads(None).is_empty());
    }
}
