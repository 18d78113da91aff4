//! The traits of `futures_io`.

use super::super::operations::close;
use super::super::{TcpStream, UnixStream, tcp, unix};
use super::streams;
use ::futures_io::{AsyncRead, AsyncWrite};
use std::io::{IoSlice, IoSliceMut, Result};
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll};

macro_rules! reader {
    ($Stream:ty, $Type:ty) => {
        impl AsyncRead for $Type {
            /// Reads. A buffer without room is filled at once.
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffer: &mut [u8],
            ) -> Poll<Result<usize>> {
                if buffer.is_empty() {
                    return Poll::Ready(Ok(0));
                }
                <$Stream>::poll_read(&self, cx, buffer)
            }

            fn poll_read_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffers: &mut [IoSliceMut<'_>],
            ) -> Poll<Result<usize>> {
                <$Stream>::poll_read_vectored(&self, cx, buffers)
            }
        }
    };
}

macro_rules! writer {
    ($Stream:ty, $Type:ty) => {
        impl AsyncWrite for $Type {
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

            /// Does nothing: the system has what was written.
            fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<()>> {
                Poll::Ready(Ok(()))
            }

            /// Shuts the write half down.
            fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<()>> {
                Poll::Ready(close(<$Stream>::io(&self).socket().shutdown(Shutdown::Write)))
            }
        }
    };
}

streams!(reader, writer);
