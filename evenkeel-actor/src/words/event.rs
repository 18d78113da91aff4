//! What an actor is told of others.

use super::exit::ExitReason;
use crate::words::id::ActorId;
use std::fmt;

/// What an actor is told of others, before its messages: see [`Actor::event`](crate::Actor::event).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// An actor that it [watches](crate::Context::watch) has ended.
    Down {
        /// That one.
        actor: ActorId,
        /// Why.
        reason: ExitReason,
    },
    /// An actor that it is [linked](crate::Context::link) to has ended, and it [traps
    /// exits](crate::Context::trap_exits).
    Exit {
        /// That one.
        actor: ActorId,
        /// Why.
        reason: ExitReason,
    },
    /// A child that it has [spawned](crate::Context::spawn) has ended.
    ChildEnded {
        /// The child.
        child: ActorId,
        /// Why.
        reason: ExitReason,
    },
    /// For supervisors alone.
    #[doc(hidden)]
    Notice(Notice),
}

/// What a supervisor is told by its children.
#[derive(Clone)]
pub struct Notice {
    pub(crate) index: usize,
    pub(crate) kind: NoticeKind,
}

#[derive(Clone, Debug)]
pub(crate) enum NoticeKind {
    /// It has started. Each start has a number of its own, its term.
    Started { term: u64 },
    /// It has ended, and waits for what its supervisor decides.
    Fell { term: u64, reason: ExitReason },
    /// It has ended for good.
    Gone,
    /// The time of an alarm has come.
    Alarm { number: u64 },
}

impl fmt::Debug for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Notice({}, {:?})", self.index, self.kind)
    }
}
