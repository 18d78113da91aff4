//! A TCP stream.

use super::addresses::{Addresses, first};
use super::io::{Done, Io};
use crate::readiness::source::Direction;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::fmt;
use std::future::Future;
use std::io::{self, Error, ErrorKind, IoSlice, IoSliceMut, Read, Result, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::task::{Context, Poll};
use std::time::Duration;

/// A TCP connection.
///
/// All operations take `&self`. Several tasks may read, or write, at the same time: each gets or
/// sends a piece, in no order.
///
/// # Examples
/// [`net`](super) has one.
pub struct TcpStream {
    io: Io<std::net::TcpStream>,
}

impl TcpStream {
    pub(super) fn new(stream: std::net::TcpStream) -> Self {
        Self { io: Io::new(stream) }
    }

    /// Connects to the first of the addresses that answers.
    ///
    /// # Cancel safety
    /// A connection that was not returned is closed.
    ///
    /// # Errors
    /// The system's: the connection is refused, takes too long, or the name cannot be resolved.
    pub async fn connect(addresses: impl Addresses) -> Result<Self> {
        first(addresses, Self::connect_to).await
    }

    async fn connect_to(address: SocketAddr) -> Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        match socket.connect(&address.into()) {
            Ok(()) => {}
            Err(error) if is_under_way(&error) => {}
            Err(error) => return Err(error),
        }
        let stream = Self::new(socket.into());
        let is_connected = |stream: &std::net::TcpStream| {
            if let Some(error) = stream.take_error()? {
                return Err(error);
            }
            match stream.peer_addr() {
                Ok(_) => Ok(Done::new(())),
                Err(error) if error.kind() == ErrorKind::NotConnected => {
                    Err(ErrorKind::WouldBlock.into())
                }
                Err(error) => Err(error),
            }
        };
        stream.io.operate(Direction::Write, is_connected).await?;
        Ok(stream)
    }

    /// Takes a stream of the standard library, and makes it one that does not block.
    ///
    /// # Errors
    /// The system's.
    pub fn from_std(stream: std::net::TcpStream) -> Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::new(stream))
    }

    /// Reads into `buffer`, and returns the number of bytes: zero says that the peer has closed its
    /// side, or that the buffer has no room.
    ///
    /// # Cancel safety
    /// No byte is lost.
    ///
    /// # Errors
    /// The system's, such as a connection that was reset.
    pub fn read<'a>(
        &'a self,
        buffer: &'a mut [u8],
    ) -> impl Future<Output = Result<usize>> + Send + 'a {
        self.io.operate(Direction::Read, move |stream| read(stream, buffer))
    }

    /// Does the same, for a caller that is polled by functions. Of several tasks that read, the
    /// last one is woken.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<Result<usize>> {
        self.io.poll(cx, Direction::Read, |stream| read(stream, buffer))
    }

    /// Reads into several buffers, in turn.
    ///
    /// # Cancel safety
    /// No byte is lost.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn read_vectored<'a>(
        &'a self,
        buffers: &'a mut [IoSliceMut<'_>],
    ) -> impl Future<Output = Result<usize>> + Send + 'a {
        let operation =
            move |mut stream: &std::net::TcpStream| stream.read_vectored(buffers).map(Done::new);
        self.io.operate(Direction::Read, operation)
    }

    /// Fills `buffer`.
    ///
    /// # Cancel safety
    /// It is not cancel safe: what it has read is in the buffer, and how much is not known.
    ///
    /// # Errors
    /// Those of [`read`](Self::read), and [`ErrorKind::UnexpectedEof`] if the peer closes its side
    /// before.
    pub async fn read_exact(&self, buffer: &mut [u8]) -> Result<()> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read(&mut buffer[filled..]).await? {
                0 => {
                    return Err(Error::new(
                        ErrorKind::UnexpectedEof,
                        "the peer has closed the connection before the buffer was full",
                    ));
                }
                n => filled += n,
            }
        }
        Ok(())
    }

    /// Reads without taking: the next read gets the same bytes.
    ///
    /// # Cancel safety
    /// No byte is lost.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn peek<'a>(
        &'a self,
        buffer: &'a mut [u8],
    ) -> impl Future<Output = Result<usize>> + Send + 'a {
        self.io.operate(Direction::Read, move |stream| stream.peek(buffer).map(Done::new))
    }

    /// Writes a piece of `buffer`, and returns the number of bytes.
    ///
    /// # Cancel safety
    /// Nothing is written by a call that was not completed.
    ///
    /// # Errors
    /// The system's, such as a connection that was closed.
    pub fn write<'a>(
        &'a self,
        buffer: &'a [u8],
    ) -> impl Future<Output = Result<usize>> + Send + 'a {
        self.io.operate(Direction::Write, move |stream| write(stream, buffer))
    }

    /// Does the same, for a caller that is polled by functions. Of several tasks that write, the
    /// last one is woken.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn poll_write(&self, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<Result<usize>> {
        self.io.poll(cx, Direction::Write, |stream| write(stream, buffer))
    }

    /// Writes from several buffers, in turn.
    ///
    /// # Cancel safety
    /// As [`write`](Self::write).
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn write_vectored<'a>(
        &'a self,
        buffers: &'a [IoSlice<'_>],
    ) -> impl Future<Output = Result<usize>> + Send + 'a {
        let operation =
            move |mut stream: &std::net::TcpStream| stream.write_vectored(buffers).map(Done::new);
        self.io.operate(Direction::Write, operation)
    }

    /// Does the same, for a caller that is polled by functions.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let operation =
            |mut stream: &std::net::TcpStream| stream.write_vectored(buffers).map(Done::new);
        self.io.poll(cx, Direction::Write, operation)
    }

    /// Writes all of `buffer`.
    ///
    /// # Cancel safety
    /// It is not cancel safe: how much was written is not known.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub async fn write_all(&self, buffer: &[u8]) -> Result<()> {
        let mut written = 0;
        while written < buffer.len() {
            match self.write(&buffer[written..]).await? {
                0 => return Err(ErrorKind::WriteZero.into()),
                n => written += n,
            }
        }
        Ok(())
    }

    /// Reads without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] if there is nothing to read, and those of [`read`](Self::read).
    pub fn try_read(&self, buffer: &mut [u8]) -> Result<usize> {
        (&mut self.io.socket()).read(buffer)
    }

    /// Writes without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] if there is no room, and those of [`write`](Self::write).
    pub fn try_write(&self, buffer: &[u8]) -> Result<usize> {
        (&mut self.io.socket()).write(buffer)
    }

    /// Closes a direction, or both. The peer reads to the end of what was written before.
    ///
    /// # Errors
    /// The system's.
    pub fn shutdown(&self, how: Shutdown) -> Result<()> {
        self.io.socket().shutdown(how)
    }

    /// Returns this side's address.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> Result<SocketAddr> {
        self.io.socket().local_addr()
    }

    /// Returns the peer's address.
    ///
    /// # Errors
    /// The system's.
    pub fn peer_addr(&self) -> Result<SocketAddr> {
        self.io.socket().peer_addr()
    }

    /// Returns whether small pieces are sent at once (`TCP_NODELAY`).
    ///
    /// # Errors
    /// The system's.
    pub fn nodelay(&self) -> Result<bool> {
        self.io.socket().nodelay()
    }

    /// Sets whether small pieces are sent at once (`TCP_NODELAY`).
    ///
    /// # Errors
    /// The system's.
    pub fn set_nodelay(&self, nodelay: bool) -> Result<()> {
        self.io.socket().set_nodelay(nodelay)
    }

    /// Returns how long a close waits for what was written, if it does (`SO_LINGER`).
    ///
    /// # Errors
    /// The system's.
    pub fn linger(&self) -> Result<Option<Duration>> {
        SockRef::from(self).linger()
    }

    /// Sets how long a close waits for what was written; zero resets the connection.
    ///
    /// # Errors
    /// The system's.
    pub fn set_linger(&self, linger: Option<Duration>) -> Result<()> {
        SockRef::from(self).set_linger(linger)
    }

    /// Returns the hop limit of its packets.
    ///
    /// # Errors
    /// The system's.
    pub fn ttl(&self) -> Result<u32> {
        self.io.socket().ttl()
    }

    /// Sets the hop limit of its packets.
    ///
    /// # Errors
    /// The system's.
    pub fn set_ttl(&self, ttl: u32) -> Result<()> {
        self.io.socket().set_ttl(ttl)
    }
}

