//! The direction of a caller's own operation.

use crate::readiness::source::Direction;

/// The direction of a caller's own operation on a socket, such as
/// [`TcpStream::try_io`](super::TcpStream::try_io), which has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest(pub(super) Direction);

impl Interest {
    /// It reads, or receives.
    pub const READABLE: Self = Self(Direction::Read);
    /// It writes, or sends.
    pub const WRITABLE: Self = Self(Direction::Write);
}
