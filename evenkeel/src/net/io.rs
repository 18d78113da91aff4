//! A socket and its place in a set: the operations of all kinds of sockets.

use crate::policy::readiness;
use crate::primitives::{Mutex, lock};
use crate::processor::context;
use crate::processor::current;
use crate::readiness::Registration;
use crate::readiness::source::{Direction, Key, Seen, Source, over};

pub(super) use crate::readiness::source::Done;
use crate::task::budget::{self, Unit};
use std::future::Future;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, AsRawFd};
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, ready};

/// A socket that does not block.
#[derive(Debug)]
pub(super) struct Io<T: AsFd> {
    socket: T,
    registration: OnceLock<Registration>,
    /// Held by the operation that registers.
    registers: Mutex<()>,
}

impl<T: AsFd> Io<T> {
    pub(super) fn new(socket: T) -> Self {
        Self { socket, registration: OnceLock::new(), registers: Mutex::new(()) }
    }

    pub(super) fn socket(&self) -> &T {
        &self.socket
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
        Operation { io: self, direction, operation, key: None, unit: Unit::NEW }
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
        let Some(registration) = self.registration.get() else { return operation(&self.socket) };
        let source = registration.source();
        let seen = source.seen(direction).ok_or(ErrorKind::WouldBlock)?;
        if seen.is_over() {
            return Err(over());
        }
        operation(&self.socket).inspect_err(|error| {
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
        let mut operation = || operation(&self.socket);
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
        let fd = self.socket.as_fd().as_raw_fd();
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
        let set = shared.idle.set(at).open()?;
        {
            // Two operations may get here at the same time, at two workers.
            let _registers = lock(&self.registers);
            if self.registration.get().is_some() {
                return Ok(());
            }
            let registration = Registration::enter(set, at, self.socket.as_fd())?;
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
            if let (Some(former), Ok(set)) = (former, shared.idle.set(to).open()) {
                registration.change(former, set, to, self.socket.as_fd());
                if to != me {
                    // It may have gone to sleep meanwhile, outside of the set.
                    shared.idle.unpark(to);
                }
            }
        });
    }
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
        if let Some(registration) = self.registration.take() {
            registration.leave(self.socket.as_fd());
        }
    }
}

/// An operation on a socket.
#[must_use = "futures do nothing unless awaited"]
pub(super) struct Operation<'a, T: AsFd, F> {
    io: &'a Io<T>,
    direction: Direction,
    operation: F,
    key: Option<Key>,
    unit: Unit,
}

impl<T: AsFd, F: Unpin, R> Future for Operation<'_, T, F>
where
    F: FnMut(&T) -> Result<Done<R>>,
{
    type Output = Result<R>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<R>> {
        let Self { io, direction, operation, key, unit } = self.get_mut();
        ready!(unit.poll(cx.waker()));
        io.poll_by(*direction, operation, |source| source.poll_one(cx, *direction, key))
    }
}

impl<T: AsFd, F> Drop for Operation<'_, T, F> {
    fn drop(&mut self) {
        if let Some(registration) = self.io.registration.get() {
            registration.source().forget(&mut self.key);
        }
    }
}

pub(super) fn no_runtime() -> Error {
    Error::other(
        "a socket or a look-up has to wait, and there is no runtime: use it inside a task or block_on of an evenkeel \
         runtime",
    )
}
