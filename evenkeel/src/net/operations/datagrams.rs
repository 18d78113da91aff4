//! The operations of sockets for datagrams.

/// Gives a type with a field `io` the operations of a socket for datagrams.
macro_rules! datagram_operations {
    ($Socket:ident, $Std:ty, $Address:ty) => {
        impl $Socket {
            /// Takes a socket of the standard library, and makes it one that does not block.
            ///
            /// # Errors
            /// The system's.
            pub fn from_std(socket: $Std) -> Result<Self> {
                socket.set_nonblocking(true)?;
                Ok(Self { io: Io::new(socket) })
            }

            /// Sends a datagram to the peer.
            ///
            /// # Cancel safety
            /// Nothing is sent by a call that was not completed.
            ///
            /// # Errors
            /// The system's: there is no peer, an earlier datagram was refused, or this one is too
            /// large.
            pub fn send<'a>(
                &'a self,
                datagram: &'a [u8],
            ) -> impl Future<Output = Result<usize>> + Send + 'a {
                let operation = move |socket: &$Std| socket.send(datagram).map(Done::new);
                self.io.operate(Direction::Write, operation)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that send,
            /// the last one is woken.
            ///
            /// # Errors
            /// Those of [`send`](Self::send).
            pub fn poll_send(&self, cx: &mut Context<'_>, datagram: &[u8]) -> Poll<Result<usize>> {
                let operation = |socket: &$Std| socket.send(datagram).map(Done::new);
                self.io.poll(cx, Direction::Write, operation)
            }

            /// Sends a datagram to the peer without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is no room, and those of
            /// [`send`](Self::send).
            pub fn try_send(&self, datagram: &[u8]) -> Result<usize> {
                self.io.attempt(Direction::Write, |socket| socket.send(datagram))
            }

            /// Receives a datagram, from the peer if there is one. What the buffer has no room for
            /// is lost.
            ///
            /// # Cancel safety
            /// No datagram is lost.
            ///
            /// # Errors
            /// The system's.
            pub fn recv<'a>(
                &'a self,
                buffer: &'a mut [u8],
            ) -> impl Future<Output = Result<usize>> + Send + 'a {
                let operation = move |socket: &$Std| socket.recv(buffer).map(Done::new);
                self.io.operate(Direction::Read, operation)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that
            /// receive, the last one is woken.
            ///
            /// # Errors
            /// Those of [`recv`](Self::recv).
            pub fn poll_recv(
                &self,
                cx: &mut Context<'_>,
                buffer: &mut [u8],
            ) -> Poll<Result<usize>> {
                let operation = |socket: &$Std| socket.recv(buffer).map(Done::new);
                self.io.poll(cx, Direction::Read, operation)
            }

            /// Receives a datagram without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is none, and those of
            /// [`recv`](Self::recv).
            pub fn try_recv(&self, buffer: &mut [u8]) -> Result<usize> {
                self.io.attempt(Direction::Read, |socket| socket.recv(buffer))
            }

            /// Receives a datagram, and returns its length and its sender. What the buffer has no
            /// room for is lost.
            ///
            /// # Cancel safety
            /// No datagram is lost.
            ///
            /// # Errors
            /// The system's.
            pub fn recv_from<'a>(
                &'a self,
                buffer: &'a mut [u8],
            ) -> impl Future<Output = Result<(usize, $Address)>> + Send + 'a {
                let operation = move |socket: &$Std| socket.recv_from(buffer).map(Done::new);
                self.io.operate(Direction::Read, operation)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that
            /// receive, the last one is woken.
            ///
            /// # Errors
            /// Those of [`recv_from`](Self::recv_from).
            pub fn poll_recv_from(
                &self,
                cx: &mut Context<'_>,
                buffer: &mut [u8],
            ) -> Poll<Result<(usize, $Address)>> {
                let operation = |socket: &$Std| socket.recv_from(buffer).map(Done::new);
                self.io.poll(cx, Direction::Read, operation)
            }

            /// Receives a datagram without waiting, and returns its length and its sender.
            ///
            /// # Errors
            /// Those of [`try_recv`](Self::try_recv).
            pub fn try_recv_from(&self, buffer: &mut [u8]) -> Result<(usize, $Address)> {
                self.io.attempt(Direction::Read, |socket| socket.recv_from(buffer))
            }

            /// Waits until there may be a datagram. A [`try_recv`](Self::try_recv) may find none
            /// all the same: then wait again.
            ///
            /// # Cancel safety
            /// Nothing is lost.
            ///
            /// # Errors
            /// There is no runtime, or it is over.
            pub fn readable(&self) -> impl Future<Output = Result<()>> + Send + '_ {
                self.io.wait(Direction::Read)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that
            /// receive, the last one is woken; one that sends does not take its place.
            ///
            /// # Errors
            /// Those of [`readable`](Self::readable).
            pub fn poll_recv_ready(&self, cx: &mut Context<'_>) -> Poll<Result<()>> {
                self.io.poll_wait(cx, Direction::Read)
            }

            /// Waits until there may be room to send. A [`try_send`](Self::try_send) may find none
            /// all the same: then wait again.
            ///
            /// # Cancel safety
            /// Nothing is lost.
            ///
            /// # Errors
            /// There is no runtime, or it is over.
            pub fn writable(&self) -> impl Future<Output = Result<()>> + Send + '_ {
                self.io.wait(Direction::Write)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that send,
            /// the last one is woken; one that receives does not take its place.
            ///
            /// # Errors
            /// Those of [`writable`](Self::writable).
            pub fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<Result<()>> {
                self.io.poll_wait(cx, Direction::Write)
            }

            /// Returns the address that it is bound to.
            ///
            /// # Errors
            /// The system's.
            pub fn local_addr(&self) -> Result<$Address> {
                self.io.socket().local_addr()
            }

            /// Returns the peer's address.
            ///
            /// # Errors
            /// The system's: there is no peer.
            pub fn peer_addr(&self) -> Result<$Address> {
                self.io.socket().peer_addr()
            }

            /// Takes and clears the error that the system has kept for the socket, if any.
            ///
            /// # Errors
            /// The system's.
            pub fn take_error(&self) -> Result<Option<io::Error>> {
                self.io.socket().take_error()
            }
        }
    };
}
pub(in super::super) use datagram_operations;
