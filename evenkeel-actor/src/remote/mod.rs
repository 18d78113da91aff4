//! Actors of several nodes: references to actors of other nodes, actors that are started there, and
//! what all nodes do together.
//!
//! [`Node`] is where to begin. Below it is [`node`](crate::node), which moves messages and knows no
//! actors.
//!
//! `inner` is what a node is made of, and what it knows of each peer. Its parts know neither: the
//! table knows which actor has which slot, calls are the questions without an answer, lines are
//! what is parked. The steps stand above it. A route says how values of a type get to a node, a
//! `Remote` is a route and a slot. References are written and read as names, in a scope that says
//! for which node. What arrives is read by workers, and taken or delivered; what finds no room is
//! parked, and its senders are told to hold more.

mod arrived;
mod askers;
mod barriers;
mod bound;
mod calls;
mod cast;
mod collective;
mod deliver;
mod ends;
mod error;
mod events;
mod frames;
mod given;
mod happened;
mod holds;
mod inbound;
mod inner;
mod lease;
mod ledger;
mod limits;
mod lines;
mod metrics;
mod names;
mod node;
mod parking;
mod requests;
mod route;
mod say;
mod scope;
mod scripts;
mod senders;
mod standing;
mod start;
mod subscribers;
mod table;
mod take;
mod target;
mod tell;
mod tied;
mod ties;
mod turn;

pub use cast::CastReport;
pub use error::{Mismatch, NodeLost, RemoteError, StartError};
pub use events::Events;
pub use happened::NodeEvent;
pub use limits::Limits;
pub use metrics::NodeMetrics;
pub use node::Node;
pub use start::{Hosting, NodeBuilder};
