//! Files and folders, whose operations run on blocking threads.
//!
//! The functions have the names of `std::fs`, and do the same without blocking a worker. Each takes
//! a path, and is done by a thread of [`spawn_blocking`](crate::spawn_blocking). [`File`] is an
//! open file, and [`read_dir()`] walks over a folder.
//!
//! # Errors
//! Operations return the system's errors, with the kinds of [`std::io::ErrorKind`]. All of them
//! also fail
//! * outside of a runtime, that is in no task and in no [`block_on`](crate::Runtime::block_on) of
//!   one, with an error that says so. Nothing has been done then;
//! * if the runtime ends before a thread begins the operation: nothing has been done, but for bytes
//!   that were accepted, as follows;
//! * if a shutdown with a [deadline](crate::Shutdown::Deadline) leaves the thread behind during the
//!   operation: it may or may not be done.
//!
//! A shutdown waits for operations that have begun, as for other [blocking
//! closures](crate::Handle::spawn_blocking). Bytes that a [`File`] has accepted for a file on a
//! disk are written even if no thread has begun to; a pipe gets as many as it takes at once, unless
//! another writer fills it meanwhile, and [`File::flush`] says how many. A shutdown with a deadline
//! waits for that within its grace.
//!
//! # Cancel safety
//! An operation begins with the first poll of its future. A thread cannot be interrupted: if the
//! future is dropped then, the operation is still done, at any time, and its result is lost. So a
//! file may be made, removed or renamed by an operation whose future was dropped. Where another
//! rule holds, the operation's documentation says so.
//!
//! # Cost
//! A hop to a blocking thread and back: an allocation, a wake-up of a thread that sleeps, and one
//! of the task. That is more than the system's call takes if the file is in memory. So fewer and
//! larger operations pay: [`read`] instead of many reads, or one
//! [`spawn_blocking`](crate::spawn_blocking) with many calls of `std::fs`. As many operations run
//! at once as [`Builder::blocking_threads`](crate::Builder::blocking_threads) allows. Paths are
//! copied.
//!
//! In a [deterministic](crate::deterministic) run an operation is made by a task that is polled
//! once.
//!
//! # Traits of other crates
//! [`File`] has `AsyncRead`, `AsyncWrite` and `AsyncSeek` of `tokio::io` behind the feature
//! `tokio-io`, and those of `futures_io` behind `futures-io`.
//!
//! # Examples
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("evenkeel-doc-fs-{}", std::process::id()));
//! use evenkeel::fs;
//! let runtime = evenkeel::Runtime::new()?;
//! runtime.block_on(async {
//!     fs::create_dir(&folder).await?;
//!     fs::write(folder.join("log"), "wind: south").await?;
//!     assert_eq!(fs::read_to_string(folder.join("log")).await?, "wind: south");
//!     fs::remove_dir_all(&folder).await?;
//!     Ok(())
//! })
//! # }
//! ```

mod blocking;
mod buffers;
mod file;
mod open;
mod open_options;
mod paths;
mod read_dir;
#[cfg(any(feature = "futures-io", feature = "tokio-io"))]
mod traits;

pub use file::File;
pub use open_options::OpenOptions;
#[cfg(unix)]
pub use paths::symlink;
pub use paths::{canonicalize, copy, create_dir, create_dir_all, hard_link, metadata};
pub use paths::{read, read_link, read_to_string, remove_dir, remove_dir_all, remove_file, rename};
pub use paths::{set_permissions, symlink_metadata, try_exists, write};
pub use read_dir::{DirEntry, ReadDir, read_dir};
