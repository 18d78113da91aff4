//! MPI itself: all `unsafe` of this crate, behind calls that can not be misused from the rest of it.
//!
//! rsmpi gives the bindings, the initialisation and the finalisation. Its safe calls are not used beyond that: they discard MPI's return
//! codes, and lend buffers for the length of a scope, where a transport has frames under way from one call to the next.
//!
//! Everything but [`Session`] is used with a `&Session` in hand, which proves that MPI is initialised, that this is its thread, and, because
//! requests are dropped before it, that it is not finalised under them.

mod loan;
mod posted;
mod requests;
mod session;

pub(crate) use posted::{Posted, Short};
pub(crate) use requests::{Finished, Requests};
pub(crate) use session::{Channel, Session};

/// The most bytes of a message on [`Channel::Short`]. Every transport of an MPI library sends as few as these without asking first (Open MPI between processes of a machine up to 4 KiB,
/// over TCP 64 KiB), so one that was matched is there; and a copy of them costs less than a buffer for each.
pub(crate) const SHORT: usize = 1024;
