//! Locks under one set of names for `std` and, in models, shuttle.
//!
//! What a protocol with a model rests on goes through here: then the code that runs is the code
//! that is explored. Spin locks and slots are the library's, which sees to that itself.

#[cfg(shuttle)]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
#[cfg(not(shuttle))]
pub(crate) use std::sync::{Mutex, MutexGuard};
