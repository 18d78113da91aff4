//! Time budgets: a task that loops over awaits that are always ready lets other tasks run.
//!
//! A task is switched at an `await` that is pending. A loop over awaits that are always ready has
//! none, as over a semaphore with free permits: such a loop would be one poll that does not end. So
//! each poll of a task, or of the future of a `block_on`, has a *slice* of 50 µs. Operations of
//! this crate that complete without a wait count against it. Once it is over, the next such
//! operation yields: its future returns `Pending`, and its task goes to the back of the ready
//! queue.
//!
//! The following count, where they complete at once:
//!
//! * the futures of a [`Semaphore`](crate::sync::Semaphore), and of a
//!   [`Monitor`](crate::sync::monitor::Monitor) and its holds;
//! * a [`sleep`](crate::time::sleep()) that is due, and the ticks of an
//!   [`Interval`](crate::time::Interval) that are overdue;
//! * the [`JoinHandle`](crate::JoinHandle) of a complete task, a [`JoinSet`](crate::task::JoinSet)
//!   with one, and the futures of [`fork_join::future`](crate::fork_join::future);
//! * the operations of [sockets](crate::net) and of open [files](crate::fs::File), and the signals
//!   of a [listener](crate::signal);
//! * the steps of a [coroutine](crate::coroutine) that a task resumes;
//! * the futures of actors and of their nodes, in the crate `evenkeel-actor`.
//!
//! [Objects](crate::object) and actors have shorter turns of their own, in the same way. For
//! futures of other crates there is [`with`], for loops without any such future [`consume`], and
//! for authors of primitives [`poll_consume`].
//!
//! # What does not count
//! An operation that has waited ends without a unit, but for a [`yield_now`](crate::yield_now) by a
//! foreign waker, as inside `FuturesUnordered`. The operations of sockets that are functions
//! and no futures, such as `poll_read`, reads and writes of open files, and waits for signals take
//! one whenever they are polled. Operations that bind, connect or look up an address take one as
//! they begin, also if they wait afterwards. A poll that never comes to such an operation is not
//! affected: there [`yield_now`](crate::yield_now) is the way out. Executors of other crates have
//! no slice on threads that are no workers. The `try_` forms never yield.
//!
//! # Cancel safety
//! An operation that yields has taken nothing, and has no place in a line: tasks that come
//! meanwhile come first. So it may be dropped as before its first poll.
//!
//! # In combinators
//! A yield wakes the waker that its future is polled with. So it is right inside `join!`,
//! `select!`, `FuturesUnordered` and a [`timeout`](crate::time::timeout()), which fires although
//! its future is always ready. (Where the clock is [paused](crate::time::pause), it stands for as
//! long as a task is ready.) Parts of a task share the slice of its poll. The operations of a part
//! that comes last go on too: most yield once at most, and of the others one in 32 goes on in the
//! mean.
//!
//! A poller that does not come back, as `now_or_never` of `futures`, may find an operation pending
//! that could be made: use the `try_` forms or [`unconstrained`] there. Inside a step by
//! [`Resume::resume`](crate::coroutine::Resume::resume) operations count, and none yields: a loop
//! of operations that are ready, and that waits for another future of the same step, does not end.
//!
//! # Cost
//! An operation pays a load, a branch and a store. The worker reads the clock after 256 operations
//! at most, 25 ns, and more often if they take long, or towards the end of the slice. A poll pays
//! nothing. So a slice is over after 50 µs and the operations up to the next look. If they have
//! become longer all at once, these may be 256.
//!
//! # Where a seed determines the order
//! In [deterministic](crate::deterministic) runs the clock stands still, and operations count: a
//! poll has 128.
//!
//! # Source
//! Tokio's `coop` ([Automatic cooperative task yielding](https://tokio.rs/blog/2020-04-preemption),
//! 2020), which counts 128 operations, and not time. Its issues
//! [#2390](https://github.com/tokio-rs/tokio/issues/2390) and
//! [#3493](https://github.com/tokio-rs/tokio/issues/3493) are about combinators that know nothing
//! of the budget, and poll refused operations again in the same poll of the task. For their sake
//! most operations here yield at most once.
//!
//! # Examples
//! Two tasks on one worker. The first takes permits that are always there:
//! ```
//! use evenkeel::sync::Semaphore;
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
//! let (permits, over) = (Semaphore::new(1), Arc::new(AtomicBool::new(false)));
//! let ends = over.clone();
//! let greedy = runtime.spawn(async move {
//!     while !over.load(Ordering::Relaxed) {
//!         drop(permits.acquire().await);
//!     }
//! });
//! let light = runtime.spawn(async move { ends.store(true, Ordering::Relaxed) });
//! runtime.block_on(async { (greedy.await.unwrap(), light.await.unwrap()) });
//! ```

