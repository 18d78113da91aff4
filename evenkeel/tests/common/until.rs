//! Waits for the effects of another thread.

use std::thread;

/// Blocks this thread until `condition` holds.
pub(crate) fn until(condition: impl Fn() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}
