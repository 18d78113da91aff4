//! Where a task goes after an operation.
//!
//! # What it is for
//! In CoreTime (Boyd-Wickizer, Morris, Kaashoek, "Reinventing Scheduling for Multicore Systems", HotOS 2009) a thread goes back, after an operation, to the core that it has come
//! from. A task has no stack that lies there, so it stays unless it is told otherwise.
//!
//! # How a task goes back
//! As it has come: it says so to its worker, which has it join the visitors of the other one when its poll has returned `Pending`. [`Return::Home`] returns `Pending` itself. The drop of a guard cannot, and so
//! [`Return::AtNextWait`] leaves it to whatever the task waits for next.
//!
//! # Why no wake is lost
//! A task that waits for something else has left its waker there, and travels all the same. The right to poll it goes with it and is not given up: its state stays *queued*, and the compare-and-swap
//! that would make it idle is not made. Whoever wakes it on its way counts the wake in its state and puts it into no queue, as with every task that is queued. It is polled once more where it
//! arrives, called for or not. A wake that has come before the first load of that poll is seen by it: what it was for is found there. One that comes later changes the count that
//! the poll has begun with, so the compare-and-swap at its end fails, and there is another poll. So the wakers that it has left in the first poll may do what they like, and those that it leaves in the
//! second one are what it waits with. `Future` asks of what a task waits for that it bears such polls.
//!
//! # What keeps a task from going
//! *It becomes complete*: nothing is left to go. *It sets out for another object* in the same poll: of two journeys that it has announced the later one counts. *It gives the others a turn*, by
//! [`yield_now`](crate::yield_now) or before one of many operations: that is the wait. *It is an actor that has done with its message*: what comes next is another message, wherever that finds it.
//! *The worker is stuck*: the visitors of such a one are taken by others, and the task goes on there.
//!
//! # Rejected
//! To keep where it has come from in each entry: those that stay, which are nearly all, would store it for nothing. So who goes back has futures of their own, around those of who stays.

use super::enter::{Enter, With};
use super::visit::wake_if_foreign;
use super::{EnterError, Guard};
use crate::scheduler::context::{self, Context};
use std::fmt;
use std::pin::Pin;
use std::task::{self, Poll, ready};

/// How often a future asks to be taken back before it is complete where it is: it is polled by something that does not let the task go. An estimate; no benchmark sets it.
const ATTEMPTS: u8 = 4;

/// Where a task goes after an operation that it has travelled for.
///
/// *Back* is to the worker that polled the entry's future first. It is asked for with [`With::returning`] and [`Enter::returning`], and means nothing where the task has not travelled: in place, at its home, and outside of tasks.
///
/// # Cost
/// None for those that do not ask. A journey back costs as much as one to the object, and is counted in [`hops`](crate::metrics::ProcessorMetrics::hops). CoreTime goes back after each operation; measured
/// on directories, that was 1 to 40 % slower than to stay. It may pay where a task works on data of its own between its operations, which that core's cache has.
///
/// If that worker is stuck inside a long poll, others take the task over after some milliseconds, as they do with all tasks there. It goes on with them and does not try again.
///
/// # Examples
/// ```
/// use evenkeel::object::{Object, Placement, Return};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let list = Object::new(vec![1]).placed("lists", Placement::Home);
///     evenkeel::spawn(async move {
///         // From here on it is where it was before.
///         list.with(|list| list.push(2)).returning(Return::Home).await.unwrap();
///         // Here it is with the list, until it waits.
///         let length = list.enter().returning(Return::AtNextWait).await.unwrap().len();
///         evenkeel::yield_now().await;
///         assert_eq!(length, 2);
///     })
///     .await
///     .unwrap();
/// });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Return {
    /// It stays where the operation was.
    #[default]
    Stay,
    /// It goes back before the operation's future is complete. The drop of a [`Guard`] cannot wait for that: there it is the same as [`AtNextWait`](Self::AtNextWait).
    Home,
    /// It goes back where it waits next, whatever it waits for, or gives the others a turn. What it waits for is polled once more there. It stays if it ends or travels to another object
    /// before, in which case it is that operation's `Return` that counts. An actor that is done with its message stays too.
    AtNextWait,
}

/// The way back of one entry.
#[derive(Debug)]
struct Back {
    to: Return,
    /// Whether the entry has been polled.
    has_begun: bool,
    attempts: u8,
    /// Where that was, if it was a worker.
    origin: Option<u16>,
}

impl Back {
    fn new(to: Return) -> Self {
        Self { to, has_begun: false, attempts: 0, origin: None }
    }

