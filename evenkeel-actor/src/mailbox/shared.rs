//! What the lock of a mailbox guards.

use super::counts::Counts;
use super::ring::Ring;
use super::timers::Timers;
use super::waiting::Waiting;
use crate::kin::Kin;
use crate::kin::order::Order;
use crate::kin::witness::Joiners;
use crate::trace::Parcel;
use crate::words::exit::ExitReason;
use evenkeel::internal::Berth;
use std::collections::VecDeque;
use std::mem;

/// The fields of a mailbox that its lock guards.
#[derive(Debug)]
pub(super) struct Shared<M: 'static> {
    pub(super) berth: Berth,
    /// Whether the mailbox takes messages, and the reason of the actor's end, if it has ended.
    pub(super) door: Door,
    /// Whether senders put nothing into the slots: a sender waits for room or has it promised, or
    /// the mailbox does without slots.
    pub(super) crowded: bool,
    pub(super) capacity: u32,
    /// The fields that most mailboxes never need.
    pub(super) rest: Option<Box<Rest<M>>>,
}

/// The fields that most mailboxes never need.
#[derive(Debug)]
pub(super) struct Rest<M: 'static> {
    pub(super) queue: Ring<Parcel<M>>,
    pub(super) waiting: Waiting,
    pub(super) orders: VecDeque<Order>,
    pub(super) kin: Option<Box<Kin>>,
    /// The futures that wait for the actor's end.
    pub(super) joiners: Joiners,
    /// The reason of the actor's end, if [`Door`] does not hold it.
    pub(super) reason: Option<ExitReason>,
    /// The number of messages that have come into the queue, from a timer, or back from a stash.
    pub(super) received: u32,
    /// None also while the actor works on them.
    pub(super) timers: Option<Box<Timers<M>>>,
    /// The number of the last timer, of this incarnation or an earlier one.
    pub(super) last_timer: u64,
    /// Whether the actor has to look at its timers.
    pub(super) rings: bool,
    pub(super) counts: Counts,
}

/// Whether the mailbox takes messages, and the reason of the actor's end, in a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    Open,
    /// The actor drains the mailbox.
    Shut,
    Normal,
    Unreferenced,
    Killed,
    /// The reason is in the rest.
    InWords,
}

impl Door {
    pub(super) fn of(reason: &ExitReason) -> Self {
        match reason {
            ExitReason::Normal => Self::Normal,
            ExitReason::Unreferenced => Self::Unreferenced,
            ExitReason::Killed => Self::Killed,
            _ => Self::InWords,
        }
    }
}

impl<M: Send + 'static> Rest<M> {
    /// Takes all but the counts, which stay with a mailbox that closes.
    pub(super) fn take(&mut self) -> Self {
        let Self { counts, received, .. } = *self;
        mem::replace(self, Self { counts, received, ..Self::default() })
    }
}

impl<M: Send + 'static> Default for Rest<M> {
    fn default() -> Self {
        Self {
            queue: Ring::new(),
            waiting: Waiting::default(),
            orders: VecDeque::new(),
            kin: None,
            joiners: Joiners::default(),
            reason: None,
            received: 0,
            timers: None,
            last_timer: 0,
            rings: false,
            counts: Counts::default(),
        }
    }
}

impl<M: 'static> Rest<M> {
    /// Returns whether the queue takes a message without a ticket, where slots and queue have
    /// `room` places together.
    #[inline(always)]
    pub(super) fn has_room(&self, room: u32) -> bool {
        self.waiting.len() == 0 && (self.queue.len() as u32) + self.waiting.promised() < room
    }

    /// Returns whether nothing here concerns others if the actor ends now, but for futures that
    /// wait for that.
    pub(super) fn is_quiet(&self) -> bool {
        self.kin.is_none()
            && self.timers.is_none()
            && self.queue.is_empty()
            && self.orders.is_empty()
            && self.waiting.is_over()
    }

    /// Returns whether the actor has orders or timers to look at before its messages.
    pub(super) fn has_orders(&self) -> bool {
        self.rings || !self.orders.is_empty()
    }
}

impl<M: Send + 'static> Shared<M> {
    #[inline(always)]
    pub(super) fn is_shut(&self) -> bool {
        self.door != Door::Open
    }

    pub(super) fn rest(&mut self) -> &mut Rest<M> {
        self.rest.get_or_insert_with(Box::default)
    }

    /// Returns the reason of the actor's end.
    pub(super) fn outcome(&self) -> ExitReason {
        match self.door {
            Door::Normal => ExitReason::Normal,
            Door::Unreferenced => ExitReason::Unreferenced,
            Door::Open | Door::Shut | Door::Killed => ExitReason::Killed,
            Door::InWords => {
                let reason = self.rest.as_ref().and_then(|rest| rest.reason.clone());
                reason.unwrap_or(ExitReason::Killed)
            }
        }
    }
}
