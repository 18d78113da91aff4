//! Giving a monitor to a waiter of a condition, and going on after it.

#![allow(unsafe_code, reason = "queues point to a node in this future")]

use super::condition::{Condition, Queue};
use super::core;
use super::cores::{CoreRef, Cores};
use super::held::Held;
use super::members::Slot;
use super::node::{Kind, List, Node, Op, Place};
use super::set::Set;
use super::waiting;
use super::watch;
use crate::task::budget::Unit;
use crate::task::word_waker::WordWaker;
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// The future of [`Condition::signal_block`], which has an example.
///
/// # Cancel safety
/// It owns the hold, which is lost with it. If it is dropped
/// - before its first poll: it leaves the monitors, and has signalled no waiter;
/// - while the signalled waiter is inside, or is about to be: it does not come back; the waiter
///   does not notice, and the monitors go to the next task after it;
/// - when it has been given the monitors back, but has not been polled since: it leaves them.
///
/// If an acceptor has chosen the call that signals here, and the call is dropped, the acceptor
/// learns that it has [broken off](super::Accepted::Broken). If the signalled waiter is dropped
/// instead, the next waiter of the condition has its turn; if there is none, the signaller goes on.
///
/// # Panics
/// If it is polled again after it has returned the hold.
#[must_use = "futures do nothing unless awaited, and this one has the hold"]
pub struct SignalBlock<'c, S: Set, D: Copy + Send = ()> {
    node: Node,
    /// Full until the hold has been returned.
    members: Slot<S>,
    /// None if no task can wait for it, since it is bound to no set.
    condition: Option<&'c Condition<D>>,
    /// Whether the node has joined the urgent list.
    queued: bool,
    unit: Unit,
    _pinned: PhantomPinned,
}

impl<D: Copy + Send> Condition<D> {
    /// Gives the monitors to the task that has waited longest for the condition, and goes on when
    /// that task leaves or waits, before all others. Returns the hold, and whether a task has
    /// waited; if not, goes on at once. [`signal_block_with`](Self::signal_block_with) prepares
    /// something for that task.
    ///
    /// # Panics
    /// If the condition belongs to another set of monitors. The hold is dropped then.
    ///
    /// # Examples
    /// Unlike after [`signal`](Self::signal), the waiter is inside before the signaller goes on:
    /// ```
    /// use evenkeel::sync::monitor::{Condition, Monitor};
    ///
    /// # evenkeel::block_on(async {
    /// let steps = Monitor::<Vec<&str>, Condition>::default();
    /// let waiter = async {
    ///     let held = steps.enter().await;
    ///     steps.conditions().wait(held).await.push("waiter");
    /// };
    /// let signaller = async {
    ///     let held = steps.enter().await;
    ///     let (mut held, has_waited) = steps.conditions().signal_block(held).await;
    ///     assert!(has_waited);
    ///     held.push("signaller");
    /// };
    /// futures::join!(waiter, signaller);
    /// assert_eq!(steps.into_inner(), ["waiter", "signaller"]);
    /// # });
    /// ```
    #[inline]
    #[track_caller]
    pub fn signal_block<S: Set>(&self, held: Held<S>) -> SignalBlock<'_, S, D> {
        // SAFETY: the set borrows its monitors.
        let bound = unsafe { self.queue.is_bound(held.members().written().as_ref()) };
        SignalBlock {
            node: Node::new(),
            members: Slot::new(held.into_members()),
            condition: bound.then_some(self),
            queued: false,
            unit: Unit::NEW,
            _pinned: PhantomPinned,
        }
    }
}