#![allow(unsafe_code, reason = "pinned futures are pinned with what is around them")]

use crate::task::budget::{self, Unit};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Consumes one unit of the slice of this poll, and yields if the slice is over.
///
/// For long computations: a call in each round of a loop lets other tasks run now and then. Unlike
/// [`yield_now`](crate::yield_now) it switches only once the task has had its time.
///
/// # Cancel safety
/// Nothing is lost.
///
/// # Cost
/// A load, a branch and a store; see [the module](self#cost).
///
/// # Examples
/// ```
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let sum = runtime.spawn(async {
///     let mut sum = 0_u64;
///     for n in 0..100_000_u64 {
///         sum += n % 7;
///         evenkeel::budget::consume().await;
///     }
///     sum
/// });
/// assert_eq!(runtime.block_on(sum).unwrap(), 299_995);
/// ```
#[inline]
pub fn consume() -> Consume {
    Consume { unit: Unit::NEW }
}

/// Consumes one unit. Returned by [`consume`], which has an example.
///
/// After it was ready it can be polled again, and consumes the next unit. So a primitive can keep
/// it as a field: unlike [`poll_consume`] it then yields at most once for each operation.
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Consume {
    unit: Unit,
}

impl Future for Consume {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.unit.poll(cx.waker())
    }
}

/// Consumes one unit, for authors of primitives: `Pending` if the slice of this poll is over, and
/// then the task is woken already.
///
/// Call it at the beginning of a poll that may complete at once, before the primitive takes
/// anything. A poll that leaves its waker and waits needs no unit. After a `Pending` of this
/// function the primitive returns `Pending` too.
///
/// It remembers no yield. The operation that yields may be refused again at its next poll, if the
/// task has used up that slice too by then. Of the refused operations of a worker one in 32 goes
/// on, in the mean. [`Consume`] as a field of the primitive goes on at its second poll.
///
/// # Examples
/// A queue of one task, from which it could take for ever:
/// ```
/// use evenkeel::budget;
/// use std::collections::VecDeque;
/// use std::task::{Context, Poll, Waker, ready};
///
/// #[derive(Default)]
/// struct Queue {
///     items: VecDeque<u32>,
///     waker: Option<Waker>,
/// }
///
/// impl Queue {
///     fn poll_pop(&mut self, cx: &mut Context<'_>) -> Poll<u32> {
///         if self.items.is_empty() {
///             self.waker = Some(cx.waker().clone());
///             return Poll::Pending;
///         }
///         ready!(budget::poll_consume(cx));
///         Poll::Ready(self.items.pop_front().expect("it is not empty"))
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let sum = runtime.spawn(async {
///     let mut queue = Queue { items: (0..1_000).collect(), ..Queue::default() };
///     let mut sum = 0;
///     while !queue.items.is_empty() {
///         sum += std::future::poll_fn(|cx| queue.poll_pop(cx)).await;
///     }
///     sum
/// });
/// assert_eq!(runtime.block_on(sum).unwrap(), 499_500);
/// ```
#[inline]
pub fn poll_consume(cx: &mut Context<'_>) -> Poll<()> {
    budget::poll_unit(cx.waker())
}

/// Returns how much of its slice the present poll has left, zero if it is over. `None` outside of
/// tasks and `block_on`; [`Duration::MAX`] inside [`unconstrained`].
///
/// The slice begins with the first call of this function in the poll, or with the first look at the
/// clock that an operation takes. So a computation can share its work among polls by itself: this
/// function does not yield.
///
/// In a deterministic run this is the share of the 128 operations that is left, and a call counts
/// as one of them.
///
/// # Cost
/// A look at the clock, 25 ns.
///
/// # Examples
/// ```
/// use evenkeel::{budget, yield_now};
///
/// assert_eq!(budget::remaining(), None, "this is not a task");
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let rows = runtime.spawn(async {
///     let mut rows = 0;
///     while rows < 10_000 {
///         while rows < 10_000 && budget::remaining().is_some_and(|left| !left.is_zero()) {
///             rows += 1;
///         }
///         yield_now().await;
///     }
///     rows
/// });
/// assert_eq!(runtime.block_on(rows).unwrap(), 10_000);
/// ```
#[must_use]
pub fn remaining() -> Option<Duration> {
    let left = budget::left()?;
    Some(if left == u64::MAX { Duration::MAX } else { Duration::from_nanos(left) })
}

/// Exempts the polls of `future` from the budget: its operations count nothing and do not yield.
///
/// The turns of [objects](crate::object) and actors are not part of the budget, and stay. A future
/// that is always ready keeps its worker's other tasks waiting.
///
/// # Cancel safety
/// That of `future`.
///
/// # Examples
/// A million permits in one poll:
/// ```
/// use evenkeel::budget::unconstrained;
/// use evenkeel::sync::Semaphore;
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let permits = Semaphore::new(1);
/// let taken = runtime.spawn(async move {
///     let takes = async {
///         for _ in 0..1_000_000 {
///             drop(permits.acquire().await);
///         }
///     };
///     let mut takes = std::pin::pin!(unconstrained(takes));
///     futures::poll!(takes.as_mut()).is_ready()
/// });
/// assert!(runtime.block_on(taken).unwrap());
/// ```
pub fn unconstrained<F: Future>(future: F) -> Unconstrained<F> {
    Unconstrained { future }
}

/// A future whose polls are exempt. Returned by [`unconstrained`], which has an example.
#[must_use = "futures do nothing unless awaited"]
pub struct Unconstrained<F> {
    future: F,
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is pinned with the whole, and is not moved out of it.
        let future = unsafe { self.map_unchecked_mut(|exempt| &mut exempt.future) };
        budget::with_slice(|slice, _| {
            let _exempt = slice.exempt();
            future.poll(cx)
        })
    }
}

impl<F: fmt::Debug> fmt::Debug for Unconstrained<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unconstrained").field("future", &self.future).finish()
    }
}

/// Counts the polls of a `future` that knows nothing of the budget: each consumes a unit first, and
/// yields if the slice of the task's poll is over.
///
/// Wrap the future that a loop awaits in each round, and not the loop.
///
/// # Cancel safety
/// That of `future`. A yield comes before its poll, so nothing has been taken from it.
///
/// # Cost
/// That of [`consume`] for each poll.
///
/// # Examples
/// A channel whose sender is never behind:
/// ```
/// use evenkeel::budget;
///
/// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
/// let sum = runtime.block_on(async {
///     let (sender, receiver) = async_channel::bounded(1_000);
///     (1..=1_000).for_each(|n| sender.try_send(n).unwrap());
///     drop(sender);
///     evenkeel::spawn(async move {
///         let mut sum = 0;
///         while let Ok(n) = budget::with(receiver.recv()).await {
///             sum += n;
///         }
///         sum
///     })
///     .await
///     .unwrap()
/// });
/// assert_eq!(sum, 500_500);
/// ```
pub fn with<F: Future>(future: F) -> With<F> {
    With { unit: Unit::NEW, future }
}

/// A future whose polls count. Returned by [`with`], which has an example.
#[must_use = "futures do nothing unless awaited"]
pub struct With<F> {
    unit: Unit,
    future: F,
}

impl<F: Future> Future for With<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        ready!(this.unit.poll(cx.waker()));
        // SAFETY: it is pinned with this.
        unsafe { Pin::new_unchecked(&mut this.future) }.poll(cx)
    }
}

impl<F: fmt::Debug> fmt::Debug for With<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("With").field("future", &self.future).finish()
    }
}
