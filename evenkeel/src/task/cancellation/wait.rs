//! Futures that wait for the cancellation of a token.

use super::CancellationToken;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Waits until a token is cancelled. Returned by
/// [`CancellationToken::cancelled`], which has an example.
#[must_use = "futures do nothing unless awaited"]
pub struct Cancelled<'a> {
    token: &'a CancellationToken,
    place: Option<usize>,
}

impl<'a> Cancelled<'a> {
    pub(super) fn new(token: &'a CancellationToken) -> Self {
        Self { token, place: None }
    }
}

impl Future for Cancelled<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        this.token.signal().poll(&mut this.place, cx.waker())
    }
}

impl Drop for Cancelled<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.token.signal().leave(place);
        }
    }
}

impl fmt::Debug for Cancelled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancelled").finish_non_exhaustive()
    }
}

/// Waits until a token is cancelled, and keeps the token. Returned by
/// [`CancellationToken::cancelled_owned`], which has an example.
#[must_use = "futures do nothing unless awaited"]
pub struct CancelledOwned {
    token: CancellationToken,
    place: Option<usize>,
}

impl CancelledOwned {
    pub(super) fn new(token: CancellationToken) -> Self {
        Self { token, place: None }
    }
}

impl Future for CancelledOwned {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        this.token.signal().poll(&mut this.place, cx.waker())
    }
}

impl Drop for CancelledOwned {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.token.signal().leave(place);
        }
    }
}

impl fmt::Debug for CancelledOwned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelledOwned").finish_non_exhaustive()
    }
}
