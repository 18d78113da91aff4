//! Tokens by which tasks are told to end.
//!
//! A token is a place in a [tree], and a [signal], for which tasks wait. The tree says which tokens
//! are cancelled together, and has a lock for that. What waits for a token knows the token's signal
//! alone, so waits for different tokens share nothing.

mod guard;
#[cfg(all(test, loom))]
mod model;
mod signal;
mod tree;
mod wait;

pub use guard::DropGuard;
pub use wait::{Cancelled, CancelledOwned};

use signal::Signal;
use std::fmt;
use std::future::{Future, poll_fn};
use std::hash::{Hash, Hasher};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use tree::Place;

/// Tells tasks that they are to end, so that they end in their own way.
///
/// An [abort](super::JoinHandle::abort) drops a task's future at the await where it waits. A
/// token asks: the task looks, or waits, where it can end. Clones are the same token. A [child
/// token](Self::child_token) is cancelled with its parent, and its own cancellation leaves the
/// parent as it is. A token that is dropped cancels nothing, and its children are cancelled with
/// *its* parent from then on.
///
/// The token belongs to no runtime: it may be cancelled and awaited anywhere.
///
/// # Cost
/// [`is_cancelled`](Self::is_cancelled) is a load. Each wait takes a lock of its token. A tree of
/// tokens has one more lock, taken where a child is made, where the last clone of a token is
/// dropped, and by [`cancel`](Self::cancel). Memory of dropped tokens and waits is used again.
///
/// # Source
/// The semantics of `CancellationToken` in the crate `tokio-util`.
///
/// # Examples
/// A server that lets its connections end:
/// ```
/// use evenkeel::task::{CancellationToken, JoinSet};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let farewells = runtime.block_on(async {
///     let (token, mut connections) = (CancellationToken::new(), JoinSet::new());
///     for n in 0..3 {
///         let token = token.child_token();
///         connections.spawn(async move {
///             token.cancelled().await;
///             format!("{n} says goodbye")
///         });
///     }
///     token.cancel();
///     connections.join_all().await
/// });
/// assert_eq!(farewells.len(), 3);
/// ```
#[derive(Clone)]
pub struct CancellationToken {
    place: Arc<Place>,
}

