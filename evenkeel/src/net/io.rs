//! A socket and its operations, for all kinds of sockets.

use super::place::Place;
use crate::processor::entered;
pub(super) use crate::readiness::source::Done;
use crate::readiness::source::{Direction, Seen, Source, Ticket, over};
use crate::task::budget::{self, Unit};
use std::future::Future;
use std::io::{ErrorKind, Result};
use std::os::fd::AsFd;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

/// A socket that does not block.
#[derive(Debug)]
pub(super) struct Io<T: AsFd> {
    /// It is there until [`into_inner`](Self::into_inner).
    socket: Option<T>,
    place: Place,
}

impl<T: AsFd> Io<T> {
    pub(super) fn new(socket: T) -> Self {
        Self { socket: Some(socket), place: Place::default() }
    }

    pub(super) fn socket(&self) -> &T {
        self.socket.as_ref().expect("a socket stays with its owner")
    }

    pub(super) fn socket_mut(&mut self) -> &mut T {
        self.socket.as_mut().expect("a socket stays with its owner")
    }

    /// Takes the socket out of its set, and returns it. Nothing waits for it: the caller owns it.
    pub(super) fn into_inner(mut self) -> T {
        self.leave();
        self.socket.take().expect("a socket stays with its owner")
    }

    fn leave(&mut self) {
        if let Some(socket) = &self.socket {
            self.place.leave(socket.as_fd());
        }
    }

    /// Makes an operation, for a caller that is polled by functions: of several for the same
    /// direction, the last one is woken.
    pub(super) fn poll<R>(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        operation: impl FnMut(&T) -> Result<Done<R>>,
    ) -> Poll<Result<R>> {
        self.poll_call(cx, direction, uninterrupted(operation))
    }

    /// Makes an operation that a caller has given, for a caller that is polled by functions. One
    /// that is interrupted is not repeated: it may be more than a system call.
    pub(super) fn poll_call<R>(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        operation: impl FnMut(&T) -> Result<Done<R>>,
    ) -> Poll<Result<R>> {
        ready!(budget::poll_unit(cx.waker()));
        let waker = cx.waker();
        self.poll_by(waker, direction, operation, |source| source.poll(waker, direction))
    }

