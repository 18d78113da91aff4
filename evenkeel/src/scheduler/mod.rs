//! The scheduler: the workers' loop, and the protocols by which tasks move between processors.
//!
//! Invariant: this room knows a task's [`header`](crate::raw_task::header), its state and its
//! report, and nothing of futures. [`policy`](crate::policy) makes every decision.

pub(crate) mod away;
pub(crate) mod broadcast;
mod catches;
pub(crate) mod clock;
pub(crate) mod crowding;
pub(crate) mod driver;
pub(crate) mod errands;
mod gathering;
pub(crate) mod guest;
pub(crate) mod handover;
mod help;
#[cfg(not(any(loom, shuttle)))]
pub(crate) mod interleave;
pub(crate) mod job;
pub(crate) mod journeys;
mod keeping;
mod leave;
pub(crate) mod lookout;
#[cfg(all(test, loom))]
pub(crate) mod model;
mod pace;
mod polls;
pub(crate) mod relief;
pub(crate) mod run;
mod search;
#[cfg(all(test, shuttle))]
pub(crate) mod shuttle_tests;
mod sleep;
mod sockets;
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
