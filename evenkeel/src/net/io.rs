//! A socket and its place in a set: the operations of all kinds of sockets.

use crate::policy::readiness;
use crate::primitives::atomic::Edge;
use crate::primitives::{Mutex, fence, lock};
use crate::processor::context;
use crate::processor::current;
use crate::processor::shared::{Phase, Shared};
use crate::readiness::source::{Direction, Seen, Source, Ticket, over};
use crate::readiness::{Registration, Set};

pub(super) use crate::readiness::source::Done;
use crate::task::budget::{self, Unit};
use std::future::Future;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, AsRawFd};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

/// A socket that does not block.
#[derive(Debug)]
pub(super) struct Io<T: AsFd> {
    /// It is there until [`into_inner`](Self::into_inner).
    socket: Option<T>,
    registration: OnceLock<Registration>,
}

/// The operation that registers a socket holds the lock that its descriptor chooses: two of the
/// same socket may get there at the same time, at two workers. A socket has none of its own, which
/// would be a tenth of its memory.
static REGISTERS: [Mutex<()>; 16] = [const { Mutex::new(()) }; 16];

impl<T: AsFd> Io<T> {
    pub(super) fn new(socket: T) -> Self {
        Self { socket: Some(socket), registration: OnceLock::new() }
    }

    pub(super) fn socket(&self) -> &T {
        self.socket.as_ref().expect("a socket stays with its owner")
    }

    /// Takes the socket out of its set, and returns it. Nothing waits for it: the caller owns it.
    pub(super) fn into_inner(mut self) -> T {
        self.leave();
        self.socket.take().expect("a socket stays with its owner")
    }

    fn leave(&mut self) {
        if let (Some(registration), Some(socket)) = (self.registration.take(), &self.socket) {
            registration.leave(socket.as_fd());
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
        ready!(budget::poll_unit(cx.waker()));
        self.poll_by(direction, operation, |source| source.poll(cx, direction))
    }

    /// Makes an operation, as one of several futures.
    pub(super) fn operate<R, F: FnMut(&T) -> Result<Done<R>>>(
        &self,
        direction: Direction,
        operation: F,
    ) -> Operation<'_, T, F> {
        Operation { io: self, direction, operation, ticket: None, unit: Unit::NEW }
    }