/// Gives the monitors to the first waiter, waits for them behind it, and sets `queued`. Does
/// nothing if there is no waiter.
///
/// # Safety
/// The caller holds the set for this node; `leader` leads the set, and the condition belongs to it.
/// The node is in no queue, and stays where it is until it has been taken out.
#[inline(never)]
unsafe fn begin_signal(
    queue: &Queue,
    node: &Node,
    leader: CoreRef,
    waker: WordWaker,
    queued: &mut bool,
) {
    node.fill(Kind::Signaller, Place::Urgent, Cores::led_by(leader), Op::NONE);
    // SAFETY: the set borrows its monitors.
    let leader = unsafe { leader.get() };
    let mut state = leader.lock();
    // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
    let Some(next) = (unsafe { queue.with(List::take) }) else {
        drop(state);
        drop(waker);
        return;
    };
    node.word.wait(waker);
    *queued = true;
    let call = state.call();
    // SAFETY: the node belongs to its future until it is in a queue.
    unsafe { node.with(|ticket| ticket.call = call) };
    // SAFETY: the caller's promise.
    unsafe { state.push_urgent(node) };
    // SAFETY: the node waits, and this thread has the leader's lock.
    unsafe { watch::waits(node, leader, false) };
    leader.note_urgent(&state);
    // SAFETY: it has just been taken out of its queue, and waits with this lock.
    let next = unsafe { state.give(next) };
    drop(state);
    next.wake();
}

impl<'c, S: Set, D: Copy + Send> SignalBlock<'c, S, D> {
    /// The condition, if a task can wait for it.
    pub(super) fn condition(&self) -> Option<&'c Condition<D>> {
        self.condition
    }

    /// The set, before the first poll.
    pub(super) fn members(self: Pin<&mut Self>) -> &mut Slot<S> {
        // SAFETY: the set is not pinned.
        unsafe { &mut self.get_unchecked_mut().members }
    }

    /// The first poll, with `waker`. `clone` clones it, before the signal.
    #[inline(always)]
    pub(super) fn begin(
        self: Pin<&mut Self>,
        waker: &Waker,
        clone: impl FnOnce() -> WordWaker,
    ) -> Poll<(Held<S>, bool)> {
        // SAFETY: nothing is moved out but the set, once the node is in no queue.
        let this = unsafe { self.get_unchecked_mut() };
        if let Some(condition) = this.condition {
            let (leader, queued) = (this.members.get().leader(), &mut this.queued);
            // SAFETY: this future has the hold, which it gives up here; the condition belongs to
            // the set; what is pinned stays where it is, and the future takes the node out when it
            // is dropped.
            unsafe { begin_signal(&condition.queue, &this.node, leader, clone(), queued) };
        }
        if this.queued {
            return Poll::Pending;
        }
        // Nothing has changed, and no task can wait for the condition while this future has the
        // hold: the next poll finds it so.
        if !this.unit.take() {
            return this.unit.yield_to(waker);
        }
        Poll::Ready((this.finish(), false))
    }

    #[inline(always)]
    fn finish(&mut self) -> Held<S> {
        let members = self.members.take();
        // SAFETY: this future holds the set.
        unsafe { Held::new(members) }
    }
}

impl<S: Set, D: Copy + Send> Future for SignalBlock<'_, S, D> {
    type Output = (Held<S>, bool);

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<(Held<S>, bool)> {
        let waker = context.waker();
        if !self.queued {
            return self.begin(waker, || WordWaker::of(waker));
        }
        // SAFETY: nothing is moved out but the set, once the node is in no queue.
        let this = unsafe { self.get_unchecked_mut() };
        let leader = this.members.get().leader();
        // SAFETY: the set borrows its monitors, and the node is this future's.
        if this.node.is_granted() || unsafe { waiting::renew(&this.node, leader, waker) } {
            return Poll::Ready((this.finish(), true));
        }
        Poll::Pending
    }
}

impl<S: Set, D: Copy + Send> Drop for SignalBlock<'_, S, D> {
    fn drop(&mut self) {
        if !self.members.is_full() {
            return;
        }
        let members = self.members.get();
        // SAFETY: the set borrows its monitors, and the node is this future's.
        if self.queued && unsafe { waiting::leave_urgent(&self.node, members) } {
            return;
        }
        // SAFETY: this future holds the set, and gives it up here.
        unsafe { core::leave(members) };
    }
}

impl<S: Set, D: Copy + Send> fmt::Debug for SignalBlock<'_, S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignalBlock").finish_non_exhaustive()
    }
}
