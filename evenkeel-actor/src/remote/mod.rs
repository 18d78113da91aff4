//! Actors of several nodes: references to actors of other nodes, actors that are started there, and
//! what all nodes do together.
//!
//! [`Node`] is where to begin. Below it is [`node`](crate::node), which moves messages and knows no
//! actors.
//!
//! From below: a route says how values of a type get to a node, a `Remote` is a route and a slot,
//! and the table knows which actor has which slot. References are written and read as names, in a
//! scope that says for which node. Calls are the questions without an answer. What arrives is read
//! by workers, and delivered by the table; what finds no room is parked, and its senders are told
//! to hold more.

mod arrived;
mod askers;
mod bound;
mod calls;
mod cast;
mod collective;
mod deliver;
mod ends;
mod error;
mod events;
mod given;
mod holds;
mod inbound;
mod inner;
mod lease;
mod limits;
mod metrics;
mod names;
mod node;
mod parking;
mod route;
mod scope;
mod scripts;
mod senders;
mod start;
mod subscribers;
mod table;
mod ties;

pub use cast::CastReport;
pub use error::{Mismatch, NodeLost, RemoteError, StartError};
pub use events::{Events, NodeEvent};
pub use limits::Limits;
pub use metrics::NodeMetrics;
pub use node::Node;
pub use start::{Hosting, NodeBuilder};

/// The beginning of a text, of at most `most` bytes.
fn short(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
