//! Objects with homes beside locks: operations on shared data, made where a task is, at the data's
//! home, and by threads and tasks with a lock.
//!
//! What there is inside of an object, and what an operation does to it, is a [`work`], written once
//! for all [modes](bench::Mode); [`party`] is what threads and tasks have in common, [`threads`], a
//! [`lone`] thread, and [`tasks`] with their [`entries`] are what they have not, and [`locks`] are
//! there for both. A [`run`] is cut into [stretches](score): what comes before the measured ones
//! warms caches up, and lets a class of objects try both ways. Each run checks that no operation
//! was lost, and none was made halfway.
//!
//! Sources: directories of 1,000 entries of 32 bytes, and their oscillating popularity, are the
//! benchmark of CoreTime (Boyd-Wickizer, Morris, Kaashoek, "Reinventing Scheduling for Multicore
//! Systems", HotOS 2009); the heaps are priority queues of the hold model (Jones, "An Empirical
//! Comparison of Priority-Queue and Event-Set Implementations", CACM 29(4), 1986).

// Its documentation is for those who read its source.
#![allow(rustdoc::private_intra_doc_links)]
// `say!` and `note!` end quietly where these panic.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod bench;
mod delegates;
mod entries;
mod family;
mod homes;
mod locks;
mod lone;
mod options;
mod party;
mod pictures;
mod run;
mod score;
mod spacing;
mod spec;
mod tasks;
mod threads;
mod work;

#[cfg(test)]
mod tests;

use suite::entry::Entry;

/// What the registry of families holds of this one.
pub const ENTRY: Entry = Entry::of::<family::Objects>();
