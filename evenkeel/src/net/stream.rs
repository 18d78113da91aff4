//! A TCP stream.

use super::addresses::{Addresses, first};
use super::interest::Interest;
use super::io::{Done, Io};
use super::linger::set_linger;
use super::operations::{
    self, callers_operations, read_operations, socket_traits, stream_operations, write_operations,
};
use crate::readiness::source::Direction;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::fmt;
use std::future::Future;
use std::io::{self, Error, ErrorKind, IoSlice, IoSliceMut, Read, Result};
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

stream_operations!(TcpStream, std::net::TcpStream);
read_operations!(TcpStream, std::net::TcpStream);
write_operations!(TcpStream, std::net::TcpStream);
socket_traits!(TcpStream, std::net::TcpStream);
callers_operations!(
    TcpStream,
    "write_all",
    "    # let listener = evenkeel::net::TcpListener::bind(\"127.0.0.1:0\").await?;
    let one = TcpStream::connect(listener.local_addr()?).await?;
    let (other, _) = listener.accept().await?;"
);

impl TcpStream {
    pub(super) fn new(stream: std::net::TcpStream) -> Self {
        Self { io: Io::new(stream) }
    }

    pub(super) fn io(&self) -> &Io<std::net::TcpStream> {
        &self.io
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
        Self::connect_by(socket, address).await
    }

    /// Connects a socket that does not block.
    pub(super) async fn connect_by(socket: Socket, address: SocketAddr) -> Result<Self> {
        match socket.connect(&address.into()) {
            // It is connected, or, by TCP Fast Open, the first write connects it: the system would
            // tell of no change before that.
            Ok(()) => return Ok(Self::new(socket.into())),
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

    /// Reads without taking: the next read gets the same bytes. Zero is as for
    /// [`read`](Self::read).
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
        let has_room = !buffer.is_empty();
        let operation = move |stream: &std::net::TcpStream| {
            let read = if has_room { stream.peek(buffer) } else { Ok(0) };
            read.map(Done::new)
        };
        self.io.operate(Direction::Read, operation).waits_if(has_room)
    }

    /// Does the same, for a caller that is polled by functions. Of several tasks that read, the
    /// last one is woken.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn poll_peek(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<Result<usize>> {
        if buffer.is_empty() {
            return operations::poll_nothing(cx);
        }
        self.io.poll(cx, Direction::Read, |stream| stream.peek(buffer).map(Done::new))
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

    /// Sets how long a close waits for what was written, in seconds, to which a part of one is
    /// rounded up; zero resets the connection.
    ///
    /// The drop of the stream closes it, and blocks its thread for up to that time: drop it on a
    /// thread for [blocking](crate::spawn_blocking) closures unless the time is zero.
    ///
    /// # Errors
    /// The system's.
    pub fn set_linger(&self, linger: Option<Duration>) -> Result<()> {
        set_linger(&SockRef::from(self), linger)
    }

    /// Has the drop of the stream reset the connection, and discard what was not sent yet: a
    /// [`set_linger`](Self::set_linger) of zero, with which no thread blocks.
    ///
    /// # Errors
    /// The system's.
    pub fn set_zero_linger(&self) -> Result<()> {
        self.set_linger(Some(Duration::ZERO))
    }

    /// Returns whether what comes is acknowledged at once (`TCP_QUICKACK`).
    ///
    /// # Errors
    /// The system's.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn quickack(&self) -> Result<bool> {
        SockRef::from(self).tcp_quickack()
    }

    /// Sets whether what comes is acknowledged at once (`TCP_QUICKACK`). The system changes that by
    /// itself later on: set it again after each read that needs it.
    ///
    /// # Errors
    /// The system's.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn set_quickack(&self, quickack: bool) -> Result<()> {
        SockRef::from(self).set_tcp_quickack(quickack)
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

/// Returns whether a connection is being made. `EAGAIN` says that it was not begun, so nothing
/// would ever be told of it.
fn is_under_way(error: &Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error())
}
