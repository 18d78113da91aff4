//! The context of a Tokio runtime, entered and left.

use crate::handle;
use tokio::runtime::{EnterGuard, Handle};

/// Enters the context of this crate's Tokio runtime until the guard is dropped, for constructors
/// and destructors that need it outside of a wrapped future.
///
/// The guard cannot be held across an `await` of a task that moves between threads: it is not
/// `Send`. Guards are dropped in the opposite order of their making.
///
/// # Panics
/// If the runtime cannot be started. [`try_handle`](crate::try_handle) says so by an error, and
/// its handle has `enter`.
///
/// # Examples
/// ```
/// use evenkeel_compat::{CompatExt, enter};
/// use std::time::Duration;
///
/// let sleep = {
///     let _context = enter();
///     tokio::time::sleep(Duration::from_millis(1))
/// };
/// evenkeel::block_on(sleep.compat());
/// ```
#[must_use = "the context is left when the guard is dropped"]
#[track_caller]
pub fn enter() -> EnterGuard<'static> {
    handle().enter()
}

/// Enters the context of a runtime for a destructor, unless the thread has already destroyed
/// Tokio's thread-local memory: then `Handle::enter` would panic, in a destructor.
pub(crate) fn enter_to_drop(handle: &Handle) -> Option<EnterGuard<'_>> {
    let is_destroyed = Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed());
    (!is_destroyed).then(|| handle.enter())
}
