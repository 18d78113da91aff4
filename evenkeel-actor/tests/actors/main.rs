//! Actors on one node, without supervisors: what they are sent, what they wait for, what is counted
//! of them and how they end.

#[path = "../common"]
mod common {
    pub(crate) mod held;
    pub(crate) mod until;
    pub(crate) mod workers;
}

mod alone;
mod askers;
mod basics;
mod contained;
mod dead_letters;
mod deadlocks;
mod end_order;
mod ends;
mod groups;
mod metrics;
mod registry;
mod stash;
mod timers;
mod unanswered;
mod watching;
