//! Opens files.

use super::blocking::run;
use super::file::File;
use super::open_options::OpenOptions;
use std::io::Result;
use std::path::Path;

impl OpenOptions {
    /// Opens a file.
    ///
    /// # Errors
    /// `InvalidInput` if the options do not go together; the system's; and [those of all
    /// operations](crate::fs#errors).
    ///
    /// # Cancel safety
    /// A file may be made or truncated that no caller gets; it is closed.
    pub async fn open(&self, path: impl AsRef<Path>) -> Result<File> {
        let (options, path) = (self.0.clone(), path.as_ref().to_owned());
        Ok(File::from_std(run(move || options.open(path)).await?))
    }
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// The system's, such as `NotFound`; and [those of all operations](crate::fs#errors).
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().read(true).open(path).await
    }

    /// Opens a file for writing, and makes it, or drops what is in it.
    ///
    /// # Errors
    /// The system's, such as `PermissionDenied`; and [those of all operations](crate::fs#errors).
    ///
    /// # Cancel safety
    /// The file may have been made, or its content dropped.
    pub async fn create(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().write(true).create(true).truncate(true).open(path).await
    }

    /// Makes a file for reading and writing. One that is there is an error.
    ///
    /// # Errors
    /// `AlreadyExists`, and others of the system; and [those of all
    /// operations](crate::fs#errors).
    ///
    /// # Cancel safety
    /// The file may have been made.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let lock = std::env::temp_dir().join(format!("evenkeel-doc-new-{}", std::process::id()));
    /// use evenkeel::fs::{File, remove_file};
    /// let runtime = evenkeel::Runtime::new()?;
    /// runtime.block_on(async {
    ///     File::create_new(&lock).await?;
    ///     let error = File::create_new(&lock).await.unwrap_err();
    ///     assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    ///     remove_file(&lock).await?;
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub async fn create_new(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().read(true).write(true).create_new(true).open(path).await
    }

    /// Returns options of which none is set.
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }
}
