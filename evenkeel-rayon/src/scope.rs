//! Scopes.

use crate::global;
use crate::{Scope, ScopeFifo};
use evenkeel::fork_join;

/// Runs `op` in a pool, the caller's or else the global one. `op` may spawn jobs that borrow, and
/// all are complete when this returns: see [`evenkeel::fork_join::scope()`].
///
/// # Panics
/// If `op` or one of the jobs panics: with that panic, once all are over.
///
/// # Examples
/// ```
/// let mut halves = [0; 2];
/// let [first, second] = &mut halves;
/// rayon_core::scope(|scope| {
///     scope.spawn(|_| *first = 1);
///     scope.spawn(|_| *second = 2);
/// });
/// assert_eq!(halves, [1, 2]);
/// ```
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    fork_join::scope_or(global::outside, op)
}

/// Does the same as [`scope`], for jobs that begin in the order in which one thread spawns them:
/// see [`evenkeel::fork_join::scope_fifo`].
///
/// # Panics
/// The same as [`scope`].
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    fork_join::scope_fifo_or(global::outside, op)
}

/// Does the same as [`scope`], but runs `op` on the calling thread.
///
/// # Panics
/// The same as [`scope`].
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    global::handle().in_place_scope(op)
}

/// Does the same as [`scope_fifo`], but runs `op` on the calling thread.
///
/// # Panics
/// The same as [`scope`].
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    global::handle().in_place_scope_fifo(op)
}
