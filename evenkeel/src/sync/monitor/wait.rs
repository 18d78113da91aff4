//! Waiting inside a monitor, and giving it to somebody who does.

#![allow(unsafe_code, reason = "queues point to a node in these futures")]

use super::condition::{Condition, Waiter};
use super::core::{self, Acceptance};
use super::enter::Enter;
use super::held::{Held, breaks_off};
use super::node::{Kind, List, Node, Op, Place, Progress};
use super::set::Set;
use super::waiting;
use super::watch;
use crate::task::word_waker::WordWaker;
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, Waker};

/// The future of [`Condition::wait`].
///
/// # Cancel safety
/// It has the hold. Dropped before its first poll it leaves the monitors. Dropped while it waits it takes itself out of the condition's queue. Dropped after it
/// has been signalled, whether or not it has been given the monitors already, it signals the next one in its stead: no signal is lost.
///
/// # Panics
/// If it is polled again after it has given the hold.
#[must_use = "futures do nothing unless awaited, and this one has the hold"]
pub struct Wait<'c, S: Set, D: Copy + Send = ()> {
    waiter: Waiter<D>,
    set: S,
    /// There until the hold has been given.
    cores: Option<S::Cores>,
    condition: &'c Condition<D>,
    accepted: Option<Acceptance>,
    _pinned: PhantomPinned,
}

impl Condition {
    /// Leaves the monitors and waits until somebody who is inside [signals](Condition::signal) the condition; then this task is inside again, and nobody has been since
    /// that one has left or waited. Nothing else ends the wait: what was true when the signal came is true now.
    ///
    /// Other monitors that the task holds stay held.
    ///
    /// # Panics
    /// If the condition belongs to another set of monitors. The hold is dropped then.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::sync::monitor::{Condition, Monitor};
    /// # let runtime = evenkeel::Runtime::new().unwrap();
    /// # runtime.block_on(async {
    /// static FULL: std::sync::LazyLock<Monitor<Option<u32>, Condition>> = std::sync::LazyLock::new(Default::default);
    /// let taker = evenkeel::spawn(async {
    ///     let mut held = FULL.enter().await;
    ///     if held.is_none() {
    ///         held = FULL.conditions().wait(held).await;
    ///     }
    ///     held.take().unwrap()
    /// });
    /// let mut held = FULL.enter().await;
    /// *held = Some(7);
    /// FULL.conditions().signal(&mut held);
    /// drop(held);
    /// assert_eq!(taker.await.unwrap(), 7);
    /// # });
    /// ```
    /// Whoever waits is not inside meanwhile, and has no hold:
    /// ```compile_fail,E0382
    /// # use evenkeel::sync::monitor::{Condition, Held, Monitor};
    /// # async fn example(monitor: &Monitor<u32, Condition>) {
    /// let held = monitor.enter().await;
    /// let wait = monitor.conditions().wait(held);
    /// assert_eq!(*held, 0);
    /// # drop(wait.await);
    /// # }
    /// ```
    #[inline]
    #[track_caller]
    pub fn wait<S: Set>(&self, held: Held<S>) -> Wait<'_, S> {
        self.wait_with(held, ())
    }
}

impl<D: Copy + Send> Condition<D> {
    /// As [`wait`](Condition::wait), with a datum for [`front`](Condition::front).
    ///
    /// # Panics
    /// As [`wait`](Condition::wait).
    #[inline]
    #[track_caller]
    pub fn wait_with<S: Set>(&self, held: Held<S>, datum: D) -> Wait<'_, S, D> {
        // SAFETY: the set borrows its monitors.
        unsafe { self.bind(held.cores()) };
        let accepted = held.accepted;
        let (set, cores) = held.into_parts();
        Wait {
            waiter: Waiter { node: Node::new(), datum },
            set,
            cores: Some(cores),
            condition: self,
            accepted,
            _pinned: PhantomPinned,
        }
    }

    /// As [`wait_with`](Condition::wait_with), until `until` is ready: then it enters anew, behind those that want to. It says whether it has been signalled: once it
    /// has, `until` is of no account.
    ///
    /// # Cancel safety
    /// As [`Wait`]; a drop while it enters anew is as that of [`Enter`].
    ///
    /// # Panics
    /// As [`wait`](Condition::wait).
    #[track_caller]
    pub fn wait_until<S: Set, U: Future<Output = ()>>(
        &self,
        held: Held<S>,
        datum: D,
        until: U,
    ) -> WaitUntil<'_, S, D, U> {
        WaitUntil { wait: self.wait_with(held, datum), until: Some(until), again: None }
    }

    /// Gives the monitors to the task that waits longest for the condition, and goes on when that one leaves or waits, before anybody else. It says whether somebody
    /// has waited; if not, it goes on at once.
    ///
    /// # Panics
    /// If the condition belongs to another set of monitors. The hold is dropped then.
    #[inline]
    #[track_caller]
    pub fn signal_block<S: Set>(&self, held: Held<S>) -> SignalBlock<'_, S, D> {
        // SAFETY: the set borrows its monitors.
        let bound = unsafe { self.is_bound(held.cores()) };
        let accepted = held.accepted;
        let (set, cores) = held.into_parts();
        SignalBlock {
            node: Node::new(),
            set,
            cores: Some(cores),
            condition: bound.then_some(self),
            accepted,
            _pinned: PhantomPinned,
        }
    }
}

