//! What a socket has for system calls that are none of its methods.

/// Gives a type with a field `io` the operations of its callers. The lines `$pair` make two that
/// are connected, `one` and `other`; `$send` is the method that sends.
macro_rules! callers_operations {
    ($Socket:ident, $send:literal, $pair:literal) => {
        impl $Socket {
            /// Calls `operation` once, if the socket may be ready for it, and notes if it would
            /// block, so that the next wait by [`readable`](Self::readable) or
            /// [`writable`](Self::writable) waits. Without such a note the socket counts as ready,
            /// and a loop of waits and calls spins.
            ///
            /// `operation` is a system call on this socket that is none of its methods.
            /// [`async_io`](Self::async_io) waits by itself.
            ///
            /// # Cost
            /// That of `operation`, and a load.
            ///
            /// # Errors
            /// Those of `operation`; [`WouldBlock`](std::io::ErrorKind::WouldBlock), and no call,
            /// if the socket is known not to be ready; or its runtime is over.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use evenkeel::net::{Interest, ", stringify!($Socket), "};")]
            /// use rustix::net::{RecvFlags, recv};
            /// use std::io::ErrorKind;
            ///
            /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
            /// let runtime = evenkeel::Runtime::new()?;
            /// runtime.block_on(async {
            #[doc = $pair]
            #[doc = concat!("    other.", $send, "(b\"hello\").await?;")]
            ///     let mut buffer = [0; 8];
            ///     let mut peek = || Ok(recv(&one, &mut buffer, RecvFlags::PEEK)?.0);
            ///     let n = loop {
            ///         one.readable().await?;
            ///         match one.try_io(Interest::READABLE, &mut peek) {
            ///             Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            ///             peeked => break peeked?,
            ///         }
            ///     };
            ///     assert_eq!(&buffer[..n], b"hello");
            ///     Ok(())
            /// })
            /// # }
            /// ```
            pub fn try_io<R>(
                &self,
                interest: Interest,
                operation: impl FnOnce() -> std::io::Result<R>,
            ) -> std::io::Result<R> {
                self.io.attempt(interest.0, |_| operation())
            }

            /// Calls `operation` until it does not fail with
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock), each time that the socket may be
            /// ready for it.
            ///
            /// # Cancel safety
            /// If the future was not completed, all calls of `operation` have returned
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock): one that makes one system call has
            /// done nothing.
            ///
            /// # Cost
            /// That of [any operation](crate::net#cost), with `operation` in place of the system
            /// call.
            ///
            /// # Errors
            /// Those of `operation`, [`Interrupted`](std::io::ErrorKind::Interrupted) among them;
            /// there is no runtime, or it is over.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use evenkeel::net::{Interest, ", stringify!($Socket), "};")]
            /// use rustix::net::{RecvFlags, recv};
            ///
            /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
            /// let runtime = evenkeel::Runtime::new()?;
            /// runtime.block_on(async {
            #[doc = $pair]
            ///     let mut buffer = [0; 8];
            ///     let peek = || Ok(recv(&one, &mut buffer, RecvFlags::PEEK)?.0);
            ///     let peeks = one.async_io(Interest::READABLE, peek);
            #[doc = concat!("    let sends = other.", $send, "(b\"hello\");")]
            ///     let (n, sent) = futures::join!(peeks, sends);
            ///     sent?;
            ///     assert_eq!(&buffer[..n?], b"hello");
            ///     Ok(())
            /// })
            /// # }
            /// ```
            pub async fn async_io<R>(
                &self,
                interest: Interest,
                mut operation: impl FnMut() -> std::io::Result<R>,
            ) -> std::io::Result<R> {
                self.io.call(interest.0, |_| operation().map(Done::new)).await
            }
        }
    };
}
pub(in super::super) use callers_operations;
