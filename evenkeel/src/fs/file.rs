//! Open files.
//!
//! # Roles
//! The *caller* has the file, and makes one operation at a time. A *blocking thread* makes it for
//! the caller. The *buffers* belong to one of the two.
//!
//! # States
//! *Here*: the caller has the buffers, and nothing is under way. *Away*: a blocking thread has
//! them, with an operation; the file has the handle by which they come back.
//!
//! # Steps
//! 1. An operation begins by waiting until the buffers are here. What has gone wrong with a write
//!    meanwhile is its error.
//! 2. A read takes bytes that are in the buffer. If there are none, it sends the buffers away to be
//!    filled, waits, and takes.
//! 3. A write moves its bytes into the buffers, sends them away, and returns.
//! 4. Any other operation with `&mut self` sends the buffers away and waits. Those with `&self`,
//!    for what the system says of the file and for permissions, go on beside.
//!
//! # Why nothing is lost
//! A caller that drops a future leaves the handle in the file, so the next operation gets the
//! buffers back. Bytes of a read whose future was dropped are in them: the next read takes them,
//! and a write or a seek first moves the system's position back. A write whose future was dropped
//! before step 3 has moved nothing; after it there is no future left to drop.
//!
//! If the runtime ends before a blocking thread begins, the buffers come back with what was read,
//! and what was accepted is written ([`Lent`]).
//!
//! # Rejected
//! - Writes that wait until the system has the bytes: a write that is dropped meanwhile would have
//!   written them, and its caller would not know, so a write in a `select` could not be repeated.
//! - A lock around the state, for operations that take `&self`: two readers of one position get
//!   what they do not expect. [`File::try_clone`] and [`std::sync::Mutex`] are there for that.

use super::blocking::{begin, ended, refuse_outside, run};
use super::buffers::{Buffers, Lent, MOST, Unbegun};
use crate::task::{JoinHandle, budget};
use std::fmt;
use std::fs::{self, Metadata, Permissions};
use std::future::{Future, poll_fn};
use std::io::{Error, ErrorKind, Result, SeekFrom};
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

/// What [`File::read_to_end`] reads first; later reads are larger.
const FIRST: usize = 32 * 1_024;

/// An open file, with a position at which it is read and written.
///
/// The methods have the names and the semantics of Tokio's, and of the traits of `tokio::io`, which
/// the file has too behind the feature `tokio-io`, as it has those of `futures_io` behind
/// `futures-io`.
///
/// # Writes are accepted first
/// [`write`](Self::write) copies bytes, and returns when they are on their way to a thread. If the
/// thread cannot write them, the *next* operation with `&mut self` returns the error. So a program
/// that wants to know calls [`flush`](Self::flush) at the end, before it drops the file. A drop
/// waits for nothing: the thread goes on, and closes the file afterwards.
///
/// # Cost
/// A hop to a blocking thread for each operation, and for reads that find bytes in the buffer none.
/// An operation moves at most 2 MiB. The file keeps a buffer of the size of its largest read, and
/// one of its largest write. Operations take a unit of the [`budget`](crate::budget).
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let log = std::env::temp_dir().join(format!("evenkeel-doc-file-{}", std::process::id()));
/// use evenkeel::fs::File;
/// let runtime = evenkeel::Runtime::new()?;
/// runtime.block_on(async {
///     let mut file = File::create(&log).await?;
///     file.write_all(b"wind: south\n").await?;
///     file.flush().await?;
///
///     let (mut file, mut text) = (File::open(&log).await?, String::new());
///     file.read_to_string(&mut text).await?;
///     assert_eq!(text, "wind: south\n");
///     evenkeel::fs::remove_file(&log).await?;
///     Ok(())
/// })
/// # }
/// ```
pub struct File {
    file: Arc<fs::File>,
    state: State,
    /// The position of the last seek.
    sought: u64,
}

