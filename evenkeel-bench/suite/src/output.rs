//! The suite's output: results by [`say!`] on standard output, remarks by [`note!`] on standard
//! error.
//!
//! A reader may close its end before the suite has printed all, as `head` does. Rust ignores the
//! signal that reports this to other programs, and its own macros panic. Here results without a
//! reader end the process quietly, as success: the reader has what it wants. Files to be kept, such
//! as a page, are therefore written before the table is printed, and lines printed during
//! measurement are [offered](offer). Any other failure to write results, such as a full disk, is an
//! error. Remarks without a reader are dropped, for the results may have one.
//!
//! Rejected: the signal's default action. It would also end the suite when a peer's process ends to
//! which the suite is writing.

use std::fmt;
use std::io::{self, ErrorKind, Write};

use anyhow::anyhow;

use crate::interrupt::Unread;
use crate::kit::toolchain;

/// Prints a line of results, as `println!` does.
#[macro_export]
macro_rules! say {
    () => { $crate::output::print("\n") };
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*)) };
}

/// Prints a line of remarks, as `eprintln!` does.
#[macro_export]
macro_rules! note {
    ($($text:tt)*) => { $crate::output::remark(format_args!($($text)*)) };
}

pub use crate::{note, say};

/// Implements [`say!`].
pub fn line(text: fmt::Arguments<'_>) {
    print(&format!("{text}\n"));
}

/// Implements [`note!`].
pub fn remark(text: fmt::Arguments<'_>) {
    // One write for each line: the lines of several processes on one terminal stay whole.
    _ = io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Prints results that have line ends of their own, such as a table.
pub fn print(text: &str) {
    let written = write(&mut io::stdout().lock(), text);
    match ending(&written) {
        None => {}
        Some(Ending::Quiet) => toolchain::leave(0),
        Some(Ending::Failed(why)) => {
            note!("error: {}", failure(&why));
            toolchain::leave(1)
        }
    }
}

/// Prints results for a caller that must save data before it ends. Returns an error if they cannot
/// be written, and [`Unread`] if their reader has gone.
pub fn offer(text: &str) -> anyhow::Result<()> {
    offer_to(&mut io::stdout().lock(), text)
}

fn offer_to(out: &mut impl Write, text: &str) -> anyhow::Result<()> {
    match ending(&write(out, text)) {
        None => Ok(()),
        Some(Ending::Quiet) => Err(Unread.into()),
        Some(Ending::Failed(why)) => Err(anyhow!(failure(&why))),
    }
}

/// Prints the last results of a command, and returns how the command ends: as `end` does, even if
/// the results have no reader. A reader that has gone has what it wants, which is no failure; any
/// other failure shows in the exit status.
pub fn last(text: &str, end: anyhow::Result<()>) -> anyhow::Result<()> {
    settled(end, offer(text))
}

fn settled(end: anyhow::Result<()>, shown: anyhow::Result<()>) -> anyhow::Result<()> {
    let is_failure =
        |end: &anyhow::Result<()>| end.as_ref().err().is_some_and(|error| !error.is::<Unread>());
    [end, shown].into_iter().find(is_failure).unwrap_or(Ok(()))
}

fn failure(why: &str) -> String {
    format!("cannot write to standard output: {why}")
}

fn write(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// How the process ends after a write.
#[derive(Debug, PartialEq, Eq)]
enum Ending {
    /// The reader has gone.
    Quiet,
    Failed(String),
}

/// Returns how the process ends after a write with this result; `None` if it continues.
fn ending(written: &io::Result<()>) -> Option<Ending> {
    match written {
        Ok(()) => None,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Some(Ending::Quiet),
        Err(error) => Some(Ending::Failed(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_has_gone_is_a_quiet_end_and_a_full_disk_is_an_error() {
        let (reader, mut writer) = io::pipe().unwrap();
        assert_eq!(ending(&write(&mut writer, "read\n")), None);
        drop(reader);
        assert_eq!(ending(&write(&mut writer, "unread\n")), Some(Ending::Quiet));
        let mut full: &mut [u8] = &mut [0; 2];
        let failed = ending(&write(&mut full, "three"));
        assert!(matches!(failed, Some(Ending::Failed(_))), "{failed:?}");
    }

    #[test]
    fn a_failure_is_one_whether_or_not_there_is_a_reader() {
        let unread = || Err(anyhow::Error::new(Unread).context("not all was measured"));
        let failed = || Err(anyhow!("a wrong result"));
        let says = |end, shown| settled(end, shown).err().map(|error| error.to_string());
        assert_eq!(says(failed(), unread()).as_deref(), Some("a wrong result"));
        assert_eq!(says(unread(), failed()).as_deref(), Some("a wrong result"));
        assert_eq!((says(unread(), unread()), says(Ok(()), Ok(()))), (None, None));
    }

    #[test]
    fn offer_says_whether_results_were_written() {
        let (reader, mut writer) = io::pipe().unwrap();
        offer_to(&mut writer, "read\n").unwrap();
        drop(reader);
        assert!(offer_to(&mut writer, "unread\n").unwrap_err().is::<Unread>());
        let mut full: &mut [u8] = &mut [0; 2];
        let error = offer_to(&mut full, "three").unwrap_err();
        assert!(!error.is::<Unread>(), "{error}");
        assert!(error.to_string().starts_with("cannot write to standard output: "), "{error}");
    }
}
