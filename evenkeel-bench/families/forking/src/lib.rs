//! Fork-join programs: the four of the evaluation of the Cilk Locality runtime, and four that show
//! the bare cost of a fork.
//!
//! Each is written once, generic over a [`Forker`](forker::Forker), and recurses by binary forks;
//! the serial runtime makes plain calls instead. For all runtimes, leaves are not inlined into the
//! recursion, and arrays begin at pages: both matter more than any runtime. The peers in [C++](cpp)
//! have programs of their own, with the same recursion, cut-offs, inputs and order of additions.

// The documentation is for readers of the source.
#![allow(rustdoc::private_intra_doc_links)]
// `say!` and `note!` end quietly where these panic.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod caches;
mod cpp;
mod family;
mod figures;
pub mod forker;
mod found;
mod grid;
mod metrics;
mod onetbb;
pub mod program;
#[cfg(test)]
mod tests;

use suite::entry::Entry;

/// This family's entry in the registry.
pub const ENTRY: Entry = Entry::of::<family::Forking>();
