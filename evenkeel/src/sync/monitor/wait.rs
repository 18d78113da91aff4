//! Waiting inside a monitor, with and without a limit.

#![allow(unsafe_code, reason = "queues point to a node in these futures")]

use super::condition::{Condition, Queue, Waiter, take_next};
use super::core;
use super::cores::{CoreRef, Cores};
use super::enter::Enter;
use super::held::Held;
use super::members::{Members, Slot};
use super::node::{Kind, List, Node, Op, Place};
use super::set::Set;
use super::waiting::{self, At};
use super::watch;
use crate::task::word_waker::WordWaker;
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll, Waker};

/// The future of [`Condition::wait`], which has an example.
///
/// # Cancel safety
/// It owns the hold, which is lost with it. If it is dropped
/// - before its first poll: it leaves the monitors;
/// - while it waits: it leaves the condition's queue, and a later signal goes to another waiter;
/// - after it has been signalled, before its turn: the next waiter of the condition gets its signal
///   and its turn; if there is none, the signal is lost;
/// - when it has been given the monitors, but has not been polled since: it signals the next waiter
///   of the condition, if there is one, and leaves.
///
/// So no signal is lost while another task waits for the condition. If an acceptor has chosen the
/// call that waits here, the acceptor has gone on when the wait began. So the call breaks off only
/// if this future is dropped before its first poll.
///
/// # Panics
/// If it is polled again after it has returned the hold.
#[must_use = "futures do nothing unless awaited, and this one has the hold"]
pub struct Wait<'c, S: Set, D: Copy + Send = ()> {
    waiter: Waiter<D>,
    /// Full until the hold has been returned.
    members: Slot<S>,
    condition: &'c Condition<D>,
    /// Whether the node has joined the condition's queue.
    queued: bool,
    _pinned: PhantomPinned,
}

impl Condition {
    /// Leaves the monitors and waits until a holder [signals](Condition::signal) the condition.
    /// Then this task is inside again, before all entrants. Nothing else ends the wait.
    ///
    /// If the signaller has signalled one waiter, and leaves or waits without changing anything
    /// after that, no other task has been inside since: what was true when the signal came is still
    /// true. Of several that are signalled in one hold, by [`signal_all`](Condition::signal_all) or
    /// one after the other, each but the first comes after another one, and looks again. So it does
    /// where the signaller goes on to change the value, accepts a call or splits its hold.
    ///
    /// Other monitors that the task holds stay held.
    ///
    /// # Panics
    /// If the condition belongs to another set of monitors. The hold is dropped then.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::sync::monitor::{Condition, Monitor};
    /// use std::sync::LazyLock;
    ///
    /// # let runtime = evenkeel::Runtime::new().unwrap();
    /// # runtime.block_on(async {
    /// static MAILBOX: LazyLock<Monitor<Option<u32>, Condition>> = LazyLock::new(Default::default);
    /// let taker = evenkeel::spawn(async {
    ///     let mut held = MAILBOX.enter().await;
    ///     if held.is_none() {
    ///         held = MAILBOX.conditions().wait(held).await;
    ///     }
    ///     held.take().unwrap()
    /// });
    /// let mut held = MAILBOX.enter().await;
    /// *held = Some(7);
    /// MAILBOX.conditions().signal(&mut held);
    /// drop(held);
    /// assert_eq!(taker.await.unwrap(), 7);
    /// # });
    /// ```
    /// A waiter is not inside, and has no hold:
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
    /// Waits as [`wait`](Condition::wait) does, with a datum for [`front`](Condition::front).
    ///
    /// # Panics
    /// As [`wait`](Condition::wait).
    #[inline]
    #[track_caller]
    pub fn wait_with<S: Set>(&self, held: Held<S>, datum: D) -> Wait<'_, S, D> {
        // SAFETY: the set borrows its monitors.
        unsafe { self.queue.bind(held.members().written().as_ref()) };
        Wait {
            waiter: Waiter { node: Node::new(), datum },
            members: Slot::new(held.into_members()),
            condition: self,
            queued: false,
            _pinned: PhantomPinned,
        }
    }

    /// Waits as [`wait_with`](Condition::wait_with) does, until `until` is ready: then it enters
    /// anew, behind the other entrants. Returns the hold, and whether the wait was signalled; after
    /// a signal, `until` has no effect. Without a signal, other tasks may have been inside
    /// meanwhile. What was waited for may have come true all the same, so look again.
    ///
    /// # Cancel safety
    /// As [`Wait`] until `until` is ready; from then on, while it enters anew, as [`Enter`].
    /// `until` is dropped with it.
    ///
    /// # Panics
    /// As [`wait`](Condition::wait).
    ///
    /// # Examples
    /// The task is inside again after its limit, so it looks at the value and not only at the
    /// signal:
    /// ```
    /// use evenkeel::sync::monitor::{Condition, Monitor};
    /// use evenkeel::time::{Duration, sleep};
    ///
    /// /// Takes the letter, if there is one within the limit.
    /// async fn collect(mailbox: &Monitor<Option<u32>, Condition>) -> Option<u32> {
    ///     let mut held = mailbox.enter().await;
    ///     if held.is_none() {
    ///         let limit = sleep(Duration::from_millis(2));
    ///         (held, _) = mailbox.conditions().wait_until(held, (), limit).await;
    ///     }
    ///     held.take()
    /// }
    ///
    /// evenkeel::Runtime::new().unwrap().block_on(async {
    ///     let mailbox = Monitor::default();
    ///     assert_eq!(collect(&mailbox).await, None);
    ///     *mailbox.enter().await = Some(7);
    ///     assert_eq!(collect(&mailbox).await, Some(7));
    /// });
    /// ```
    #[track_caller]
    pub fn wait_until<S: Set, U: Future<Output = ()>>(
        &self,
        held: Held<S>,
        datum: D,
        until: U,
    ) -> WaitUntil<'_, S, D, U> {
        WaitUntil { wait: self.wait_with(held, datum), until: Some(until), again: None }
    }
}

