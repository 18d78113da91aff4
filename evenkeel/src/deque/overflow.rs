//! The overflow of a deque: the boxed jobs that its owner pushes while all places are in use.
//!
//! # Roles
//! The deque's *owner* pushes at the back and pops there, the newest job first. *Thieves* take at
//! the front, the oldest first, and a *waiter* is a thief that may take descendants of one job
//! only, as in the [deque](super).
//!
//! # States
//! `jobs` holds the jobs, under a lock; `count` is their number, for looks without the lock.
//! `height`, which only the owner uses, is the number of jobs that it has pushed and has not come
//! down from: jobs that thieves have taken still count.
//!
//! # Protocol
//! - *Push*: with the first job the owner publishes all places of the deque. Then it puts the job
//!   in, under the lock, makes a full fence, and looks whether a thief has asked.
//! - *Pop*: the owner takes the newest job. If thieves have taken all of them, it comes down to its
//!   floor at once.
//! - *Steal*: a thief looks whether a place of the deque is public. Only if none is, it takes the
//!   oldest job from here. The owner pops all jobs from here before it lowers the head of the
//!   deque.
//!
//! # Why the order holds
//! The head stands at the end of the deque as long as the height is not zero, so each job here is
//! newer than each in a place. All places are public then, so a thief finds the oldest job there
//! first.
//!
//! # Why nothing is lost
//! A job is in `jobs` from its push to its one removal, both under the lock. A thief that falls
//! asleep asks, makes a fence, and looks at `count`; the owner raises `count`, makes a fence, and
//! looks for the request. The owner waits for no thief here, so a job must not rely on the frame of
//! its owner. A member of a scope is counted before it comes here ([`member`](crate::fork_join)),
//! and the thief reads the whole job under the lock.
//!
//! # Descendants
//! A thief's overflow is empty when it begins a job, as its places are. A waiter looks, under the
//! lock, whether its job is incomplete and no guest is there. The job that it takes was pushed
//! before that, under the same lock, and after the thief began: it is a descendant.
//!
//! # Rejected
//! Running the job inside `spawn`: the spawner may hold a lock that the job takes, or the job may
//! wait for the spawner, and a chain of spawns becomes a recursion. Sending it as an errand: the
//! owner would take the oldest first, a task could come before a scope's job, and no waiter could
//! take it. A ring of places that grows: a [place](super::Place) is an address that frames on the
//! stack keep.

#![allow(unsafe_code, reason = "a job is run by its address and by what runs it")]

use super::slot::Code;
use super::{Deque, Level};
use crate::primitives::atomic::{AtomicUsize, Edge, Ordering};
use crate::primitives::{Mutex, fence, lock};
use std::collections::VecDeque;

/// Room for this many jobs is kept once they are gone: 16 KiB. An estimate; no benchmark sets it.
const KEPT: usize = 1_024;

/// A job in the overflow: an address, and the function that runs it.
pub(crate) struct Spilled {
    address: *mut (),
    run: Code,
}

// SAFETY: the address is that of a box or a queue, and the code that made the job guarantees that
// it may go to another thread.
unsafe impl Send for Spilled {}

impl Spilled {
    pub(crate) fn new<T>(address: *mut T, run: Code) -> Self {
        Self { address: address.cast(), run }
    }

    /// Makes a job that does nothing, identified by its address.
    #[cfg(all(test, not(shuttle)))]
    pub(crate) fn numbered(number: usize) -> Self {
        /// # Safety
        /// None is needed.
        unsafe fn nothing() {}
        Self::new(std::ptr::without_provenance_mut::<()>(number), nothing)
    }

    /// Returns the address that identifies the job.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(crate) fn address(&self) -> usize {
        self.address.addr()
    }

    /// Returns the address, and the function that runs the job.
    pub(crate) fn into_parts(self) -> (*mut (), Code) {
        (self.address, self.run)
    }
}

/// The overflow of one deque.
#[derive(Default)]
pub(super) struct Overflow {
    jobs: Mutex<VecDeque<Spilled>>,
    count: AtomicUsize,
    height: AtomicUsize,
}

impl Overflow {
    /// Returns the number of jobs that the owner has pushed and has not come down from. The caller
    /// is the owner.
    pub(super) fn height(&self) -> usize {
        self.height.load(Ordering::Relaxed)
    }

    /// Returns whether there is no job: one load.
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Pushes the newest job. The caller is the owner.
    pub(super) fn push(&self, job: Spilled) {
        self.height.store(self.height() + 1, Ordering::Relaxed);
        let mut jobs = lock(&self.jobs);
        jobs.push_back(job);
        self.count.store(jobs.len(), Ordering::Relaxed);
    }

    /// Takes the newest job. Returns `None` if thieves have taken all of them: then the height,
    /// which was above `floor`, becomes `floor`. The caller is the owner.
    pub(super) fn pop(&self, floor: usize) -> Option<Spilled> {
        debug_assert!(self.height() > floor);
        let job = self.take(VecDeque::pop_back);
        self.height.store(if job.is_some() { self.height() - 1 } else { floor }, Ordering::Relaxed);
        job
    }

    /// Takes the oldest job, if there is one and `holds` returns true under the lock.
    pub(super) fn steal(&self, holds: impl FnOnce() -> bool) -> Option<Spilled> {
        if self.is_empty() {
            return None;
        }
        self.take(|jobs| if holds() { jobs.pop_front() } else { None })
    }

    fn take(
        &self,
        take: impl FnOnce(&mut VecDeque<Spilled>) -> Option<Spilled>,
    ) -> Option<Spilled> {
        let mut jobs = lock(&self.jobs);
        let job = take(&mut jobs);
        self.count.store(jobs.len(), Ordering::Relaxed);
        if jobs.is_empty() {
            jobs.shrink_to(KEPT);
        }
        job
    }
}

impl Deque {
    /// Puts a boxed job into the overflow, up to and including the fence. If a thief [has
    /// asked](Self::is_asked), the owner has to [publish](Self::publish). The caller is the owner,
    /// and the deque [is full](Self::is_full).
    #[cold]
    pub(crate) fn spill(&self, job: Spilled) {
        if self.overflow.height() == 0 {
            // Thieves take the oldest job first, so they have to find the places before the newer
            // jobs.
            self.publish_all();
        }
        self.count_boxed(1);
        self.overflow.push(job);
        fence::full(Edge::IdlePush);
    }

    /// Returns whether the newest job lies in the overflow, unless it was stolen. The caller is the
    /// owner.
    pub(crate) fn has_spilled(&self) -> bool {
        self.overflow.height() > 0
    }

    /// Takes the newest job out of the overflow, which has [some above](Self::has_spilled) `floor`.
    /// Returns `None` if thieves have taken all of those: then the level is `floor`, or the
    /// overflow is empty. The caller is the owner.
    pub(crate) fn pop_spilled(&self, floor: Level) -> Option<Spilled> {
        let before = self.overflow.height();
        let floor = floor.0.saturating_sub(self.index(self.head()) as usize);
        let job = self.overflow.pop(floor);
        let popped = before - self.overflow.height();
        self.count_boxed(-i32::try_from(popped).expect("a job takes memory"));
        job
    }

    /// Takes the oldest job out of the overflow, if no place has a public job and `holds` returns
    /// true after that look.
    pub(crate) fn steal_spilled(&self, holds: impl FnOnce() -> bool) -> Option<Spilled> {
        self.overflow.steal(|| !self.has_public_place() && holds())
    }
}
