//! Events of actors and nodes.
//!
//! The thread that finds an event emits it, outside of all locks. A panic of a subscriber is
//! contained: an actor's end goes on.
//!
//! Without the feature `tracing` these functions are empty.

#![cfg_attr(
    not(feature = "tracing"),
    allow(unused_variables, reason = "the arguments are used with the feature")
)]

use super::subject::Subject;
use super::{Parcel, open};
use crate::node::{DownReason, NodeId, Refusal};
use crate::words::dead_letter::DeadLetterKind;
use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use std::fmt;

/// The name of an actor.
pub(crate) struct Called(#[cfg(feature = "tracing")] Option<std::sync::Arc<str>>);

impl Called {
    /// Reads the name before the actor's end, after which it is unknown. Without a subscriber it
    /// reads nothing.
    pub(crate) fn of(subject: &impl Subject) -> Self {
        Self(
            #[cfg(feature = "tracing")]
            {
                use tracing::{Level, level_filters::LevelFilter};
                if Level::ERROR <= LevelFilter::current() { subject.name() } else { None }
            },
        )
    }
}

#[cfg(feature = "tracing")]
fn given(number: u64) -> Option<u64> {
    (number != 0).then_some(number)
}

/// Emits an event of an actor.
macro_rules! tell {
    ($level:ident, $what:literal: $type:ty, $of:expr, $name:expr, $($more:tt)*) => {
        #[cfg(feature = "tracing")]
        evenkeel::internal::contain(|| {
            tracing::event!(
                target: "evenkeel_actor::life", parent: None, tracing::Level::$level,
                {
                    actor.type = std::any::type_name::<$type>(), actor.id = %$of.id(),
                    actor.name = $name.as_deref(), node = $of.node(), $($more)*
                },
                $what
            );
        });
    };
}

pub(crate) fn started<A>(of: &impl Subject) {
    tell!(DEBUG, "actor started": A, of, of.name(),);
}

pub(crate) fn stopped<A>(of: &impl Subject, called: &Called, reason: &ExitReason) {
    tell!(DEBUG, "actor stopped": A, of, called.0, %reason);
}

pub(crate) fn failed<A>(of: &impl Subject, called: &Called, supervised: bool, reason: &ExitReason) {
    #[cfg(feature = "tracing")]
    let super::on::Current { id, cause } = super::scene::take_broken();
    tell!(
        ERROR, "actor failed": A, of, called.0,
        message.id = given(id), cause = given(cause), supervised, %reason
    );
}

pub(crate) fn restarted<A>(of: &impl Subject, restarts: u32) {
    tell!(WARN, "actor restarted": A, of, of.name(), restarts);
}

#[cfg(feature = "tracing")]
thread_local! {
    /// Whether this thread is emitting a dead letter: a subscriber's own would go round for ever.
    static TELLS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Emits the event in the thread's present span, as a dropped message concerns its sender too.
/// `node` is the number of the node whose system counts it.
pub(crate) fn dead_letter<M>(
    node: Option<u32>,
    to: Option<ActorId>,
    kind: DeadLetterKind,
    count: u64,
) {
    #[cfg(feature = "tracing")]
    {
        if TELLS.replace(true) {
            return;
        }
        let to = to.map(tracing::field::display);
        let cause = super::current().map(std::num::NonZeroU64::get);
        macro_rules! tell {
            ($level:ident) => {
                tracing::event!(
                    target: "evenkeel_actor::dead_letter", tracing::Level::$level,
                    {
                        actor.id = to, node, message.type = std::any::type_name::<M>(), cause,
                        count, reason = %kind
                    },
                    "dead letter"
                )
            };
        }
        evenkeel::internal::contain(|| match kind {
            DeadLetterKind::DroppedNewest | DeadLetterKind::DroppedOldest => tell!(DEBUG),
            _ => tell!(INFO),
        });
        TELLS.set(false);
    }
}

/// Emits an event that concerns another node: of the node itself, or of the transport, which `$of`
/// names.
macro_rules! peer {
    ($of:literal, $level:ident, $what:literal: $node:expr, $peer:expr, $($more:tt)*) => {
        #[cfg(feature = "tracing")]
        evenkeel::internal::contain(|| {
            tracing::event!(
                target: concat!("evenkeel_actor::", $of), parent: None, tracing::Level::$level,
                { node = $node, peer = $peer.number(), $($more)* },
                $what
            );
        });
    };
}

pub(crate) fn node_up(node: Option<u32>, peer: NodeId, name: &str) {
    peer!("node", INFO, "node up": node, peer, peer.name = name);
}

pub(crate) fn node_left(node: Option<u32>, peer: NodeId, lost: u64) {
    peer!("node", INFO, "node left": node, peer, lost);
}

pub(crate) fn node_down(node: Option<u32>, peer: NodeId, reason: &DownReason, lost: u64) {
    peer!("node", WARN, "node down": node, peer, lost, %reason);
}

pub(crate) fn node_refused(node: Option<u32>, peer: NodeId, why: &dyn fmt::Display) {
    peer!("node", WARN, "node refused": node, peer, reason = %why);
}

pub(crate) fn malformed(node: Option<u32>, peer: NodeId, error: &dyn fmt::Display) {
    peer!("node", WARN, "frame rejected": node, peer, reason = %error);
}

pub(crate) fn not_written(node: Option<u32>, peer: NodeId, of: &str, why: &dyn fmt::Display) {
    peer!("node", WARN, "message not written": node, peer, message.type = of, reason = %why);
}

pub(crate) fn not_read(node: Option<u32>, peer: NodeId, of: &str, why: &dyn fmt::Display) {
    peer!("node", WARN, "reply not read": node, peer, message.type = of, reason = %why);
}

pub(crate) fn connected(node: Option<u32>, peer: NodeId) {
    peer!("transport", DEBUG, "connected": node, peer,);
}

pub(crate) fn disconnected(node: Option<u32>, peer: NodeId, reason: &DownReason, lost: u64) {
    peer!("transport", DEBUG, "disconnected": node, peer, %reason, lost);
}

pub(crate) fn not_sent(node: Option<u32>, peer: NodeId, messages: u32, why: &Refusal) {
    peer!("transport", WARN, "frame not sent": node, peer, messages, reason = %why);
}

/// Emits the arrival of a reply, in the span of the asker.
#[inline]
pub(crate) fn answered<R>(reply: Parcel<R>) -> R {
    #[cfg(feature = "tracing")]
    {
        let cause = given(reply.cause());
        let of = || super::current_id().0.map(std::num::NonZeroU64::get);
        tracing::event!(
            target: "evenkeel_actor::reply", tracing::Level::TRACE,
            { message.id = of(), cause },
            "reply"
        );
    }
    open(reply)
}
