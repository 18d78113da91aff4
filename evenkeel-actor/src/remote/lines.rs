//! Messages of one peer that wait for room in mailboxes: where they lie.
//! [`parking`](super::parking) has the protocol.

use super::arrived::{self, Arrived};
use super::table::Wait;
use crate::node::Slot;
use crate::primitives::Mutex;
use crate::trace;
use std::collections::HashMap;
use std::mem;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::task::Waker;

/// The lines of one peer.
#[derive(Default)]
pub(crate) struct Parking {
    /// How many lines there are, for a look without the lock. Changed under it.
    pub(super) lines: AtomicUsize,
    pub(super) state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) by_slot: HashMap<Slot, Line>,
    pub(super) weight: usize,
    /// How many messages of collective sends that is.
    pub(super) casts: usize,
    /// Of how many lines the peer was told to hold values.
    pub(super) held: usize,
    /// Whether each line is to be held.
    pub(super) is_much: bool,
    /// Whether the readers do not get on with the peer's frames.
    pub(super) is_behind: bool,
    /// Whether the peer was told to hold all values.
    pub(super) holds_all: bool,
    pub(super) is_closed: bool,
}

#[derive(Default)]
pub(super) struct Line {
    pub(super) items: Vec<Item>,
    /// Those of the values that are not shared.
    pub(super) bytes: Vec<u8>,
    /// With what its porter has taken and not delivered.
    pub(super) weight: usize,
    /// How many messages that is.
    pub(super) parked: usize,
    /// Whether the peer was told to hold values for this actor.
    pub(super) is_held: bool,
    /// Where the porter waits for room.
    pub(super) porter: Option<Waker>,
}

/// What a message weighs beside its bytes.
pub(super) const ITEM: usize = mem::size_of::<Item>();

/// What is to be done with an actor when its turn comes.
pub(super) enum Item {
    /// A value that was read when there was no room. How many messages it counts as, and its
    /// weight.
    Waits(Wait, u64, usize),
    /// A value: the lengths of the places in it and of itself, which are its next bytes, and its
    /// origin.
    Tell(Option<u64>, usize, usize, Origin),
    /// A value that was sent to several, and its origin.
    Shared(Arc<[u8]>, Origin),
    /// The actor ends when it has handled what came before.
    Drain,
}

/// What a value was sent because of, and the references that are in it.
#[derive(Default)]
pub(super) struct Origin {
    cause: Option<NonZeroU64>,
    arrived: Option<Arc<Arrived>>,
}

impl Origin {
    /// That of the value that this thread deals with.
    pub(super) fn here() -> Self {
        Self { cause: trace::current(), arrived: arrived::current() }
    }

    /// Its value is dealt with, until the result is dropped.
    #[must_use = "its value is dealt with until this is dropped"]
    pub(super) fn within(self) -> impl Sized {
        (trace::within(self.cause), arrived::within(self.arrived))
    }

    fn weight(&self) -> usize {
        self.arrived.as_ref().map_or(0, |arrived| arrived.weight())
    }
}

/// What a porter has delivered of its line.
#[derive(Default)]
pub(super) struct Delivered {
    pub(super) messages: usize,
    pub(super) weight: usize,
    pub(super) casts: usize,
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
            // As if it were not shared: nobody knows who has it last.
            Self::Shared(payload, origin) => ITEM + payload.len() + origin.weight(),
            Self::Drain => ITEM,
        }
    }

    /// As how many messages it counts once it is delivered. A message for several actors, and
    /// orders, were counted as they were read.
    pub(super) fn counts(&self) -> u64 {
        match self {
            Self::Waits(_, counts, _) => *counts,
            Self::Tell(..) => 1,
            Self::Shared(..) | Self::Drain => 0,
        }
    }
}
