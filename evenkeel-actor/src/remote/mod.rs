//! Actors of several nodes: references to actors of other nodes, actors started on other nodes, and
//! operations in which all nodes take part.
//!
//! [`Node`] is the entry point. It stands on [`node`](crate::node), which moves messages and knows
//! no actors.
//!
//! `inner` has a node's state and what the node knows of each peer. Its parts know neither: the
//! table maps slots to actors, calls are the open questions, lines hold parked messages. The
//! protocol steps stand above `inner`. A route writes values of one type for one node; a `Remote`
//! is a route and a slot. References are written and read as names, within a scope that says which
//! node the value is for or from. Workers read what arrives, and take or deliver it. A message that
//! finds a full mailbox is parked, and its senders are told to hold further ones.

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
mod leaving;
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
mod waiters;

pub use cast::CastReport;
pub use error::{Mismatch, NodeLost, RemoteError, StartError};
pub use events::Events;
pub use happened::NodeEvent;
pub use limits::Limits;
pub use metrics::NodeMetrics;
pub use node::Node;
pub use start::{Hosting, NodeBuilder};
