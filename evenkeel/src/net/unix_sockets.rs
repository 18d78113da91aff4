//! Unix sockets.

use super::accepts::{self, Accepts};
use super::interest::Interest;
use super::io::{Done, Io};
use super::operations::{
    self, callers_operations, datagram_operations, listener_operations, read_operations,
    socket_traits, stream_operations, write_operations,
};
use super::place::no_runtime;
use crate::budget;
use crate::processor::current;
use crate::readiness::source::{Direction, over};
use crate::time::Instant;
use socket2::{Domain, SockAddr, Socket, Type};
use std::fmt;
use std::future::Future;
use std::io::{self, Error, IoSlice, IoSliceMut, Read, Result};
use std::net::Shutdown;
#[cfg(target_os = "android")]
use std::os::android::net::SocketAddrExt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{self as std_unix, SocketAddr};
use std::path::Path;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// The shortest and the longest pause of a [`send_to`](UnixDatagram::send_to) between attempts.
/// Estimates: a hundredth of a core's time, and as long as a time slice of the system.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(10));

/// A stream between processes of one machine.
///
/// # Examples
/// ```
/// use evenkeel::net::UnixStream;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = evenkeel::Runtime::new()?;
/// runtime.block_on(async {
///     let (one, other) = UnixStream::pair()?;
///     one.write_all(b"hello").await?;
///     let mut word = [0; 5];
///     other.read_exact(&mut word).await?;
///     assert_eq!(&word, b"hello");
///     Ok(())
/// })
/// # }
/// ```
pub struct UnixStream {
    io: Io<std_unix::UnixStream>,
}

stream_operations!(UnixStream, std_unix::UnixStream);
read_operations!(UnixStream, std_unix::UnixStream);
write_operations!(UnixStream, std_unix::UnixStream);
socket_traits!(UnixStream, std_unix::UnixStream);
callers_operations!(UnixStream, "write_all", "    let (one, other) = UnixStream::pair()?;");

impl UnixStream {
    fn new(stream: std_unix::UnixStream) -> Self {
        Self { io: Io::new(stream) }
    }

    pub(super) fn io(&self) -> &Io<std_unix::UnixStream> {
        &self.io
    }

    /// Connects to the listener at `path`. On Linux a path that begins with a zero byte is an
    /// abstract name.
    ///
    /// # Cancel safety
    /// A connection that was not returned is closed.
    ///
    /// # Errors
    /// The system's: nothing listens there, or its backlog is full (`WouldBlock`); and
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for a path with a zero byte inside it. An
    /// abstract name may have some.
    pub async fn connect(path: impl AsRef<Path>) -> Result<Self> {
        budget::consume().await;
        // `SockAddr` would cut the path at a zero byte inside it.
        address(path.as_ref())?;
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        // A connection on this machine is made, or refused, at once.
        socket.connect(&SockAddr::unix(path)?)?;
        Ok(Self::new(socket.into()))
    }

    /// Returns both ends of a connection.
    ///
    /// # Errors
    /// The system's.
    pub fn pair() -> Result<(Self, Self)> {
        let (one, other) = std_unix::UnixStream::pair()?;
        Ok((Self::from_std(one)?, Self::from_std(other)?))
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
}

/// A socket that accepts Unix streams.
///
/// # Examples
/// ```
/// use evenkeel::net::{UnixListener, UnixStream};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("evenkeel-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let path = folder.join("socket");
/// let runtime = evenkeel::Runtime::new()?;
/// runtime.block_on(async {
///     let listener = UnixListener::bind(&path)?;
///     let client = UnixStream::connect(&path).await?;
///     let (server, _) = listener.accept().await?;
///     client.write_all(b"x").await?;
///     server.read_exact(&mut [0]).await
/// })?;
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(())
/// # }
/// ```
pub struct UnixListener {
    io: Io<std_unix::UnixListener>,
    accepts: Accepts,
}

listener_operations!(UnixListener, std_unix::UnixListener, UnixStream, SocketAddr);
socket_traits!(UnixListener, std_unix::UnixListener);

impl UnixListener {
    /// Binds a listener to `path`, which must not exist. It stays there when the listener is
    /// dropped. On Linux a path that begins with a zero byte is an abstract name, which ends with
    /// the listener.
    ///
    /// # Errors
    /// The system's: the path exists, or cannot be made.
    pub fn bind(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_std(std_unix::UnixListener::bind_addr(&address(path.as_ref())?)?)
    }

