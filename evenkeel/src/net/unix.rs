//! The halves of a Unix stream.
//!
//! [`UnixStream::split`] lends them, and [`UnixStream::into_split`] takes the stream apart.

use super::UnixStream;
use super::halves::{half, halves, write_half};
use super::io::{Done, Io};
use super::operations::{self, close, read_operations, write_operations};
use crate::budget;
use crate::readiness::source::Direction;
use std::fmt;
use std::future::Future;
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::net::Shutdown;
use std::os::unix::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

halves!(
    UnixStream,
    std::os::unix::net::UnixStream,
    SocketAddr,
    "unix",
    "    let (one, other) = UnixStream::pair()?;"
);
