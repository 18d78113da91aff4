//! Where a task goes that has become ready.

/// Who made the task ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The worker of this processor, of the task's own runtime.
    Worker(usize),
    /// A thread that is not a worker of the task's runtime.
    Outside,
    /// The same, and the task is new; the number counts such spawns.
    Spawned(usize),
}

/// How many tasks from outside go to one processor before it is the next one's turn. Tasks that are spawned
/// one after the other lie side by side in memory; dealt out singly, two processors would write to each cache
/// line. `evenkeel-bench run --bench yield --procs 2` set it: 27 ns with 1, 13 with 16.
pub const HAND: usize = 16;

/// Decides which processor gets the task; `last` is the one that last polled it.
///
/// A wake from a worker stays there: the message is warm in its cache, and the push costs no locked
/// instruction. A wake from outside goes where the task's own data may still be. New tasks from
/// outside are dealt out in turn, [`HAND`] at a time.
///
/// # Examples
/// ```
/// use evenkeel::policy::placement::{Source, place};
/// assert_eq!(place(Source::Worker(2), 5, 8), 2);
/// assert_eq!(place(Source::Outside, 5, 8), 5);
/// assert_eq!(place(Source::Spawned(17), 0, 8), 1);
/// ```
#[must_use]
pub fn place(source: Source, last: usize, processors: usize) -> usize {
    match source {
        Source::Worker(processor) => processor,
        Source::Outside => last,
        Source::Spawned(count) => count / HAND % processors,
    }
}
