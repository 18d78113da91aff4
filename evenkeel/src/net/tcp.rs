//! The halves of a TCP stream.
//!
//! [`TcpStream::split`] lends them, and [`TcpStream::into_split`] takes the stream apart.

use super::TcpStream;
use super::halves::{half, halves, write_half};
use super::io::{Done, Io};
use super::operations::{self, close, read_operations, write_operations};
use crate::budget;
use crate::readiness::source::Direction;
use std::fmt;
use std::future::Future;
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

halves!(
    TcpStream,
    std::net::TcpStream,
    SocketAddr,
    "tcp",
    "    # let listener = evenkeel::net::TcpListener::bind(\"127.0.0.1:0\").await?;
    let one = TcpStream::connect(listener.local_addr()?).await?;
    let (other, _) = listener.accept().await?;"
);

macro_rules! peeks {
    ($Half:ty) => {
        impl $Half {
            /// Reads without taking: the next read gets the same bytes.
            ///
            /// # Cancel safety
            /// No byte is lost.
            ///
            /// # Errors
            /// Those of [`read`](Self::read).
            pub fn peek<'a>(
                &'a self,
                buffer: &'a mut [u8],
            ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
                AsRef::<TcpStream>::as_ref(self).peek(buffer)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that read,
            /// the last one is woken.
            ///
            /// # Errors
            /// Those of [`read`](Self::read).
            pub fn poll_peek(
                &self,
                cx: &mut Context<'_>,
                buffer: &mut [u8],
            ) -> Poll<io::Result<usize>> {
                AsRef::<TcpStream>::as_ref(self).poll_peek(cx, buffer)
            }
        }
    };
}

peeks!(ReadHalf<'_>);
peeks!(OwnedReadHalf);
