//! `join` and `join_context`.

use crate::global;
use evenkeel::fork_join::{self, FnContext};

/// Runs both closures, the second on another worker if one takes it, and returns both results: see
/// [`evenkeel::fork_join::join()`]. Outside of a pool it runs in the global one.
///
/// # Panics
/// If `oper_a` or `oper_b` panics: with that panic, the one of `oper_a` first, once both are over.
///
/// # Examples
/// ```
/// assert_eq!(rayon_core::join(|| 1, || 2), (1, 2));
/// ```
#[inline]
pub fn join<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    fork_join::join_or(global::outside, oper_a, oper_b)
}

/// Does the same as [`join`], and tells each half whether it has changed threads.
///
/// # Panics
/// The same as [`join`].
#[inline]
pub fn join_context<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    fork_join::join_context_or(global::outside, oper_a, oper_b)
}
