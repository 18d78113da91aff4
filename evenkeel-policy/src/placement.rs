//! Where a task goes when it becomes ready.

/// What made the task ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The worker of this processor, of the task's own runtime.
    Worker(usize),
    /// A thread that is not a worker of the task's runtime.
    Outside,
    /// Such a thread has spawned the task; the number counts these spawns.
    Spawned(usize),
}

/// Decides which processor gets the task; `last` is the one that last polled it.
///
/// A wake from a worker stays there: the message is warm in its cache, and the push costs no locked
/// instruction. A wake from outside goes where the task's own data may still be. New tasks from
/// outside are dealt out in turn.
///
/// # Examples
/// ```
/// use evenkeel_policy::placement::{Source, place};
/// assert_eq!(place(Source::Worker(2), 5, 8), 2);
/// assert_eq!(place(Source::Outside, 5, 8), 5);
/// assert_eq!(place(Source::Spawned(9), 0, 8), 1);
/// ```
#[inline]
#[must_use]
pub fn place(source: Source, last: usize, processors: usize) -> usize {
    match source {
        Source::Worker(processor) => processor,
        Source::Outside => last,
        Source::Spawned(count) => count % processors,
    }
}

/// If this much time passes between two looks of a searching worker, it assumes that other threads
/// have run on its hardware thread. Some fifty times the time of a look; an estimate, no benchmark
/// sets it.
pub const LOST: u64 = 20_000;

/// The least time between two moves of a worker to other hardware threads. The cost of a move, some
/// 10 µs, is a hundredth of this. An estimate; no benchmark sets it.
pub const APART: u64 = 1_000_000;

/// Returns whether a searching worker finds out on which hardware thread it is: at its first look,
/// and after each time in which it did not run.
///
/// # Examples
/// ```
/// use evenkeel_policy::placement::{LOST, looks_around};
/// assert!(looks_around(None));
/// assert!(!looks_around(Some(500)));
/// assert!(looks_around(Some(LOST)));
/// ```
#[inline]
#[must_use]
pub fn looks_around(since_last_look: Option<u64>) -> bool {
    since_last_look.is_none_or(|since| since >= LOST)
}

/// Returns whether a worker that shares a core with another moves elsewhere, `since` after its last
/// move. At its first look it does not: the system has just put it there, and the worker may have
/// nothing to do. It looks again when it has slept, or has lost its core to the other.
///
/// # Examples
/// ```
/// use evenkeel_policy::placement::{APART, may_move};
/// assert!(!may_move(false, APART - 1));
/// assert!(may_move(false, APART));
/// assert!(!may_move(true, APART));
/// ```
#[inline]
#[must_use]
pub fn may_move(is_first_look: bool, since: u64) -> bool {
    !is_first_look && since >= APART
}

/// The number of tasks of one processor that get cache lines of their own. `evenkeel-bench run
/// --bench yield --procs 2` is why any do (13 ns with, 27 without), and `--bench memory` why no
/// more do: beyond this, tasks do not stay in a core's own cache.
pub const PADDED: usize = 1_024;

/// Decides whether the next task of a processor that has `tasks` gets cache lines of its own.
///
/// # Examples
/// ```
/// use evenkeel_policy::placement::is_padded;
/// assert!(is_padded(100));
/// assert!(!is_padded(100_000));
/// ```
#[inline]
#[must_use]
pub fn is_padded(tasks: usize) -> bool {
    tasks < PADDED
}