    /// Makes an operation of several steps, as one of several futures.
    pub(super) fn all<S: Step<T>>(&self, step: S) -> All<'_, T, S> {
        let unit = Unit::NEW;
        All(Operation { io: self, direction: S::DIRECTION, operation: step, ticket: None, unit })
    }

    /// Waits until an operation in this direction may go on.
    pub(super) async fn wait(&self, direction: Direction) -> Result<()> {
        if self.registration.get().is_none() {
            self.register()?;
        }
        self.operate(direction, |_| Ok(Done::new(()))).await
    }

    /// Does the same, for a caller that is polled by functions: of several for the same direction,
    /// the last one is woken.
    pub(super) fn poll_wait(&self, cx: &mut Context<'_>, direction: Direction) -> Poll<Result<()>> {
        if self.registration.get().is_none() {
            self.register()?;
        }
        self.poll(cx, direction, |_| Ok(Done::new(())))
    }

    /// Makes an operation, if it need not wait.
    pub(super) fn attempt<R>(
        &self,
        direction: Direction,
        operation: impl FnOnce(&T) -> Result<R>,
    ) -> Result<R> {
        let Some(registration) = self.registration.get() else { return operation(self.socket()) };
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
        direction: Direction,
        mut operation: impl FnMut(&T) -> Result<Done<R>>,
        wait: impl FnMut(&Source) -> Poll<Seen>,
    ) -> Poll<Result<R>> {
        let mut operation = || operation(self.socket());
        let registration = loop {
            if let Some(registration) = self.registration.get() {
                break registration;
            }
            match operation() {
                Ok(done) => return Poll::Ready(Ok(done.result)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.register()?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        };
        let source = registration.source();
        if let Some(woken) = source.take_woken() {
            context::with_any(|context| {
                if let Some(here) = context {
                    let delay = here.ahead.now().saturating_sub(woken);
                    here.counters().socket_delays.add(delay);
                }
            });
        }
        let result = source.operate(direction, operation, wait);
        if result.is_pending() {
            self.wait_here(registration);
        }
        result
    }

    /// Enters the socket into the set of this worker, or of a worker of the thread's runtime.
    #[cold]
    fn register(&self) -> Result<()> {
        let fd = self.socket().as_fd().as_raw_fd();
        let shared = current::shared().ok_or_else(no_runtime)?;
        if shared.hooks.deterministic {
            return Err(Error::other(
                "a deterministic run has no sockets: its order would follow theirs",
            ));
        }
        let here = context::with_any(|context| {
            let context = context.filter(|here| std::ptr::eq(&**here.shared(), &*shared));
            context.map(|here| here.seat.me()).filter(|&me| me < shared.workers)
        });
        let at = here.unwrap_or(fd as usize % shared.workers);
        let set = open_set(&shared, at)?;
        {
            let _registers = lock(&REGISTERS[fd as usize % REGISTERS.len()]);
            if self.registration.get().is_some() {
                return Ok(());
            }
            let registration = Registration::enter(set, at, self.socket().as_fd())?;
            self.registration.set(registration).expect("one operation at a time registers");
        }
        if here.is_none() {
            // Its worker may sleep outside of the set.
            shared.idle.unpark(at);
        }
        // Its worker may be stuck in its next poll, or in this one.
        shared.watch();
        Ok(())
    }

    /// Counts a wait at this worker, and moves the socket if it is worth that.
    fn wait_here(&self, registration: &Registration) {
        context::with_any(|context| {
            let Some(here) = context else { return };
            let (shared, me) = (here.shared(), here.seat.me());
            if me >= shared.workers {
                return;
            }
            let to = taker(here).unwrap_or(me);
            let Some(home) = registration.wait_for(to) else { return };
            // Of another runtime this worker knows no sets.
            let former = (home < shared.workers).then(|| shared.idle.set(home).get()).flatten();
            if let (Some(former), Ok(set)) = (former, open_set(shared, to)) {
                registration.change(former, set, to, self.socket().as_fd());
                if to != me {
                    // It may have gone to sleep meanwhile, outside of the set.
                    shared.idle.unpark(to);
                }
            }
        });
    }
}

/// Returns the set of worker `at`, and opens it if necessary. That of a runtime that is over is
/// closed: what waits there fails.
///
/// The thread that ends the runtime says so before it closes the sets that it finds, and both sides
/// have a full fence. Either that thread finds this set, or this one finds that the runtime is
/// over.
fn open_set(shared: &Shared, at: usize) -> Result<&Arc<Set>> {
    let place = shared.idle.set(at);
    let is_new = place.get().is_none();
    let set = place.open()?;
    if is_new {
        fence::full(Edge::IdlePush);
        if shared.phase() == Phase::Over {
            set.close();
        }
    }
    Ok(set)
}

/// Returns the worker with a lower number in whose set the socket of the task that is polled here
/// is better, if there is any: the nearest one, if it comes to its set.
fn taker(here: &context::Context) -> Option<usize> {
    let (shared, me) = (here.shared(), here.seat.me());
    if !readiness::gathers(here.ready()) {
        return None;
    }
    let others = &shared.neighbours(me)?.others;
    let taker = others.iter().copied().find(|&other| other < me)?;
    let tended = shared.idle.set(taker).get().map_or(0, |set| set.tended());
    let comes = shared.idle.is_asleep(taker) || !readiness::is_overdue(here.now.get(), tended);
    comes.then_some(taker)
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
    ticket: Option<Ticket>,
    unit: Unit,
}

impl<T: AsFd, F: Unpin, R> Future for Operation<'_, T, F>
where
    F: FnMut(&T) -> Result<Done<R>>,
{
    type Output = Result<R>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<R>> {
        let Self { io, direction, operation, ticket, unit } = self.get_mut();
        ready!(unit.poll(cx.waker()));
        io.poll_by(*direction, operation, |source| source.poll_one(cx, *direction, ticket))
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
        let Operation { io, direction, operation: step, ticket, unit } = &mut self.get_mut().0;
        while !step.is_over() {
            ready!(unit.poll(cx.waker()));
            let wait = |source: &Source| source.poll_one(cx, *direction, ticket);
            ready!(io.poll_by(*direction, |socket| step.advance(socket), wait))?;
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsFd, F> Drop for Operation<'_, T, F> {
    fn drop(&mut self) {
        if self.ticket.is_some()
            && let Some(registration) = self.io.registration.get()
        {
            registration.source().forget(self.direction, &mut self.ticket);
        }
    }
}

pub(super) fn no_runtime() -> Error {
    Error::other(
        "a socket or a look-up has to wait, and there is no runtime: use it inside a task or block_on of an evenkeel \
         runtime",
    )
}
