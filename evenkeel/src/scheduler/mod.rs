//! The scheduler: processors, the workers that run them, and how tasks move between them.
//!
//! Invariant: it knows a task's [`header`](crate::raw_task::header), its state and what is reported of
//! it, and nothing of futures. Every decision is made in [`policy`](crate::policy).

mod away;
pub(crate) mod broadcast;
pub(crate) mod clock;
pub(crate) mod crowding;
pub(crate) mod errands;
pub(crate) mod guest;
pub(crate) mod handover;
mod help;
#[cfg(not(any(loom, shuttle)))]
pub(crate) mod interleave;
pub(crate) mod job;
pub(crate) mod journeys;
#[cfg(all(test, loom))]
pub(crate) mod model;
pub(crate) mod relief;
pub(crate) mod run;
mod search;
#[cfg(all(test, shuttle))]
pub(crate) mod shuttle_tests;
mod sleep;
pub(crate) mod spare;
pub(crate) mod spawn;
pub(crate) mod stuck;
pub(crate) mod sweep;
pub(crate) mod timing;
mod trial;
mod view;
pub(crate) mod wake;
pub(crate) mod work;
mod worker;
