//! The scheduler: processors, the workers that run them, and how tasks move between them.
//!
//! Invariant: it knows a task's [`header`](crate::task::header), its state and what is reported of
//! it, and nothing of futures. Every decision is made in [`policy`](crate::policy).

pub(crate) mod biased;
pub(crate) mod broadcast;
pub(crate) mod closures;
pub(crate) mod context;
pub(crate) mod counters;
pub(crate) mod crowding;
pub(crate) mod deque;
pub(crate) mod entry;
pub(crate) mod errands;
pub(crate) mod fifo;
pub(crate) mod gift;
pub(crate) mod guest;
pub(crate) mod handover;
mod help;
pub(crate) mod idle;
pub(crate) mod inbox;
pub(crate) mod inside;
#[cfg(not(any(loom, shuttle)))]
pub(crate) mod interleave;
pub(crate) mod job;
mod journeys;
pub(crate) mod latch;
pub(crate) mod meter;
#[cfg(all(test, loom))]
pub(crate) mod model;
pub(crate) mod neighbours;
pub(crate) mod note;
pub(crate) mod operations;
pub(crate) mod processor;
pub(crate) mod registry;
pub(crate) mod relief;
pub(crate) mod ring;
pub(crate) mod run;
pub(crate) mod runners;
mod search;
pub(crate) mod seat;
pub(crate) mod shared;
#[cfg(all(test, shuttle))]
pub(crate) mod shuttle_tests;
mod sleep;
pub(crate) mod slot;
pub(crate) mod spare;
pub(crate) mod spawn;
pub(crate) mod stuck;
pub(crate) mod sweep;
pub(crate) mod timers;
pub(crate) mod timing;
pub(crate) mod travel;
mod trial;
mod view;
pub(crate) mod visitors;
pub(crate) mod wake;
mod whereabouts;
pub(crate) mod worker;
