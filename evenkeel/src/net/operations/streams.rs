//! The operations of streams of bytes, and of their halves.

/// Gives a stream what its halves do not have.
macro_rules! stream_operations {
    ($Stream:ident, $Std:ty) => {
        impl $Stream {
            /// Takes a stream of the standard library, and makes it one that does not block.
            ///
            /// # Errors
            /// The system's.
            pub fn from_std(stream: $Std) -> Result<Self> {
                stream.set_nonblocking(true)?;
                Ok(Self::new(stream))
            }

            /// Closes a direction, or both. The peer reads to the end of what was written before.
            ///
            /// # Errors
            /// The system's.
            pub fn shutdown(&self, how: Shutdown) -> Result<()> {
                self.io().socket().shutdown(how)
            }

            /// Takes and clears the error that the system has kept for the socket, if any.
            ///
            /// # Errors
            /// The system's.
            pub fn take_error(&self) -> Result<Option<Error>> {
                self.io().socket().take_error()
            }
        }
    };
}
pub(in super::super) use stream_operations;

/// Gives a type with a method `io` the operations that read: a stream, or one of its read halves.
macro_rules! read_operations {
    ($Type:ty, $Std:ty) => {
        impl $Type {
            /// Reads into `buffer`, and returns the number of bytes: zero says that the peer has
            /// closed its side, or that the buffer has no room.
            ///
            /// # Cancel safety
            /// No byte is lost.
            ///
            /// # Errors
            /// The system's, such as a connection that was reset.
            pub fn read<'a>(
                &'a self,
                buffer: &'a mut [u8],
            ) -> impl Future<Output = std::io::Result<usize>> + Send + 'a {
                let has_room = !buffer.is_empty();
                let operation = move |stream: &$Std| {
                    if has_room { operations::read(stream, buffer) } else { Ok(Done::new(0)) }
                };
                self.io().operate(Direction::Read, operation).waits_if(has_room)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that read,
            /// the last one is woken.
            ///
            /// # Errors
            /// Those of [`read`](Self::read).
            pub fn poll_read(
                &self,
                cx: &mut Context<'_>,
                buffer: &mut [u8],
            ) -> Poll<std::io::Result<usize>> {
                if buffer.is_empty() {
                    return operations::poll_nothing(cx);
                }
                self.io().poll(cx, Direction::Read, |stream| operations::read(stream, buffer))
            }

            /// Reads into several buffers, in turn: zero as for [`read`](Self::read).
            ///
            /// # Cancel safety
            /// No byte is lost.
            ///
            /// # Errors
            /// Those of [`read`](Self::read).
            pub fn read_vectored<'a>(
                &'a self,
                buffers: &'a mut [IoSliceMut<'_>],
            ) -> impl Future<Output = std::io::Result<usize>> + Send + 'a {
                let buffers = operations::with_room(buffers);
                let has_room = !buffers.is_empty();
                let operation = move |mut stream: &$Std| {
                    let read = if has_room { stream.read_vectored(buffers) } else { Ok(0) };
                    read.map(Done::new)
                };
                self.io().operate(Direction::Read, operation).waits_if(has_room)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that read,
            /// the last one is woken.
            ///
            /// # Errors
            /// Those of [`read`](Self::read).
            pub fn poll_read_vectored(
                &self,
                cx: &mut Context<'_>,
                buffers: &mut [IoSliceMut<'_>],
            ) -> Poll<std::io::Result<usize>> {
                let buffers = operations::with_room(buffers);
                if buffers.is_empty() {
                    return operations::poll_nothing(cx);
                }
                self.io().poll(cx, Direction::Read, |mut stream| {
                    stream.read_vectored(buffers).map(Done::new)
                })
            }

            /// Fills `buffer`, and returns its length.
            ///
            /// # Cancel safety
            /// It is not cancel safe: what it has read is in the buffer, and how much is not known.
            ///
            /// # Errors
            /// Those of [`read`](Self::read), and
            /// [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof) if the peer closes its side
            /// before.
            pub fn read_exact<'a>(
                &'a self,
                buffer: &'a mut [u8],
            ) -> impl Future<Output = std::io::Result<usize>> + Send + 'a {
                let len = buffer.len();
                let all = self.io().all(operations::Room(buffer));
                async move { all.await.map(|()| len) }
            }

            /// Reads until the peer closes its side, and appends the bytes to `into`. Returns their
            /// number. A peer that does not close has it wait for ever, and one that does not end
            /// has `into` grow: a server sets limits to both.
            ///
            /// # Cancel safety
            /// No byte is lost: what was read is in `into`.
            ///
            /// # Errors
            /// Those of [`read`](Self::read). What was read before is in `into`.
            ///
            /// # Cost
            /// A buffer of 16 KiB meanwhile, and a copy of what is read.
            pub async fn read_to_end(&self, into: &mut Vec<u8>) -> std::io::Result<usize> {
                operations::read_to_end(self.io(), into).await
            }

            /// Reads until the peer closes its side, and appends the text to `into`. Returns the
            /// number of bytes.
            ///
            /// # Cancel safety
            /// None: what was read before is lost.
            ///
            /// # Errors
            /// [`InvalidData`](std::io::ErrorKind::InvalidData) if it is not UTF-8; those of
            /// [`read`](Self::read). `into` is as before then, and what was read is lost.
            ///
            /// # Cost
            /// That of [`read_to_end`](Self::read_to_end), and one more copy.
            pub async fn read_to_string(&self, into: &mut String) -> std::io::Result<usize> {
                operations::read_to_string(self.io(), into).await
            }

            /// Waits until there may be something to read, or the peer has closed its side. A
            /// [`try_read`](Self::try_read) may find nothing all the same: then wait again.
            ///
            /// # Cancel safety
            /// Nothing is lost.
            ///
            /// # Errors
            /// There is no runtime, or it is over.
            pub fn readable(&self) -> impl Future<Output = std::io::Result<()>> + Send + '_ {
                self.io().wait(Direction::Read)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that read,
            /// the last one is woken; one that writes does not take its place.
            ///
            /// # Errors
            /// Those of [`readable`](Self::readable).
            pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
                self.io().poll_wait(cx, Direction::Read)
            }

            /// Reads without waiting: zero as for [`read`](Self::read).
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is nothing to read, and
            /// those of [`read`](Self::read).
            pub fn try_read(&self, buffer: &mut [u8]) -> std::io::Result<usize> {
                if buffer.is_empty() {
                    return Ok(0);
                }
                self.io().attempt(Direction::Read, |mut stream| stream.read(buffer))
            }

            /// Reads into several buffers, in turn, without waiting.
            ///
            /// # Errors
            /// Those of [`try_read`](Self::try_read).
            pub fn try_read_vectored(
                &self,
                buffers: &mut [IoSliceMut<'_>],
            ) -> std::io::Result<usize> {
                let buffers = operations::with_room(buffers);
                if buffers.is_empty() {
                    return Ok(0);
                }
                self.io().attempt(Direction::Read, |mut stream| stream.read_vectored(buffers))
            }
        }
    };
}
pub(in super::super) use read_operations;

