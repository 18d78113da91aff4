//! A socket and its place in a set: the operations of all kinds of sockets.

use crate::primitives::{Mutex, lock};
use crate::processor::{context, current};
use crate::readiness::Registration;
use crate::readiness::source::{Direction, Key, Seen, Source};
use crate::task::budget::{self, Unit};
use mio::unix::SourceFd;
use std::future::Future;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, AsRawFd};
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, ready};

/// What an operation has done.
pub(super) struct Done<R> {
    pub(super) result: R,
    /// Whether it has got all that there was, so that the next one would block.
    pub(super) is_drained: bool,
}

impl<R> Done<R> {
    pub(super) fn new(result: R) -> Self {
        Self { result, is_drained: false }
    }
}

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
        mut wait: impl FnMut(&Source) -> Poll<Seen>,
    ) -> Poll<Result<R>> {
        loop {
            let seen = match self.registration.get() {
                Some(registration) => {
                    let seen = ready!(wait(registration.source()));
                    if seen.is_over() {
                        return Poll::Ready(Err(over()));
                    }
                    Some((registration.source(), seen))
                }
                None => None,
            };
            match operation(&self.socket) {
                Ok(Done { result, is_drained }) => {
                    if let Some((source, seen)) = seen.filter(|_| is_drained) {
                        source.clear(direction, seen);
                    }
                    return Poll::Ready(Ok(result));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => match seen {
                    Some((source, seen)) => source.clear(direction, seen),
                    None => self.register()?,
                },
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
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
            let registration = set.register(&mut SourceFd(&fd))?;
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
}

impl<T: AsFd> Drop for Io<T> {
    fn drop(&mut self) {
        if let Some(registration) = self.registration.take() {
            let fd = self.socket.as_fd().as_raw_fd();
            registration.deregister(&mut SourceFd(&fd));
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

fn over() -> Error {
    Error::other("the runtime in which the socket waits is over: end its use before the runtime")
}