/// A counted waker, for a node that is about to wait.
#[inline(always)]
pub(super) fn word(waker: &Waker) -> WordWaker {
    WordWaker::of_task(waker).unwrap_or_else(|| WordWaker::boxed(waker))
}

impl<S: Set, D: Copy + Send> Wait<'_, S, D> {
    /// Joins the condition's queue, and gives the monitors up.
    #[inline]
    fn begin(&self, waker: &Waker) {
        let cores = self.cores.as_ref().expect("the hold is here").as_ref();
        let node = &self.waiter.node;
        // SAFETY: the set borrows its monitors.
        let leader = unsafe { cores[0].get() };
        let waker = word(waker);
        node.fill(Kind::Waiter, cores, Op::NONE);
        let mut state = leader.lock();
        node.set_waiting(waker);
        // SAFETY: the node is in no queue, and stays where it is.
        let join = |queue: &mut List| unsafe { queue.push_back(node, Place::Condition) };
        // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
        unsafe { self.condition.with_queue(join) };
        // SAFETY: the node waits, and this thread has the leader's lock.
        unsafe { watch::waits(node, leader, true) };
        let urgent = state.pass_on();
        let next = match urgent {
            Some(_) => {
                leader.note_urgent(&state);
                urgent
            }
            None if cores.len() == 1 => state.release(),
            None => {
                drop(state);
                // SAFETY: this future has held them, and gives them up here; its set borrows their monitors.
                return unsafe { core::release_all(cores) };
            }
        };
        drop(state);
        if let Some(next) = next {
            next.wake();
        }
    }

    fn finish(self: Pin<&mut Self>) -> Held<S> {
        // SAFETY: nothing is moved out but the cores, as the node is in no queue any more.
        let this = unsafe { self.get_unchecked_mut() };
        this.waiter.node.set_done();
        let cores = this.cores.take().expect("the hold is given once");
        // SAFETY: the set has been given to this future. If an acceptor has waited for the call, it has gone on meanwhile.
        unsafe { Held::new(this.set, cores, None) }
    }

    /// Takes the node out of where it is. If it has been signalled, the next one is in its stead, unless there is none.
    fn leave(&self) -> bool {
        let cores = self.cores.as_ref().expect("the hold has not been given").as_ref();
        let node = &self.waiter.node;
        let remove = |core: &core::Core, state: &mut core::State, place| {
            if place == Place::Condition {
                // SAFETY: that is where it is.
                let remove = |queue: &mut List| unsafe { queue.remove(node) };
                // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
                unsafe { self.condition.with_queue(remove) };
                return;
            }
            // SAFETY: as above.
            let next = unsafe { self.condition.with_queue(List::pop) };
            // SAFETY: the node has been signalled, so it is on the urgent list; the next one has just been taken out of its queue.
            unsafe { state.replace_urgent(node, next) };
            core.note_urgent(state);
        };
        // SAFETY: the set borrows its monitors, and the node is this future's.
        unsafe { waiting::leave(node, cores[0], remove) }
    }

    /// Takes the node out of the condition's queue. False if it has been signalled.
    fn leave_unsignalled(&self) -> bool {
        let cores = self.cores.as_ref().expect("the hold has not been given").as_ref();
        let node = &self.waiter.node;
        // SAFETY: the set borrows its monitors.
        let state = unsafe { cores[0].get() }.lock();
        // SAFETY: while it waits, the lock guards it; granted, it is this future's.
        if unsafe { node.with(|ticket| ticket.place) } != Place::Condition {
            return false;
        }
        // SAFETY: that is where it is.
        let remove = |queue: &mut List| unsafe { queue.remove(node) };
        // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
        unsafe { self.condition.with_queue(remove) };
        // SAFETY: it is in no queue any more, and this thread has the lock.
        let waker = unsafe { node.give_up() };
        drop(state);
        drop(waker);
        true
    }

    #[cold]
    fn cancel(&self, progress: Progress) {
        if progress == Progress::Waiting && self.leave() {
            return;
        }
        let cores = self.cores.as_ref().expect("the hold has not been given").as_ref();
        let mut broken = None;
        if progress == Progress::New {
            broken = breaks_off(self.accepted);
        } else {
            // The signal goes on.
            // SAFETY: the set borrows its monitors.
            let leader = unsafe { cores[0].get() };
            let mut state = leader.lock();
            // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
            if let Some(next) = unsafe { self.condition.with_queue(List::pop) } {
                // SAFETY: it has just been taken out of its queue, and waits with this lock.
                unsafe { state.push_signalled(next) };
                leader.note_urgent(&state);
            }
        }
        // SAFETY: this future holds the set, and gives it up here.
        unsafe { core::leave(cores, broken) };
    }
}

