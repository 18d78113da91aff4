//! The traits of the ecosystem on streams: each is a name for operations that streams have anyway.
//!
//! # Which task is woken
//! These traits are polled by functions, which have no place to keep a number for their waiter. So
//! a stream keeps one waker for each direction, as runtimes over `mio` do: of several tasks that
//! read by a trait, the last one is woken, and the same holds for several that write. A reader and
//! a writer do not take each other's place, whether they have two references, two halves, or one
//! stream in a lock of `split`. Futures such as those of `TcpStream::read` have places of their
//! own: any number of them may wait beside the task of a trait.
//!
//! A read that was cancelled leaves its waker behind. It wakes its task once for nothing, or the
//! next read of that direction replaces it.
//!
//! # Rejected
//! A place for each reference: a reference is copied, and has no destructor to give the place back.
//! Wakers of all tasks that have polled: a task that polls a read and then goes on to other things
//! would be woken for each byte.

#[cfg(feature = "futures-io")]
mod futures_io;
#[cfg(feature = "hyper")]
pub(super) mod hyper;
#[cfg(feature = "tokio-io")]
mod tokio_io;

/// Writes out the macro `$reader` for each type that reads, and `write_trait` with `$trait` for
/// each that writes. They get the type whose operations are meant, and the type that has them.
macro_rules! streams {
    ($reader:ident, $($trait:tt)*) => {
        $reader!(TcpStream, TcpStream);
        write_trait!($($trait)*, TcpStream, TcpStream);
        $reader!(TcpStream, &TcpStream);
        write_trait!($($trait)*, TcpStream, &TcpStream);
        $reader!(UnixStream, UnixStream);
        write_trait!($($trait)*, UnixStream, UnixStream);
        $reader!(UnixStream, &UnixStream);
        write_trait!($($trait)*, UnixStream, &UnixStream);
        $reader!(tcp::ReadHalf<'_>, tcp::ReadHalf<'_>);
        write_trait!($($trait)*, tcp::WriteHalf<'_>, tcp::WriteHalf<'_>);
        $reader!(tcp::OwnedReadHalf, tcp::OwnedReadHalf);
        write_trait!($($trait)*, tcp::OwnedWriteHalf, tcp::OwnedWriteHalf);
        $reader!(unix::ReadHalf<'_>, unix::ReadHalf<'_>);
        write_trait!($($trait)*, unix::WriteHalf<'_>, unix::WriteHalf<'_>);
        $reader!(unix::OwnedReadHalf, unix::OwnedReadHalf);
        write_trait!($($trait)*, unix::OwnedWriteHalf, unix::OwnedWriteHalf);
    };
}
use streams;

/// Gives a type `$Trait`, by which it writes. The trait's name for the end of its write half is
/// `$close`; `$is_vectored` are more methods of the trait.
#[cfg(any(feature = "futures-io", feature = "hyper", feature = "tokio-io"))]
macro_rules! write_trait {
    ($Trait:ident, $close:ident, {$($is_vectored:tt)*}, $Stream:ty, $Type:ty) => {
        impl $Trait for $Type {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffer: &[u8],
            ) -> Poll<Result<usize>> {
                <$Stream>::poll_write(&self, cx, buffer)
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffers: &[IoSlice<'_>],
            ) -> Poll<Result<usize>> {
                <$Stream>::poll_write_vectored(&self, cx, buffers)
            }

            $($is_vectored)*

            /// Does nothing: the system has what was written.
            fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<()>> {
                Poll::Ready(Ok(()))
            }

            /// Shuts the write half down.
            fn $close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<()>> {
                Poll::Ready(close(<$Stream>::io(&self).socket().shutdown(Shutdown::Write)))
            }
        }
    };
}
#[cfg(any(feature = "futures-io", feature = "hyper", feature = "tokio-io"))]
use write_trait;
