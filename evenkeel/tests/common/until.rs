//! Waiting for what another thread does.

use std::thread;

/// Waits on this thread until `condition` holds.
pub(crate) fn until(condition: impl Fn() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}
