//! Entry as a future.

#![allow(unsafe_code, reason = "queues point to a node in this future")]

use super::core::{self, Entry};
use super::cores::CoreRef;
use super::held::{Held, cancelling};
use super::members::{Members, Slot};
use super::node::{Node, Op};
use super::set::Set;
use super::waiting::{self, At};
use super::watch;
use crate::task::budget::Unit;
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// The future of [`Monitor::enter`](super::Monitor::enter), [`lock_all`](super::lock_all) and the
/// like, which have examples.
///
/// # Cancel safety
/// It may be dropped at any time. A task that enters again waits at the back. If it is dropped
/// - before its first poll, or after one that has yielded because the [slice](crate::budget) of the
///   poll was over: nothing has happened;
/// - while it is queued: it leaves the queue, and the entrants behind it move up;
/// - half way through a set: it leaves the queue where it waits, and gives up the monitors that it
///   has entered;
/// - when it has been given all, but has not been polled since: it leaves them, each to the next
///   task. If an acceptor has chosen it, the acceptor learns that the call has [broken
///   off](super::Accepted::Broken);
/// - while it waits for an [end](super::Monitor::end): it stops waiting. The acceptor has gone on
///   already, and does not notice.
///
/// # Panics
/// If it is polled again after it has returned its hold.
///
/// # Examples
/// A monitor with an entrant cannot be dropped:
/// ```compile_fail,E0505
/// # use evenkeel::sync::monitor::Monitor;
/// let monitor = Monitor::new(0_u32);
/// let enter = monitor.enter();
/// drop(monitor);
/// drop(enter);
/// ```
#[must_use = "futures do nothing unless awaited"]
pub struct Enter<S: Set> {
    node: Node,
    /// Full until the hold has been returned.
    members: Slot<S>,
    /// Room for the cores, where queues find them.
    place: S::Place,
    /// How many of the cores are held.
    stage: u32,
    op: Op,
    /// Whether the node has joined the queue of the core at `stage`.
    queued: bool,
    unit: Unit,
    /// Queues point to the node and the cores.
    _pinned: PhantomPinned,
}

impl<S: Set> Enter<S> {
    #[inline(always)]
    #[track_caller]
    pub(super) fn new(set: S, op: Op) -> Self {
        Self::of(Members::new(set), op)
    }

    #[inline(always)]
    #[track_caller]
    pub(super) fn of(members: Members<S>, op: Op) -> Self {
        Self {
            node: Node::new(),
            members: Slot::new(members),
            place: S::place(),
            stage: 0,
            op,
            queued: false,
            unit: Unit::NEW,
            _pinned: PhantomPinned,
        }
    }

    /// The set that is entered, until the hold has been returned.
    pub(super) fn members(&self) -> &Members<S> {
        self.members.get()
    }

    /// Takes without waiting, before the first poll, all cores that come before `limit`, or all
    /// cores if there is no limit. Returns false, and takes none, if one of these is held.
    pub(super) fn try_before(&mut self, limit: Option<CoreRef>) -> bool {
        let cores = self.members.get().cores(&mut self.place);
        for index in 0..cores.len() {
            let core = cores.get(index);
            if limit.is_some_and(|limit| core > limit) {
                break;
            }
            // SAFETY: the set borrows its monitors.
            if !unsafe { core.get() }.try_enter() {
                // SAFETY: the caller holds these, and gives them up here.
                unsafe { core::release(cores, index) };
                self.stage = 0;
                return false;
            }
            self.stage = index as u32 + 1;
        }
        // What it holds of the set is not kept from others by a yield.
        self.unit.owe();
        true
    }

    /// The first poll.
    #[inline(always)]
    fn begin(&mut self, waker: &Waker) -> Poll<Held<S>> {
        if self.unit.take() { self.advance(waker) } else { self.begin_without_unit(waker) }
    }

    /// The same, if the slice of the poll is over. A task that has to wait takes its place in the
    /// queue all the same.
    #[cold]
    fn begin_without_unit(&mut self, waker: &Waker) -> Poll<Held<S>> {
        let first = self.members.get().cores(&mut self.place).get(0);
        // SAFETY: the set borrows its monitors.
        if unsafe { first.get() }.is_free() {
            return self.unit.yield_to(waker);
        }
        self.advance(waker)
    }