enum State {
    Here(Buffers),
    Away {
        handle: JoinHandle<Back>,
        /// Where to, if the operation is a seek.
        #[cfg_attr(
            not(feature = "futures-io"),
            allow(dead_code, reason = "one trait looks at it")
        )]
        seeks: Option<SeekFrom>,
        /// What is left if the runtime ends before a thread begins, if there is anything to lose.
        left: Option<Arc<OnceLock<Unbegun>>>,
    },
}

/// What comes back from a blocking thread.
struct Back {
    buffers: Buffers,
    done: Done,
}

enum Done {
    Read(Result<()>),
    Written(Result<()>),
    Sought(Result<u64>),
    /// An operation that returns nothing.
    Made(Result<()>),
}

impl File {
    /// Takes a file of the standard library, with its position.
    #[must_use]
    pub fn from_std(file: fs::File) -> Self {
        Self { file: Arc::new(file), state: State::Here(Buffers::default()), sought: 0 }
    }

    /// Returns the file as one of the standard library, with its position, when nothing is under
    /// way any more.
    ///
    /// # Errors
    /// That of an earlier write; `NotSeekable` if bytes of a pipe were read, by a future that was
    /// dropped, and not taken; and [those of all operations](crate::fs#errors). The file is closed
    /// then.
    ///
    /// # Cancel safety
    /// The file is closed. What was accepted is written.
    ///
    /// # Cost
    /// A unit of the [`budget`](crate::budget), if nothing is under way, and all that was read has
    /// been taken.
    pub async fn into_std(mut self) -> Result<fs::File> {
        self.give_back().await?;
        if !self.here().unread().is_empty() {
            return Err(Error::new(
                ErrorKind::NotSeekable,
                "bytes that were read and not taken would be lost, and cannot be given back: read them before",
            ));
        }
        // An operation whose future was dropped may have it still.
        Arc::try_unwrap(self.file).or_else(|file| file.try_clone())
    }

    /// Returns another file that shares the position with this one, and has buffers of its own.
    ///
    /// # Errors
    /// That of an earlier write; the system's, such as no descriptor left; and [those of all
    /// operations](crate::fs#errors).
    ///
    /// # Cancel safety
    /// Nothing has changed.
    pub async fn try_clone(&mut self) -> Result<Self> {
        self.give_back().await?;
        Ok(Self::from_std(self.file.try_clone()?))
    }

