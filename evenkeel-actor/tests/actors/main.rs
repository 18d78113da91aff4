//! Actors on one node, without supervisors: messages, waits, counters, and ends.

#[path = "../common"]
mod common {
    pub(crate) mod held;
    pub(crate) mod until;
    pub(crate) mod workers;
}

mod alone;
mod askers;
mod basics;
mod budget;
mod contained;
mod dead_letters;
mod deadlocks;
mod end_order;
mod ends;
mod groups;
mod metrics;
mod panics;
mod registry;
mod stash;
mod timers;
mod unanswered;
mod watching;
