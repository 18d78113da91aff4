//! The machinery that runs every family of experiments. It knows none of them.
//!
//! A [`family`] says what it measures on which [peers](peer), plans its [cases](case), and runs one
//! case once on one peer. An [`entry`] stands for a family in code that does not know its type. The
//! [`runner`] lets the peers of a case take turns, until each has [`enough`] runs that count, and
//! makes a [`record`] of each run. A record is not generic: it is an envelope and two lists of
//! named values, so that all code behind it is compiled once for all families. There records become
//! [`rows`], a row has a [`verdict`] for each [`quantity`] that is compared, and a [`table`] shows
//! them.

// The documentation is for readers of the source.
#![allow(rustdoc::private_intra_doc_links)]
// `say!` and `note!` end quietly where these macros panic.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod affinity;
pub mod asked;
pub mod case;
pub mod description;
mod differ;
pub mod disturbance;
pub mod effort;
pub mod enough;
pub mod entry;
pub mod family;
pub mod interrupt;
pub mod kit;
pub mod machine;
pub mod misses;
pub mod named;
pub mod outcome;
pub mod output;
pub mod peer;
pub mod picture;
pub mod power;
pub mod published;
pub mod quantity;
pub mod read;
pub mod record;
pub mod regime;
pub mod rows;
pub mod runner;
pub mod summary;
pub mod table;
pub mod tally;
pub mod verdict;
pub mod words;
