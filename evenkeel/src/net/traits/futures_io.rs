//! The traits of `futures_io`.

use super::super::operations::close;
use super::super::{TcpStream, UnixStream, tcp, unix};
use super::{streams, write_trait};
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

streams!(reader, AsyncWrite, poll_close, {});
