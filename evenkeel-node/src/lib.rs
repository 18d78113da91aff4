//! Nodes: processes of one job that send each other messages.
//!
//! From the bottom up: a [`Transport`] moves frames; [`in_process`] is one. [`frame`] and [`wire`]
//! define the bytes of frames, [`payload`] those of a message. The [`multiplexer`] packs messages
//! into frames, the [`demultiplexer`] decides which frames may be read at once, and a [`host`]
//! drives the transport between them; [`policy`] has their decisions. [`tree`], [`barrier`] and
//! [`termination`] are protocols of all nodes, without a transport. None of these modules knows
//! what an actor is.
//!
//! Programs use this crate as the module `node` of `evenkeel-actor`, and transports implement
//! [`Transport`]. Items that are hidden from this manual change without notice.

pub mod altered;
pub mod barrier;
pub mod demultiplexer;
pub mod frame;
mod frame_error;
pub mod host;
mod id;
pub mod in_process;
pub mod multiplexer;
mod name;
pub mod payload;
pub mod policy;
pub mod termination;
mod transport;
pub mod tree;
mod varint;
pub mod wire;

pub use frame_error::FrameError;
pub use id::NodeId;
pub use name::{Name, Slot};
pub use transport::{DownReason, Event, Refusal, Refused, Transport, TransportWaker};
