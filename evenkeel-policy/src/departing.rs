//! When a processor sends off the tasks that travel to another processor.
//!
//! Tasks travel in cache lines of pointers. Each sending moves lines between the caches of sender
//! and receiver, most often the line of the bell. So the sender sends four lines at a time, and a
//! journey there and back costs a third less with 64 tasks per core. With few tasks the receiver
//! would run out before they arrive. So the sender sends sooner once it keeps at least as many
//! tasks as it has left to run.
//!
//! *Cost*: a travelling task waits for those that are kept with it, until the batch ends, which is
//! [some microseconds](super::batch::BATCH). Where polls turn from short to long it may wait for
//! one long poll, like every task of that queue. If the poll goes on, other processors take the
//! tasks.

/// The most lines that are sent at once. Measured with `evenkeel-bench run --bench travel
/// --tasks-per-core 16,64`: one line at a time takes two fifths more with 64 tasks; always four,
/// however few tasks are left, takes a third more with 16.
pub const LINES: usize = 4;

/// Returns whether the sender sends its `kept` tasks without waiting for more. `line` tasks fill a
/// line, and the sender has `left` tasks to run.
///
/// # Examples
/// ```
/// use evenkeel_policy::departing::leaves;
/// assert!(leaves(28, 7, 100), "four lines");
/// assert!(leaves(7, 7, 5), "one line, and the sender is about to run out of tasks");
/// assert!(!leaves(7, 7, 20), "there will be more");
/// assert!(leaves(9, 7, 9), "as many as are left");
/// assert!(!leaves(6, 7, 0), "a line is filled first");
/// ```
#[inline]
#[must_use]
pub const fn leaves(kept: usize, line: usize, left: usize) -> bool {
    kept >= LINES * line || (kept >= line && kept >= left)
}
