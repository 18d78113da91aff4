//! `join` and `join_context`.

use crate::global;
use evenkeel::fork_join;
use std::marker::PhantomData;

/// What a half of a [`join_context`] knows of where it runs.
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    /// It stays with its half.
    not_send: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline]
    fn new(migrated: bool) -> Self {
        Self { migrated, not_send: PhantomData }
    }

    /// Whether another thread runs this half than the one that has called.
    #[inline]
    #[must_use]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}

/// Runs both closures, the second on another worker if one takes it, and gives both results: see [`evenkeel::fork_join::join()`]. Outside of a
/// pool it runs in the global one.
///
/// # Panics
/// With the panic of `oper_a` or else of `oper_b`, once both are over.
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
    if fork_join::is_worker() {
        return fork_join::join(oper_a, oper_b);
    }
    global::install(|| fork_join::join(oper_a, oper_b))
}

/// As [`join`], with a word to each half on whether it has changed threads.
///
/// # Panics
/// As [`join`].
#[inline]
pub fn join_context<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    if fork_join::is_worker() {
        return fork_join::join_context(
            |half| oper_a(FnContext::new(half.migrated())),
            |half| oper_b(FnContext::new(half.migrated())),
        );
    }
    global::install(|| {
        fork_join::join(|| oper_a(FnContext::new(true)), || oper_b(FnContext::new(true)))
    })
}