    /// Makes an operation, as one of several futures.
    pub(super) fn operate<R>(
        &self,
        direction: Direction,
        operation: impl FnMut(&T) -> Result<Done<R>>,
    ) -> Operation<'_, T, impl FnMut(&T) -> Result<Done<R>>> {
        self.operation(direction, uninterrupted(operation))
    }

    /// Makes an operation that a caller has given, as one of several futures. One that is
    /// interrupted is not repeated: it may be more than a system call.
    pub(super) fn call<R, F: FnMut(&T) -> Result<Done<R>>>(
        &self,
        direction: Direction,
        operation: F,
    ) -> Operation<'_, T, F> {
        self.operation(direction, operation)
    }

    fn operation<F>(&self, direction: Direction, operation: F) -> Operation<'_, T, F> {
        Operation { io: self, direction, operation, waits: true, ticket: None, unit: Unit::NEW }
    }

    /// Makes an operation of several steps, as one of several futures.
    pub(super) fn all<S: Step<T>>(&self, step: S) -> All<'_, T, S> {
        All(self.operation(S::DIRECTION, step))
    }

    /// Waits until an operation in this direction may go on.
    pub(super) async fn wait(&self, direction: Direction) -> Result<()> {
        if self.place.get().is_none() {
            self.place.register(self.socket().as_fd(), None)?;
        }
        self.operate(direction, |_| Ok(Done::new(()))).await
    }

    /// Does the same, for a caller that is polled by functions: of several for the same direction,
    /// the last one is woken.
    pub(super) fn poll_wait(&self, cx: &mut Context<'_>, direction: Direction) -> Poll<Result<()>> {
        if self.place.get().is_none() {
            self.place.register(self.socket().as_fd(), None)?;
        }
        self.poll(cx, direction, |_| Ok(Done::new(())))
    }

    /// Makes an operation, if it need not wait.
    pub(super) fn attempt<R>(
        &self,
        direction: Direction,
        operation: impl FnOnce(&T) -> Result<R>,
    ) -> Result<R> {
        let Some(registration) = self.place.get() else { return operation(self.socket()) };
        let source = registration.source();
        let seen = source.seen(direction).ok_or(ErrorKind::WouldBlock)?;
        if seen.is_over() {
            return Err(over());
        }
        operation(self.socket()).inspect_err(|error| {
            if error.kind() == ErrorKind::WouldBlock {
                source.clear(direction, seen);
            }
        })
    }

    fn poll_by<R>(
        &self,
        waker: &Waker,
        direction: Direction,
        mut operation: impl FnMut(&T) -> Result<Done<R>>,
        wait: impl FnMut(&Source) -> Poll<Seen>,
    ) -> Poll<Result<R>> {
        let mut operation = || operation(self.socket());
        let registration = loop {
            if let Some(registration) = self.place.get() {
                break registration;
            }
            match operation() {
                Ok(done) => return Poll::Ready(Ok(done.result)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.place.register(self.socket().as_fd(), Some(direction))?
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        };
        let source = registration.source();
        if let Some(woken) = source.take_woken() {
            entered::with_any(|context| {
                if let Some(here) = context {
                    let delay = here.ahead.now().saturating_sub(woken);
                    here.counters().socket_delays.add(delay);
                }
            });
        }
        let result = source.operate(waker, direction, operation, wait);
        if result.is_pending() {
            self.place.wait_here(self.socket().as_fd());
        }
        result
    }
}

/// Makes of a system call one that is repeated when a signal has interrupted it.
fn uninterrupted<T, R>(mut call: impl FnMut(&T) -> Result<R>) -> impl FnMut(&T) -> Result<R> {
    move |socket| {
        loop {
            match call(socket) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

impl<T: AsFd> Drop for Io<T> {
    fn drop(&mut self) {
        self.leave();
    }
}

/// An operation on a socket.
#[must_use = "futures do nothing unless awaited"]
pub(super) struct Operation<'a, T: AsFd, F> {
    io: &'a Io<T>,
    direction: Direction,
    operation: F,
    /// Whether it may have to wait.
    waits: bool,
    ticket: Option<Ticket>,
    /// Owed once it has waited.
    unit: Unit,
}

impl<T: AsFd, F> Operation<'_, T, F> {
    /// Makes it at once, whether or not its direction is ready, unless it `may` have to wait.
    pub(super) fn waits_if(mut self, may: bool) -> Self {
        self.waits = may;
        self
    }
}

impl<T: AsFd, F: Unpin, R> Future for Operation<'_, T, F>
where
    F: FnMut(&T) -> Result<Done<R>>,
{
    type Output = Result<R>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<R>> {
        let Self { io, direction, operation, waits, ticket, unit } = self.get_mut();
        let waker = cx.waker();
        ready!(unit.poll(waker));
        if !*waits {
            return Poll::Ready(operation(io.socket()).map(|done| done.result));
        }
        let wait = |source: &Source| source.poll_one(waker, *direction, ticket);
        let result = io.poll_by(waker, *direction, operation, wait);
        if result.is_pending() {
            unit.owe();
        }
        result
    }
}

/// A part of an operation that is made of several.
pub(super) trait Step<T> {
    const DIRECTION: Direction;

    /// Returns whether nothing is left to do.
    fn is_over(&self) -> bool;

    /// Does what can be done at once.
    ///
    /// # Errors
    /// The system's; [`ErrorKind::WouldBlock`] if nothing can.
    fn advance(&mut self, socket: &T) -> Result<Done<()>>;
}

/// An operation of several steps, each of which may wait.
#[must_use = "futures do nothing unless awaited"]
pub(super) struct All<'a, T: AsFd, S>(Operation<'a, T, S>);

impl<T: AsFd, S: Step<T> + Unpin> Future for All<'_, T, S> {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let Operation { io, direction, operation: step, ticket, unit, .. } = &mut self.get_mut().0;
        let waker = cx.waker();
        loop {
            // Also if nothing is to be done.
            ready!(unit.poll(waker));
            if step.is_over() {
                return Poll::Ready(Ok(()));
            }
            let wait = |source: &Source| source.poll_one(waker, *direction, ticket);
            let advance = uninterrupted(|socket| step.advance(socket));
            let advanced = io.poll_by(waker, *direction, advance, wait);
            if advanced.is_pending() {
                unit.owe();
            }
            ready!(advanced)?;
            if step.is_over() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<T: AsFd, F> Drop for Operation<'_, T, F> {
    fn drop(&mut self) {
        if self.ticket.is_some()
            && let Some(registration) = self.io.place.get()
        {
            registration.source().forget(self.direction, &mut self.ticket);
        }
    }
}
