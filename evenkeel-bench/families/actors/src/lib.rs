//! Actors: five experiments on this project's actors and on other systems.
//!
//! The rules are published ones: `latency_probe` is Thorium's (as in the post on it), pingpong is
//! Akka's `TellThroughput`; fan-in, spawn and idle memory are common measures of actor systems.
//! Messages include replies. An experiment is written once ([`workload`]) for every
//! [`System`](system::System) in this process, and each run checks its own result by counts.
//! [`counters`] prints Thorium's counters. Eight programs of the [Savina](savina) suite run in the
//! same way. [`family`] presents all of them to the suite.

// The documentation is for readers of the source.
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

/// This family's entry in the registry.
pub const ENTRY: Entry = Entry::of::<family::Actors>();
