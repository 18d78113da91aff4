//! The operations that all streams have, and those of every socket.

use super::io::Done;
use std::io::{ErrorKind, Read, Result, Write};

/// Whether the system tells of bytes that come after a short read. Others may not.
const IS_EPOLL: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// Reads. A read that leaves room in its buffer has got all that there was.
pub(super) fn read(mut stream: impl Read, buffer: &mut [u8]) -> Result<Done<usize>> {
    let n = stream.read(buffer)?;
    Ok(Done { result: n, is_drained: IS_EPOLL && n > 0 && n < buffer.len() })
}

/// Reads into memory that was never written. The first bytes of `buffer` are initialised then, as
/// many as the result says.
#[cfg(feature = "hyper")]
pub(super) fn read_uninit<'a, S>(
    stream: &'a S,
    buffer: &mut [std::mem::MaybeUninit<u8>],
) -> Result<Done<usize>>
where
    socket2::SockRef<'a>: From<&'a S>,
{
    let n = socket2::SockRef::from(stream).recv(buffer)?;
    Ok(Done { result: n, is_drained: IS_EPOLL && n > 0 && n < buffer.len() })
}

/// Writes. A write that leaves a rest has filled all the room that there was.
pub(super) fn write(mut stream: impl Write, buffer: &[u8]) -> Result<Done<usize>> {
    let n = stream.write(buffer)?;
    Ok(Done { result: n, is_drained: IS_EPOLL && n > 0 && n < buffer.len() })
}

/// What the end of a write half says. A connection that its peer has reset is closed already: some
/// systems call that an error, and a caller that closes has nothing to do about it.
pub(super) fn close(shutdown: Result<()>) -> Result<()> {
    match shutdown {
        Err(error) if error.kind() == ErrorKind::NotConnected => Ok(()),
        result => result,
    }
}

/// Gives a stream what its halves do not have.
macro_rules! stream_operations {
    ($Stream:ident, $Std:ty) => {
        impl $Stream {
            /// Takes a stream of the standard library, and makes it one that does not block.
            ///
            /// # Errors
            /// The system's.
            pub fn from_std(stream: $Std) -> Result<Self> {
                stream.set_nonblocking(true)?;
                Ok(Self::new(stream))
            }

            /// Closes a direction, or both. The peer reads to the end of what was written before.
            ///
            /// # Errors
            /// The system's.
            pub fn shutdown(&self, how: Shutdown) -> Result<()> {
                self.io().socket().shutdown(how)
            }

            /// Takes and clears the error that the system has kept for the socket, if any.
            ///
            /// # Errors
            /// The system's.
            pub fn take_error(&self) -> Result<Option<Error>> {
                self.io().socket().take_error()
            }
        }
    };
}
pub(super) use stream_operations;