/// Joins a condition's queue, sets `queued`, and gives the set up: as a whole to the next urgent
/// node, or, if there is none, a single monitor by itself. Returns false if the caller has to
/// release several monitors, or one that is reserved.
///
/// # Safety
/// The caller holds the set for this node; `leader` leads the set, and the condition belongs to it.
/// The node is in no queue, and stays where it is until it has been taken out. Its address is that
/// of its [`Waiter`], so that holders can read the datum.
#[inline(never)]
unsafe fn begin(
    queue: &Queue,
    waiter: NonNull<Node>,
    leader: CoreRef,
    single: bool,
    waker: &Waker,
    queued: &mut bool,
) -> bool {
    // SAFETY: the caller's promise: the node is there.
    let node = unsafe { waiter.as_ref() };
    let waker = WordWaker::of(waker);
    node.fill(Kind::Waiter, Place::Condition, Cores::led_by(leader), Op::NONE);
    // SAFETY: the set borrows its monitors.
    let leader = unsafe { leader.get() };
    let mut state = leader.lock();
    node.word.wait(waker);
    *queued = true;
    // SAFETY: the caller's promise.
    let join = |list: &mut List| unsafe { list.push_back(waiter) };
    // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
    unsafe { queue.with(join) };
    // SAFETY: the node waits, and this thread has the leader's lock.
    unsafe { watch::waits(node, leader, true) };
    let urgent = state.pass_on();
    let next = match urgent {
        Some(_) => {
            leader.note_urgent(&state);
            urgent
        }
        None if single && !state.is_reserved() => state.release(),
        None => {
            // The wait ends the call: what breaks off from here on does not break it.
            state.forget_call();
            return false;
        }
    };
    drop(state);
    if let Some(next) = next {
        next.wake();
    }
    true
}

impl<S: Set, D: Copy + Send> Wait<'_, S, D> {
    #[inline(always)]
    fn members(&self) -> &Members<S> {
        self.members.get()
    }

    /// Returns the hold, if the node was granted.
    #[inline(always)]
    fn resume(&mut self, waker: &Waker) -> Poll<Held<S>> {
        let node = &self.waiter.node;
        // SAFETY: the set borrows its monitors, and the node is this future's.
        if node.is_granted() || unsafe { waiting::renew(node, self.members().leader(), waker) } {
            let members = self.members.take();
            // SAFETY: the set has been given to this future.
            return Poll::Ready(unsafe { Held::new(members) });
        }
        Poll::Pending
    }

    /// Takes the node out of the list it is in. If it was signalled, the next waiter, if there is
    /// one, takes its place. Returns false if the node has been granted.
    fn leave(&self) -> bool {
        let node = &self.waiter.node;
        let remove = |at: At<'_>| {
            let At::Urgent(urgent) = at else {
                // SAFETY: that is where it is.
                let remove = |list: &mut List| unsafe { list.remove(node.into()) };
                // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
                unsafe { self.condition.queue.with(remove) };
                return;
            };
            // SAFETY: as above.
            let next = unsafe { self.condition.queue.with(take_next) };
            // SAFETY: that is where it is; the next waiter has just been taken out of its queue.
            unsafe { urgent.replace(node, next) };
        };
        // SAFETY: the set borrows its monitors, and the node is this future's.
        unsafe { waiting::leave(node, self.members().leader(), remove) }
    }

    /// Takes the node out of the condition's queue. Returns false if it has been signalled, or is
    /// about to be.
    fn leave_unsignalled(&self) -> bool {
        let node = &self.waiter.node;
        // SAFETY: the set borrows its monitors.
        let state = unsafe { self.members().leader().get() }.lock();
        // SAFETY: the node waits, and this thread has the lock.
        if node.is_over() || unsafe { node.with(|ticket| ticket.place) } != Place::Condition {
            return false;
        }
        // SAFETY: that is where it is.
        let remove = |list: &mut List| unsafe { list.remove(node.into()) };
        // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
        unsafe { self.condition.queue.with(remove) };
        // SAFETY: it is in no queue any more, and this thread has the lock.
        let waker = unsafe { node.give_up() };
        drop(state);
        drop(waker);
        true
    }

    #[cold]
    fn cancel(&self) {
        let members = self.members();
        if self.queued {
            if !self.waiter.node.is_granted() && self.leave() {
                return;
            }
            // Pass the signal on.
            // SAFETY: the set borrows its monitors.
            let leader = unsafe { members.leader().get() };
            let mut state = leader.lock();
            // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
            if let Some(next) = unsafe { self.condition.queue.with(take_next) } {
                // SAFETY: it has just been taken out of its queue, and waits with this lock.
                unsafe { state.push_signalled(next) };
                leader.note_urgent(&state);
            }
        }
        // SAFETY: this future holds the set, and gives it up here.
        unsafe { core::leave(members) };
    }
}

