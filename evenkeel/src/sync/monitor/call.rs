//! Calls: named entries with a closure as the body.

#![allow(unsafe_code, reason = "a body is dropped where it is pinned")]

use super::accept::{self, Entry};
use super::enter::Enter;
use super::held::{Held, cancelling};
use super::set::Set;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The future of [`call`] and of [`Monitor::call`](super::Monitor::call), which have examples.
///
/// # Cancel safety
/// If it is dropped
/// - before the body has begun: as [`Enter`]; if an acceptor has chosen the call already, it learns
///   that the call has [broken off](super::Accepted::Broken);
/// - while the body is inside: the body is dropped where it is, and with it the hold, or the future
///   that owns the hold, which leaves the monitors; the acceptor learns that the call has broken
///   off, once it has the monitors again;
/// - while the body waits for a condition: the body is dropped, and its [`Wait`](super::Wait) with
///   it; the acceptor has gone on when the wait began;
/// - after the body has left the monitors: for the acceptor the call has ended already.
///
/// # Panics
/// If it is polled again after its end.
#[must_use = "futures do nothing unless awaited"]
pub struct Call<S: Set, F, B> {
    stage: Stage<S, F, B>,
}

enum Stage<S: Set, F, B> {
    Entering(Enter<S>, Option<F>),
    Inside(Option<B>),
}

/// Enters the set as a caller of `op`, which an acceptor can choose, and runs `body` inside.
///
/// # Panics
/// As [`lock_all`](super::lock_all), or if the number of the entry is out of range.
///
/// # Examples
/// An auditor is inside two accounts, and lets in a transfer between them:
/// ```
/// use evenkeel::accept;
/// use evenkeel::sync::monitor::{Entry, Monitor, call, lock_all};
///
/// #[derive(Clone, Copy, Entry)]
/// enum Op {
///     Transfer,
/// }
///
/// # evenkeel::block_on(async {
/// let (from, to) = (Monitor::new(10_u32), Monitor::new(0_u32));
/// let auditor = async {
///     let mut held = lock_all((&from, &to)).await;
///     accept!(held; Op::Transfer => {});
///     assert_eq!(held.values(), (&7, &3));
/// };
/// let transfer = call((&from, &to), Op::Transfer, async |mut held| {
///     let (from, to) = held.values_mut();
///     *from -= 3;
///     *to += 3;
/// });
/// futures::join!(auditor, transfer);
/// # });
/// ```
#[track_caller]
pub fn call<S, E, F, B>(set: S, op: E, body: F) -> Call<S, F, B>
where
    S: Set,
    E: Entry,
    F: FnOnce(Held<S>) -> B,
    B: Future,
{
    Call { stage: Stage::Entering(Enter::new(set, accept::op(op)), Some(body)) }
}

impl<S, F, B> Future for Call<S, F, B>
where
    S: Set,
    F: FnOnce(Held<S>) -> B,
    B: Future,
{
    type Output = B::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<B::Output> {
        // SAFETY: what is pinned with this is not moved below.
        let stage = unsafe { &mut self.get_unchecked_mut().stage };
        if let Stage::Entering(enter, body) = stage {
            // SAFETY: pinned with this.
            let Poll::Ready(held) = unsafe { Pin::new_unchecked(enter) }.poll(context) else {
                return Poll::Pending;
            };
            let body = body.take().expect("it is called once");
            // The entry has ended: its place is free.
            *stage = Stage::Inside(Some(body(held)));
        }
        let Stage::Inside(body) = stage else { unreachable!("it has just been entered") };
        let inside = body.as_mut().expect("Call is polled again after its end");
        // SAFETY: pinned with this.
        let result = unsafe { Pin::new_unchecked(inside) }.poll(context);
        if result.is_ready() {
            // The body has ended: dropping it here does not break the call off.
            *body = None;
        }
        result
    }
}

impl<S: Set, F, B> Drop for Call<S, F, B> {
    #[inline]
    fn drop(&mut self) {
        if let Stage::Inside(body @ Some(_)) = &mut self.stage {
            cancelling(|| *body = None);
        }
    }
}

impl<S: Set, F, B> fmt::Debug for Call<S, F, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").finish_non_exhaustive()
    }
}
