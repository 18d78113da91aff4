//! The tables of the thesis "Concurrency in C∀" (Delisle, University of Waterloo, 2018) for this
//! project and its current counterparts, and contended entry beside them.
//!
//! The thesis's rules: N operations on one processor, nanoseconds of each; here in wall-clock time.
//! An experiment is written once for all peers in this process, tasks and threads alike ([`host`],
//! [`monitors`], [`rendezvous`]), and once in C and Go ([`program`]). [`cells`] lists what each
//! peer has, and [`published`] the thesis's figures. A short run of each peer finds the N that
//! takes the requested time ([`spec`]).

// The documentation is for readers of the source.
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

/// This family's entry in the registry.
pub const ENTRY: Entry = Entry::of::<family::Concurrency>();
