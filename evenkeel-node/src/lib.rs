//! Nodes: processes of one job that send each other messages.
//!
//! From below: a [`Transport`] moves frames, of which [`in_process`] is one; [`frame`] and [`wire`]
//! say what is in them, [`payload`] what is in a message. The [`multiplexer`] packs messages into
//! frames, the [`demultiplexer`] says which frames may be read at once, and a [`host`] drives the
//! transport between them; [`policy`] is what they decide by. [`tree`], [`barrier`] and
//! [`termination`] are protocols of all nodes, without a transport. None of them knows what an
//! actor is.
//!
//! Programs use `evenkeel-actor`, whose module `node` this is, and transports implement
//! [`Transport`]. What is hidden from this manual changes without notice.

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
