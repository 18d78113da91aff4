//! What several kinds of sockets have: each file writes it out for one of them.

mod callers;
mod datagrams;
mod listeners;
mod sockets;
mod streams;

pub(super) use callers::callers_operations;
pub(super) use datagrams::datagram_operations;
pub(super) use listeners::listener_operations;
pub(super) use sockets::socket_traits;
pub(super) use streams::{read_operations, stream_operations, write_operations};

use super::io::{Done, Io, Step};
use crate::budget;
use crate::readiness::source::Direction;
use rustix::net::{self, RecvFlags, SendAncillaryBuffer, SendFlags};
use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Result};
use std::mem;
#[cfg(feature = "hyper")]
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::os::fd::AsFd;
use std::task::{Context, Poll};

/// Whether the system tells of bytes that come after a short read, and of room after a short write.
/// Others may not.
const IS_EPOLL: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// What a read to the end asks for at once. No benchmark sets it.
const CHUNK: usize = 16 * 1_024;

/// A stream of bytes.
pub(super) trait Stream: AsFd {
    /// Whether a read that leaves room in its buffer has got all that there was, but for
    /// [urgent](crate::readiness::source) data.
    const SHORT_IS_DRAINED: bool;
}

impl Stream for std::net::TcpStream {
    /// Not so where urgent data have come before those ahead of them, and the program has taken
    /// them by a call of its own: no note tells of them then.
    const SHORT_IS_DRAINED: bool = IS_EPOLL;
}

impl Stream for std::os::unix::net::UnixStream {
    /// A read ends before and after bytes that came with descriptors or with other credentials.
    const SHORT_IS_DRAINED: bool = false;
}

/// A write to a connection that is closed is an error, and no signal. Apple's systems have no such
/// flag; there the standard library sets an option of its sockets, and ignores the signal.
#[cfg(not(target_vendor = "apple"))]
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
#[cfg(target_vendor = "apple")]
const NO_SIGNAL: SendFlags = SendFlags::empty();

/// Reads.
///
/// Without the standard library, whose calls are points of cancellation of the C library: for the
/// answer of an echo server that is a thirtieth of the time.
pub(super) fn read<S: Stream>(stream: &S, buffer: &mut [u8]) -> Result<Done<usize>> {
    let (n, _) = net::recv(stream, &mut *buffer, RecvFlags::empty())?;
    Ok(Done { result: n, is_drained: S::SHORT_IS_DRAINED && n > 0 && n < buffer.len() })
}

/// Reads to the end, and appends the bytes to `into`.
pub(super) async fn read_to_end<S: Stream>(io: &Io<S>, into: &mut Vec<u8>) -> Result<usize> {
    // Apart from `into`, so that there is nothing else in it if the caller drops this.
    let (before, mut chunk) = (into.len(), vec![0; CHUNK]);
    loop {
        let n = io.operate(Direction::Read, |stream| read(stream, &mut chunk)).await?;
        if n == 0 {
            return Ok(into.len() - before);
        }
        into.extend_from_slice(&chunk[..n]);
    }
}

/// Does the same with a text.
pub(super) async fn read_to_string<S: Stream>(io: &Io<S>, into: &mut String) -> Result<usize> {
    let mut bytes = Vec::new();
    read_to_end(io, &mut bytes).await?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
    into.push_str(&text);
    Ok(text.len())
}

/// Reads nothing, into buffers without room, for a caller that is polled by functions.
pub(super) fn poll_nothing(cx: &mut Context<'_>) -> Poll<Result<usize>> {
    budget::poll_consume(cx).map(|()| Ok(0))
}

/// Returns several buffers from the first one with room on.
pub(super) fn with_room<'a, 'b>(buffers: &'a mut [IoSliceMut<'b>]) -> &'a mut [IoSliceMut<'b>] {
    let empty = leading_empty(buffers);
    &mut buffers[empty..]
}

/// Returns how many empty buffers come before the others. A system call that is given as many as it
/// takes would otherwise move nothing if these are empty, and not say that it has to wait.
fn leading_empty(buffers: &[impl Deref<Target = [u8]>]) -> usize {
    buffers.iter().take_while(|buffer| buffer.is_empty()).count()
}

