//! Entry as a future.

#![allow(unsafe_code, reason = "queues point to a node in this future")]

use super::core::{self, Acceptance, CoreRef, Entry};
use super::held::Held;
use super::node::{Node, Op, Place, Progress};
use super::set::Set;
use super::waiting;
use super::watch;
use crate::task::word_waker::WordWaker;
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// The future of [`Monitor::enter`](super::Monitor::enter), [`lock_all`](super::lock_all) and the like.
///
/// # Cancel safety
/// Dropped before it has given its hold, it leaves its place in the queue and all that it has been given already: the next one
/// gets it. Whoever comes back waits at the back.
///
/// # Panics
/// If it is polled again after it has given its hold.
#[must_use = "futures do nothing unless awaited"]
pub struct Enter<S: Set> {
    node: Node,
    set: S,
    /// There until the hold has been given.
    cores: Option<S::Cores>,
    /// How many of them are held.
    stage: u32,
    op: Op,
    /// Queues point to the node and the cores.
    _pinned: PhantomPinned,
}

/// The parts of a pinned one that may be changed: none of them is what a queue points to, but the cores, which stay where they are while the
/// node waits.
struct Parts<'a, S: Set> {
    node: &'a Node,
    set: S,
    cores: &'a mut Option<S::Cores>,
    stage: &'a mut u32,
    op: Op,
}

impl<S: Set> Enter<S> {
    #[inline(always)]
    #[track_caller]
    pub(super) fn new(set: S, op: Op) -> Self {
        Self {
            node: Node::new(),
            cores: Some(set.cores()),
            set,
            stage: 0,
            op,
            _pinned: PhantomPinned,
        }
    }

    #[inline(always)]
    fn parts(self: Pin<&mut Self>) -> Parts<'_, S> {
        // SAFETY: nothing is moved out but the cores, once the node is in no queue.
        let this = unsafe { self.get_unchecked_mut() };
        Parts {
            node: &this.node,
            set: this.set,
            cores: &mut this.cores,
            stage: &mut this.stage,
            op: this.op,
        }
    }
}

impl<S: Set> Parts<'_, S> {
    fn cores(&self) -> &[CoreRef] {
        self.cores.as_ref().expect("the hold has not been given").as_ref()
    }

    /// Goes on from the core at `stage`, which is not held.
    #[inline]
    fn advance(mut self, waker: &Waker) -> Poll<Held<S>> {
        let mut spare = None;
        loop {
            let stage = *self.stage as usize;
            let cores = self.cores();
            if stage == cores.len() {
                return Poll::Ready(self.finish(None));
            }
            // SAFETY: the set borrows its monitors.
            let core = unsafe { cores[stage].get() };
            let own = || spare.take().or_else(|| WordWaker::of_task(waker));
            // SAFETY: the node is in no queue; it and the cores stay where they are, and the future takes it out when it is dropped.
            match unsafe { core.enter(self.node, cores, self.op, stage == 0, own) } {
                Entry::Own => *self.stage += 1,
                Entry::Accepted(acceptance) => {
                    *self.stage = self.cores().len() as u32;
                    return Poll::Ready(self.finish(Some(acceptance)));
                }
                Entry::Wait => return Poll::Pending,
                Entry::WaitAnd(acceptor) => {
                    acceptor.wake();
                    return Poll::Pending;
                }
                // Its clone is a caller's code, which has no place under the lock.
                Entry::NoWaker => spare = Some(WordWaker::boxed(waker)),
            }
        }
    }

    /// Goes on after the node has been granted.
    fn follow(mut self, waker: &Waker) -> Poll<Held<S>> {
        let (whole, accepted) = self.granted();
        if whole {
            *self.stage = self.cores().len() as u32;
            return Poll::Ready(self.finish(accepted));
        }
        *self.stage += 1;
        self.node.set_new();
        self.advance(waker)
    }

    /// What the node has been granted: its whole set or one core; and the number of its call, if an acceptor waits for that.
    fn granted(&self) -> (bool, Option<Acceptance>) {
        // SAFETY: the node was granted, and this is its future.
        unsafe { self.node.with(|ticket| (ticket.whole, ticket.accepted)) }
    }

    #[inline(always)]
    fn finish(&mut self, accepted: Option<Acceptance>) -> Held<S> {
        self.node.set_done();
        let cores = self.cores.take().expect("the hold is given once");
        // SAFETY: all of them are held.
        unsafe { Held::new(self.set, cores, accepted) }
    }
}

impl<S: Set> Future for Enter<S> {
    type Output = Held<S>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Held<S>> {
        let parts = self.parts();
        match parts.node.progress() {
            Progress::New => parts.advance(context.waker()),
            Progress::Waiting => {
                let cores = parts.cores();
                let stage = *parts.stage as usize;
                // SAFETY: the node waits with the lock of this core, which the set borrows.
                let granted = unsafe { waiting::renew(parts.node, cores[stage], context.waker()) };
                if granted { parts.follow(context.waker()) } else { Poll::Pending }
            }
            Progress::Granted => parts.follow(context.waker()),
            Progress::Done => panic!("Enter is polled again after it has given its hold"),
        }
    }
}

impl<S: Set> Drop for Enter<S> {
    #[inline]
    fn drop(&mut self) {
        let progress = self.node.progress();
        if progress != Progress::Done && (progress != Progress::New || self.stage > 0) {
            self.cancel(progress);
        }
    }
}

impl<S: Set> Enter<S> {
    /// Leaves the queue, and what has been given already.
    #[cold]
    fn cancel(&mut self, progress: Progress) {
        let cores = self.cores.as_ref().expect("the hold has not been given").as_ref();
        let mut held = self.stage as usize;
        if progress != Progress::New {
            let remove = |core: &core::Core, state: &mut core::State, place| {
                match place {
                    // SAFETY: that is where it is.
                    Place::Entry => unsafe { state.remove_entry(&self.node) },
                    // SAFETY: that is where it is.
                    _ => unsafe { state.replace_urgent(&self.node, None) },
                }
                core.note_urgent(state);
            };
            // SAFETY: the node waits with the lock of this core, if it still waits, and the set borrows its monitors.
            let left = unsafe { waiting::leave(&self.node, cores[held], remove) };
            if !left {
                // SAFETY: the node was granted, and this is its future.
                let (whole, accepted) =
                    unsafe { self.node.with(|ticket| (ticket.whole, ticket.accepted)) };
                if whole {
                    // SAFETY: the set was given to this future, and is given up here.
                    return unsafe { core::leave(cores, accepted) };
                }
                held += 1;
            }
        }
        // SAFETY: the set borrows its monitors.
        unsafe { watch::left(&cores[..held]) };
        // SAFETY: these have been given to this future, and are given up here.
        unsafe { core::release_all(&cores[..held]) };
    }
}

impl<S: Set> fmt::Debug for Enter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enter").finish_non_exhaustive()
    }
}
