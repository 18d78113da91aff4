//! The halves of a stream: what those of TCP and of Unix streams have in common.

/// Writes out the halves of a stream, and the functions that split it and put it together again.
/// The module that calls it has `$Std` and `$Address` in scope.
macro_rules! halves {
    ($Stream:ident, $Std:ty, $Address:ty, $module:literal, $pair:literal) => {
        impl $Stream {
            /// Lends the stream as two halves, one that reads and one that writes. It takes no
            /// lock and no allocation.
            ///
            /// The operations of the stream itself take `&self`: halves are for callers that want
            /// a value of the traits of I/O for each direction. With the trait `AsyncReadExt` of
            /// `futures` in scope, call it by its whole name: that trait has a `split` too.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use evenkeel::net::", stringify!($Stream), ";")]
            ///
            /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
            /// let runtime = evenkeel::Runtime::new()?;
            /// runtime.block_on(async {
            #[doc = $pair]
            ///     let (reader, writer) = one.split();
            ///     let (word, mut back) = ([7; 100], [0; 100]);
            ///     // Both at once, in one task.
            ///     let echo = async {
            ///         let mut buffer = [0; 100];
            ///         other.read_exact(&mut buffer).await?;
            ///         other.write_all(&buffer).await
            ///     };
            ///     let (writes, reads) = (writer.write_all(&word), reader.read_exact(&mut back));
            ///     let (written, read, echoed) = futures::join!(writes, reads, echo);
            ///     written.and(read).and(echoed)?;
            ///     assert_eq!(word, back);
            ///     Ok(())
            /// })
            /// # }
            /// ```
            pub fn split(&self) -> (ReadHalf<'_>, WriteHalf<'_>) {
                (ReadHalf(self), WriteHalf(self))
            }

            /// Takes the stream apart into two halves, for two tasks. The connection is closed
            /// when both halves are dropped; dropping the write half shuts its direction down.
            ///
            /// # Cost
            /// One allocation.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use evenkeel::net::", stringify!($Stream), ";")]
            ///
            /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
            /// let runtime = evenkeel::Runtime::new()?;
            /// runtime.block_on(async {
            #[doc = $pair]
            ///     let (reader, writer) = one.into_split();
            ///     let writes = evenkeel::spawn(async move {
            ///         writer.write_all(b"hello").await?;
            ///         // Dropped: the peer reads to the end.
            ///         std::io::Result::Ok(())
            ///     });
            ///     let mut word = [0; 8];
            ///     other.read_exact(&mut word[..5]).await?;
            ///     assert_eq!(other.read(&mut word).await?, 0);
            ///     writes.await??;
            ///     other.write_all(b"and back").await?;
            ///     reader.read_exact(&mut word).await?;
            ///     assert_eq!(&word, b"and back");
            ///     Ok(())
            /// })
            /// # }
            /// ```
            pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
                let stream = Arc::new(self);
                let reader = OwnedReadHalf { stream: stream.clone() };
                (reader, OwnedWriteHalf { stream, shuts_down: true })
            }
        }

        #[doc = concat!("The half of a [`", stringify!($Stream), "`] that reads; ")]
        #[doc = concat!("[`split`](", stringify!($Stream), "::split) lends it.")]
        #[derive(Debug)]
        pub struct ReadHalf<'a>(&'a $Stream);

        #[doc = concat!("The half of a [`", stringify!($Stream), "`] that writes; ")]
        #[doc = concat!("[`split`](", stringify!($Stream), "::split) lends it.")]
        ///
        /// Dropping it has no effect on the stream.
        #[derive(Debug)]
        pub struct WriteHalf<'a>(&'a $Stream);

        #[doc = concat!("The half of a [`", stringify!($Stream), "`] that reads; ")]
        #[doc = concat!("[`into_split`](", stringify!($Stream), "::into_split) makes it.")]
        #[derive(Debug)]
        pub struct OwnedReadHalf {
            stream: Arc<$Stream>,
        }

        #[doc = concat!("The half of a [`", stringify!($Stream), "`] that writes; ")]
        #[doc = concat!("[`into_split`](", stringify!($Stream), "::into_split) makes it.")]
        ///
        /// Dropping it shuts the direction down: the peer reads to the end of what was written.
        /// [`forget`](Self::forget) does not.
        #[derive(Debug)]
        pub struct OwnedWriteHalf {
            stream: Arc<$Stream>,
            shuts_down: bool,
        }

        read_operations!(ReadHalf<'_>, $Std);
        read_operations!(OwnedReadHalf, $Std);
        write_operations!(WriteHalf<'_>, $Std);
        write_operations!(OwnedWriteHalf, $Std);
        half!(ReadHalf<'_>, $Stream, $Std, $Address, |half| half.0);
        half!(WriteHalf<'_>, $Stream, $Std, $Address, |half| half.0);
        half!(OwnedReadHalf, $Stream, $Std, $Address, |half| &half.stream);
        half!(OwnedWriteHalf, $Stream, $Std, $Address, |half| &half.stream);
        write_half!(WriteHalf<'_>);
        write_half!(OwnedWriteHalf);

        impl OwnedReadHalf {
            /// Puts the two halves of a stream together again.
            ///
            /// # Errors
            /// The halves are of two streams; the error has them.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use evenkeel::net::", stringify!($Stream), ";")]
            ///
            /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
            /// let runtime = evenkeel::Runtime::new()?;
            /// runtime.block_on(async {
            #[doc = $pair]
            ///     let (reader, writer) = one.into_split();
            ///     let (_, stranger) = other.into_split();
            #[doc = concat!("    let evenkeel::net::", $module, "::ReuniteError(reader, _) =")]
            ///         reader.reunite(stranger).unwrap_err();
            ///     let one = reader.reunite(writer)?;
            ///     // Its peer is gone, because it was not reunited.
            ///     assert_eq!(one.read(&mut [0]).await?, 0);
            ///     Ok(())
            /// })
            /// # }
            /// ```
            pub fn reunite(self, writer: OwnedWriteHalf) -> Result<$Stream, ReuniteError> {
                if !Arc::ptr_eq(&self.stream, &writer.stream) {
                    return Err(ReuniteError(self, writer));
                }
                writer.forget();
                // The stream has two halves, and the other one is gone.
                Ok(Arc::into_inner(self.stream).expect("a stream has two halves"))
            }
        }

        impl OwnedWriteHalf {
            /// Puts the two halves of a stream together again.
            ///
            /// # Errors
            /// The halves are of two streams; the error has them.
            pub fn reunite(self, reader: OwnedReadHalf) -> Result<$Stream, ReuniteError> {
                reader.reunite(self)
            }

            /// Drops the half, and leaves its direction open. The connection is closed when the
            /// read half is dropped.
            pub fn forget(mut self) {
                self.shuts_down = false;
            }
        }

        impl Drop for OwnedWriteHalf {
            fn drop(&mut self) {
                if self.shuts_down {
                    // A connection that was reset has nothing to shut down.
                    _ = self.io().socket().shutdown(Shutdown::Write);
                }
            }
        }

        /// The error of [`OwnedReadHalf::reunite`] for halves of two streams. It has both.
        #[derive(Debug)]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        impl fmt::Display for ReuniteError {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the halves are of two streams: reunite those of one `into_split`")
            }
        }

        impl std::error::Error for ReuniteError {}
    };
}
pub(super) use halves;

/// What each half has.
macro_rules! half {
    ($Half:ty, $Stream:ident, $Std:ty, $Address:ty, |$half:ident| $stream:expr) => {
        impl $Half {
            pub(in crate::net) fn io(&self) -> &Io<$Std> {
                let $half = self;
                $stream.io()
            }

            /// Returns this side's address.
            ///
            /// # Errors
            /// The system's.
            pub fn local_addr(&self) -> io::Result<$Address> {
                self.io().socket().local_addr()
            }

            /// Returns the peer's address.
            ///
            /// # Errors
            /// The system's.
            pub fn peer_addr(&self) -> io::Result<$Address> {
                self.io().socket().peer_addr()
            }
        }

        impl AsRef<$Stream> for $Half {
            fn as_ref(&self) -> &$Stream {
                let $half = self;
                $stream
            }
        }
    };
}
pub(super) use half;

/// What each half that writes has.
macro_rules! write_half {
    ($Half:ty) => {
        impl $Half {
            /// Shuts the direction down: the peer reads to the end of what was written. It does not
            /// wait for the peer; it is a future as it is by the traits of I/O.
            ///
            /// # Cancel safety
            /// A call that was not completed has changed nothing.
            ///
            /// # Errors
            /// The system's. A connection that the peer has reset is no error.
            pub async fn shutdown(&self) -> io::Result<()> {
                budget::consume().await;
                close(self.io().socket().shutdown(Shutdown::Write))
            }
        }
    };
}
pub(super) use write_half;