impl<S: Set, D: Copy + Send> Future for Wait<'_, S, D> {
    type Output = Held<S>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Held<S>> {
        match self.waiter.node.progress() {
            Progress::New => {
                self.begin(context.waker());
                Poll::Pending
            }
            Progress::Waiting => {
                let leader = self.cores.as_ref().expect("the hold has not been given").as_ref()[0];
                // SAFETY: the set borrows its monitors, and the node is this future's.
                if unsafe { waiting::renew(&self.waiter.node, leader, context.waker()) } {
                    return Poll::Ready(self.finish());
                }
                Poll::Pending
            }
            Progress::Granted => Poll::Ready(self.finish()),
            Progress::Done => panic!("Wait is polled again after it has given its hold"),
        }
    }
}

impl<S: Set, D: Copy + Send> Drop for Wait<'_, S, D> {
    #[inline]
    fn drop(&mut self) {
        let progress = self.waiter.node.progress();
        if progress != Progress::Done {
            self.cancel(progress);
        }
    }
}

/// The future of [`Condition::wait_until`].
#[must_use = "futures do nothing unless awaited, and this one has the hold"]
pub struct WaitUntil<'c, S: Set, D: Copy + Send, U> {
    wait: Wait<'c, S, D>,
    /// There until it is ready.
    until: Option<U>,
    /// There once the wait is over without a signal.
    again: Option<Enter<S>>,
}

impl<S: Set, D: Copy + Send, U: Future<Output = ()>> Future for WaitUntil<'_, S, D, U> {
    type Output = (Held<S>, bool);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<(Held<S>, bool)> {
        // SAFETY: what is pinned with this is not moved below.
        let this = unsafe { self.get_unchecked_mut() };
        if this.again.is_none() {
            // SAFETY: pinned with this.
            let mut wait = unsafe { Pin::new_unchecked(&mut this.wait) };
            if let Poll::Ready(held) = wait.as_mut().poll(context) {
                return Poll::Ready((held, true));
            }
            // SAFETY: pinned with this.
            let mut until = unsafe { Pin::new_unchecked(&mut this.until) };
            if until.as_mut().as_pin_mut().is_none_or(|until| until.poll(context).is_pending()) {
                return Poll::Pending;
            }
            until.set(None);
            if !wait.leave_unsignalled() {
                // The signal was faster. The hold may have come too.
                return wait.poll(context).map(|held| (held, true));
            }
            this.again = Some(Enter::new(this.wait.set, Op::NONE));
        }
        let again = this.again.as_mut().expect("it has just been put there");
        // SAFETY: pinned with this.
        unsafe { Pin::new_unchecked(again) }.poll(context).map(|held| (held, false))
    }
}