    /// Notes where the entry is polled first.
    #[inline]
    fn begin(&mut self) {
        if !std::mem::replace(&mut self.has_begun, true) && self.to != Return::Stay {
            let origin = context::with(|context| context.and_then(Context::origin));
            self.origin = origin.map(|origin| origin as u16);
        }
    }

    /// Whether the task goes back now, and the future is complete only after that.
    fn is_on_its_way(&mut self, cx: &task::Context<'_>) -> bool {
        let Some(origin) = self.origin.map(usize::from) else { return false };
        context::with(|context| {
            let Some(context) = context.filter(|context| context.can_go_back(origin)) else {
                return false;
            };
            // It is not asked a second time where others have taken it on its way; but as long as it has not left it is polled too early.
            let asks =
                self.attempts == 0 || (self.attempts < ATTEMPTS && context.is_leaving_for(origin));
            if asks {
                self.attempts += 1;
                context.go_back(origin);
                wake_if_foreign(Some(context), cx);
            }
            asks
        })
    }
}

/// Has the task that is being polled go back to worker `origin` at its next wait.
#[cold]
pub(super) fn go_back(origin: usize) {
    context::with(|context| {
        if let Some(context) = context.filter(|context| context.can_go_back(origin)) {
            context.go_back(origin);
        }
    });
}

/// The future of [`Enter::returning`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct EnterReturning<'a, T> {
    enter: Enter<'a, T>,
    back: Back,
}

impl<'a, T: Send> Future for EnterReturning<'a, T> {
    type Output = Result<Guard<'a, T>, EnterError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        self.back.begin();
        let result = ready!(Pin::new(&mut self.enter).poll(cx));
        let origin = self.back.origin.filter(|_| self.enter.visit.has_travelled());
        match (result, origin) {
            (Ok(guard), Some(origin)) => Poll::Ready(Ok(guard.going_back(origin))),
            (Err(error), Some(origin)) => {
                go_back(usize::from(origin));
                Poll::Ready(Err(error))
            }
            (result, None) => Poll::Ready(result),
        }
    }
}

/// The future of [`With::returning`].
#[must_use = "futures do nothing unless awaited"]
pub struct WithReturning<'a, T, F, R> {
    with: With<'a, T, F>,
    back: Back,
    /// What the operation has given, while the task is on its way back.
    output: Option<Result<R, EnterError>>,
}

// Nothing in it is pinned.
impl<T, F, R> Unpin for WithReturning<'_, T, F, R> {}

impl<T: Send, R, F: FnOnce(&mut T) -> R> Future for WithReturning<'_, T, F, R> {
    type Output = Result<R, EnterError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        if self.output.is_none() {
            self.back.begin();
            let result = ready!(Pin::new(&mut self.with).poll(cx));
            if !self.with.enter.visit.has_travelled() {
                return Poll::Ready(result);
            }
            if self.back.to != Return::Home {
                self.back.origin.map(usize::from).into_iter().for_each(go_back);
                return Poll::Ready(result);
            }
            self.output = Some(result);
        }
        if self.back.is_on_its_way(cx) {
            return Poll::Pending;
        }
        Poll::Ready(self.output.take().expect("the operation has been made"))
    }
}

impl<T, F, R> fmt::Debug for WithReturning<'_, T, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithReturning").field("back", &self.back).finish_non_exhaustive()
    }
}

impl<'a, T: Send> Enter<'a, T> {
    /// Says where the task goes once the guard is dropped, if it has travelled. Both [`Return::Home`] and [`Return::AtNextWait`] have it go back at its next wait.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::object::{Object, Return};
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let list = Object::new(vec![1]);
    ///     list.enter().returning(Return::AtNextWait).await.unwrap().push(2);
    ///     assert_eq!(*list.enter().await.unwrap(), [1, 2]);
    /// });
    /// ```
    pub fn returning(self, to: Return) -> EnterReturning<'a, T> {
        EnterReturning { enter: self, back: Back::new(to) }
    }
}

impl<'a, T, F> With<'a, T, F> {
    /// Says where the task goes after the operation, if it has travelled.
    ///
    /// # Cancel safety
    /// A future that is dropped on the way back has called the closure, and what that has given is dropped with it.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::object::{Object, Return};
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let list = Object::new(vec![1]);
    ///     let length = list.with(|list| list.len()).returning(Return::Home).await;
    ///     assert_eq!(length, Ok(1));
    /// });
    /// ```
    pub fn returning<R>(self, to: Return) -> WithReturning<'a, T, F, R>
    where
        F: FnOnce(&mut T) -> R,
    {
        WithReturning { with: self, back: Back::new(to), output: None }
    }
}
