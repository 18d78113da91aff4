//! The end of a mailbox, for a while or for good: senders put nothing more in, and the life takes
//! out what is left.

#![allow(unsafe_code, reason = "the remaining messages are taken out for the actor")]

use super::shared::{Door, Rest};
use super::timers::Timers;
use super::{DRAINS, KNOWN, MEASURED, Mailbox, TELLING, WAITING};
use crate::kin::Kin;
use crate::kin::order::Order;
use crate::kin::witness::{Joiners, Witness};
use crate::system::counters::Count;
use crate::trace::open;
use crate::words::exit::ExitReason;
use evenkeel::internal::{detect, wake_all};
use std::collections::VecDeque;
use std::mem::take;
use std::sync::atomic::Ordering;

/// What an actor leaves behind.
#[derive(Debug)]
pub(crate) struct Left<M: 'static> {
    /// The unhandled messages, in order.
    pub(crate) messages: Vec<M>,
    /// The timers that have not fired for the last time.
    pub(crate) timers: Option<Box<Timers<M>>>,
    pub(crate) kin: Option<Box<Kin>>,
    /// The futures that wait for the end.
    pub(crate) joiners: Joiners,
    pub(crate) reason: ExitReason,
    /// The remaining orders, which are only dropped.
    _orders: VecDeque<Order>,
}

impl<M: 'static> Left<M> {
    /// Returns whether the actor left nothing that concerns others.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
            && self.timers.is_none()
            && self.kin.is_none()
            && self.joiners.is_empty()
    }
}

