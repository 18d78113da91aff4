//! The traits of `futures_io`.

use super::super::file::File;
use ::futures_io::{AsyncRead, AsyncSeek, AsyncWrite};
use std::io::{Result, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

impl AsyncRead for File {
    /// Reads at most 2 MiB. A buffer without room is filled at once.
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<Result<usize>> {
        self.get_mut().poll_read(cx, into)
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
    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.get_mut().poll_flush(cx)
    }
}

impl AsyncSeek for File {
    /// Moves the position. A call that finds the same seek under way, which a dropped future has
    /// left, takes that for its own, so that the position moves once.
    fn poll_seek(self: Pin<&mut Self>, cx: &mut Context<'_>, to: SeekFrom) -> Poll<Result<u64>> {
        let file = self.get_mut();
        if file.seeks() != Some(to) {
            ready!(file.poll_flush(cx))?;
            file.begin_seek(to)?;
        }
        file.poll_sought(cx)
    }
}
