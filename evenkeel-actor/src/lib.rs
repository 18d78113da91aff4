//! Actors on evenkeel: typed references, bounded mailboxes, supervision, on one node or on many.

pub mod node;
