//! What the lock of a mailbox guards.

use super::counts::Counts;
use super::ring::Ring;
use super::timers::Timers;
use super::waiting::Waiting;
use crate::kin::Kin;
use crate::kin::order::Order;
use crate::trace::Parcel;
use crate::words::exit::ExitReason;
use evenkeel::internal::Berth;
use std::collections::VecDeque;

/// What the lock guards.
#[derive(Debug)]
pub(super) struct Shared<M: 'static> {
    pub(super) berth: Berth,
    /// Whether anything is put in; and why the actor has ended, if it has.
    pub(super) door: Door,
    /// Whether nothing is put into the slots: somebody waits for room or has it promised, or the
    /// mailbox does without them.
    pub(super) crowded: bool,
    pub(super) capacity: u32,
    /// What most mailboxes never need.
    pub(super) rest: Option<Box<Rest<M>>>,
}

/// What most mailboxes never need.
#[derive(Debug)]
pub(super) struct Rest<M: 'static> {
    pub(super) queue: Ring<Parcel<M>>,
    pub(super) waiting: Waiting,
    pub(super) orders: VecDeque<Order>,
    pub(super) kin: Option<Box<Kin>>,
    /// Why the actor has ended, if that takes words.
    pub(super) reason: Option<ExitReason>,
    /// How many messages have come into the queue, from a timer, or back from a stash.
    pub(super) received: u32,
    /// None while the actor is busy with them, too.
    pub(super) timers: Option<Box<Timers<M>>>,
    /// Whether the actor is to look at its timers.
    pub(super) rings: bool,
    pub(super) counts: Counts,
}

/// Whether anything is put in, and why the actor has ended, in a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    Open,
    /// The actor drains what is there.
    Shut,
    Normal,
    Unreferenced,
    Killed,
    /// The words are in the rest.
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

impl<M: Send + 'static> Default for Rest<M> {
    fn default() -> Self {
        Self {
            queue: Ring::new(),
            waiting: Waiting::default(),
            orders: VecDeque::new(),
            kin: None,
            reason: None,
            received: 0,
            timers: None,
            rings: false,
            counts: Counts::default(),
        }
    }
}

impl<M: 'static> Rest<M> {
    /// Whether the queue takes a message that has no ticket, where slots and queue have `room`
    /// places together.
    #[inline(always)]
    pub(super) fn has_room(&self, room: u32) -> bool {
        self.waiting.len() == 0 && (self.queue.len() as u32) + self.waiting.promised() < room
    }

    /// Whether the actor has something to look at before its messages.
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

    /// Why the actor has ended.
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