/// A read that leaves room in its buffer has got all that there was.
fn read(mut stream: &std::net::TcpStream, buffer: &mut [u8]) -> Result<Done<usize>> {
    let n = stream.read(buffer)?;
    Ok(Done { result: n, is_drained: n > 0 && n < buffer.len() && IS_EPOLL })
}

/// A write that leaves a rest has filled all the room that there was.
fn write(mut stream: &std::net::TcpStream, buffer: &[u8]) -> Result<Done<usize>> {
    let n = stream.write(buffer)?;
    Ok(Done { result: n, is_drained: n > 0 && n < buffer.len() && IS_EPOLL })
}

/// Whether the system tells of bytes that come after a short read. Others may not.
const IS_EPOLL: bool = cfg!(any(target_os = "linux", target_os = "android"));

fn is_under_way(error: &Error) -> bool {
    error.kind() == ErrorKind::WouldBlock
        || error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error())
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.io.socket().fmt(f)
    }
}

impl AsFd for TcpStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.socket().as_fd()
    }
}

impl AsRawFd for TcpStream {
    fn as_raw_fd(&self) -> RawFd {
        self.io.socket().as_raw_fd()
    }
}

impl TryFrom<std::net::TcpStream> for TcpStream {
    type Error = io::Error;

    fn try_from(stream: std::net::TcpStream) -> Result<Self> {
        Self::from_std(stream)
    }
}
