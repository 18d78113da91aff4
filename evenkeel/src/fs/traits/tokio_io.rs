//! The traits of `tokio::io`. No part of Tokio's runtime takes part.

use super::super::file::File;
use crate::task::budget;
use std::io::{Error, Result, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

impl AsyncRead for File {
    /// Reads at most 2 MiB. A buffer without room is filled at once.
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let room = into.remaining();
        if room == 0 {
            ready!(budget::poll_unit(cx.waker()));
        } else {
            let unread = ready!(self.poll_fill(cx, room))?;
            let n = unread.unread().len().min(room);
            into.put_slice(&unread.unread()[..n]);
            unread.consume(n);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for File {
    /// Accepts at most 2 MiB. The next operation returns the error of the write.
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        self.get_mut().poll_write(cx, bytes)
    }

    /// Waits until the system has all that was accepted.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.get_mut().poll_flush(cx)
    }

    /// Does the same as a flush. The drop closes the file.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.get_mut().poll_flush(cx)
    }
}

impl AsyncSeek for File {
    fn start_seek(self: Pin<&mut Self>, to: SeekFrom) -> Result<()> {
        if self.is_away() {
            return Err(Error::other(
                "another operation of this file is under way: call `poll_complete` before `start_seek`",
            ));
        }
        self.get_mut().begin_seek(to)
    }

    /// Waits for the seek, and returns the position. Without a seek it is that of the last one.
    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<u64>> {
        self.get_mut().poll_sought(cx)
    }
}
