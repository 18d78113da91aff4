//! Events: news of other actors.

use super::exit::ExitReason;
use crate::words::id::ActorId;
use std::fmt;

/// News of another actor, handled before messages: see [`Actor::event`](crate::Actor::event).
///
/// # Examples
/// See [`Context::watch`](crate::Context::watch),
/// [`Context::trap_exits`](crate::Context::trap_exits) and
/// [`Context::spawn`](crate::Context::spawn).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// An actor that it [watches](crate::Context::watch) has ended.
    Down {
        /// That actor.
        actor: ActorId,
        /// Why it has ended.
        reason: ExitReason,
    },
    /// An actor that it is [linked](crate::Context::link) to has ended, and it [traps
    /// exits](crate::Context::trap_exits).
    Exit {
        /// That actor.
        actor: ActorId,
        /// Why it has ended.
        reason: ExitReason,
    },
    /// A child that it has [spawned](crate::Context::spawn) has ended.
    ChildEnded {
        /// The child.
        child: ActorId,
        /// Why it has ended.
        reason: ExitReason,
    },
    /// For supervisors alone.
    #[doc(hidden)]
    Notice(Notice),
}

/// News of a child for its supervisor.
#[derive(Clone)]
pub struct Notice {
    pub(crate) index: usize,
    pub(crate) kind: NoticeKind,
}

#[derive(Clone, Debug)]
pub(crate) enum NoticeKind {
    /// The child has started. Each start has a number of its own, its term.
    Started { term: u64 },
    /// The child has ended, and waits for its supervisor's decision.
    Fell { term: u64, reason: ExitReason },
    /// The child has ended for good.
    Gone,
    /// An alarm has rung.
    Alarm { number: u64 },
}

impl fmt::Debug for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Notice({}, {:?})", self.index, self.kind)
    }
}