/// The future of [`Condition::signal_block`].
///
/// # Cancel safety
/// It has the hold. Dropped before its first poll it leaves the monitors; dropped while the other one is inside, it does not come back, and that one is not
/// concerned.
///
/// # Panics
/// If it is polled again after it has given the hold.
#[must_use = "futures do nothing unless awaited, and this one has the hold"]
pub struct SignalBlock<'c, S: Set, D: Copy + Send = ()> {
    node: Node,
    set: S,
    cores: Option<S::Cores>,
    /// None if nobody can wait for it.
    condition: Option<&'c Condition<D>>,
    accepted: Option<Acceptance>,
    _pinned: PhantomPinned,
}

impl<S: Set, D: Copy + Send> SignalBlock<'_, S, D> {
    /// Gives the monitors away. False if nobody waits.
    fn begin(&self, waker: &Waker) -> bool {
        let Some(condition) = self.condition else { return false };
        let cores = self.cores.as_ref().expect("the hold is here").as_ref();
        // SAFETY: the set borrows its monitors.
        let leader = unsafe { cores[0].get() };
        let waker = word(waker);
        self.node.fill(Kind::Signaller, cores, Op::NONE);
        let mut state = leader.lock();
        // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
        let Some(next) = (unsafe { condition.with_queue(List::pop) }) else {
            drop(state);
            drop(waker);
            return false;
        };
        self.node.set_waiting(waker);
        // SAFETY: the node is in no queue, and stays where it is.
        unsafe { state.push_urgent(&self.node) };
        // SAFETY: the node waits, and this thread has the leader's lock.
        unsafe { watch::waits(&self.node, leader, false) };
        leader.note_urgent(&state);
        // SAFETY: it has just been taken out of its queue, and waits with this lock.
        unsafe { next.with(|ticket| ticket.whole = true) };
        // SAFETY: as above.
        let next = unsafe { next.grant() };
        drop(state);
        next.wake();
        true
    }

    fn finish(self: Pin<&mut Self>, signalled: bool) -> (Held<S>, bool) {
        // SAFETY: nothing is moved out but the cores, as the node is in no queue.
        let this = unsafe { self.get_unchecked_mut() };
        this.node.set_done();
        let cores = this.cores.take().expect("the hold is given once");
        // SAFETY: this future holds the set.
        (unsafe { Held::new(this.set, cores, this.accepted) }, signalled)
    }
}

impl<S: Set, D: Copy + Send> Future for SignalBlock<'_, S, D> {
    type Output = (Held<S>, bool);

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<(Held<S>, bool)> {
        match self.node.progress() {
            Progress::New if self.begin(context.waker()) => Poll::Pending,
            Progress::New => Poll::Ready(self.finish(false)),
            Progress::Waiting => {
                let leader = self.cores.as_ref().expect("the hold has not been given").as_ref()[0];
                // SAFETY: the set borrows its monitors, and the node is this future's.
                if unsafe { waiting::renew(&self.node, leader, context.waker()) } {
                    return Poll::Ready(self.finish(true));
                }
                Poll::Pending
            }
            Progress::Granted => Poll::Ready(self.finish(true)),
            Progress::Done => panic!("SignalBlock is polled again after it has given its hold"),
        }
    }
}

impl<S: Set, D: Copy + Send> Drop for SignalBlock<'_, S, D> {
    fn drop(&mut self) {
        let Some(cores) = &self.cores else { return };
        let (cores, node) = (cores.as_ref(), &self.node);
        let remove = |core: &core::Core, state: &mut core::State, _| {
            // SAFETY: while it waits, it is on the urgent list.
            unsafe { state.replace_urgent(node, None) };
            if let Some(call) = breaks_off(self.accepted) {
                state.break_call(call);
            }
            core.note_urgent(state);
        };
        if node.progress() == Progress::Waiting
            // SAFETY: the set borrows its monitors, and the node is this future's.
            && unsafe { waiting::leave(node, cores[0], remove) }
        {
            return;
        }
        let broken = breaks_off(self.accepted);
        // SAFETY: this future holds the set, and gives it up here.
        unsafe { core::leave(cores, broken) };
    }
}

impl<S: Set, D: Copy + Send> fmt::Debug for Wait<'_, S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("condition", &ptr::from_ref(self.condition))
            .finish_non_exhaustive()
    }
}

impl<S: Set, D: Copy + Send, U> fmt::Debug for WaitUntil<'_, S, D, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitUntil").finish_non_exhaustive()
    }
}

impl<S: Set, D: Copy + Send> fmt::Debug for SignalBlock<'_, S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignalBlock").finish_non_exhaustive()
    }
}
