//! The tables of the thesis "Concurrency in C∀" (Delisle, University of Waterloo, 2018) on this
//! project and on what does the same today, and contended entry beside them.
//!
//! The thesis's rules: N times the operation on one processor, nanoseconds of each; here by the
//! clock on the wall. An experiment is written once for all peers in this process, tasks and
//! threads alike ([`host`], [`monitors`], [`rendezvous`]), and once in C and Go ([`program`]).
//! [`cells`] says who has what, [`published`] what the thesis measured. N is what takes the time
//! that is asked for: a short run of each peer tells ([`spec`]).

// Its documentation is for those who read its source.
#![allow(rustdoc::private_intra_doc_links)]
// `say!` and `note!` end quietly where these panic.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod bench;
mod cells;
mod contended;
mod coroutines;
mod creation;
mod ctxswitch;
mod family;
mod host;
mod monitors;
mod mutex;
mod notify;
mod peer;
mod program;
mod published;
mod rendezvous;
mod schedint;
mod spec;

#[cfg(test)]
mod tests;

use suite::entry::Entry;

/// What the registry of families holds of this one.
pub const ENTRY: Entry = Entry::of::<family::Concurrency>();
