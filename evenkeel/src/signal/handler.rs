//! The handlers of signals.

#![allow(unsafe_code, reason = "a handler interrupts any code, and must be safe inside of all")]

use super::post::Post;
use std::ffi::c_int;
use std::io::{Error, Result};
use std::sync::Arc;

/// Installs the handler of the kind with this index for the rest of the process, after those that
/// are there.
///
/// # Errors
/// Fails if the system has no such signal, or keeps it for itself.
pub(super) fn install<const KINDS: usize>(post: &Arc<Post<KINDS>>, index: usize) -> Result<()> {
    let own = post.clone();
    // SAFETY: the handler adds to an atomic and writes to a descriptor that does not block. Both
    // may be done inside of any code that a signal interrupts: they take no lock, allocate nothing
    // and do not panic. The registry restores the error number of that code, and drops nothing in
    // the handler.
    let installed =
        unsafe { signal_hook_registry::register(index as c_int, move || own.arrive(index)) };
    match installed {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::new(
            error.kind(),
            format!("the system lets no program handle signal {index}: {error}"),
        )),
    }
}
