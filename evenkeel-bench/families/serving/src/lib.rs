//! Serving: servers of echo and of HTTP on each runtime, with clients over the loopback interface.
//!
//! Server and client are processes of their own, and share the cores of the run. The client is the
//! same program for all servers, so its processor time counts against all alike. A client checks
//! all bytes of each reply, and that there is one for each request; a run with a fault fails.
//! [`family`] presents the experiments to the suite, [`run`] is one run, [`server`] and [`client`]
//! are the two processes, and [`told`] is what they say to each other.

// The documentation is for readers of the source.
#![allow(rustdoc::private_intra_doc_links)]
// `say!` and `note!` end quietly where these panic.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod client;
mod family;
mod foreign;
mod idle;
mod limit;
mod pages;
mod peer;
mod run;
pub mod server;
mod soak;
mod spec;
#[cfg(test)]
mod tests;
mod told;
mod usage;

use suite::entry::Entry;
use suite::named;

/// This family's entry in the registry.
pub const ENTRY: Entry = Entry::of::<family::Serving>();

named! {
    /// What the client of an HTTP server asks for.
    pub(crate) enum Variant as "variant of http" {
        /// Small pages, in a closed loop.
        Plain = "plain",
        /// Small pages, at fixed times.
        Steady = "steady",
        /// The same, but one request in a hundred computes.
        Computing = "computing",
        /// The same, but one request in a thousand blocks its thread.
        Blocking = "blocking",
        /// The same, beside connections that read large pages slowly, one in fifty.
        Slow = "slow",
    }
}

impl Variant {
    /// Whether requests begin at fixed times, whether or not those before have their replies.
    pub(crate) fn is_open(self) -> bool {
        self != Variant::Plain
    }

    /// One request in this many is heavy; 0 if none is.
    pub(crate) fn heavy_one_in(self) -> usize {
        match self {
            Variant::Computing => 100,
            Variant::Blocking => 1_000,
            Variant::Plain | Variant::Steady | Variant::Slow => 0,
        }
    }
}
