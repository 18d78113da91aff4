//! The operations of listeners.

/// Gives a type with fields `io` and `accepts` the operations of a listener. The file has a
/// function `accept`, which accepts at once or not at all.
macro_rules! listener_operations {
    ($Listener:ident, $Std:ty, $Stream:ty, $Address:ty) => {
        impl $Listener {
            /// Takes a listener of the standard library, and makes it one that does not block.
            ///
            /// # Errors
            /// The system's.
            pub fn from_std(listener: $Std) -> Result<Self> {
                listener.set_nonblocking(true)?;
                Ok(Self { io: Io::new(listener), accepts: Accepts::default() })
            }

            /// Accepts a connection: waits for one, and returns its stream and the peer's address.
            ///
            /// # Cancel safety
            /// No connection is lost: one that was not returned waits for the next call.
            ///
            /// # Errors
            /// The system's. If the process has no descriptors left, the connection waits in the
            /// backlog, and later calls wait before they try again: 5 ms, and up to a second if
            /// that goes on. So a server goes on after an error: with `?` in its loop, the first
            /// full table of descriptors ends it.
            pub async fn accept(&self) -> Result<($Stream, $Address)> {
                self.accepts.wait().await;
                self.accepts.note(self.io.operate(Direction::Read, accept).await)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks, the last
            /// one is woken.
            ///
            /// # Errors
            /// Those of [`accept`](Self::accept).
            pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<Result<($Stream, $Address)>> {
                ready!(self.accepts.poll(cx));
                self.io.poll(cx, Direction::Read, accept).map(|result| self.accepts.note(result))
            }

            /// Returns the address that it is bound to.
            ///
            /// # Errors
            /// The system's.
            pub fn local_addr(&self) -> Result<$Address> {
                self.io.socket().local_addr()
            }
        }
    };
}
pub(in super::super) use listener_operations;
