//! Nodes: processes of one job whose actors send each other messages.
//!
//! From below: a [`Transport`] moves frames; [`frame`] and [`wire`] say what is in them, and [`payload`] what is in a message.

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
mod random;
mod transport;
mod varint;
pub mod wire;

pub use frame_error::FrameError;
pub use id::NodeId;
pub use name::{Name, Slot};
pub use transport::{DownReason, Event, Refusal, Refused, Transport, TransportWaker};
