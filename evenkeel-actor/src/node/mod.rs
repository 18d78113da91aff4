//! Nodes: processes of one job whose actors send each other messages.

mod id;
mod transport;

pub use id::NodeId;
pub use transport::{DownReason, Event, Refusal, Refused, Transport, TransportWaker};