/// Gives a type with a method `io` the operations that read: a stream, or one of its read halves.
macro_rules! read_operations {
    ($Type:ty, $Std:ty) => {
        impl $Type {
            /// Reads into `buffer`, and returns the number of bytes: zero says that the peer has
            /// closed its side, or that the buffer has no room.
            ///
            /// # Cancel safety
            /// No byte is lost.
            ///
            /// # Errors
            /// The system's, such as a connection that was reset.
            pub fn read<'a>(
                &'a self,
                buffer: &'a mut [u8],
            ) -> impl Future<Output = std::io::Result<usize>> + Send + 'a {
                self.io().operate(Direction::Read, move |stream| operations::read(stream, buffer))
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that read,
            /// the last one is woken.
            ///
            /// # Errors
            /// Those of [`read`](Self::read).
            pub fn poll_read(
                &self,
                cx: &mut Context<'_>,
                buffer: &mut [u8],
            ) -> Poll<std::io::Result<usize>> {
                self.io().poll(cx, Direction::Read, |stream| operations::read(stream, buffer))
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
            ) -> impl Future<Output = std::io::Result<usize>> + Send + 'a {
                let operation =
                    move |mut stream: &$Std| stream.read_vectored(buffers).map(Done::new);
                self.io().operate(Direction::Read, operation)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that read,
            /// the last one is woken.
            ///
            /// # Errors
            /// Those of [`read`](Self::read).
            pub fn poll_read_vectored(
                &self,
                cx: &mut Context<'_>,
                buffers: &mut [IoSliceMut<'_>],
            ) -> Poll<std::io::Result<usize>> {
                self.io().poll(cx, Direction::Read, |mut stream| {
                    stream.read_vectored(buffers).map(Done::new)
                })
            }

            /// Fills `buffer`.
            ///
            /// # Cancel safety
            /// It is not cancel safe: what it has read is in the buffer, and how much is not known.
            ///
            /// # Errors
            /// Those of [`read`](Self::read), and [`ErrorKind::UnexpectedEof`] if the peer closes
            /// its side before.
            pub async fn read_exact(&self, buffer: &mut [u8]) -> std::io::Result<()> {
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

            /// Waits until there may be something to read, or the peer has closed its side. A
            /// [`try_read`](Self::try_read) may find nothing all the same: then wait again.
            ///
            /// # Cancel safety
            /// Nothing is lost.
            ///
            /// # Errors
            /// There is no runtime, or it is over.
            pub fn readable(&self) -> impl Future<Output = std::io::Result<()>> + Send + '_ {
                self.io().wait(Direction::Read)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that read,
            /// the last one is woken; one that writes does not take its place.
            ///
            /// # Errors
            /// Those of [`readable`](Self::readable).
            pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
                self.io().poll_wait(cx, Direction::Read)
            }

            /// Reads without waiting.
            ///
            /// # Errors
            /// [`ErrorKind::WouldBlock`] if there is nothing to read, and those of
            /// [`read`](Self::read).
            pub fn try_read(&self, buffer: &mut [u8]) -> std::io::Result<usize> {
                self.io().attempt(Direction::Read, |mut stream| stream.read(buffer))
            }

            /// Reads into several buffers, in turn, without waiting.
            ///
            /// # Errors
            /// Those of [`try_read`](Self::try_read).
            pub fn try_read_vectored(
                &self,
                buffers: &mut [IoSliceMut<'_>],
            ) -> std::io::Result<usize> {
                self.io().attempt(Direction::Read, |mut stream| stream.read_vectored(buffers))
            }
        }
    };
}
pub(super) use read_operations;

/// Gives a type with a method `io` the operations that write: a stream, or one of its write halves.
macro_rules! write_operations {
    ($Type:ty, $Std:ty) => {
        impl $Type {
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
            ) -> impl Future<Output = std::io::Result<usize>> + Send + 'a {
                self.io().operate(Direction::Write, move |stream| operations::write(stream, buffer))
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that
            /// write, the last one is woken.
            ///
            /// # Errors
            /// Those of [`write`](Self::write).
            pub fn poll_write(
                &self,
                cx: &mut Context<'_>,
                buffer: &[u8],
            ) -> Poll<std::io::Result<usize>> {
                self.io().poll(cx, Direction::Write, |stream| operations::write(stream, buffer))
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
            ) -> impl Future<Output = std::io::Result<usize>> + Send + 'a {
                let operation =
                    move |mut stream: &$Std| stream.write_vectored(buffers).map(Done::new);
                self.io().operate(Direction::Write, operation)
            }

            /// Does the same, for a caller that is polled by functions.
            ///
            /// # Errors
            /// Those of [`write`](Self::write).
            pub fn poll_write_vectored(
                &self,
                cx: &mut Context<'_>,
                buffers: &[IoSlice<'_>],
            ) -> Poll<std::io::Result<usize>> {
                let operation = |mut stream: &$Std| stream.write_vectored(buffers).map(Done::new);
                self.io().poll(cx, Direction::Write, operation)
            }

            /// Writes all of `buffer`.
            ///
            /// # Cancel safety
            /// It is not cancel safe: how much was written is not known.
            ///
            /// # Errors
            /// Those of [`write`](Self::write).
            pub async fn write_all(&self, buffer: &[u8]) -> std::io::Result<()> {
                let mut written = 0;
                while written < buffer.len() {
                    match self.write(&buffer[written..]).await? {
                        0 => return Err(ErrorKind::WriteZero.into()),
                        n => written += n,
                    }
                }
                Ok(())
            }

            /// Waits until there may be room to write. A [`try_write`](Self::try_write) may find
            /// none all the same: then wait again.
            ///
            /// # Cancel safety
            /// Nothing is lost.
            ///
            /// # Errors
            /// There is no runtime, or it is over.
            pub fn writable(&self) -> impl Future<Output = std::io::Result<()>> + Send + '_ {
                self.io().wait(Direction::Write)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that
            /// write, the last one is woken; one that reads does not take its place.
            ///
            /// # Errors
            /// Those of [`writable`](Self::writable).
            pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
                self.io().poll_wait(cx, Direction::Write)
            }

            /// Writes without waiting.
            ///
            /// # Errors
            /// [`ErrorKind::WouldBlock`] if there is no room, and those of
            /// [`write`](Self::write).
            pub fn try_write(&self, buffer: &[u8]) -> std::io::Result<usize> {
                self.io().attempt(Direction::Write, |mut stream| stream.write(buffer))
            }

            /// Writes from several buffers, in turn, without waiting.
            ///
            /// # Errors
            /// Those of [`try_write`](Self::try_write).
            pub fn try_write_vectored(&self, buffers: &[IoSlice<'_>]) -> std::io::Result<usize> {
                self.io().attempt(Direction::Write, |mut stream| stream.write_vectored(buffers))
            }
        }
    };
}
pub(super) use write_operations;

