//! What the others tell traces, where there are none: nothing. Nothing here has a size or a body.
//! With the feature `tracing`, `mod.rs` stands here instead.

use crate::actor::Actor;
use crate::context::Context;
use crate::control::{ActorId, AnyActor};
use crate::dead_letter::DeadLetterKind;
use crate::exit::ExitReason;
use crate::mailbox::Mailbox;
use crate::node::{DownReason, NodeId, Refusal};
use crate::system::System;
use evenkeel::internal::Public;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;

/// A message in its mailbox.
pub(crate) type Parcel<M> = M;

#[inline(always)]
pub(crate) fn seal<M>(message: M) -> Parcel<M> {
    message
}

#[inline(always)]
pub(crate) fn open<M>(parcel: Parcel<M>) -> M {
    parcel
}

/// What a message to another node says of its cause.
#[inline(always)]
pub(crate) fn current() -> Option<NonZeroU64> {
    None
}

/// What is done until this is dropped is done because of a message.
pub(crate) struct Within;

#[inline(always)]
pub(crate) fn within(_cause: Option<NonZeroU64>) -> Within {
    Within
}

#[inline(always)]
pub(crate) fn carry<F>(future: F) -> F {
    future
}

/// Because of which message an actor was spawned.
#[derive(Clone, Copy)]
pub(crate) struct Born;

impl Born {
    #[inline(always)]
    pub(crate) fn now() -> Self {
        Self
    }
}

/// By which name an actor is called.
pub(crate) struct Called;

impl Called {
    #[inline(always)]
    pub(crate) fn of<M: 'static>(_own: &Mailbox<M>) -> Self {
        Self
    }
}

// Macros, so that what is awaited is what stands there: a function that it went through might make
// the actor's future larger.

macro_rules! handling {
    ($message:ident, $context:ident, $handle:expr) => {
        $handle.await
    };
}

macro_rules! noticing {
    ($event:ident, $context:ident, $handle:expr) => {
        $handle.await
    };
}

macro_rules! starting {
    ($born:ident, $context:ident, $start:expr) => {{
        let $crate::trace::Born = $born;
        $start.await
    }};
}

macro_rules! stopping {
    ($context:ident, $stop:expr) => {
        $stop.await
    };
}

pub(crate) use {handling, noticing, starting, stopping};

#[inline(always)]
pub(crate) fn answered<R>(reply: Parcel<R>) -> R {
    reply
}

#[inline(always)]
pub(crate) fn started<A: Actor>(_context: &Context<A>) {}

#[inline(always)]
pub(crate) fn name(_actor: &AnyActor, _name: &Arc<str>, _has: bool) {}

#[inline(always)]
pub(crate) fn stopped<A, M: 'static>(
    _own: &Public<Mailbox<M>>,
    _called: &Called,
    _reason: &ExitReason,
) {
}

#[inline(always)]
pub(crate) fn failed<A, M: 'static>(
    _own: &Public<Mailbox<M>>,
    _called: &Called,
    _reason: &ExitReason,
) {
}

#[inline(always)]
pub(crate) fn restarted<A, M: 'static>(_own: &Public<Mailbox<M>>) {}

#[inline(always)]
pub(crate) fn dead_letter<M>(
    _system: System,
    _to: Option<ActorId>,
    _kind: DeadLetterKind,
    _count: u64,
) {
}

#[inline(always)]
pub(crate) fn node_up(_system: System, _peer: NodeId, _name: &str) {}

#[inline(always)]
pub(crate) fn node_left(_system: System, _peer: NodeId, _lost: u64) {}

#[inline(always)]
pub(crate) fn node_down(_system: System, _peer: NodeId, _reason: &DownReason, _lost: u64) {}

#[inline(always)]
pub(crate) fn node_refused(_system: System, _peer: NodeId, _why: &dyn fmt::Display) {}

#[inline(always)]
pub(crate) fn malformed(_system: System, _peer: NodeId, _error: &dyn fmt::Display) {}

/// A system is that of a node.
#[inline(always)]
pub(crate) fn node(_system: System, _node: NodeId) {}

#[inline(always)]
pub(crate) fn connected(_system: System, _peer: NodeId) {}

#[inline(always)]
pub(crate) fn disconnected(_system: System, _peer: NodeId, _reason: &DownReason, _lost: u64) {}

#[inline(always)]
pub(crate) fn not_sent(_system: System, _peer: NodeId, _messages: u32, _why: &Refusal) {}
