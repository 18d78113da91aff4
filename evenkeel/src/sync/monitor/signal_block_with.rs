//! [`SignalBlock`], after the signaller has prepared something for the signalled waiter.
//!
//! # Roles and steps
//! As in [the module](super); the *holder* that signals is the signaller. *Choose*: under the
//! leader's lock, the holder marks the first waiter as chosen and leaves it where it is. The limit
//! of a chosen waiter does not end its wait, and other signals pass it by. *Prepare*: the holder
//! runs its closure, with the datum. *Signal and block*: as without a closure; the chosen waiter is
//! the first of the queue. *Unchoose*, instead of the signal: under the leader's lock, the holder
//! takes the mark away, and wakes the waiter.
//!
//! # Why the chosen waiter has its turn
//! A waiter leaves a queue by its limit or by being dropped. When its limit comes, it takes the
//! lock, finds the mark, and stays. If it is dropped, it leaves the queue as usual, and the next
//! waiter is the first: that one has the turn, as after a signal. A signal that the closure makes
//! for the same condition takes the first waiter without a mark.
//!
//! # Why no mark stays behind
//! The holder signals, whatever the closure does with the monitors; if the closure panics, the
//! holder signals as it leaves. But the closure may replace the hold by one of other monitors. Then
//! the holder is not inside any more and cannot signal, so it unchooses. It uses the leader that it
//! had when it chose, and keeps that set until then. A limited wait that finds itself chosen
//! remembers that its limit has come, and looks again when it is woken. The holder clones the waker
//! of its task before it chooses: cloning a foreign waker runs a caller's code, which may panic.
//!
//! # Rejected
//! Looking, preparing, and then signalling: the waiter's limit may come in between. Calling the
//! closure under the lock: it is the caller's code.

#![allow(unsafe_code, reason = "a pinned future has another one in it")]

use super::condition::Condition;
use super::cores::CoreRef;
use super::held::Held;
use super::members::Slot;
use super::set::Set;
use super::signal_block::SignalBlock;
use crate::task::word_waker::WordWaker;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The future of [`Condition::signal_block_with`], which has an example.
///
/// # Cancel safety
/// As [`SignalBlock`]. If it is dropped before its first poll, it has prepared nothing and
/// signalled no waiter. What has been prepared is dropped with it.
///
/// # Panics
/// If the closure panics: it has then signalled the waiter and left the monitors. If it is polled
/// again after it has returned the hold.
#[must_use = "futures do nothing unless awaited, and this one has the hold"]
pub struct SignalBlockWith<'c, S: Set, D: Copy + Send, P, R> {
    block: SignalBlock<'c, S, D>,
    /// `Some` until the first poll.
    prepare: Option<P>,
    /// What `prepare` has returned, from then on until the hold has been returned.
    prepared: Option<R>,
}

impl<D: Copy + Send> Condition<D> {
    /// Signals as [`signal_block`](Self::signal_block) does, and before that calls `prepare` with
    /// the hold and the datum of the task that has waited longest. Returns the hold and the result
    /// of `prepare`, or `None` in its place if no task has waited.
    ///
    /// Between the look and the signal, no limit ends the wait of that task. If its future is
    /// dropped meanwhile, the next waiter has the turn; if there is none, the signaller goes on at
    /// once. While `prepare` runs, the monitors stay held. It may signal other tasks, which come
    /// after that task. A signal for the same condition is for the next task behind it.
    ///
    /// # Panics
    /// As [`signal_block`](Self::signal_block). If `prepare` panics, the task is signalled all the
    /// same, and the hold is dropped. If `prepare` replaces the hold by one of other monitors, the
    /// task waits on, and its limit counts again.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::sync::monitor::{Condition, Monitor};
    /// use evenkeel::time::{Duration, sleep};
    ///
    /// // A seller waits with the least that it takes; a buyer comes and names its price.
    /// let market = Monitor::<Option<u32>, Condition<u32>>::default();
    /// # let runtime = evenkeel::Runtime::new().unwrap();
    /// # runtime.block_on(async {
    /// let sells = async {
    ///     let held = market.enter().await;
    ///     let limit = sleep(Duration::from_secs(60));
    ///     let (mut held, is_met) = market.conditions().wait_until(held, 7, limit).await;
    ///     assert!(is_met);
    ///     held.take()
    /// };
    /// let buys = async {
    ///     let held = market.enter().await;
    ///     let pay = |held: &mut evenkeel::sync::monitor::Held<&Monitor<_, _>>, least| {
    ///         **held = Some(least + 1);
    ///         least
    ///     };
    ///     let (held, met) = market.conditions().signal_block_with(held, pay).await;
    ///     assert!(held.is_none(), "the seller has been inside");
    ///     met
    /// };
    /// let (paid, least) = futures::join!(sells, buys);
    /// assert_eq!((paid, least), (Some(8), Some(7)));
    /// # });
    /// ```
    #[track_caller]
    pub fn signal_block_with<S: Set, P, R>(
        &self,
        held: Held<S>,
        prepare: P,
    ) -> SignalBlockWith<'_, S, D, P, R>
    where
        P: FnOnce(&mut Held<S>, D) -> R,
    {
        let block = self.signal_block(held);
        SignalBlockWith { block, prepare: Some(prepare), prepared: None }
    }
}

