//! Actors: five experiments on this project's actors and on those of others.
//!
//! The rules are those of the published ones: `latency_probe` is Thorium's (as in the post on it),
//! pingpong is Akka's `TellThroughput`, fan-in, spawn and idle memory are what every actor system
//! is asked for. Messages count with their replies. An experiment is written once ([`workload`])
//! for every [`System`](system::System) in this process, and each run checks its own result by
//! counts. [`counters`] gives Thorium's counters. Beside them stand eight programs of the
//! [Savina](savina) suite, which are run in the same way. [`family`] is what the suite knows of all
//! of them.

// Its documentation is for those who read its source.
#![allow(rustdoc::private_intra_doc_links)]
// `say!` and `note!` end quietly where these panic.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod bench;
mod counters;
mod family;
mod finish;
mod foreign;
pub mod memory;
mod peer;
mod run;
mod savina;
mod spec;
mod system;
mod workload;

#[cfg(test)]
mod tests;

use suite::entry::Entry;

/// What the registry of families holds of this one.
pub const ENTRY: Entry = Entry::of::<family::Actors>();