    /// Enters the core at `stage` and those after it.
    #[inline(always)]
    fn advance(&mut self, waker: &Waker) -> Poll<Held<S>> {
        let cores = self.members.get().cores(&mut self.place);
        let (node, op, queued) = (&self.node, self.op, &mut self.queued);
        while (self.stage as usize) < cores.len() {
            let stage = self.stage as usize;
            // SAFETY: the set borrows its monitors.
            let core = unsafe { cores.get(stage).get() };
            // SAFETY: the node is in no queue. It and the cores stay where they are, and the future
            // takes the node out when it is dropped.
            match unsafe { core.enter(node, cores, op, stage == 0, waker, queued) } {
                Entry::Own => self.stage += 1,
                Entry::Accepted => {
                    self.stage = cores.len() as u32;
                    core.excuse();
                }
                Entry::Wait => return Poll::Pending,
            }
        }
        Poll::Ready(self.finish())
    }

    /// Goes on after the node has joined a queue.
    #[inline]
    fn resume(&mut self, waker: &Waker) -> Poll<Held<S>> {
        if !self.node.is_granted() && !self.renew(waker) {
            return Poll::Pending;
        }
        // SAFETY: the node was granted, and this is its future.
        let (whole, call) = unsafe { self.node.with(|ticket| (ticket.whole, ticket.call)) };
        if call.is_some() {
            // SAFETY: the set borrows its monitors.
            unsafe { self.members.get().leader().get() }.excuse();
        }
        if S::SINGLE || whole {
            return Poll::Ready(self.finish());
        }
        self.stage += 1;
        self.queued = false;
        self.advance(waker)
    }

    /// Renews the waker. Returns true if the node has been granted meanwhile.
    #[cold]
    fn renew(&mut self, waker: &Waker) -> bool {
        let core = self.core();
        // SAFETY: the node waits with the lock of this core, which the set borrows.
        unsafe { waiting::renew(&self.node, core, waker) }
    }

    /// The core that has the node in its queue.
    fn core(&self) -> CoreRef {
        // Not the future's own place: that must not be touched while the node waits.
        let mut place = S::place();
        self.members.get().cores(&mut place).get(self.stage as usize)
    }

    #[inline(always)]
    fn finish(&mut self) -> Held<S> {
        let members = self.members.take();
        // SAFETY: all monitors of the set are held.
        unsafe { Held::new(members) }
    }
}

impl<S: Set> Future for Enter<S> {
    type Output = Held<S>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Held<S>> {
        // SAFETY: nothing is moved out but the set, once the node is in no queue.
        let this = unsafe { self.get_unchecked_mut() };
        if this.queued { this.resume(context.waker()) } else { this.begin(context.waker()) }
    }
}

impl<S: Set> Drop for Enter<S> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.members.is_full() && (self.queued || self.stage > 0) {
            self.cancel();
        }
    }
}

impl<S: Set> Enter<S> {
    /// Leaves the queue, and gives up the cores that it has been given.
    #[cold]
    fn cancel(&mut self) {
        let members = self.members.get();
        let mut held = self.stage as usize;
        if self.queued {
            let remove = |at: At<'_>| match at {
                // SAFETY: that is where it is.
                At::Entry(state) => unsafe { state.remove_entry(&self.node) },
                // SAFETY: that is where it is.
                At::Urgent(urgent) => unsafe { urgent.replace(&self.node, None) },
                At::Condition => unreachable!("an entrant waits for no condition"),
            };
            // SAFETY: the node waits with the lock of this core, if it still waits, and the set
            // borrows its monitors.
            let left = unsafe { waiting::leave(&self.node, self.core(), remove) };
            if !left {
                // SAFETY: the node was granted, and this is its future.
                if unsafe { self.node.with(|ticket| ticket.whole) } {
                    // SAFETY: the set was given to this future, which gives it up here.
                    return cancelling(|| unsafe { core::leave(members) });
                }
                held += 1;
            }
        }
        let mut place = S::place();
        let cores = members.cores(&mut place);
        // SAFETY: the set borrows its monitors.
        unsafe { watch::left_some(cores, held) };
        // SAFETY: these cores were given to this future, which gives them up here.
        unsafe { core::release(cores, held) };
    }
}

impl<S: Set> fmt::Debug for Enter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enter").finish_non_exhaustive()
    }
}
