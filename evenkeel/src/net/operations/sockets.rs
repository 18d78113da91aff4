//! What every socket has: its traits, and the way back to the standard library.

/// Gives a type with a field `io` the traits of a socket, and the way back.
macro_rules! socket_traits {
    ($Socket:ident, $Std:ty) => {
        impl $Socket {
            /// Returns the socket of the standard library, which belongs to no runtime any more. It
            /// still does not block: its `set_nonblocking(false)` changes that.
            ///
            /// # Errors
            /// None: the result is that of Tokio's method.
            ///
            /// # Cost
            /// A system call, if the socket has ever had to wait.
            pub fn into_std(self) -> Result<$Std> {
                Ok(self.io.into_inner())
            }
        }

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
