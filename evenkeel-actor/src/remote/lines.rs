//! Where the messages of one peer lie that wait for room in mailboxes. [`parking`](super::parking)
//! has the protocol.

use super::arrived::{self, Arrived};
use super::table::Wait;
use crate::node::Slot;
use crate::primitives::Mutex;
use crate::trace;
use std::collections::HashMap;
use std::mem;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::Waker;

/// The lines of one peer.
#[derive(Default)]
pub(crate) struct Parking {
    /// The number of lines, for a check without the lock. Changed under it.
    pub(super) lines: AtomicUsize,
    /// Whether the lines were cleared, for porters that are busy. Set under the lock.
    pub(super) is_cleared: AtomicBool,
    pub(super) state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) by_slot: HashMap<Slot, Line>,
    pub(super) weight: usize,
    /// The number of parked messages of collective sends.
    pub(super) casts: usize,
    /// The number of lines for which the peer was told to hold values.
    pub(super) held: usize,
    /// Whether each line is to be held.
    pub(super) is_much: bool,
    /// Whether the readers are behind with the peer's frames.
    pub(super) is_behind: bool,
    /// Whether the peer was told to hold all values.
    pub(super) holds_all: bool,
    pub(super) is_closed: bool,
}

#[derive(Default)]
pub(super) struct Line {
    pub(super) items: Vec<Item>,
    /// The bytes of the values that are not shared.
    pub(super) bytes: Vec<u8>,
    /// Includes what its porter has taken and not delivered.
    pub(super) weight: usize,
    /// The number of parked messages, likewise.
    pub(super) parked: usize,
    /// Whether the peer was told to hold values for this actor.
    pub(super) is_held: bool,
    /// The waker of the porter that waits for room.
    pub(super) porter: Option<Waker>,
}

/// The weight of a message beside its bytes.
pub(super) const ITEM: usize = mem::size_of::<Item>();

/// What is to be done with an actor at this place of the line.
pub(super) enum Item {
    /// A value that was read before its mailbox was found full; the number of messages it counts
    /// as, and its weight.
    Waits(Wait, u64, usize),
    /// A value: its call, the lengths of its places and of itself, which are the next bytes, and
    /// its origin.
    Tell(Option<u64>, usize, usize, Origin),
    /// A value that was sent to several actors, and its origin.
    Shared(Arc<[u8]>, Origin),
    /// The actor ends when it has handled what came before.
    Drain,
}

/// The cause of a value, and the references that are in it.
#[derive(Default)]
pub(super) struct Origin {
    cause: Option<NonZeroU64>,
    arrived: Option<Arc<Arrived>>,
}

impl Origin {
    /// The origin of the value that this thread handles.
    pub(super) fn here() -> Self {
        Self { cause: trace::current(), arrived: arrived::current() }
    }

    /// Handles its value, until the result is dropped.
    #[must_use = "its value is dealt with until this is dropped"]
    pub(super) fn within(self) -> impl Sized {
        (trace::within(self.cause), arrived::within(self.arrived))
    }

    fn weight(&self) -> usize {
        self.arrived.as_ref().map_or(0, |arrived| arrived.weight())
    }
}

/// What has left a line.
#[derive(Clone, Copy, Default)]
pub(super) struct Delivered {
    pub(super) messages: usize,
    pub(super) weight: usize,
    pub(super) casts: usize,
}

impl Delivered {
    pub(super) fn of(item: &Item) -> Self {
        Self { messages: 1, weight: item.weight(), casts: usize::from(item.is_cast()) }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.messages += other.messages;
        self.weight += other.weight;
        self.casts += other.casts;
    }
}

impl Item {
    /// Whether it is a message of a collective send.
    pub(super) fn is_cast(&self) -> bool {
        matches!(self, Self::Shared(..) | Self::Waits(_, 0, _))
    }

    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Waits(_, _, weight) => *weight,
            Self::Tell(_, places, length, origin) => ITEM + places + length + origin.weight(),
            // As if it were not shared: which item is the last owner of the copy is not known.
            Self::Shared(payload, origin) => ITEM + payload.len() + origin.weight(),
            Self::Drain => ITEM,
        }
    }

    /// The number of messages it counts as once it is delivered. Messages for several actors, and
    /// orders, were counted when they were read.
    pub(super) fn counts(&self) -> u64 {
        match self {
            Self::Waits(_, counts, _) => *counts,
            Self::Tell(..) => 1,
            Self::Shared(..) | Self::Drain => 0,
        }
    }
}