/// Gives a type with a method `io` the operations that write: a stream, or one of its write halves.
macro_rules! write_operations {
    ($Type:ty, $Std:ty) => {
        impl $Type {
            /// Writes a piece of `buffer`, and returns the number of bytes.
            ///
            /// # Cancel safety
            /// Nothing is written by a call that was not completed.
            ///
            /// # Errors
            /// The system's, such as a connection that was closed.
            pub fn write<'a>(
                &'a self,
                buffer: &'a [u8],
            ) -> impl Future<Output = std::io::Result<usize>> + Send + 'a {
                self.io().operate(Direction::Write, move |stream| operations::write(stream, buffer))
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that
            /// write, the last one is woken.
            ///
            /// # Errors
            /// Those of [`write`](Self::write).
            pub fn poll_write(
                &self,
                cx: &mut Context<'_>,
                buffer: &[u8],
            ) -> Poll<std::io::Result<usize>> {
                self.io().poll(cx, Direction::Write, |stream| operations::write(stream, buffer))
            }

            /// Writes from several buffers, in turn.
            ///
            /// # Cancel safety
            /// As [`write`](Self::write).
            ///
            /// # Errors
            /// Those of [`write`](Self::write).
            pub fn write_vectored<'a>(
                &'a self,
                buffers: &'a [IoSlice<'_>],
            ) -> impl Future<Output = std::io::Result<usize>> + Send + 'a {
                let operation = move |stream: &$Std| operations::write_vectored(stream, buffers);
                self.io().operate(Direction::Write, operation)
            }

            /// Does the same, for a caller that is polled by functions.
            ///
            /// # Errors
            /// Those of [`write`](Self::write).
            pub fn poll_write_vectored(
                &self,
                cx: &mut Context<'_>,
                buffers: &[IoSlice<'_>],
            ) -> Poll<std::io::Result<usize>> {
                let operation = |stream: &$Std| operations::write_vectored(stream, buffers);
                self.io().poll(cx, Direction::Write, operation)
            }

            /// Writes all of `buffer`.
            ///
            /// # Cancel safety
            /// It is not cancel safe: how much was written is not known.
            ///
            /// # Errors
            /// Those of [`write`](Self::write).
            pub fn write_all<'a>(
                &'a self,
                buffer: &'a [u8],
            ) -> impl Future<Output = std::io::Result<()>> + Send + 'a {
                self.io().all(operations::Rest(buffer))
            }

            /// Waits until there may be room to write. A [`try_write`](Self::try_write) may find
            /// none all the same: then wait again.
            ///
            /// # Cancel safety
            /// Nothing is lost.
            ///
            /// # Errors
            /// There is no runtime, or it is over.
            pub fn writable(&self) -> impl Future<Output = std::io::Result<()>> + Send + '_ {
                self.io().wait(Direction::Write)
            }

            /// Does the same, for a caller that is polled by functions. Of several tasks that
            /// write, the last one is woken; one that reads does not take its place.
            ///
            /// # Errors
            /// Those of [`writable`](Self::writable).
            pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
                self.io().poll_wait(cx, Direction::Write)
            }

            /// Writes without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is no room, and those of
            /// [`write`](Self::write).
            pub fn try_write(&self, buffer: &[u8]) -> std::io::Result<usize> {
                let operation = |stream: &$Std| operations::write(stream, buffer);
                self.io().attempt(Direction::Write, operation).map(|done| done.result)
            }

            /// Writes from several buffers, in turn, without waiting.
            ///
            /// # Errors
            /// Those of [`try_write`](Self::try_write).
            pub fn try_write_vectored(&self, buffers: &[IoSlice<'_>]) -> std::io::Result<usize> {
                let operation = |stream: &$Std| operations::write_vectored(stream, buffers);
                self.io().attempt(Direction::Write, operation).map(|done| done.result)
            }
        }
    };
}
pub(in super::super) use write_operations;
