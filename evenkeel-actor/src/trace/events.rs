//! What happens to actors and nodes, as events.
//!
//! They are told by whoever finds them, outside of all locks. A subscriber that panics is
//! contained: an actor's end goes on.

use super::on::{Current, Parcel, current_id};
use super::scene::take_broken;
use crate::actor::Actor;
use crate::context::Context;
use crate::control::{ActorId, AnyActor};
use crate::dead_letter::DeadLetterKind;
use crate::exit::ExitReason;
use crate::mailbox::{HasId, Mailbox};
use crate::node::{DownReason, NodeId, Refusal};
use crate::system::System;
use evenkeel::internal::{Public, contain};
use std::any::type_name;
use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;
use tracing::level_filters::LevelFilter;
use tracing::{Level, event};

/// By which name an actor is called.
pub(crate) struct Called(pub(super) Option<Arc<str>>);

impl Called {
    /// Asked for before the end, after which nothing of it is known. Nobody is asked where nobody
    /// listens.
    pub(crate) fn of<M: Send + 'static>(own: &Mailbox<M>) -> Self {
        Self(if Level::ERROR <= LevelFilter::current() { own.called() } else { None })
    }
}

fn given(number: u64) -> Option<u64> {
    (number != 0).then_some(number)
}

/// Tells of an actor.
macro_rules! tell {
    ($level:ident, $what:literal: $type:ty, $id:expr, $name:expr, $system:expr, $($more:tt)*) => {
        contain(|| {
            event!(
                target: "evenkeel_actor::life", parent: None, Level::$level,
                {
                    actor.type = type_name::<$type>(), actor.id = %$id,
                    actor.name = $name.as_deref(), node = $system.node(), $($more)*
                },
                $what
            );
        })
    };
}

pub(crate) fn started<A: Actor>(context: &Context<A>) {
    let (id, system) = (context.id(), context.system());
    tell!(DEBUG, "actor started": A, id, context.mailbox().called(), system,);
}

pub(crate) fn stopped<A, M: Send + 'static>(
    own: &Public<Mailbox<M>>,
    called: &Called,
    reason: &ExitReason,
) {
    tell!(DEBUG, "actor stopped": A, own.id(), called.0, own.system(), %reason);
}

pub(crate) fn failed<A, M: Send + 'static>(
    own: &Public<Mailbox<M>>,
    called: &Called,
    reason: &ExitReason,
) {
    let Current { id, cause } = take_broken();
    tell!(
        ERROR, "actor failed": A, own.id(), called.0, own.system(),
        message.id = given(id), cause = given(cause), supervised = own.has_post(), %reason
    );
}

pub(crate) fn restarted<A, M: Send + 'static>(own: &Public<Mailbox<M>>) {
    let restarts = own.metrics().restarts;
    tell!(WARN, "actor restarted": A, own.id(), own.called(), own.system(), restarts);
}

/// An actor has got a name, or no longer has it.
pub(crate) fn name(actor: &AnyActor, name: &Arc<str>, has: bool) {
    actor.control().call(name, has);
}

thread_local! {
    /// Whether this thread tells of a dead letter: a subscriber's own would go round for ever.
    static TELLS: Cell<bool> = const { Cell::new(false) };
}

/// In the span that the thread is in: a message that is dropped is its sender's too.
pub(crate) fn dead_letter<M>(
    system: System,
    to: Option<ActorId>,
    kind: DeadLetterKind,
    count: u64,
) {
    if TELLS.replace(true) {
        return;
    }
    let to = to.map(tracing::field::display);
    let (node, cause) = (system.node(), super::current().map(NonZeroU64::get));
    macro_rules! tell {
        ($level:ident) => {
            event!(
                target: "evenkeel_actor::dead_letter", Level::$level,
                { actor.id = to, node, message.type = type_name::<M>(), cause, count, reason = %kind },
                "dead letter"
            )
        };
    }
    contain(|| match kind {
        DeadLetterKind::DroppedNewest | DeadLetterKind::DroppedOldest => tell!(DEBUG),
        _ => tell!(INFO),
    });
    TELLS.set(false);
}

/// Tells what this node hears of another.
macro_rules! peer {
    ($level:ident, $what:literal: $system:expr, $peer:expr, $($more:tt)*) => {
        contain(|| {
            event!(
                target: "evenkeel_actor::node", parent: None, Level::$level,
                { node = $system.node(), peer = $peer.number(), $($more)* },
                $what
            );
        })
    };
}

pub(crate) fn node_up(system: System, peer: NodeId, name: &str) {
    peer!(INFO, "node up": system, peer, peer.name = name);
}

pub(crate) fn node_left(system: System, peer: NodeId, lost: u64) {
    peer!(INFO, "node left": system, peer, lost);
}

pub(crate) fn node_down(system: System, peer: NodeId, reason: &DownReason, lost: u64) {
    peer!(WARN, "node down": system, peer, lost, %reason);
}

pub(crate) fn node_refused(system: System, peer: NodeId, why: &dyn fmt::Display) {
    peer!(WARN, "node refused": system, peer, reason = %why);
}

pub(crate) fn malformed(system: System, peer: NodeId, error: &dyn fmt::Display) {
    peer!(WARN, "frame rejected": system, peer, reason = %error);
}

/// Tells what a transport says.
macro_rules! transport {
    ($level:ident, $what:literal: $system:expr, $peer:expr, $($more:tt)*) => {
        contain(|| {
            event!(
                target: "evenkeel_actor::transport", parent: None, Level::$level,
                { node = $system.node(), peer = $peer.number(), $($more)* },
                $what
            );
        })
    };
}

pub(crate) fn connected(system: System, peer: NodeId) {
    transport!(DEBUG, "connected": system, peer,);
}

pub(crate) fn disconnected(system: System, peer: NodeId, reason: &DownReason, lost: u64) {
    transport!(DEBUG, "disconnected": system, peer, %reason, lost);
}

pub(crate) fn not_sent(system: System, peer: NodeId, messages: u32, why: &Refusal) {
    transport!(WARN, "frame not sent": system, peer, messages, reason = %why);
}

/// A system is that of a node.
pub(crate) fn node(system: System, node: NodeId) {
    system.set_node(node.number());
}

/// A reply has come: told in the span of the asker.
#[inline]
pub(crate) fn answered<R>(reply: Parcel<R>) -> R {
    let (reply, cause) = reply.into_parts();
    let of = || current_id().0.map(NonZeroU64::get);
    event!(
        target: "evenkeel_actor::reply", Level::TRACE,
        { message.id = of(), cause = given(cause) },
        "reply"
    );
    reply
}
