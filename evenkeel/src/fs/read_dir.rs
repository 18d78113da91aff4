//! The entries of a folder.

use super::blocking::{begin, ended, refuse_outside, run};
use crate::task::JoinHandle;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, FileType, Metadata};
use std::future::{Future, poll_fn};
use std::io::Result;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// How many entries one hop to a blocking thread brings.
const BATCH: usize = 32;

/// Opens a folder, for a walk over its entries.
///
/// # Errors
/// The system's, such as `NotFound` and `NotADirectory`; and [those of all
/// operations](crate::fs#errors).
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("evenkeel-doc-read-dir-{}", std::process::id()));
/// use evenkeel::fs;
/// let runtime = evenkeel::Runtime::new()?;
/// runtime.block_on(async {
///     fs::create_dir_all(folder.join("hold")).await?;
///     fs::write(folder.join("log"), "calm").await?;
///     let (mut entries, mut names) = (fs::read_dir(&folder).await?, Vec::new());
///     while let Some(entry) = entries.next_entry().await? {
///         assert_eq!(entry.file_type().await?.is_dir(), entry.file_name() == "hold");
///         names.push(entry.file_name());
///     }
///     names.sort();
///     assert_eq!(names, ["hold", "log"]);
///     fs::remove_dir_all(&folder).await?;
///     Ok(())
/// })
/// # }
/// ```
pub async fn read_dir(path: impl AsRef<Path>) -> Result<ReadDir> {
    let path = path.as_ref().to_owned();
    let batch =
        run(move || Ok(Batch { rest: Some(fs::read_dir(path)?), ..Batch::default() }.fill()));
    Ok(ReadDir { state: State::Here(batch.await?) })
}

/// A walk over the entries of a folder, in the system's order, without `.` and `..`. Returned by
/// [`read_dir`], which has an example.
pub struct ReadDir {
    state: State,
}

enum State {
    Here(Batch),
    /// A blocking thread has it.
    Away(JoinHandle<Batch>),
}

/// Entries that are read, and the rest of the walk, if there is one.
#[derive(Default)]
struct Batch {
    entries: VecDeque<Result<DirEntry>>,
    rest: Option<fs::ReadDir>,
}

impl Batch {
    /// Reads entries, on a blocking thread. An error is the last one of its batch.
    fn fill(mut self) -> Self {
        while let Some(rest) = &mut self.rest
            && self.entries.len() < BATCH
        {
            match rest.next() {
                Some(Ok(entry)) => self.entries.push_back(Ok(DirEntry::new(entry))),
                Some(Err(error)) => {
                    self.entries.push_back(Err(error));
                    break;
                }
                None => self.rest = None,
            }
        }
        self
    }
}

impl ReadDir {
    /// Returns the next entry, or `None` after the last one.
    ///
    /// # Errors
    /// The system's, after which the walk may go on, and that of a call outside of a runtime,
    /// likewise; and the other ones [of all operations](crate::fs#errors), which end it.
    ///
    /// # Cancel safety
    /// No entry is lost: the next call returns it.
    ///
    /// # Cost
    /// A hop to a blocking thread for 32 entries.
    pub async fn next_entry(&mut self) -> Result<Option<DirEntry>> {
        poll_fn(|cx| self.poll_next_entry(cx)).await
    }

    /// Does the same, for a caller that is polled by functions.
    ///
    /// # Errors
    /// Those of [`next_entry`](Self::next_entry).
    pub fn poll_next_entry(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<DirEntry>>> {
        loop {
            match &mut self.state {
                State::Here(batch) => match batch.entries.pop_front() {
                    Some(entry) => return Poll::Ready(entry.map(Some)),
                    None if batch.rest.is_none() => return Poll::Ready(Ok(None)),
                    None => {
                        refuse_outside()?;
                        let batch = std::mem::take(batch);
                        self.state = State::Away(begin(move || batch.fill())?);
                    }
                },
                State::Away(handle) => {
                    let batch = ready!(Pin::new(handle).poll(cx));
                    self.state = State::Here(Batch::default());
                    self.state = State::Here(batch.map_err(ended)?);
                }
            }
        }
    }
}

/// The entries, and the errors of [`next_entry`](ReadDir::next_entry), some of which end the walk.
/// Outside of a runtime each item after those that have been read is an error, without end: do not
/// leave errors out.
///
/// # Examples
/// ```
/// use futures::TryStreamExt;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = evenkeel::Runtime::new()?;
/// let names = runtime.block_on(async {
///     let entries = evenkeel::fs::read_dir(".").await?;
///     entries.map_ok(|entry| entry.file_name()).try_collect::<Vec<_>>().await
/// })?;
/// assert!(names.iter().any(|name| name == "Cargo.toml"));
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "stream")]
impl futures_core::Stream for ReadDir {
    type Item = Result<DirEntry>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<DirEntry>>> {
        self.poll_next_entry(cx).map(Result::transpose)
    }
}

impl fmt::Debug for ReadDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadDir").finish_non_exhaustive()
    }
}

/// An entry of a folder. Returned by [`ReadDir::next_entry`].
pub struct DirEntry {
    entry: Arc<fs::DirEntry>,
    /// What the system has said with the entry.
    file_type: Option<FileType>,
}

impl DirEntry {
    fn new(entry: fs::DirEntry) -> Self {
        let file_type = entry.file_type().ok();
        Self { entry: Arc::new(entry), file_type }
    }

    /// Returns the path: that of the folder, as it was given, and the name.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.entry.path()
    }

    /// Returns the name, without the folder.
    #[must_use]
    pub fn file_name(&self) -> OsString {
        self.entry.file_name()
    }

    /// Returns what the system says of the entry now. Does not follow a symbolic link.
    ///
    /// # Errors
    /// The system's, such as `NotFound` if the entry has been removed; and [those of all
    /// operations](crate::fs#errors).
    ///
    /// # Cancel safety
    /// Nothing has changed.
    pub async fn metadata(&self) -> Result<Metadata> {
        let entry = self.entry.clone();
        run(move || entry.metadata()).await
    }

    /// Returns whether the entry is a file, a folder or a link. Does not follow a symbolic link.
    ///
    /// # Errors
    /// Those of [`metadata`](Self::metadata), if the system has not said it before.
    ///
    /// # Cancel safety
    /// Nothing has changed.
    ///
    /// # Cost
    /// As a rule nothing: it has come with the entry.
    pub async fn file_type(&self) -> Result<FileType> {
        match self.file_type {
            Some(file_type) => Ok(file_type),
            None => {
                let entry = self.entry.clone();
                run(move || entry.file_type()).await
            }
        }
    }

    /// Returns the number of the entry in its file system.
    #[cfg(unix)]
    #[must_use]
    pub fn ino(&self) -> u64 {
        std::os::unix::fs::DirEntryExt::ino(&*self.entry)
    }
}

impl fmt::Debug for DirEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DirEntry").field(&self.path()).finish()
    }
}