impl<S: Set, D: Copy + Send> Future for Wait<'_, S, D> {
    type Output = Held<S>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Held<S>> {
        // SAFETY: nothing is moved out but the set, once the node is in no queue.
        let this = unsafe { self.get_unchecked_mut() };
        if this.queued {
            return this.resume(context.waker());
        }
        let (queue, waiter) = (&this.condition.queue, NonNull::from(&this.waiter).cast());
        let members = this.members.get();
        let (leader, waker, queued) = (members.leader(), context.waker(), &mut this.queued);
        // SAFETY: this future has the hold, which it gives up here; the condition belongs to the
        // set; what is pinned stays where it is, and the future takes the node out when it is
        // dropped.
        if !unsafe { begin(queue, waiter, leader, S::SINGLE, waker, queued) } {
            // SAFETY: this future has held the set, and gives it up here; no node is urgent.
            unsafe { core::release_all(members) };
        }
        Poll::Pending
    }
}

impl<S: Set, D: Copy + Send> Drop for Wait<'_, S, D> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.members.is_full() {
            self.cancel();
        }
    }
}

/// The future of [`Condition::wait_until`], which has an example.
///
/// # Cancel safety
/// It owns the hold, which is lost with it. If it is dropped while it waits, or after a signal, it
/// acts as [`Wait`]: the signal goes to the next waiter. If it is dropped after its limit, it acts
/// as [`Enter`]: it is queued to enter anew, or was given the monitors and has not been polled
/// since. It waits for no signal any more, and has had none.
///
/// # Panics
/// If it is polled again after it has returned the hold.
#[must_use = "futures do nothing unless awaited, and this one has the hold"]
pub struct WaitUntil<'c, S: Set, D: Copy + Send, U> {
    wait: Wait<'c, S, D>,
    /// `None` once it was ready.
    until: Option<U>,
    /// `Some` once the wait has ended without a signal.
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
            let signalled = wait.as_mut().poll(context);
            // SAFETY: pinned with this.
            let mut until = unsafe { Pin::new_unchecked(&mut this.until) };
            if let Poll::Ready(held) = signalled {
                // If its destructor panics, the hold ends here; it would be lost if the limit were
                // dropped with this future, after the hold was returned.
                until.set(None);
                return Poll::Ready((held, true));
            }
            if until.as_mut().as_pin_mut().is_some_and(|until| until.poll(context).is_pending()) {
                return Poll::Pending;
            }
            until.set(None);
            if !wait.leave_unsignalled() {
                // The signal came first, and the hold may have come too. Or a signaller has chosen
                // this wait: if that does not signal it after all, this future is woken, polled
                // again, and ends.
                return wait.poll(context).map(|held| (held, true));
            }
            this.again = Some(Enter::of(this.wait.members.take(), Op::NONE));
        }
        let again = this.again.as_mut().expect("it has just been put there");
        // SAFETY: pinned with this.
        unsafe { Pin::new_unchecked(again) }.poll(context).map(|held| (held, false))
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

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::super::Monitor;
    use super::*;
    use std::future::poll_fn;

    /// The grant comes after the waiter has looked for it, and before the waiter gives up.
    #[test]
    fn a_waiter_that_is_given_the_monitor_while_its_limit_comes_has_it() {
        let (monitor, condition) = (Monitor::new(()), Condition::new());
        let mut signaller = None;
        let signal = poll_fn(|context| {
            let block = condition.signal_block(monitor.try_enter().unwrap());
            assert!(signaller.insert(Box::pin(block)).as_mut().poll(context).is_pending());
            Poll::Ready(())
        });
        let mut context = Context::from_waker(Waker::noop());
        let mut waiter = Box::pin(condition.wait_until(monitor.try_enter().unwrap(), (), signal));
        let Poll::Ready((held, true)) = waiter.as_mut().poll(&mut context) else {
            panic!("it was signalled")
        };
        drop((held, waiter));
        let mut signaller = signaller.unwrap();
        assert!(signaller.as_mut().poll(&mut context).is_ready());
    }
}
