//! A UDP socket.

use super::addresses::{Addresses, first};
use super::interest::Interest;
use super::io::{Done, Io};
use super::operations::{callers_operations, datagram_operations, socket_traits};
use crate::readiness::source::Direction;
use std::fmt;
use std::future::Future;
use std::io::{self, Result};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::task::{Context, Poll};

/// A UDP socket.
///
/// All operations take `&self`. Several tasks may receive at the same time: each datagram goes to
/// one of them.
///
/// # Examples
/// ```
/// use evenkeel::net::UdpSocket;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = evenkeel::Runtime::new()?;
/// runtime.block_on(async {
///     let one = UdpSocket::bind("127.0.0.1:0").await?;
///     let other = UdpSocket::bind("127.0.0.1:0").await?;
///     one.send_to(b"hello", other.local_addr()?).await?;
///     let mut buffer = [0; 16];
///     let (n, from) = other.recv_from(&mut buffer).await?;
///     assert_eq!((&buffer[..n], from), (&b"hello"[..], one.local_addr()?));
///     Ok(())
/// })
/// # }
/// ```
/// The crate `socket2` sets options that have no method here, as those of multicast:
/// ```
/// use evenkeel::net::UdpSocket;
/// use socket2::SockRef;
/// use std::net::Ipv4Addr;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = evenkeel::Runtime::new()?;
/// let socket = runtime.block_on(UdpSocket::bind("127.0.0.1:0"))?;
/// let options = SockRef::from(&socket);
/// options.set_multicast_if_v4(&Ipv4Addr::LOCALHOST)?;
/// options.set_multicast_ttl_v4(3)?;
/// assert_eq!(options.multicast_ttl_v4()?, 3);
/// # Ok(())
/// # }
/// ```
pub struct UdpSocket {
    io: Io<std::net::UdpSocket>,
}

datagram_operations!(UdpSocket, std::net::UdpSocket, SocketAddr);
socket_traits!(UdpSocket, std::net::UdpSocket);
callers_operations!(
    UdpSocket,
    "send",
    "    let one = UdpSocket::bind(\"127.0.0.1:0\").await?;
    let other = UdpSocket::bind(\"127.0.0.1:0\").await?;
    other.connect(one.local_addr()?).await?;"
);

impl UdpSocket {
    /// Binds a socket to the first of the addresses that can be bound.
    ///
    /// # Cancel safety
    /// A call that is dropped has bound nothing.
    ///
    /// # Errors
    /// The system's, and that a name cannot be resolved.
    pub async fn bind(addresses: impl Addresses) -> Result<Self> {
        first(addresses, async |address| Self::from_std(std::net::UdpSocket::bind(address)?)).await
    }

    /// Sets the peer to which [`send`](Self::send) sends and from which alone datagrams come: the
    /// first of the addresses that the system takes.
    ///
    /// # Cancel safety
    /// A call that is dropped has not changed the peer.
    ///
    /// # Errors
    /// The system's, and that a name cannot be resolved.
    pub async fn connect(&self, addresses: impl Addresses) -> Result<()> {
        first(addresses, async |address| self.io.socket().connect(address)).await
    }

    /// Sends a datagram to an address.
    ///
    /// # Cancel safety
    /// Nothing is sent by a call that was not completed.
    ///
    /// # Errors
    /// The system's, such as a datagram that is too large.
    pub fn send_to<'a>(
        &'a self,
        datagram: &'a [u8],
        to: SocketAddr,
    ) -> impl Future<Output = Result<usize>> + Send + 'a {
        self.io.operate(Direction::Write, move |socket| socket.send_to(datagram, to).map(Done::new))
    }

    /// Receives as [`recv_from`](Self::recv_from) does, without taking: the next call gets the same
    /// datagram.
    ///
    /// # Cancel safety
    /// No datagram is lost.
    ///
    /// # Errors
    /// The system's.
    pub fn peek_from<'a>(
        &'a self,
        buffer: &'a mut [u8],
    ) -> impl Future<Output = Result<(usize, SocketAddr)>> + Send + 'a {
        self.io.operate(Direction::Read, move |socket| socket.peek_from(buffer).map(Done::new))
    }

    /// Does the same, for a caller that is polled by functions. Of several tasks that receive, the
    /// last one is woken.
    ///
    /// # Errors
    /// Those of [`peek_from`](Self::peek_from).
    pub fn poll_peek_from(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<Result<(usize, SocketAddr)>> {
        self.io.poll(cx, Direction::Read, |socket| socket.peek_from(buffer).map(Done::new))
    }

    /// Receives as [`try_recv_from`](Self::try_recv_from) does, without taking.
    ///
    /// # Errors
    /// Those of [`try_recv`](Self::try_recv).
    pub fn try_peek_from(&self, buffer: &mut [u8]) -> Result<(usize, SocketAddr)> {
        self.io.attempt(Direction::Read, |socket| socket.peek_from(buffer))
    }

    /// Sends a datagram to an address, for a caller that is polled by functions. Of several tasks
    /// that send, the last one is woken.
    ///
    /// # Errors
    /// Those of [`send_to`](Self::send_to).
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        datagram: &[u8],
        to: SocketAddr,
    ) -> Poll<Result<usize>> {
        let operation = |socket: &std::net::UdpSocket| socket.send_to(datagram, to).map(Done::new);
        self.io.poll(cx, Direction::Write, operation)
    }

    /// Sends a datagram to an address without waiting.
    ///
    /// # Errors
    /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is no room, and those of
    /// [`send_to`](Self::send_to).
    pub fn try_send_to(&self, datagram: &[u8], to: SocketAddr) -> Result<usize> {
        self.io.attempt(Direction::Write, |socket| socket.send_to(datagram, to))
    }

    /// Receives as [`recv`](Self::recv) does, without taking: the next call gets the same datagram.
    ///
    /// # Cancel safety
    /// No datagram is lost.
    ///
    /// # Errors
    /// The system's.
    pub fn peek<'a>(
        &'a self,
        buffer: &'a mut [u8],
    ) -> impl Future<Output = Result<usize>> + Send + 'a {
        self.io.operate(Direction::Read, move |socket| socket.peek(buffer).map(Done::new))
    }

    /// Does the same, for a caller that is polled by functions. Of several tasks that receive, the
    /// last one is woken.
    ///
    /// # Errors
    /// Those of [`peek`](Self::peek).
    pub fn poll_peek(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<Result<usize>> {
        self.io.poll(cx, Direction::Read, |socket| socket.peek(buffer).map(Done::new))
    }

    /// Receives as [`try_recv`](Self::try_recv) does, without taking.
    ///
    /// # Errors
    /// Those of [`try_recv`](Self::try_recv).
    pub fn try_peek(&self, buffer: &mut [u8]) -> Result<usize> {
        self.io.attempt(Direction::Read, |socket| socket.peek(buffer))
    }

    /// Sets whether it may send to all on its network (`SO_BROADCAST`).
    ///
    /// # Errors
    /// The system's.
    pub fn set_broadcast(&self, broadcast: bool) -> Result<()> {
        self.io.socket().set_broadcast(broadcast)
    }

    /// Sets the hop limit of its packets.
    ///
    /// # Errors
    /// The system's.
    pub fn set_ttl(&self, ttl: u32) -> Result<()> {
        self.io.socket().set_ttl(ttl)
    }
}
