//! Growth: what a task, its move to another worker and a timer cost, from ten to ten million of
//! them.
//!
//! Each run is a process of its own, whose heap holds nothing that the tasks could reuse. A runtime
//! whose costs grow no faster than the work has the same cost for each, but for the caches: beside
//! the wakes stands a chase of pointers over as much memory, which nothing can beat that comes to
//! each task in random order and waits for one line of its memory.
//! [`family`] presents the experiments to the suite.

// The documentation is for readers of the source.
#![allow(rustdoc::private_intra_doc_links)]
// `say!` and `note!` end quietly where these panic.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod chase;
mod family;
mod moves;
pub mod probe;
mod tasks;
mod timers;

use suite::entry::Entry;
use suite::named;
use suite::peer::Peer;

/// This family's entry in the registry.
pub const ENTRY: Entry = Entry::of::<family::Growth>();

/// Numbers of tasks or timers unless the user says otherwise.
pub(crate) const NUMBERS: [usize; 7] = [10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// The most tasks or timers: 16 GB of memory with this project's runtime.
pub(crate) const MOST: usize = 100_000_000;

named! {
    /// An experiment.
    pub(crate) enum Bench as "experiment" {
        /// Tasks that wait.
        Tasks = "growth_tasks": "tasks alive at the same time: spawns, wakes in random order, end of the runtime",
        /// Ready tasks of a worker that does not come to them.
        Moves = "growth_moves": "tasks woken by a poll that goes on: taken by another worker without work, or with some",
        /// Timers that are armed.
        Timers = "growth_timers": "timers armed at the same time: arms, cancels in random order, fires",
    }
}

named! {
    /// One way of running an experiment.
    pub(crate) enum Variant as "variant of growth" {
        /// The experiment has only one.
        Only = "-",
        /// The other worker has no work.
        Steal = "steal",
        /// The other worker has tasks that only yield.
        Help = "help",
    }
}

impl Bench {
    /// The variants of the experiment.
    pub(crate) fn variants(self) -> &'static [Variant] {
        if self == Bench::Moves { &[Variant::Steal, Variant::Help] } else { &[Variant::Only] }
    }
}

named! {
    /// A runtime.
    pub(crate) enum Name as "runtime of growth" {
        /// This project's runtime.
        Evenkeel = "evenkeel": "this project's runtime",
        /// Tokio with a hand-made park.
        TokioHand = "tokio-hand": "Tokio with a hand-made park",
        /// Tokio with what it ships.
        TokioNative = "tokio-native": "Tokio with the semaphores and timers that it ships",
    }
}

impl Name {
    /// Whether it runs an experiment. Tokio has one kind of timers.
    pub(crate) fn has(self, bench: Bench) -> bool {
        bench != Bench::Timers || self != Name::TokioHand
    }
}

impl Peer for Name {}

/// The settings of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    /// The experiment.
    pub(crate) bench: Bench,
    /// The way of running it.
    pub(crate) variant: Variant,
    /// Workers of the runtime.
    pub(crate) workers: usize,
    /// Tasks or timers.
    pub(crate) number: usize,
    /// The seed of the random order.
    pub(crate) seed: u64,
}