/// A hold, and a condition with a chosen waiter.
struct Chosen<'c, S: Set, D: Copy + Send> {
    /// `Some` until it is dropped or given back.
    held: Option<Held<S>>,
    condition: &'c Condition<D>,
    /// The leader of the set that was held when the waiter was chosen.
    leader: CoreRef,
    /// That set: the leader is there, though the hold may have been changed for another.
    _set: S,
}

impl<S: Set, D: Copy + Send> Drop for Chosen<'_, S, D> {
    /// Runs with a hold only if the closure has panicked, or has replaced the hold by another.
    fn drop(&mut self) {
        let Some(held) = self.held.take() else { return };
        let queue = &self.condition.queue;
        // SAFETY: this has the set.
        let leader = unsafe { self.leader.get() };
        // SAFETY: the set borrows its monitors.
        if unsafe { queue.is_of(held.members().written().as_ref()) } {
            // SAFETY: the set is held, and the condition belongs to it.
            unsafe { queue.signal_front(leader) };
        } else {
            // SAFETY: the condition belongs to the set that this leads.
            unsafe { queue.unchoose(leader) };
        }
    }
}

/// Prepares something for the first waiter, if there is one.
fn prepare<S: Set, D: Copy + Send, R>(
    mut block: Pin<&mut SignalBlock<'_, S, D>>,
    prepare: impl FnOnce(&mut Held<S>, D) -> R,
) -> Option<R> {
    let condition = block.condition()?;
    let members = block.as_mut().members().get();
    let (leader, set) = (members.leader(), members.set().clone());
    let datum = condition.choose(members)?;
    let members = block.as_mut().members().take();
    // SAFETY: the future holds the set.
    let held = Some(unsafe { Held::new(members) });
    let mut chosen = Chosen { held, condition, leader, _set: set };
    let prepared = chosen.held.as_mut().map(|held| prepare(held, datum));
    if let Some(held) = &chosen.held {
        // Panics if the closure has replaced the hold by one of another set.
        condition.is_empty(held);
    }
    if let Some(held) = chosen.held.take() {
        *block.members() = Slot::new(held.into_members());
    }
    prepared
}

impl<S, D, P, R> Future for SignalBlockWith<'_, S, D, P, R>
where
    S: Set,
    D: Copy + Send,
    P: FnOnce(&mut Held<S>, D) -> R,
{
    type Output = (Held<S>, Option<R>);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<(Held<S>, Option<R>)> {
        // SAFETY: the block is not moved; the rest is not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: it is pinned with this.
        let mut block = unsafe { Pin::new_unchecked(&mut this.block) };
        let polled = if this.prepare.is_some() {
            let clone = WordWaker::of(context.waker());
            let wanted = this.prepare.take();
            this.prepared = wanted.and_then(|wanted| prepare(block.as_mut(), wanted));
            block.begin(context.waker(), || clone)
        } else {
            block.poll(context)
        };
        polled.map(|(held, _)| (held, this.prepared.take()))
    }
}

impl<S: Set, D: Copy + Send, P, R> fmt::Debug for SignalBlockWith<'_, S, D, P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignalBlockWith").finish_non_exhaustive()
    }
}
