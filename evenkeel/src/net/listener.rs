//! A TCP listener.

use super::accepts::Accepts;
use super::addresses::{Addresses, first};
use super::io::{Done, Io};
use super::operations::{listener_operations, socket_traits};
use super::stream::TcpStream;
use crate::readiness::source::Direction;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::fmt;
use std::io::{self, ErrorKind, Result};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::task::{Context, Poll, ready};

/// How many connections may wait to be accepted. The system's own limit holds too.
const BACKLOG: i32 = 1_024;

/// A socket that accepts TCP connections. It passes over those that their peers have given up.
///
/// # Examples
/// A server that returns what it gets, until its clients close:
/// ```
/// use evenkeel::net::{TcpListener, TcpStream};
///
/// async fn echo(stream: TcpStream) -> std::io::Result<()> {
///     let mut buffer = [0; 1_024];
///     loop {
///         match stream.read(&mut buffer).await? {
///             0 => return Ok(()),
///             n => stream.write_all(&buffer[..n]).await?,
///         }
///     }
/// }
///
/// async fn serve(listener: TcpListener) {
///     loop {
///         match listener.accept().await {
///             Ok((stream, peer)) => evenkeel::spawn(async move {
///                 if let Err(error) = echo(stream).await {
///                     eprintln!("the connection of {peer} fails: {error}");
///                 }
///             })
///             .detach(),
///             // It goes on. If no descriptors are left, the next call waits by itself.
///             Err(error) => eprintln!("a connection is not accepted: {error}"),
///         }
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = evenkeel::Runtime::new()?;
/// runtime.block_on(async {
///     let listener = TcpListener::bind("127.0.0.1:0").await?;
///     let address = listener.local_addr()?;
///     let server = evenkeel::spawn(serve(listener));
///     let stream = TcpStream::connect(address).await?;
///     stream.write_all(b"ping").await?;
///     let mut back = [0; 4];
///     stream.read_exact(&mut back).await?;
///     assert_eq!(&back, b"ping");
///     server.abort();
///     Ok(())
/// })
/// # }
/// ```
pub struct TcpListener {
    io: Io<std::net::TcpListener>,
    accepts: Accepts,
}

listener_operations!(TcpListener, std::net::TcpListener, TcpStream, SocketAddr);
socket_traits!(TcpListener, std::net::TcpListener);

impl TcpListener {
    /// Binds a listener to the first of the addresses that can be bound. Port zero lets the system
    /// choose; [`local_addr`](Self::local_addr) tells.
    ///
    /// The address may be bound again at once after its last listener was closed.
    ///
    /// # Cancel safety
    /// A call that is dropped has bound nothing.
    ///
    /// # Errors
    /// The system's: the address is in use, is not this machine's, or needs privileges; or the name
    /// cannot be resolved.
    pub async fn bind(addresses: impl Addresses) -> Result<Self> {
        first(addresses, async |address| Self::bind_to(address)).await
    }

    fn bind_to(address: SocketAddr) -> Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        Self::from_std(socket.into())
    }

    /// Returns the hop limit of its packets.
    ///
    /// # Errors
    /// The system's.
    pub fn ttl(&self) -> Result<u32> {
        SockRef::from(self).ttl_v4()
    }

    /// Sets the hop limit of its packets.
    ///
    /// # Errors
    /// The system's.
    pub fn set_ttl(&self, ttl: u32) -> Result<()> {
        SockRef::from(self).set_ttl_v4(ttl)
    }
}

fn accept(listener: &std::net::TcpListener) -> Result<Done<(TcpStream, SocketAddr)>> {
    loop {
        match listener.accept() {
            Ok((stream, address)) => {
                stream.set_nonblocking(true)?;
                return Ok(Done::new((TcpStream::new(stream), address)));
            }
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
            Err(error) => return Err(error),
        }
    }
}
