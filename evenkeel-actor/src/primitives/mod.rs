//! Parts that stand alone: a hash, sweeps of lists, and locks under one set of names for `std` and,
//! in models, shuttle.
//!
//! A protocol with a model takes its locks here, so that the model explores the code that runs.
//! Spin locks, slots and the channel of answers are the library's, which does the same itself.

pub(crate) mod hash;
pub(crate) mod sweeper;

pub(crate) use evenkeel::internal::answer as oneshot;
#[cfg(shuttle)]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
#[cfg(not(shuttle))]
pub(crate) use std::sync::{Mutex, MutexGuard};