impl<M: Send + 'static> Mailbox<M> {
    /// Returns whether the mailbox takes no more messages.
    pub(crate) fn is_shut(&self) -> bool {
        self.shared.lock().is_shut()
    }

    /// Makes the mailbox refuse further messages. The messages in it stay.
    pub(crate) fn shut(&self) {
        let mut shared = self.shared.lock();
        shared.door = Door::Shut;
        self.set(DRAINS, true);
        let waiting = match &mut shared.rest {
            Some(rest) => rest.waiting.annul(),
            None => return,
        };
        detect::closed((&raw const *self).cast());
        self.set(WAITING, false);
        drop(shared);
        wake_all(waiting);
    }

    /// Makes the mailbox take messages again, after [`shut`](Self::shut).
    pub(crate) fn reopen(&self) {
        let mut shared = self.shared.lock();
        shared.door = Door::Open;
        self.set(DRAINS, false);
        if shared.rest.is_some() {
            self.settle_crowd(&mut shared);
        }
    }

    /// Makes the actor report its end to the system, which keeps something for the actor. Returns
    /// false if the actor has stopped.
    pub(crate) fn make_known(&self) -> bool {
        let shared = self.shared.lock();
        let open = !shared.berth.is_closed();
        if open {
            self.set(KNOWN, true);
        }
        open
    }

    /// Returns whether the actor reports its end to the system. This is final once the mailbox is
    /// closed.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.has(KNOWN)
    }

    /// Closes the mailbox of an actor that ends in order, has nothing left, no relations with other
    /// actors, and no name: the most common end. Counts the end in the same step, and returns the
    /// futures that wait for it, for the caller to tell. Otherwise returns none and changes
    /// nothing.
    ///
    /// # Safety
    /// The caller is the actor, and does not use its receiver after this has closed the mailbox.
    #[inline]
    pub(crate) unsafe fn close_quietly(&self, reason: &ExitReason) -> Option<Joiners> {
        let door = match reason {
            ExitReason::Normal => Door::Normal,
            ExitReason::Unreferenced => Door::Unreferenced,
            _ => return None,
        };
        // SAFETY: the caller is the actor.
        let batch = unsafe { &*self.batch.get() };
        let mut shared = self.shared.lock();
        let is_quiet = shared.rest.as_ref().is_none_or(|rest| rest.is_quiet());
        if !is_quiet || !self.slots.is_empty() || !batch.is_empty() || self.has(KNOWN) {
            return None;
        }
        shared.berth.close();
        detect::closed((&raw const *self).cast());
        shared.door = door;
        self.forget_flags();
        // A thread that sees the end also sees its count.
        self.system.counters().add(Count::Ended, 1);
        // What has room for many is freed outside of the lock; the counts stay.
        let left = shared.rest.as_deref_mut().map(Rest::take);
        drop(shared);
        Some(left.map(|left| left.joiners).unwrap_or_default())
    }

    /// Registers a witness of the end.
    ///
    /// # Errors
    /// Returns the reason if the actor has ended and all other witnesses have been told.
    pub(crate) fn witness(&self, witness: Witness) -> Result<(), ExitReason> {
        let mut shared = self.shared.lock();
        if shared.berth.is_closed() && !self.has(TELLING) {
            return Err(shared.outcome());
        }
        let rest = shared.rest();
        // Those that have gone are dropped outside of the lock.
        match witness {
            Witness::Future(joiner) => {
                let gone = rest.joiners.add(joiner);
                drop(shared);
                drop(gone);
            }
            witness => {
                let gone = rest.kin.get_or_insert_default().witnesses.add(witness);
                drop(shared);
                drop(gone);
            }
        }
        Ok(())
    }

    /// Completes the end that [`close`](Self::close) has begun, when all witnesses have been told.
    /// Returns those that have registered meanwhile.
    pub(crate) fn has_told(&self) -> (Vec<Witness>, Joiners) {
        let mut shared = self.shared.lock();
        self.set(TELLING, false);
        let Some(rest) = &mut shared.rest else { return Default::default() };
        let (kin, joiners) = (rest.kin.take(), take(&mut rest.joiners));
        drop(shared);
        (kin.map(|mut kin| kin.witnesses.take()).unwrap_or_default(), joiners)
    }

    /// Clears all flags except for those that are read after the end. The caller holds the lock.
    fn forget_flags(&self) {
        let flags = self.flags.load(Ordering::Relaxed);
        self.flags.store(flags & (KNOWN | MEASURED), Ordering::Relaxed);
    }

    /// Closes the mailbox and returns its contents. The actor calls [`has_told`](Self::has_told)
    /// when it has told others.
    ///
    /// # Safety
    /// The caller is the actor, and does not use its receiver afterwards.
    pub(crate) unsafe fn close(&self, mut reason: ExitReason) -> Left<M> {
        let mut messages = Vec::new();
        // SAFETY: the caller is the actor.
        let batch = unsafe { &mut *self.batch.get() };
        messages.extend(std::iter::from_fn(|| batch.pop().map(open)));
        let mut shared = self.shared.lock();
        shared.berth.close();
        detect::closed((&raw const *self).cast());
        // SAFETY: the caller is the actor.
        messages.extend(std::iter::from_fn(|| unsafe { self.slots.take() }.map(open)));
        let behind = shared.rest.as_ref().map_or(0, |rest| rest.queue.len());
        if messages.len() + behind > 0 {
            shared.rest().counts.left = (messages.len() + behind) as u32;
        }
        // The counts stay in the mailbox.
        let mut rest = shared.rest.as_deref_mut().map(Rest::take);
        let kin = rest.as_mut().and_then(|rest| rest.kin.take());
        if let (ExitReason::Killed, Some(verdict)) =
            (&reason, kin.as_ref().and_then(|kin| kin.verdict.clone()))
        {
            reason = verdict;
        }
        shared.door = Door::of(&reason);
        if shared.door == Door::InWords {
            shared.rest().reason = Some(reason.clone());
        }
        self.forget_flags();
        self.set(TELLING, true);
        drop(shared);
        let (mut orders, mut timers, mut joiners) = (VecDeque::new(), None, Joiners::default());
        if let Some(mut rest) = rest {
            messages.extend(std::iter::from_fn(|| rest.queue.pop().map(open)));
            wake_all(take(&mut rest.waiting).dissolve());
            orders = take(&mut rest.orders);
            timers = rest.timers.take();
            joiners = take(&mut rest.joiners);
        }
        Left { messages, timers, kin, joiners, reason, _orders: orders }
    }
}
