//! Objects with homes beside locks: operations on shared data, in place, at the data's home, and by
//! threads and tasks with a lock.
//!
//! The value inside an object, and what an operation does to it, is a [`work`], written once for
//! all [modes](bench::Mode). [`party`] is common to threads and tasks; [`threads`], a [`lone`]
//! thread, and [`tasks`] with their [`entries`] are the differences; [`locks`] serve both. A
//! [`run`] consists of [stretches](score): those before the measured ones warm the caches up, and
//! let a class of objects try both ways. Each run checks that every operation was made exactly once
//! and in full.
//!
//! Sources: directories of 1,000 entries of 32 bytes, and their oscillating popularity, are the
//! benchmark of CoreTime (Boyd-Wickizer, Morris, Kaashoek, "Reinventing Scheduling for Multicore
//! Systems", HotOS 2009); the heaps are priority queues of the hold model (Jones, "An Empirical
//! Comparison of Priority-Queue and Event-Set Implementations", CACM 29(4), 1986).

// The documentation is for readers of the source.
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

/// This family's entry in the registry.
pub const ENTRY: Entry = Entry::of::<family::Objects>();