    /// Takes and clears the error that the system has kept for the listener, if any.
    ///
    /// # Errors
    /// The system's.
    pub fn take_error(&self) -> Result<Option<Error>> {
        self.io.socket().take_error()
    }
}

/// Returns the address of a path, or of an abstract name.
fn address(path: &Path) -> Result<SocketAddr> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(name) = path.as_os_str().as_bytes().strip_prefix(b"\0") {
        return SocketAddr::from_abstract_name(name);
    }
    SocketAddr::from_pathname(path)
}

fn accept(listener: &std_unix::UnixListener) -> Result<Done<(UnixStream, SocketAddr)>> {
    let (stream, address) = listener.accept()?;
    Ok(Done::new((UnixStream::from_std(stream)?, address)))
}

/// A socket that exchanges datagrams with processes of one machine.
///
/// # Examples
/// ```
/// use evenkeel::net::UnixDatagram;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = evenkeel::Runtime::new()?;
/// runtime.block_on(async {
///     let (one, other) = UnixDatagram::pair()?;
///     one.send(b"hello").await?;
///     let mut buffer = [0; 16];
///     assert_eq!(other.recv(&mut buffer).await?, 5);
///     Ok(())
/// })
/// # }
/// ```
pub struct UnixDatagram {
    io: Io<std_unix::UnixDatagram>,
}

datagram_operations!(UnixDatagram, std_unix::UnixDatagram, SocketAddr);
socket_traits!(UnixDatagram, std_unix::UnixDatagram);
callers_operations!(UnixDatagram, "send", "    let (one, other) = UnixDatagram::pair()?;");

impl UnixDatagram {
    /// Binds a socket to `path`, which must not exist. It stays there when the socket is dropped.
    /// On Linux a path that begins with a zero byte is an abstract name, here and where a peer is
    /// named, and ends with the socket.
    ///
    /// # Errors
    /// The system's.
    pub fn bind(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_std(std_unix::UnixDatagram::bind_addr(&address(path.as_ref())?)?)
    }

    /// Makes a socket without an address.
    ///
    /// # Errors
    /// The system's.
    pub fn unbound() -> Result<Self> {
        Self::from_std(std_unix::UnixDatagram::unbound()?)
    }

    /// Returns two sockets that are each other's peers.
    ///
    /// # Errors
    /// The system's.
    pub fn pair() -> Result<(Self, Self)> {
        let (one, other) = std_unix::UnixDatagram::pair()?;
        Ok((Self::from_std(one)?, Self::from_std(other)?))
    }

    /// Sets the peer, by the path that it is bound to.
    ///
    /// # Errors
    /// The system's.
    pub fn connect(&self, path: impl AsRef<Path>) -> Result<()> {
        self.io.socket().connect_addr(&address(path.as_ref())?)
    }

    /// Sends a datagram to the socket that is bound to `path`.
    ///
    /// While that has no room, the task tries again after pauses of 0.1 to 10 ms: the system would
    /// say at once that this socket can send, as it can to others. One that is
    /// [connected](Self::connect) is woken when there is room.
    ///
    /// # Cancel safety
    /// Nothing is sent by a call that was not completed.
    ///
    /// # Errors
    /// The system's; or there is no runtime, or it is over, and the socket at `path` has no room.
    pub async fn send_to(&self, datagram: &[u8], path: impl AsRef<Path>) -> Result<usize> {
        let to = address(path.as_ref())?;
        let attempt = |socket: &std_unix::UnixDatagram| match socket.send_to_addr(datagram, &to) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Done::new(None)),
            sent => sent.map(|sent| Done::new(Some(sent))),
        };
        let (mut pause, longest) = PAUSES;
        loop {
            // At once: the socket's note is about its peer, and not about this receiver.
            let attempt = self.io.operate(Direction::Write, attempt).waits_if(false);
            if let Some(sent) = attempt.await? {
                return Ok(sent);
            }
            // Without a runtime there are no timers.
            if current::with(|shared| shared.is_none()) {
                return Err(no_runtime());
            }
            if !accepts::rest(Instant::now() + pause).await {
                return Err(over());
            }
            pause = (2 * pause).min(longest);
        }
    }

    /// Sends a datagram to the socket that is bound to `path`, without waiting. If that has no
    /// room, [`send_to`](Self::send_to) waits for it, and [`writable`](Self::writable) does not.
    ///
    /// # Errors
    /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is no room, and those of
    /// [`send_to`](Self::send_to).
    pub fn try_send_to(&self, datagram: &[u8], path: impl AsRef<Path>) -> Result<usize> {
        self.io.socket().send_to_addr(datagram, &address(path.as_ref())?)
    }

    /// Closes a direction, or both.
    ///
    /// # Errors
    /// The system's.
    pub fn shutdown(&self, how: Shutdown) -> Result<()> {
        self.io.socket().shutdown(how)
    }
}
