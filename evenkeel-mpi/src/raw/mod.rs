//! MPI itself: all `unsafe` code of this crate, behind calls that the rest of it cannot misuse.
//!
//! rsmpi provides the bindings, the initialisation and the finalisation. The crate uses none of its
//! other safe calls: they discard MPI's return codes, and lend buffers for the length of a scope,
//! but a transport has frames under way from one call to the next.
//!
//! All calls but those of [`Session`] take a `&Session`. It proves that MPI is initialised, that
//! this is its thread, and, because requests are dropped before the session, that MPI is not
//! finalised under them.

mod loan;
mod posted;
mod requests;
mod session;

pub(crate) use posted::{Posted, Short};
pub(crate) use requests::{Finished, Requests};
pub(crate) use session::{Channel, Collective, Session};

/// The most bytes of a message on [`Channel::Short`]: a little less than Open MPI sends between the
/// processes of a machine without a handshake (4 KiB with its header; its other transports and
/// other libraries send more), so that a matched message has arrived. With 1,024, frames of 2 KiB
/// take a third longer in a stream like that of the example `pingpong`.
pub(crate) const SHORT: usize = 4000;
