//! A TCP socket before it connects or listens.

use super::linger::set_linger;
use super::listener::TcpListener;
use super::stream::TcpStream;
use crate::budget;
use socket2::{Domain, Protocol, Socket, Type};
use std::fmt;
use std::io::{Error, Result};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

/// A TCP socket that neither is connected nor listens: for options that must be set before.
///
/// [`TcpStream::connect`] and [`TcpListener::bind`] are shorter where none is to be set.
/// [`listen`](Self::listen) sets no option by itself: a server that is to start again at once on
/// the same port sets [`set_reuseaddr`](Self::set_reuseaddr).
///
/// # Examples
/// ```
/// use evenkeel::net::TcpSocket;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = evenkeel::Runtime::new()?;
/// runtime.block_on(async {
///     let socket = TcpSocket::new_v4()?;
///     socket.set_reuseaddr(true)?;
///     socket.bind("127.0.0.1:0".parse()?)?;
///     let listener = socket.listen(128)?;
///
///     let socket = TcpSocket::new_v4()?;
///     socket.set_nodelay(true)?;
///     let stream = socket.connect(listener.local_addr()?).await?;
///     assert!(stream.nodelay()?);
///     listener.accept().await?;
///     Ok(())
/// })
/// # }
/// ```
pub struct TcpSocket {
    socket: Socket,
}

impl TcpSocket {
    /// Makes a socket for IPv4.
    ///
    /// # Errors
    /// The system's, such as a process without free descriptors.
    pub fn new_v4() -> Result<Self> {
        Self::new(Domain::IPV4)
    }

    /// Makes a socket for IPv6.
    ///
    /// # Errors
    /// The system's, such as a machine without IPv6.
    pub fn new_v6() -> Result<Self> {
        Self::new(Domain::IPV6)
    }

    fn new(domain: Domain) -> Result<Self> {
        let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket })
    }

    /// Takes a socket that another library has made, as a stream of the standard library that is
    /// not connected, and makes it one that does not block.
    ///
    /// # Errors
    /// The system's.
    pub fn from_std_stream(stream: std::net::TcpStream) -> Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { socket: stream.into() })
    }

    /// Binds it to an address. Port zero lets the system choose.
    ///
    /// # Errors
    /// The system's: the address is in use, is not this machine's, or needs privileges.
    pub fn bind(&self, address: SocketAddr) -> Result<()> {
        self.socket.bind(&address.into())
    }

    /// Connects to an address.
    ///
    /// # Cancel safety
    /// A connection that was not returned is closed.
    ///
    /// # Errors
    /// The system's: the connection is refused, or takes too long.
    pub async fn connect(self, address: SocketAddr) -> Result<TcpStream> {
        budget::consume().await;
        TcpStream::connect_by(self.socket, address).await
    }

    /// Makes it a listener. At most `backlog` connections may wait to be accepted; the system's own
    /// limit holds too.
    ///
    /// # Errors
    /// The system's.
    pub fn listen(self, backlog: u32) -> Result<TcpListener> {
        self.socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        TcpListener::from_std(self.socket.into())
    }

    /// Has the drop of the connection reset it, and discard what was not sent yet: a
    /// [`set_linger`](Self::set_linger) of zero, with which no thread blocks.
    ///
    /// # Errors
    /// The system's.
    pub fn set_zero_linger(&self) -> Result<()> {
        self.set_linger(Some(Duration::ZERO))
    }

    /// Returns the address that it is bound to.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> Result<SocketAddr> {
        let address = self.socket.local_addr()?;
        address.as_socket().ok_or_else(|| Error::other("the address is not one of the Internet"))
    }

    /// Takes and clears the error that the system has kept for the socket, if any.
    ///
    /// # Errors
    /// The system's.
    pub fn take_error(&self) -> Result<Option<Error>> {
        self.socket.take_error()
    }
}

/// Writes out an option of a socket: a function that sets it, and one that returns it.
macro_rules! options {
    ($(
        $(#[$attribute:meta])*
        $what:literal, $set:ident, $get:ident: $Value:ty => $($call:ident)::+, $($returns:ident)::+;
    )*) => {
        impl TcpSocket {
            $(
                $(#[$attribute])*
                #[doc = concat!("Sets ", $what, ".")]
                ///
                /// # Errors
                /// The system's.
                pub fn $set(&self, value: $Value) -> Result<()> {
                    $($call)::+(&self.socket, value)
                }

                $(#[$attribute])*
                #[doc = concat!("Returns ", $what, ".")]
                ///
                /// # Errors
                /// The system's.
                pub fn $get(&self) -> Result<$Value> {
                    $($returns)::+(&self.socket)
                }
            )*
        }
    };
}

options! {
    "whether the system asks a silent peer now and then if it is still there (`SO_KEEPALIVE`)",
    set_keepalive, keepalive: bool => Socket::set_keepalive, Socket::keepalive;
    "whether an address may be bound that has closed connections (`SO_REUSEADDR`)",
    set_reuseaddr, reuseaddr: bool => Socket::set_reuse_address, Socket::reuse_address;
    #[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "cygwin")))]
    "whether several sockets may be bound to the same address (`SO_REUSEPORT`)",
    set_reuseport, reuseport: bool => Socket::set_reuse_port, Socket::reuse_port;
    "whether small pieces are sent at once (`TCP_NODELAY`)",
    set_nodelay, nodelay: bool => Socket::set_tcp_nodelay, Socket::tcp_nodelay;
    "how long a close waits for what was written, if it does, in seconds, to which a part of one \
    is rounded up; zero resets the connection (`SO_LINGER`). The drop closes, and blocks its \
    thread for up to that time",
    set_linger, linger: Option<Duration> => set_linger, Socket::linger;
    "the size of the system's buffer for what is sent, in bytes (`SO_SNDBUF`). Linux doubles what \
    is set",
    set_send_buffer_size, send_buffer_size: u32 => set_send_buffer, send_buffer;
    "the size of the system's buffer for what is received, in bytes (`SO_RCVBUF`). Linux doubles \
    what is set",
    set_recv_buffer_size, recv_buffer_size: u32 => set_recv_buffer, recv_buffer;
}

fn set_send_buffer(socket: &Socket, size: u32) -> Result<()> {
    socket.set_send_buffer_size(size as usize)
}

fn send_buffer(socket: &Socket) -> Result<u32> {
    // The system keeps it in 32 bits.
    Ok(socket.send_buffer_size()? as u32)
}

fn set_recv_buffer(socket: &Socket, size: u32) -> Result<()> {
    socket.set_recv_buffer_size(size as usize)
}

fn recv_buffer(socket: &Socket) -> Result<u32> {
    Ok(socket.recv_buffer_size()? as u32)
}

impl fmt::Debug for TcpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket.fmt(f)
    }
}

impl AsFd for TcpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for TcpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}
