//! Operations on paths.

use super::blocking::run;
use std::fs::{self, Metadata, Permissions};
use std::io::Result;
use std::path::{Path, PathBuf};

/// Writes out operations: each calls the function of the standard library that has its name, on a
/// blocking thread, with paths that it owns.
macro_rules! operations {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident($($path:ident),+ $(; $value:ident: $Value:ty)?) -> $Output:ty;
    )*) => {$(
        $(#[$attribute])*
        pub async fn $name(
            $($path: impl AsRef<Path>,)+
            $($value: $Value,)?
        ) -> Result<$Output> {
            $(let $path = $path.as_ref().to_owned();)+
            run(move || fs::$name($(&$path,)+ $($value)?)).await
        }
    )*};
}

operations! {
    /// Returns the whole content of a file.
    ///
    /// # Errors
    /// The system's, such as `NotFound`; and [those of all operations](crate::fs#errors).
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let log = std::env::temp_dir().join(format!("evenkeel-doc-read-{}", std::process::id()));
    /// let runtime = evenkeel::Runtime::new()?;
    /// runtime.block_on(async {
    ///     evenkeel::fs::write(&log, b"wind: south").await?;
    ///     assert_eq!(evenkeel::fs::read(&log).await?, b"wind: south");
    ///     evenkeel::fs::remove_file(&log).await?;
    ///     let error = evenkeel::fs::read(&log).await.unwrap_err();
    ///     assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    ///     Ok(())
    /// })
    /// # }
    /// ```
    fn read(path) -> Vec<u8>;

    /// Returns the whole content of a file as text.
    ///
    /// # Errors
    /// `InvalidData` if it is not UTF-8; those of [`read`].
    fn read_to_string(path) -> String;

    /// Copies the content and the permissions of a file to another one, which is made, or replaced.
    /// Returns the number of bytes.
    ///
    /// # Errors
    /// The system's, such as `NotFound`; and [those of all operations](crate::fs#errors).
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = std::env::temp_dir().join(format!("evenkeel-doc-copy-{}", std::process::id()));
    /// use evenkeel::fs;
    /// let (chart, copy) = (folder.join("a/chart"), folder.join("copy"));
    /// let runtime = evenkeel::Runtime::new()?;
    /// runtime.block_on(async {
    ///     fs::create_dir_all(folder.join("a")).await?;
    ///     fs::write(&chart, "rocks").await?;
    ///     assert_eq!(fs::copy(&chart, &copy).await?, 5);
    ///     fs::rename(&copy, folder.join("second")).await?;
    ///     assert!(!fs::try_exists(&copy).await?);
    ///     assert_eq!(fs::metadata(folder.join("second")).await?.len(), 5);
    ///     fs::remove_dir_all(&folder).await?;
    ///     Ok(())
    /// })
    /// # }
    /// ```
    fn copy(from, to) -> u64;

    /// Makes a folder in a folder that is there.
    ///
    /// # Errors
    /// The system's: `AlreadyExists`, `NotFound` if the parent is not there; and [those of all
    /// operations](crate::fs#errors).
    fn create_dir(path) -> ();

    /// Makes a folder, and those above it that are not there. A folder that is there is no error.
    ///
    /// # Errors
    /// The system's; some of the folders may have been made. And [those of all
    /// operations](crate::fs#errors).
    fn create_dir_all(path) -> ();

    /// Removes a file, or a symbolic link, from its folder. Where it is open it can still be used.
    ///
    /// # Errors
    /// The system's, such as `NotFound`; and [those of all operations](crate::fs#errors).
    fn remove_file(path) -> ();

    /// Removes an empty folder.
    ///
    /// # Errors
    /// The system's, such as `DirectoryNotEmpty`; and [those of all operations](crate::fs#errors).
    fn remove_dir(path) -> ();

    /// Removes a folder with all that is in it. It follows no symbolic links: it removes them.
    ///
    /// # Errors
    /// The system's; a part may have been removed. And [those of all operations](crate::fs#errors).
    fn remove_dir_all(path) -> ();

    /// Gives a file or folder another name, on the same file system. A file with that name is
    /// replaced.
    ///
    /// # Errors
    /// The system's, such as `CrossesDevices`; and [those of all operations](crate::fs#errors).
    fn rename(from, to) -> ();

    /// Returns what the system says of a file or folder. Follows symbolic links.
    ///
    /// # Errors
    /// The system's, such as `NotFound`; and [those of all operations](crate::fs#errors).
    fn metadata(path) -> Metadata;

    /// Does the same as [`metadata`], and does not follow a symbolic link.
    ///
    /// # Errors
    /// Those of [`metadata`].
    fn symlink_metadata(path) -> Metadata;

    /// Returns the absolute path without symbolic links, `.` and `..`.
    ///
    /// # Errors
    /// The system's, such as `NotFound`; and [those of all operations](crate::fs#errors).
    fn canonicalize(path) -> PathBuf;

    /// Makes `link` another name of the file `original`.
    ///
    /// # Errors
    /// The system's, such as `AlreadyExists`; and [those of all operations](crate::fs#errors).
    fn hard_link(original, link) -> ();

    /// Returns where a symbolic link points.
    ///
    /// # Errors
    /// The system's: `InvalidInput` if it is no symbolic link; and [those of all
    /// operations](crate::fs#errors).
    fn read_link(path) -> PathBuf;

    /// Changes the permissions of a file or folder.
    ///
    /// # Errors
    /// The system's, such as `PermissionDenied`; and [those of all operations](crate::fs#errors).
    fn set_permissions(path; permissions: Permissions) -> ();
}

/// Makes a file with this content, or replaces the content of one.
///
/// If the operation fails, or another thread reads meanwhile, a part may be there. To replace a
/// file at once, write another one, and [`rename`] it.
///
/// # Errors
/// The system's, such as `StorageFull`; and [those of all operations](crate::fs#errors).
///
/// # Cost
/// Copies `content`, beside what [all operations](crate::fs#cost) cost.
///
/// # Examples
/// See [`read`].
pub async fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Result<()> {
    let (path, content) = (path.as_ref().to_owned(), content.as_ref().to_owned());
    run(move || fs::write(path, content)).await
}

/// Returns whether there is a file or folder, at the moment. Follows symbolic links.
///
/// # Errors
/// The system's if it cannot tell, such as `PermissionDenied`; and [those of all
/// operations](crate::fs#errors).
pub async fn try_exists(path: impl AsRef<Path>) -> Result<bool> {
    let path = path.as_ref().to_owned();
    run(move || path.try_exists()).await
}

/// Makes a symbolic link at `link`, which points to `original`, whether or not that is there.
///
/// # Errors
/// The system's, such as `AlreadyExists`; and [those of all operations](crate::fs#errors).
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let link = std::env::temp_dir().join(format!("evenkeel-doc-symlink-{}", std::process::id()));
/// let runtime = evenkeel::Runtime::new()?;
/// runtime.block_on(async {
///     evenkeel::fs::symlink("nowhere", &link).await?;
///     assert_eq!(evenkeel::fs::read_link(&link).await?, std::path::Path::new("nowhere"));
///     assert!(evenkeel::fs::symlink_metadata(&link).await?.is_symlink());
///     assert!(!evenkeel::fs::try_exists(&link).await?);
///     evenkeel::fs::remove_file(&link).await?;
///     Ok(())
/// })
/// # }
/// ```
#[cfg(unix)]
pub async fn symlink(original: impl AsRef<Path>, link: impl AsRef<Path>) -> Result<()> {
    let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
    run(move || std::os::unix::fs::symlink(original, link)).await
}
