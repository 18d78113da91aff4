//! When tasks that travel to another processor are sent there.
//!
//! They go in lines of pointers, and for each line that is sent alone its receiver, which waits for the next one and looks for it all the time, takes from the sender's cache what that is about to write.
//! Sent four at a time, a journey there and back costs a third less with 64 tasks per core; but with few tasks the receiver then has none left when they come. So they are sent sooner where
//! more have been kept than the sender has left.

/// Lines that are sent at once at most. Measured with `evenkeel-bench run --bench travel --tasks-per-core 16,64`: one at a time takes a third more with 64 tasks, and four whatever is left a third more
/// with 16.
pub const LINES: usize = 4;

/// Whether the `kept` tasks are sent now, and do not wait for more: `line` of them make a line, and so many are left to run where they come from.
///
/// # Examples
/// ```
/// use evenkeel::policy::departing::leaves;
/// assert!(leaves(28, 7, 100), "four lines");
/// assert!(leaves(7, 7, 5), "one line, and the sender is about to run out of tasks");
/// assert!(!leaves(7, 7, 20), "there will be more");
/// assert!(!leaves(8, 7, 0), "a line is filled first");
/// ```
#[inline]
#[must_use]
pub const fn leaves(kept: usize, line: usize, left: usize) -> bool {
    kept >= LINES * line || (kept >= left && kept.is_multiple_of(line))
}
