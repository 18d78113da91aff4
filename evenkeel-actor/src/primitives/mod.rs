//! Parts that stand alone: the channel of answers, a hash, sweeps of lists, and locks under one set
//! of names for `std` and, in models, shuttle.
//!
//! A protocol with a model takes its locks here, so that the model explores the code that runs.
//! Spin locks and slots are the library's, which does the same itself.

pub(crate) mod hash;
pub(crate) mod oneshot;
pub(crate) mod sweeper;

#[cfg(shuttle)]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
#[cfg(not(shuttle))]
pub(crate) use std::sync::{Mutex, MutexGuard};
