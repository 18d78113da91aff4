//! Any descriptor whose readiness the system tells.

use super::io::{Done, Io};
use crate::readiness::source::Direction;
use std::fmt;
use std::future::Future;
use std::io::Result;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::task::{Context, Poll};

/// A descriptor of another kind than the sockets of this module: a pipe, an event counter, a socket
/// of another library.
///
/// It must not block: set `O_NONBLOCK` before. What the system tells nothing of, such as a file on
/// a disk, cannot wait here: its waits fail with `PermissionDenied` on Linux. Give a descriptor to
/// one `AsyncFd`: a second one that waits fails with `AlreadyExists`, or waits beside the first.
///
/// # Examples
/// ```
/// use evenkeel::net::AsyncFd;
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = evenkeel::Runtime::new()?;
/// let (one, mut other) = UnixStream::pair()?;
/// one.set_nonblocking(true)?;
/// let one = AsyncFd::new(one);
/// runtime.block_on(async {
///     let mut word = [0; 5];
///     let read = one.read_with(|mut stream| stream.read(&mut word));
///     other.write_all(b"hello")?;
///     assert_eq!(read.await?, 5);
///     Ok(())
/// })
/// # }
/// ```
pub struct AsyncFd<T: AsFd> {
    io: Io<T>,
}

impl<T: AsFd> AsyncFd<T> {
    /// Takes a descriptor that does not block.
    pub fn new(fd: T) -> Self {
        Self { io: Io::new(fd) }
    }

    /// Returns what it was made of.
    pub fn get_ref(&self) -> &T {
        self.io.socket()
    }

    /// Returns what it was made of, for a change. It must go on to return the same descriptor: the
    /// system tells of that one.
    pub fn get_mut(&mut self) -> &mut T {
        self.io.socket_mut()
    }

    /// Calls `operation` until it does not fail with
    /// [`ErrorKind::WouldBlock`](std::io::ErrorKind::WouldBlock), each time that there may be
    /// something to read.
    ///
    /// # Cancel safety
    /// `operation` has done nothing if the future was not completed.
    ///
    /// # Errors
    /// Those of `operation`, [`Interrupted`](std::io::ErrorKind::Interrupted) among them; there is
    /// no runtime, or it is over; or the system tells nothing of such a descriptor.
    pub fn read_with<'a, R>(
        &'a self,
        mut operation: impl FnMut(&T) -> Result<R> + Unpin + 'a,
    ) -> impl Future<Output = Result<R>> + 'a {
        self.io.call(Direction::Read, move |fd| operation(fd).map(Done::new))
    }

    /// Does the same each time that there may be room to write.
    ///
    /// # Cancel safety
    /// `operation` has done nothing if the future was not completed.
    ///
    /// # Errors
    /// Those of [`read_with`](Self::read_with).
    pub fn write_with<'a, R>(
        &'a self,
        mut operation: impl FnMut(&T) -> Result<R> + Unpin + 'a,
    ) -> impl Future<Output = Result<R>> + 'a {
        self.io.call(Direction::Write, move |fd| operation(fd).map(Done::new))
    }

    /// Calls `operation` as [`read_with`](Self::read_with) does, for a caller that is polled by
    /// functions. Of several tasks that read this way, the last one is woken.
    ///
    /// # Errors
    /// Those of [`read_with`](Self::read_with).
    ///
    /// # Examples
    /// ```
    /// use evenkeel::net::AsyncFd;
    /// use std::future::poll_fn;
    /// use std::net::UdpSocket;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = evenkeel::Runtime::new()?;
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// socket.set_nonblocking(true)?;
    /// socket.connect(socket.local_addr()?)?;
    /// let socket = AsyncFd::new(socket);
    /// runtime.block_on(async {
    ///     let mut buffer = [0; 8];
    ///     poll_fn(|cx| socket.poll_write_with(cx, |socket| socket.send(b"hello"))).await?;
    ///     let read = poll_fn(|cx| socket.poll_read_with(cx, |socket| socket.recv(&mut buffer)));
    ///     assert_eq!(read.await?, 5);
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub fn poll_read_with<R>(
        &self,
        cx: &mut Context<'_>,
        mut operation: impl FnMut(&T) -> Result<R>,
    ) -> Poll<Result<R>> {
        self.io.poll_call(cx, Direction::Read, move |fd| operation(fd).map(Done::new))
    }

    /// Does the same each time that there may be room to write.
    ///
    /// # Errors
    /// Those of [`read_with`](Self::read_with).
    pub fn poll_write_with<R>(
        &self,
        cx: &mut Context<'_>,
        mut operation: impl FnMut(&T) -> Result<R>,
    ) -> Poll<Result<R>> {
        self.io.poll_call(cx, Direction::Write, move |fd| operation(fd).map(Done::new))
    }

    /// Returns the descriptor's owner, which belongs to no runtime any more.
    pub fn into_inner(self) -> T {
        self.io.into_inner()
    }

    /// Waits until there may be something to read.
    ///
    /// # Cancel safety
    /// A call that is dropped has changed nothing.
    ///
    /// # Errors
    /// Those of [`read_with`](Self::read_with) that are not the operation's.
    pub async fn readable(&self) -> Result<()> {
        self.io.wait(Direction::Read).await
    }

    /// Waits until there may be room to write.
    ///
    /// # Cancel safety
    /// A call that is dropped has changed nothing.
    ///
    /// # Errors
    /// Those of [`read_with`](Self::read_with) that are not the operation's.
    pub async fn writable(&self) -> Result<()> {
        self.io.wait(Direction::Write).await
    }

    /// Calls `operation` once, if there may be something to read, and notes if it would block, so
    /// that the next wait waits.
    ///
    /// # Errors
    /// Those of `operation`; [`WouldBlock`](std::io::ErrorKind::WouldBlock), and no call, if it is
    /// known that there is nothing to read; or the descriptor's runtime is over.
    pub fn try_read_with<R>(&self, operation: impl FnOnce(&T) -> Result<R>) -> Result<R> {
        self.io.attempt(Direction::Read, operation)
    }

    /// Does the same for an operation that writes, if there may be room to write.
    ///
    /// # Errors
    /// Those of [`try_read_with`](Self::try_read_with), where it is known that there is no room.
    pub fn try_write_with<R>(&self, operation: impl FnOnce(&T) -> Result<R>) -> Result<R> {
        self.io.attempt(Direction::Write, operation)
    }
}

impl<T: AsFd + fmt::Debug> fmt::Debug for AsyncFd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFd").field("fd", self.io.socket()).finish()
    }
}

impl<T: AsFd> AsFd for AsyncFd<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.socket().as_fd()
    }
}

impl<T: AsFd> AsRawFd for AsyncFd<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.io.socket().as_fd().as_raw_fd()
    }
}