/// Reads into memory that was never written. The first bytes of `buffer` are initialised then, as
/// many as the result says.
#[cfg(feature = "hyper")]
pub(super) fn read_uninit<S: Stream>(
    stream: &S,
    buffer: &mut [MaybeUninit<u8>],
) -> Result<Done<usize>> {
    let (_, n) = net::recv(stream, &mut *buffer, RecvFlags::empty())?;
    Ok(Done { result: n, is_drained: S::SHORT_IS_DRAINED && n > 0 && n < buffer.len() })
}

/// Writes. A write that leaves a rest has filled all the room that there was.
pub(super) fn write(stream: impl AsFd, buffer: &[u8]) -> Result<Done<usize>> {
    let n = net::send(stream, buffer, NO_SIGNAL)?;
    Ok(Done { result: n, is_drained: IS_EPOLL && n > 0 && n < buffer.len() })
}

/// Several buffers of at most this many bytes in all are copied into one before they are written: a
/// system call for one buffer took 3 to 7 % less than one for two, of 5 to 6 µs on loopback (an AMD
/// EPYC; rounds differ by as much). No benchmark sets the length.
const GATHERED: usize = 1_024;

/// The most buffers of a system call; some systems refuse more.
const MOST_BUFFERS: usize = 1_024;

/// Writes several buffers. Without bytes it makes no system call, and succeeds. Its callers look
/// before whether the socket is ready, also without bytes.
pub(super) fn write_vectored(stream: impl AsFd, buffers: &[IoSlice<'_>]) -> Result<Done<usize>> {
    let buffers = &buffers[leading_empty(buffers)..];
    let buffers = &buffers[..buffers.len().min(MOST_BUFFERS)];
    let (mut gathered, mut len) = ([0; GATHERED], 0);
    for buffer in buffers {
        let Some(place) = gathered.get_mut(len..len + buffer.len()) else {
            return write_apart(stream, buffers);
        };
        place.copy_from_slice(buffer);
        len += buffer.len();
    }
    if len == 0 { Ok(Done::new(0)) } else { write(stream, &gathered[..len]) }
}

/// Writes several buffers as they are.
fn write_apart(stream: impl AsFd, buffers: &[IoSlice<'_>]) -> Result<Done<usize>> {
    let len = buffers.iter().fold(0, |len: usize, buffer| len.saturating_add(buffer.len()));
    let n = net::sendmsg(stream, buffers, &mut SendAncillaryBuffer::default(), NO_SIGNAL)?;
    Ok(Done { result: n, is_drained: IS_EPOLL && n > 0 && n < len })
}

/// What is left to write of a buffer.
pub(super) struct Rest<'a>(pub(super) &'a [u8]);

impl<T: AsFd> Step<T> for Rest<'_> {
    const DIRECTION: Direction = Direction::Write;

    fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    fn advance(&mut self, stream: &T) -> Result<Done<()>> {
        let Done { result: n, is_drained } = write(stream, self.0)?;
        if n == 0 {
            return Err(ErrorKind::WriteZero.into());
        }
        self.0 = &self.0[n..];
        Ok(Done { result: (), is_drained })
    }
}

/// The part of a buffer that has to be read.
pub(super) struct Room<'a>(pub(super) &'a mut [u8]);

impl<T: Stream> Step<T> for Room<'_> {
    const DIRECTION: Direction = Direction::Read;

    fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    fn advance(&mut self, stream: &T) -> Result<Done<()>> {
        let Done { result: n, is_drained } = read(stream, self.0)?;
        if n == 0 {
            return Err(Error::new(
                ErrorKind::UnexpectedEof,
                "the peer has closed the connection before the buffer was full",
            ));
        }
        self.0 = &mut mem::take(&mut self.0)[n..];
        Ok(Done { result: (), is_drained })
    }
}

/// What the end of a write half says. A connection that its peer has reset is closed already: some
/// systems call that an error, and a caller that closes has nothing to do about it.
pub(super) fn close(shutdown: Result<()>) -> Result<()> {
    match shutdown {
        Err(error) if error.kind() == ErrorKind::NotConnected => Ok(()),
        result => result,
    }
}
