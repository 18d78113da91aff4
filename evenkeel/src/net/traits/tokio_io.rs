//! The traits of `tokio::io`. No part of Tokio's runtime takes part.

use super::super::operations::close;
use super::super::{TcpStream, UnixStream, tcp, unix};
use super::{streams, write_trait};
use std::io::{IoSlice, Result};
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most bytes that one read fills. A buffer may have room that was never written, which is
/// zeroed before the read; this bounds the work for a read that gets little.
const MOST: usize = 64 * 1_024;

macro_rules! reader {
    ($Stream:ty, $Type:ty) => {
        impl AsyncRead for $Type {
            /// Reads at most 64 KiB. Room of the buffer that was never written is zeroed before. A
            /// buffer without room is filled at once.
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffer: &mut ReadBuf<'_>,
            ) -> Poll<Result<()>> {
                let most = buffer.remaining().min(MOST);
                if most == 0 {
                    return Poll::Ready(Ok(()));
                }
                let room = buffer.initialize_unfilled_to(most);
                let n = ready!(<$Stream>::poll_read(&self, cx, room))?;
                buffer.advance(n);
                Poll::Ready(Ok(()))
            }
        }
    };
}

streams!(reader, AsyncWrite, poll_shutdown, {
    fn is_write_vectored(&self) -> bool {
        true
    }
});