/// Gives a type with a field `io` the operations of a socket for datagrams.
macro_rules! datagram_operations {
    ($Socket:ident, $Std:ty, $Address:ty) => {
        impl $Socket {
            /// Takes a socket of the standard library, and makes it one that does not block.
            ///
            /// # Errors
            /// The system's.
            pub fn from_std(socket: $Std) -> Result<Self> {
                socket.set_nonblocking(true)?;
                Ok(Self { io: Io::new(socket) })
            }

            /// Sends a datagram to the peer.
            ///
            /// # Cancel safety
            /// Nothing is sent by a call that was not completed.
            ///
            /// # Errors
            /// The system's: there is no peer, an earlier datagram was refused, or this one is too
            /// large.
            pub fn send<'a>(
                &'a self,
                datagram: &'a [u8],
            ) -> impl Future<Output = Result<usize>> + Send + 'a {
                let operation = move |socket: &$Std| socket.send(datagram).map(Done::new);
                self.io.operate(Direction::Write, operation)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that send,
            /// the last one is woken.
            ///
            /// # Errors
            /// Those of [`send`](Self::send).
            pub fn poll_send(&self, cx: &mut Context<'_>, datagram: &[u8]) -> Poll<Result<usize>> {
                let operation = |socket: &$Std| socket.send(datagram).map(Done::new);
                self.io.poll(cx, Direction::Write, operation)
            }

            /// Sends a datagram to the peer without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is no room, and those of
            /// [`send`](Self::send).
            pub fn try_send(&self, datagram: &[u8]) -> Result<usize> {
                self.io.attempt(Direction::Write, |socket| socket.send(datagram))
            }

            /// Receives a datagram, from the peer if there is one. What the buffer has no room for
            /// is lost.
            ///
            /// # Cancel safety
            /// No datagram is lost.
            ///
            /// # Errors
            /// The system's.
            pub fn recv<'a>(
                &'a self,
                buffer: &'a mut [u8],
            ) -> impl Future<Output = Result<usize>> + Send + 'a {
                let operation = move |socket: &$Std| socket.recv(buffer).map(Done::new);
                self.io.operate(Direction::Read, operation)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that
            /// receive, the last one is woken.
            ///
            /// # Errors
            /// Those of [`recv`](Self::recv).
            pub fn poll_recv(
                &self,
                cx: &mut Context<'_>,
                buffer: &mut [u8],
            ) -> Poll<Result<usize>> {
                let operation = |socket: &$Std| socket.recv(buffer).map(Done::new);
                self.io.poll(cx, Direction::Read, operation)
            }

            /// Receives a datagram without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is none, and those of
            /// [`recv`](Self::recv).
            pub fn try_recv(&self, buffer: &mut [u8]) -> Result<usize> {
                self.io.attempt(Direction::Read, |socket| socket.recv(buffer))
            }

            /// Receives a datagram, and returns its length and its sender. What the buffer has no
            /// room for is lost.
            ///
            /// # Cancel safety
            /// No datagram is lost.
            ///
            /// # Errors
            /// The system's.
            pub fn recv_from<'a>(
                &'a self,
                buffer: &'a mut [u8],
            ) -> impl Future<Output = Result<(usize, $Address)>> + Send + 'a {
                let operation = move |socket: &$Std| socket.recv_from(buffer).map(Done::new);
                self.io.operate(Direction::Read, operation)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that
            /// receive, the last one is woken.
            ///
            /// # Errors
            /// Those of [`recv_from`](Self::recv_from).
            pub fn poll_recv_from(
                &self,
                cx: &mut Context<'_>,
                buffer: &mut [u8],
            ) -> Poll<Result<(usize, $Address)>> {
                let operation = |socket: &$Std| socket.recv_from(buffer).map(Done::new);
                self.io.poll(cx, Direction::Read, operation)
            }

            /// Receives a datagram without waiting, and returns its length and its sender.
            ///
            /// # Errors
            /// Those of [`try_recv`](Self::try_recv).
            pub fn try_recv_from(&self, buffer: &mut [u8]) -> Result<(usize, $Address)> {
                self.io.attempt(Direction::Read, |socket| socket.recv_from(buffer))
            }

            /// Waits until there may be a datagram. A [`try_recv`](Self::try_recv) may find none
            /// all the same: then wait again.
            ///
            /// # Cancel safety
            /// Nothing is lost.
            ///
            /// # Errors
            /// There is no runtime, or it is over.
            pub fn readable(&self) -> impl Future<Output = Result<()>> + Send + '_ {
                self.io.wait(Direction::Read)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that
            /// receive, the last one is woken; one that sends does not take its place.
            ///
            /// # Errors
            /// Those of [`readable`](Self::readable).
            pub fn poll_recv_ready(&self, cx: &mut Context<'_>) -> Poll<Result<()>> {
                self.io.poll_wait(cx, Direction::Read)
            }

            /// Waits until there may be room to send. A [`try_send`](Self::try_send) may find none
            /// all the same: then wait again.
            ///
            /// # Cancel safety
            /// Nothing is lost.
            ///
            /// # Errors
            /// There is no runtime, or it is over.
            pub fn writable(&self) -> impl Future<Output = Result<()>> + Send + '_ {
                self.io.wait(Direction::Write)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that send,
            /// the last one is woken; one that receives does not take its place.
            ///
            /// # Errors
            /// Those of [`writable`](Self::writable).
            pub fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<Result<()>> {
                self.io.poll_wait(cx, Direction::Write)
            }

            /// Returns the address that it is bound to.
            ///
            /// # Errors
            /// The system's.
            pub fn local_addr(&self) -> Result<$Address> {
                self.io.socket().local_addr()
            }

            /// Returns the peer's address.
            ///
            /// # Errors
            /// The system's: there is no peer.
            pub fn peer_addr(&self) -> Result<$Address> {
                self.io.socket().peer_addr()
            }

            /// Takes and clears the error that the system has kept for the socket, if any.
            ///
            /// # Errors
            /// The system's.
            pub fn take_error(&self) -> Result<Option<io::Error>> {
                self.io.socket().take_error()
            }
        }
    };
}
pub(super) use datagram_operations;

/// Gives a type with a field `io` the traits of a socket.
macro_rules! socket_traits {
    ($Socket:ident, $Std:ty) => {
        impl fmt::Debug for $Socket {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.io.socket().fmt(f)
            }
        }

        impl AsFd for $Socket {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.io.socket().as_fd()
            }
        }

        impl AsRawFd for $Socket {
            fn as_raw_fd(&self) -> RawFd {
                self.io.socket().as_raw_fd()
            }
        }

        impl TryFrom<$Std> for $Socket {
            type Error = io::Error;

            fn try_from(socket: $Std) -> Result<Self> {
                Self::from_std(socket)
            }
        }
    };
}
pub(super) use socket_traits;
