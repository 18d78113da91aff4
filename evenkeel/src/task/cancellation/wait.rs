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
    pub(super) token: &'a CancellationToken,
    pub(super) place: Option<usize>,
}

/// Waits until a token is cancelled, and keeps the token. Returned by
/// [`CancellationToken::cancelled_owned`], which has an example.
#[must_use = "futures do nothing unless awaited"]
pub struct CancelledOwned {
    pub(super) token: CancellationToken,
    pub(super) place: Option<usize>,
}

macro_rules! waits {
    ($Wait:ident $(<$life:lifetime>)?) => {
        impl Future for $Wait $(<$life>)? {
            type Output = ();

            fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
                let this = &mut *self;
                this.token.signal().poll(&mut this.place, cx.waker())
            }
        }

        impl Drop for $Wait $(<$life>)? {
            fn drop(&mut self) {
                if let Some(place) = self.place {
                    self.token.signal().leave(place);
                }
            }
        }

        impl fmt::Debug for $Wait $(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Wait)).finish_non_exhaustive()
            }
        }
    };
}

waits!(Cancelled<'_>);
waits!(CancelledOwned);
