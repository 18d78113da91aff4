//! How files are opened.

use std::fs;

/// How a file is opened: as [`std::fs::OpenOptions`], whose methods have the same names.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let log = std::env::temp_dir().join(format!("evenkeel-doc-options-{}", std::process::id()));
/// use evenkeel::fs::{self, OpenOptions};
/// let runtime = evenkeel::Runtime::new()?;
/// runtime.block_on(async {
///     for line in ["noon: calm\n", "dusk: fog\n"] {
///         let mut file = OpenOptions::new().append(true).create(true).open(&log).await?;
///         file.write_all(line.as_bytes()).await?;
///         file.flush().await?;
///     }
///     assert_eq!(fs::read_to_string(&log).await?, "noon: calm\ndusk: fog\n");
///     fs::remove_file(&log).await?;
///     Ok(())
/// })
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OpenOptions(pub(super) fs::OpenOptions);

/// Writes out options: methods that set what the standard library's set.
macro_rules! options {
    ($($(#[$attribute:meta])* fn $name:ident($Value:ty);)*) => {
        impl OpenOptions {
            $(
                $(#[$attribute])*
                pub fn $name(&mut self, value: $Value) -> &mut Self {
                    self.0.$name(value);
                    self
                }
            )*
        }
    };
}

options! {
    /// Sets whether the file can be read.
    fn read(bool);
    /// Sets whether the file can be written to.
    fn write(bool);
    /// Sets whether each write goes to the end of the file, also beside other writers.
    fn append(bool);
    /// Sets whether the content is dropped at once. Needs `write`.
    fn truncate(bool);
    /// Sets whether a file is made if there is none. Needs `write` or `append`.
    fn create(bool);
    /// Sets whether a file is made, and one that is there is an error. Needs `write` or `append`;
    /// `create` and `truncate` do not count then.
    fn create_new(bool);
}

impl OpenOptions {
    /// Makes options of which none is set.
    #[must_use]
    pub fn new() -> Self {
        Self(fs::OpenOptions::new())
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(unix)]
impl OpenOptions {
    /// Sets the permissions of a file that is made, which the process's mask narrows.
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        std::os::unix::fs::OpenOptionsExt::mode(&mut self.0, mode);
        self
    }

    /// Sets further flags of the system's `open`.
    pub fn custom_flags(&mut self, flags: i32) -> &mut Self {
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut self.0, flags);
        self
    }
}

impl From<fs::OpenOptions> for OpenOptions {
    fn from(options: fs::OpenOptions) -> Self {
        Self(options)
    }
}
