//! Spans and events for the `tracing` crate, behind the feature `tracing`.
//!
//! # Spans
//! Each call of a handler has a span. It is entered at each poll and never held across an await, so
//! it does not cover what other actors do on the same worker meanwhile. It has no parent, as actors
//! do not call each other. It has level `DEBUG` and the target `evenkeel_actor::handle`. So one
//! directive (`evenkeel_actor::handle=debug`) names the actor in everything that a handler logs,
//! and `evenkeel_actor::handle=off` leaves the events below.
//!
//! | span | covers |
//! |---|---|
//! | `handle` | [`Actor::handle`](crate::Actor::handle) of one message, [`Actor::event`](crate::Actor::event) of one event |
//! | `start`, `stop` | [`Actor::started`](crate::Actor::started), [`Actor::stopped`](crate::Actor::stopped) |
//!
//! | field | is |
//! |---|---|
//! | `actor.type`, `actor.id` | the actor's type and number |
//! | `actor.name` | its name as a supervised child, or else the last one under which it was [registered](crate::System::register) |
//! | `node` | the number of its node, if its system belongs to one |
//! | `message.type` | of `handle`: the type of the message; of an event, which one |
//! | `message.id` | the number of the message, event, start or stop: see below |
//! | `cause` | the number of the message that the sender was handling; absent if this one came from outside |
//! | `priority` | of `handle`: `system` for events, which come before messages, else `normal` |
//!
//! # Events
//! | target | level | says |
//! |---|---|---|
//! | `evenkeel_actor::life` | `DEBUG` | `actor started`, `actor stopped` with its `reason` |
//! | | `ERROR` | `actor failed`: it has panicked or returned an error, with the `message.id` and `cause` of what it handled |
//! | | `WARN` | `actor restarted` by its supervisor |
//! | `evenkeel_actor::dead_letter` | `INFO` | `dead letter`; `DEBUG` if a mailbox has dropped it by its policy |
//! | `evenkeel_actor::node` | `INFO` | `node up`, `node left` |
//! | | `WARN` | `node down`, `node refused`, `frame rejected`; `message not written`, `reply not read`, with the `reason` that [`SendError`](crate::SendError) and [`AskError`](crate::AskError) leave out |
//! | `evenkeel_actor::transport` | `DEBUG` | `connected`, `disconnected`: the transport's reports on a node, before the nodes have greeted and before its frames are read |
//! | | `WARN` | `frame not sent`, with the number of its `messages` |
//! | `evenkeel_actor::reply` | `TRACE` | `reply`, in the span of the asker: its `cause` is the message that its sender was handling |
//!
//! # Numbers and causes
//! Each handled message, event, start and stop has a number. The upper 20 bits are the number of
//! the actor's node, plus one. The bits below are a count of the process, which threads take in
//! blocks. So numbers differ within a run of a job; a node that is started again counts anew.
//! [`Context::message_id`](crate::Context::message_id) returns the present number,
//! [`Context::cause`](crate::Context::cause) that of its cause.
//!
//! A message carries the number of the message that its sender was handling: in its mailbox, which
//! is eight bytes per message larger for it, in a timer of
//! [`send_after`](crate::Context::send_after), in a reply, and between nodes. So do spawns, for
//! `start`. From outside come messages of tasks that are not actors, unless the tasks [carry] a
//! cause; ticks of [`send_every`](crate::Context::send_every); and events. The cause of a message
//! from a [`Stash`](crate::Stash) is the message that was being handled when it was taken out.
//!
//! A cause from another node is what that node says. Nothing is looked up by it, so any number will
//! do.
//!
//! A process or a filter that does not trace an actor passes causes on: the chain goes around that
//! actor.
//!
//! # Cost
//! Without the feature, tracing costs nothing: no message, mailbox, actor or frame is larger, and
//! no instruction is executed. With the feature, but without a subscriber that takes `DEBUG`, a
//! handled message costs one relaxed load and a few loads and stores of the thread's own memory; a
//! reply costs one load more. With a subscriber it costs what that takes for a span.
//!
//! A subscriber that sends messages to actors must not trace these in turn.

#![cfg_attr(
    not(feature = "tracing"),
    allow(rustdoc::broken_intra_doc_links, reason = "the links' targets exist with the feature")
)]

mod events;
#[cfg(feature = "tracing")]
mod ids;
#[cfg(not(feature = "tracing"))]
mod off;
#[cfg(feature = "tracing")]
mod on;
#[cfg(feature = "tracing")]
mod scene;
mod subject;

pub(crate) use events::{
    Called, answered, connected, dead_letter, disconnected, failed, malformed, node_down,
    node_left, node_refused, node_up, not_read, not_sent, not_written, restarted, started, stopped,
};
#[cfg(not(feature = "tracing"))]
pub(crate) use off::{
    Born, Parcel, carry, current, handling, noticing, open, seal, starting, stopping, within,
};
#[cfg(feature = "tracing")]
pub use on::{Carried, carry};
#[cfg(feature = "tracing")]
pub(crate) use on::{Parcel, current, current_id, open, seal, within};
#[cfg(feature = "tracing")]
pub(crate) use scene::{Born, Scene, handling, noticing, starting, stopping};
pub(crate) use subject::Subject;
