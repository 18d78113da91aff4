//! MPI itself: all `unsafe` of this crate, behind calls that can not be misused from the rest of
//! it.
//!
//! rsmpi gives the bindings, the initialisation and the finalisation. Its safe calls are not used
//! beyond that: they discard MPI's return codes, and lend buffers for the length of a scope, where
//! a transport has frames under way from one call to the next.
//!
//! Everything but [`Session`] is used with a `&Session` in hand, which proves that MPI is
//! initialised, that this is its thread, and, because requests are dropped before it, that it is
//! not finalised under them.

mod loan;
mod posted;
mod requests;
mod session;

pub(crate) use posted::{Posted, Short};
pub(crate) use requests::{Finished, Requests};
pub(crate) use session::{Channel, Collective, Session};

/// The most bytes of a message on [`Channel::Short`]: a little less than Open MPI sends between the
/// processes of a machine without asking first (4 KiB with its header; other ways of it and other
/// libraries send more), so that one that was matched is there. With 1024, frames of 2 KiB take
/// longer by a third in a stream as that of the example `pingpong`.
pub(crate) const SHORT: usize = 4000;