impl CancellationToken {
    /// Makes a token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self { place: Arc::new(Place::root()) }
    }

    /// Makes a token that is cancelled with this one, and may be cancelled alone. The child of a
    /// cancelled token is cancelled.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::CancellationToken;
    /// let fleet = CancellationToken::new();
    /// let (ship, boat) = (fleet.child_token(), fleet.child_token());
    /// ship.cancel();
    /// assert!(ship.is_cancelled() && !fleet.is_cancelled() && !boat.is_cancelled());
    /// fleet.cancel();
    /// assert!(boat.is_cancelled() && fleet.child_token().is_cancelled());
    /// ```
    #[must_use]
    pub fn child_token(&self) -> Self {
        Self { place: Arc::new(self.place.child()) }
    }

    /// Cancels the token, its children and theirs, and wakes what waits for them. A token stays
    /// cancelled.
    ///
    /// Of two calls at the same time one wakes. When either returns, all of these tokens are
    /// cancelled. What happens before `cancel` happens before the end of the waits.
    ///
    /// # Cost
    /// A visit to each token below that is not cancelled yet.
    pub fn cancel(&self) {
        self.place.cancel();
    }

    /// Returns whether the token is cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.signal().is_set()
    }

    /// Waits until the token is cancelled; at once if it is already. Takes no unit of the
    /// [`budget`](crate::budget).
    ///
    /// # Cancel safety
    /// Nothing is lost.
    ///
    /// # Examples
    /// A loop that ends between two strokes:
    /// ```
    /// use evenkeel::task::CancellationToken;
    /// use evenkeel::time::{Duration, interval};
    /// use std::pin::pin;
    /// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
    /// let token = CancellationToken::new();
    /// let ends = token.clone();
    /// let rows = async move {
    ///     let (mut beat, mut strokes) = (interval(Duration::from_secs(2)), 0);
    ///     loop {
    ///         futures::future::select(pin!(token.cancelled()), pin!(beat.tick())).await;
    ///         if token.is_cancelled() {
    ///             return strokes;
    ///         }
    ///         strokes += 1;
    ///     }
    /// };
    /// runtime.block_on(async {
    ///     let rower = evenkeel::spawn(rows);
    ///     evenkeel::time::sleep(Duration::from_secs(9)).await;
    ///     ends.cancel();
    ///     assert_eq!(rower.await.unwrap(), 5);
    /// });
    /// ```
    pub fn cancelled(&self) -> Cancelled<'_> {
        Cancelled { token: self, place: None }
    }

    /// As [`cancelled`](Self::cancelled), for a future that outlives the borrow.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::CancellationToken;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let token = CancellationToken::new();
    /// let waits = runtime.spawn(token.clone().cancelled_owned());
    /// token.cancel();
    /// assert!(runtime.block_on(waits).is_ok());
    /// ```
    pub fn cancelled_owned(self) -> CancelledOwned {
        CancelledOwned { token: self, place: None }
    }

    /// Returns a guard that cancels the token when it is dropped, by a panic as well.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::CancellationToken;
    /// let token = CancellationToken::new();
    /// {
    ///     let _guard = token.clone().drop_guard();
    ///     assert!(!token.is_cancelled());
    /// }
    /// assert!(token.is_cancelled());
    /// ```
    pub fn drop_guard(self) -> DropGuard {
        DropGuard::new(self)
    }

    /// Runs `future` until it ends or the token is cancelled, and then returns `None`: `future` has
    /// been dropped.
    ///
    /// If the token is cancelled before the first poll, `future` is not polled. Later on each poll
    /// goes to `future` first: if it ends at the moment of the cancellation, its output is
    /// returned.
    ///
    /// # Cancel safety
    /// That of `future`.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::CancellationToken;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let token = CancellationToken::new();
    ///     assert_eq!(token.run_until_cancelled(async { 7 }).await, Some(7));
    ///     let ends = token.clone();
    ///     drop(evenkeel::spawn(async move { ends.cancel() }));
    ///     assert_eq!(token.run_until_cancelled(std::future::pending::<u8>()).await, None);
    ///     assert_eq!(token.run_until_cancelled(async { 7 }).await, None);
    /// });
    /// ```
    pub async fn run_until_cancelled<F: Future>(&self, future: F) -> Option<F::Output> {
        if self.is_cancelled() {
            return None;
        }
        let mut cancelled = self.cancelled();
        let mut future = pin!(future);
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => pin!(&mut cancelled).poll(context).map(|()| None),
        })
        .await
    }

    /// As [`run_until_cancelled`](Self::run_until_cancelled), for a future that outlives the
    /// borrow.
    ///
    /// # Cancel safety
    /// That of `future`.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::CancellationToken;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let token = CancellationToken::new();
    /// let waits = token.clone().run_until_cancelled_owned(std::future::pending::<()>());
    /// let task = runtime.spawn(waits);
    /// token.cancel();
    /// assert_eq!(runtime.block_on(task).unwrap(), None);
    /// ```
    pub async fn run_until_cancelled_owned<F: Future>(self, future: F) -> Option<F::Output> {
        self.run_until_cancelled(future).await
    }

    fn signal(&self) -> &Signal {
        self.place.signal()
    }
}

/// Tokens are equal if they are clones, and so always cancelled together.
impl PartialEq for CancellationToken {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.place, &other.place)
    }
}

impl Eq for CancellationToken {}

impl Hash for CancellationToken {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.place).hash(state);
    }
}

/// A token that is not cancelled.
impl Default for CancellationToken {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationToken").field("is_cancelled", &self.is_cancelled()).finish()
    }
}
