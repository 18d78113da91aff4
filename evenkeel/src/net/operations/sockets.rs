//! The traits of every socket.

/// Gives a type with a field `io` the traits of a socket.
macro_rules! socket_traits {
    ($Socket:ident, $Std:ty) => {
        impl fmt::Debug for $Socket {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.io.socket().fmt(f)
            }
        }

        impl AsFd for $Socket {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.io.socket().as_fd()
            }
        }

        impl AsRawFd for $Socket {
            fn as_raw_fd(&self) -> RawFd {
                self.io.socket().as_raw_fd()
            }
        }

        impl TryFrom<$Std> for $Socket {
            type Error = io::Error;

            fn try_from(socket: $Std) -> Result<Self> {
                Self::from_std(socket)
            }
        }
    };
}
pub(in super::super) use socket_traits;
