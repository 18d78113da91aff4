//! MPI itself: all `unsafe` of this crate, behind calls that can not be misused from the rest of it.
//!
//! rsmpi gives the bindings, the initialisation and the finalisation. Its safe calls are not used beyond that: they discard MPI's return
//! codes, and lend buffers for the length of a scope, where a transport has frames under way from one call to the next.

mod loan;
mod requests;
mod session;

pub(crate) use requests::{Finished, Requests};
pub(crate) use session::{Arrival, Session};
