//! When tasks that travel to another processor are sent there.
//!
//! They go in lines of pointers. Each time that some are sent, the receiver and the sender take
//! lines from each other's caches, of which they write and read the bell most: so they are sent
//! four lines at a time, and a journey there and back costs a third less with 64 tasks per core.
//! But with few tasks the receiver would have none left when they come. So they are sent sooner
//! where at least as many have been kept as the sender has left.
//!
//! *What it costs*: a task that travels waits for those that are kept with it, until the batch
//! ends, which is [some microseconds](super::batch::BATCH). Where polls turn from short to long it
//! may be one long poll, as for whatever waits in that queue; others take the tasks from there if
//! it goes on.

/// Lines that are sent at once at most. Measured with `evenkeel-bench run --bench travel
/// --tasks-per-core 16,64`: one at a time takes two fifths more with 64 tasks, and four whatever is
/// left a third more with 16.
pub const LINES: usize = 4;

/// Whether the `kept` tasks are sent now, and do not wait for more: `line` of them make a line, and
/// so many are left to run where they come from.
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