    /// Reads at the position, and returns the number of bytes: zero says that the file ends there,
    /// or that `into` has no room.
    ///
    /// # Errors
    /// The system's, as for a file that is not open for reading; that of an earlier write; and
    /// [those of all operations](crate::fs#errors).
    ///
    /// # Cancel safety
    /// No byte is lost: the next read returns them.
    pub async fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        poll_fn(|cx| self.poll_read(cx, into)).await
    }

    /// Fills `into`, and returns its length.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends before: then `into` has its last bytes. And those of
    /// [`read`](Self::read).
    ///
    /// # Cancel safety
    /// The bytes that are in `into` already are taken.
    pub async fn read_exact(&mut self, into: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        loop {
            // Of an empty buffer too, which takes a unit of the budget.
            let n = self.read(&mut into[filled..]).await?;
            filled += n;
            if filled == into.len() {
                return Ok(filled);
            }
            if n == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Reads up to the end of the file, and appends the bytes to `into`. Returns their number.
    /// [`fs::read`](crate::fs::read) reads a whole file with one hop.
    ///
    /// # Errors
    /// Those of [`read`](Self::read). What was read before is in `into`.
    ///
    /// # Cancel safety
    /// No byte is lost: what was read is in `into`, or the next read returns it.
    pub async fn read_to_end(&mut self, into: &mut Vec<u8>) -> Result<usize> {
        let (before, mut most) = (into.len(), FIRST);
        loop {
            poll_fn(|cx| self.poll_fill(cx, most).map_ok(drop)).await?;
            let unread = self.here();
            let n = unread.unread().len();
            if n == 0 {
                return Ok(into.len() - before);
            }
            into.extend_from_slice(unread.unread());
            unread.consume(n);
            most = (2 * most).min(MOST);
        }
    }

    /// Reads up to the end of the file, and appends the text to `into`. Returns the number of
    /// bytes.
    ///
    /// # Errors
    /// `InvalidData` if it is not UTF-8; those of [`read`](Self::read). `into` is as before then,
    /// and what was read is lost.
    ///
    /// # Cancel safety
    /// None: what was read before is lost.
    pub async fn read_to_string(&mut self, into: &mut String) -> Result<usize> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes).await?;
        let text = String::from_utf8(bytes);
        let text = text.map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
        into.push_str(&text);
        Ok(text.len())
    }

    /// Accepts bytes to be written at the position, at most 2 MiB, and returns their number. See
    /// [above](Self#writes-are-accepted-first).
    ///
    /// # Errors
    /// That of an earlier write; and [those of all operations](crate::fs#errors). Nothing has been
    /// accepted then.
    ///
    /// # Cancel safety
    /// A future that is dropped has accepted nothing.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        poll_fn(|cx| self.poll_write(cx, bytes)).await
    }

    /// Accepts all of the bytes.
    ///
    /// # Errors
    /// Those of [`write`](Self::write). A part may have been accepted.
    ///
    /// # Cancel safety
    /// A part may have been accepted.
    pub async fn write_all(&mut self, mut bytes: &[u8]) -> Result<()> {
        loop {
            // Also without bytes: that takes a unit of the budget.
            let n = self.write(bytes).await?;
            bytes = &bytes[n..];
            if bytes.is_empty() {
                return Ok(());
            }
        }
    }

    /// Waits until the system has all that was accepted. It may not be on the disk yet: see
    /// [`sync_all`](Self::sync_all).
    ///
    /// # Errors
    /// That of an earlier write; and [those of all operations](crate::fs#errors).
    ///
    /// # Cancel safety
    /// Nothing is lost, also no error.
    pub async fn flush(&mut self) -> Result<()> {
        poll_fn(|cx| self.poll_flush(cx)).await
    }

    /// Moves the position, and returns it. It may be beyond the end of the file.
    ///
    /// # Errors
    /// `InvalidInput` for a position below zero, `NotSeekable` for a pipe; that of an earlier
    /// write; and [those of all operations](crate::fs#errors).
    ///
    /// # Cancel safety
    /// The position may have been moved.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let log = std::env::temp_dir().join(format!("evenkeel-doc-seek-{}", std::process::id()));
    /// use evenkeel::fs::{File, remove_file};
    /// use std::io::SeekFrom;
    /// let runtime = evenkeel::Runtime::new()?;
    /// runtime.block_on(async {
    ///     let (mut file, mut word) = (File::create_new(&log).await?, [0; 5]);
    ///     file.write_all(b"wind: south").await?;
    ///     assert_eq!(file.seek(SeekFrom::End(-5)).await?, 6);
    ///     file.read_exact(&mut word).await?;
    ///     assert_eq!(&word, b"south");
    ///     remove_file(&log).await?;
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub async fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.back().await?;
        self.begin_seek(to)?;
        poll_fn(|cx| self.poll_sought(cx)).await
    }

    /// Moves the position to the begin of the file.
    ///
    /// # Errors
    /// Those of [`seek`](Self::seek).
    ///
    /// # Cancel safety
    /// That of [`seek`](Self::seek).
    pub async fn rewind(&mut self) -> Result<()> {
        self.seek(SeekFrom::Start(0)).await.map(drop)
    }

    /// Returns the position.
    ///
    /// # Errors
    /// Those of [`seek`](Self::seek).
    ///
    /// # Cancel safety
    /// Nothing has changed.
    pub async fn stream_position(&mut self) -> Result<u64> {
        self.seek(SeekFrom::Current(0)).await
    }

    /// Waits until all that was accepted is on the disk, with what the system says of the file.
    ///
    /// # Errors
    /// That of an earlier write; the system's; and [those of all operations](crate::fs#errors).
    ///
    /// # Cancel safety
    /// The thread goes on. Of an error of the system nothing is known then.
    pub async fn sync_all(&mut self) -> Result<()> {
        self.back().await?;
        self.make(|file, _| file.sync_all()).await
    }

    /// Does the same as [`sync_all`](Self::sync_all), without what is not needed to read the
    /// content, such as the time of the last change.
    ///
    /// # Errors
    /// Those of [`sync_all`](Self::sync_all).
    ///
    /// # Cancel safety
    /// That of [`sync_all`](Self::sync_all).
    pub async fn sync_data(&mut self) -> Result<()> {
        self.back().await?;
        self.make(|file, _| file.sync_data()).await
    }

    /// Cuts the file off after `len` bytes, or fills it up with zeros. The position stays.
    ///
    /// # Errors
    /// `InvalidInput` for a file that is not open for writing; that of an earlier write; the
    /// system's; and [those of all operations](crate::fs#errors).
    ///
    /// # Cancel safety
    /// The length may change later, and before the next operation with `&mut self`. Of an error of
    /// the system nothing is known then.
    pub async fn set_len(&mut self, len: u64) -> Result<()> {
        self.back().await?;
        // What was read and not taken may be cut off.
        self.make(move |file, buffers| buffers.give_back(file).and_then(|()| file.set_len(len)))
            .await
    }

    /// Returns what the system says of the file. Bytes that it does not have yet do not count:
    /// [`flush`](Self::flush) before.
    ///
    /// # Errors
    /// The system's; and [those of all operations](crate::fs#errors).
    ///
    /// # Cancel safety
    /// Nothing has changed.
    pub async fn metadata(&self) -> Result<Metadata> {
        self.on_thread(fs::File::metadata).await
    }

    /// Changes the permissions of the file.
    ///
    /// # Errors
    /// The system's, such as `PermissionDenied`; and [those of all operations](crate::fs#errors).
    ///
    /// # Cancel safety
    /// They may change later, also after another change that is awaited.
    pub async fn set_permissions(&self, permissions: Permissions) -> Result<()> {
        self.on_thread(move |file| file.set_permissions(permissions)).await
    }

    /// Calls `operation` on a blocking thread, beside the buffers.
    async fn on_thread<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&fs::File) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let file = self.file.clone();
        run(move || operation(&file)).await
    }

    /// Makes an operation with the buffers, which are here, and waits for it.
    async fn make(
        &mut self,
        operation: impl FnOnce(&fs::File, &mut Buffers) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        self.send(None, move |file, buffers| Done::Made(operation(file, buffers)))?;
        match self.back().await? {
            Some(Done::Made(result)) => result,
            _ => unreachable!("the buffers come back with what was done"),
        }
    }

    /// Sends the buffers to a blocking thread. They are here, and stay here if that fails.
    fn send(
        &mut self,
        seeks: Option<SeekFrom>,
        operation: impl FnOnce(&fs::File, &mut Buffers) -> Done + Send + 'static,
    ) -> Result<()> {
        refuse_outside()?;
        self.lend(seeks, operation)
    }

    /// Does the same, for a caller that is in a runtime.
    fn lend(
        &mut self,
        seeks: Option<SeekFrom>,
        operation: impl FnOnce(&fs::File, &mut Buffers) -> Done + Send + 'static,
    ) -> Result<()> {
        let (lent, left) = Lent::new(self.file.clone(), mem::take(self.here()));
        let handle = begin(move || {
            let (buffers, done) = lent.make(operation);
            Back { buffers, done }
        })?;
        self.state = State::Away { handle, seeks, left };
        Ok(())
    }

    fn here(&mut self) -> &mut Buffers {
        match &mut self.state {
            State::Here(buffers) => buffers,
            State::Away { .. } => unreachable!("each operation first waits for the buffers"),
        }
    }

    /// Waits until the buffers are here, and returns what has been done with them. Fails if that
    /// was a write, and has failed.
    fn poll_back(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Done>>> {
        let State::Away { handle, left, .. } = &mut self.state else {
            return Poll::Ready(Ok(None));
        };
        let back = ready!(Pin::new(handle).poll(cx));
        let left = left.take();
        // From a thread that the runtime has left behind they do not come back.
        self.state = State::Here(Buffers::default());
        let Back { buffers, done } = match back {
            Ok(back) => back,
            Err(error) => {
                // What has not begun was dropped before its handle was done, unless the runtime
                // has left it behind.
                let left = left.and_then(Arc::into_inner).and_then(OnceLock::into_inner);
                let Unbegun { buffers, written } = left.unwrap_or_default();
                self.state = State::Here(buffers);
                return Poll::Ready(match written {
                    Some(result) => result.map(|()| None),
                    None => Err(ended(error)),
                });
            }
        };
        self.state = State::Here(buffers);
        Poll::Ready(match done {
            Done::Written(Err(error)) => Err(error),
            done => Ok(Some(done)),
        })
    }

    async fn back(&mut self) -> Result<Option<Done>> {
        poll_fn(|cx| self.poll_back(cx)).await
    }

    /// Waits until the buffers are here, and the system's position is the caller's.
    async fn give_back(&mut self) -> Result<()> {
        self.flush().await?;
        if !self.here().unread().is_empty() {
            return self.make(|file, buffers| buffers.give_back(file)).await;
        }
        Ok(())
    }

    /// Waits until there are bytes to take, or the file is at its end and there are none.
    pub(super) fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        most: usize,
    ) -> Poll<Result<&mut Buffers>> {
        ready!(budget::poll_unit(cx.waker()));
        loop {
            if let Some(Done::Read(result)) = ready!(self.poll_back(cx))? {
                result?;
                break;
            }
            if !self.here().unread().is_empty() {
                break;
            }
            let most = most.min(MOST);
            self.send(None, move |file, buffers| Done::Read(buffers.fill(file, most)))?;
        }
        Poll::Ready(Ok(self.here()))
    }

    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<Result<usize>> {
        if into.is_empty() {
            return budget::poll_unit(cx.waker()).map(|()| Ok(0));
        }
        self.poll_fill(cx, into.len()).map_ok(|unread| unread.take(into))
    }

    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        ready!(budget::poll_unit(cx.waker()));
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        ready!(self.poll_back(cx))?;
        // Before anything is accepted.
        refuse_outside()?;
        let n = self.here().accept(bytes);
        self.lend(None, |file, buffers| Done::Written(buffers.write(file)))?;
        Poll::Ready(Ok(n))
    }

    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if let State::Here(_) = self.state {
            return budget::poll_unit(cx.waker()).map(Ok);
        }
        self.poll_back(cx).map_ok(drop)
    }

    /// Returns where to the seek goes that is under way, if one is.
    #[cfg(feature = "futures-io")]
    pub(super) fn seeks(&self) -> Option<SeekFrom> {
        match self.state {
            State::Here(_) => None,
            State::Away { seeks, .. } => seeks,
        }
    }

    /// Returns whether an operation is under way.
    #[cfg(feature = "tokio-io")]
    pub(super) fn is_away(&self) -> bool {
        matches!(self.state, State::Away { .. })
    }

    /// Begins a seek. The buffers are here.
    pub(super) fn begin_seek(&mut self, to: SeekFrom) -> Result<()> {
        self.send(Some(to), move |file, buffers| Done::Sought(buffers.seek(file, to)))
    }

    /// Waits for the seek that is under way, and returns the position of the last seek.
    pub(super) fn poll_sought(&mut self, cx: &mut Context<'_>) -> Poll<Result<u64>> {
        if let Some(Done::Sought(result)) = ready!(self.poll_back(cx))? {
            self.sought = result?;
        }
        Poll::Ready(Ok(self.sought))
    }
}

impl From<fs::File> for File {
    fn from(file: fs::File) -> Self {
        Self::from_std(file)
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("File").field(&self.file).finish()
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for File {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(unix)]
impl std::os::fd::AsRawFd for File {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.file.as_raw_fd()
    }
}
