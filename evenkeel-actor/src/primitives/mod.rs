//! What stands alone: the channel of answers, a hash, and locks under one set of names for `std`
//! and, in models, shuttle.
//!
//! What a protocol with a model rests on takes its locks here: then the code that runs is the code
//! that is explored. Spin locks and slots are the library's, which sees to that itself.

pub(crate) mod hash;
pub(crate) mod oneshot;

#[cfg(shuttle)]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
#[cfg(not(shuttle))]
pub(crate) use std::sync::{Mutex, MutexGuard};
