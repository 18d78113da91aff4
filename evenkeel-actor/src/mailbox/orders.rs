//! Orders, timers that ring, and the actor's relations with others, all of which come before
//! messages.

use super::shared::{Rest, Shared};
use super::timers::Timers;
use super::{CHILDREN, DRAIN, DUE, Mailbox, ORDERS, POST, STOP, Settings, TIMED, leave};
use crate::kin::Kin;
use crate::kin::order::Order;
use crate::system::System;
use crate::words::exit::ExitReason;
use evenkeel::internal::{Public, SpinGuard, wake_all};
use std::collections::VecDeque;

impl<M: Send + 'static> Mailbox<M> {
    /// Creates the mailbox of an actor that has relations with others from the beginning.
    pub(crate) fn with_kin(settings: Settings, system: System, kin: Kin) -> Self {
        let mut mailbox = Self::new(settings, system);
        let flags = if kin.post.is_some() { POST | DUE } else { 0 };
        *mailbox.flags.get_mut() |= flags;
        mailbox.shared.get_mut().rest().kin = Some(Box::new(kin));
        mailbox
    }

    /// Returns whether the actor has children. Only the actor calls this.
    #[inline(always)]
    pub(crate) fn has_children(&self) -> bool {
        self.has(CHILDREN)
    }

    /// Returns the actor's name, for traces.
    #[cfg(feature = "tracing")]
    pub(crate) fn called(&self) -> Option<std::sync::Arc<str>> {
        let shared = self.shared.lock();
        let kin = shared.rest.as_ref()?.kin.as_ref()?;
        kin.name.as_ref().or(kin.registered.as_ref()).cloned()
    }

    /// Returns whether the actor is supervised.
    pub(crate) fn has_post(&self) -> bool {
        self.has(POST)
    }

    /// Returns whether a supervised actor has to look at its post.
    pub(crate) fn is_due(&self) -> bool {
        self.has(DUE)
    }

    /// Clears a flag that other threads set under the lock.
    fn set_down(&self, flag: u16) {
        let _lock = self.shared.lock();
        self.set(flag, false);
    }

    /// Takes the timers of an actor, or of an incarnation, that has ended.
    pub(crate) fn take_timers(&self) -> Option<Box<Timers<M>>> {
        if !self.has(TIMED) {
            return None;
        }
        let mut shared = self.shared.lock();
        self.set(TIMED, false);
        let rest = shared.rest();
        rest.rings = false;
        let (timers, orders) = (rest.timers.take(), rest.has_orders());
        self.set(ORDERS, orders);
        timers
    }
}

/// Gives an actor an order. Returns false if it has stopped.
pub(crate) fn order<M: Send + 'static>(to: &Public<Mailbox<M>>, order: Order) -> bool {
    let mut shared = to.shared.lock();
    if shared.berth.is_closed() {
        return false;
    }
    // The order as a flag, and the flags beside which it changes nothing.
    let (flag, beside) = match order {
        Order::Stop => (STOP, STOP),
        Order::Drain => (DRAIN, DRAIN | STOP),
        _ => (0, 0),
    };
    if to.has(beside) {
        return true;
    }
    let is_first = |rest: &Rest<M>| rest.orders.is_empty() && rest.kin.is_none();
    if flag != 0 && shared.rest.as_deref().is_none_or(is_first) {
        to.set(flag, true);
        leave(to, shared);
        return true;
    }
    let rest = shared.rest();
    // Another node may repeat them without an end, and an actor looks between two messages.
    let mut last = rest.orders.iter().rev().take(2);
    let is_there = match order {
        Order::Stop => last.any(|one| matches!(one, Order::Stop)),
        Order::Drain => last.any(|one| matches!(one, Order::Stop | Order::Drain)),
        _ => false,
    };
    if is_there {
        return true;
    }
    rest.orders.push_back(order);
    let waker = rest.kin.as_ref().and_then(|kin| kin.waker.clone());
    to.set(ORDERS, true);
    leave(to, shared);
    wake_all(waker);
    true
}

/// Makes an actor look at its timers.
pub(crate) fn look_at_timers<M: Send + 'static>(to: &Public<Mailbox<M>>) {
    let mut shared = to.shared.lock();
    if shared.berth.is_closed() {
        return;
    }
    shared.rest().rings = true;
    to.set(ORDERS, true);
    leave(to, shared);
}

/// Changes an actor's relations with others, and makes the actor look at them. `f` runs under the
/// lock. It returns the values that it takes out, for the caller to drop outside of the lock.
///
/// # Errors
/// Returns the reason if the actor has ended.
pub(crate) fn tell<M: Send + 'static, R>(
    to: &Public<Mailbox<M>>,
    f: impl FnOnce(&mut Kin, &mut VecDeque<Order>) -> R,
) -> Result<R, ExitReason> {
    once(f, |f| change_and_wake(to, f))
}

/// As [`tell`], without making the actor look.
pub(crate) fn note<M: Send + 'static, R>(
    to: &Mailbox<M>,
    f: impl FnOnce(&mut Kin, &mut VecDeque<Order>) -> R,
) -> Result<R, ExitReason> {
    once(f, |f| change(to, f).map(drop))
}

/// A change of relations. It is called by its address, so that what calls it is compiled once for a
/// type of messages, and not for each change.
type Change<'a> = &'a mut dyn FnMut(&mut Kin, &mut VecDeque<Order>);

/// Gives `f` to `call` as a [`Change`], and returns its result.
fn once<R>(
    f: impl FnOnce(&mut Kin, &mut VecDeque<Order>) -> R,
    call: impl FnOnce(Change<'_>) -> Result<(), ExitReason>,
) -> Result<R, ExitReason> {
    let (mut f, mut result) = (Some(f), None);
    call(&mut |kin, orders| result = f.take().map(|f| f(kin, orders)))?;
    Ok(result.expect("an actor that has not ended is changed"))
}

fn change_and_wake<M: Send + 'static>(
    to: &Public<Mailbox<M>>,
    f: Change<'_>,
) -> Result<(), ExitReason> {
    let mut shared = change(to, f)?;
    let kin = shared.rest().kin.as_ref();
    let waker = kin.and_then(|kin| kin.waker.clone());
    if kin.is_some_and(|kin| kin.post.is_some()) {
        to.set(DUE, true);
    }
    leave(to, shared);
    wake_all(waker);
    Ok(())
}

/// Applies `f`, and returns with the lock held.
fn change<'a, M: Send + 'static>(
    to: &'a Mailbox<M>,
    f: Change<'_>,
) -> Result<SpinGuard<'a, Shared<M>>, ExitReason> {
    let mut shared = to.shared.lock();
    if shared.berth.is_closed() {
        return Err(shared.outcome());
    }
    let rest = shared.rest();
    let kin = rest.kin.get_or_insert_default();
    f(kin, &mut rest.orders);
    let children = !kin.children.is_empty();
    let orders = rest.has_orders();
    to.set(ORDERS, orders);
    to.set(CHILDREN, children);
    Ok(shared)
}

/// Clears the mark of a supervised actor that its post is due, and applies `f`.
pub(crate) fn attend<M: Send + 'static, R>(
    to: &Mailbox<M>,
    f: impl FnOnce(&mut Kin, &mut VecDeque<Order>) -> R,
) -> Result<R, ExitReason> {
    to.set_down(DUE);
    note(to, f)
}
