//! The HTML report of one session: a single page with every figure and every picture.
//!
//! The page needs no other file: styles and pictures are inline, there are no scripts and no fonts
//! to load. The runs are beside it as JSON lines, for readers who want to recompute the figures.

pub(crate) mod analysis;
pub(crate) mod coretime;
mod curves;
mod dots;
mod drawn;
#[cfg(test)]
pub(crate) mod example;
#[cfg(test)]
mod fit_tests;
mod frame;
mod head;
mod heat;
mod ink;
pub(crate) mod kept;
mod lines;
pub(crate) mod markdown;
mod page;
mod pen;
mod percentiles;
mod pictures;
mod profile;
pub(crate) mod publications;
mod ranges;
mod scatter;
pub(crate) mod scheduling;
mod section;
pub(crate) mod simulated;
pub(crate) mod standalone;
mod table;
#[cfg(test)]
mod tests;
mod ticks;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;

use suite::entry::Measured;
use suite::machine;

/// The measurements of one session, and the machine.
pub(crate) struct Session {
    /// The measurements of each family, in the order in which they were made.
    pub(crate) measured: Vec<Measured>,
    /// The machine's topology as text, shown unchanged.
    pub(crate) topology: String,
    /// When the session began, formatted for readers.
    pub(crate) started: String,
    /// The machine in one line: processor, cores, kernel.
    pub(crate) machine: String,
    /// The commit of the folder that this program was built in, as `git` said when the session
    /// began: it is the program's own unless the folder has changed since.
    pub(crate) commit: String,
    /// Remarks for the reader, one sentence each.
    pub(crate) notes: Vec<String>,
}

impl Session {
    /// Creates a session that begins now on this machine, with nothing measured yet.
    pub(crate) fn begun() -> Self {
        Self {
            measured: Vec::new(),
            topology: machine::topology(),
            started: jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S %Z").to_string(),
            machine: machine::describe(),
            commit: commit(),
            notes: Vec::new(),
        }
    }

    /// Adds the note that a failure leaves, if there is one: not all was measured.
    pub(crate) fn end(&mut self, failure: &anyhow::Result<()>) {
        if let Err(error) = failure {
            self.notes.push(format!("Not all was measured: {error:#}."));
        }
    }
}

/// Returns the commit of the folder that this program was built in, as `git` says it now.
fn commit() -> String {
    let told = Command::new("git")
        .args(["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty", "--abbrev=10"])
        .stdin(Stdio::null())
        .output();
    let said = told.ok().filter(|output| output.status.success());
    said.and_then(|output| String::from_utf8(output.stdout).ok())
        .map_or("unknown".to_owned(), |text| text.trim().to_owned())
}

/// Returns the path of a page, as a line for the reader of the results; empty if the page could not
/// be written.
pub(crate) fn lines(written: &anyhow::Result<PathBuf>) -> String {
    let whole = |page: &PathBuf| page.canonicalize().unwrap_or_else(|_| page.clone());
    let line = |page| format!("report: {}\n", whole(page).display());
    written.as_ref().map_or(String::new(), line)
}

/// Makes the report folder and checks that a file can be written there.
///
/// A call before a session spares its user a finished measurement without a report.
pub(crate) fn prepare(dir: &Path) -> anyhow::Result<()> {
    let probe = dir.join(".writable");
    fs::create_dir_all(dir)
        .and_then(|()| fs::write(&probe, ""))
        .and_then(|()| fs::remove_file(&probe))
        .with_context(|| refusal(dir))
}

/// Fails if the file cannot be written. A file that is there keeps its text.
fn writable(file: &Path) -> io::Result<()> {
    let is_new = file.symlink_metadata().is_err();
    let opened = fs::OpenOptions::new().append(true).create(true).open(file);
    opened.and_then(|_| if is_new { fs::remove_file(file) } else { Ok(()) })
}

/// Writes a page of the session's only family into `dir`, beside its other files, and returns its
/// path.
pub(crate) fn write_one(
    dir: &Path,
    session: &Session,
    measured: &Measured,
) -> anyhow::Result<PathBuf> {
    write(dir, measured.of.name, || page::of_one(session, measured))
}

/// Writes a page by this name into `dir`, beside its other files, and returns its path.
fn write(
    dir: &Path,
    name: &str,
    render: impl FnOnce() -> anyhow::Result<String>,
) -> anyhow::Result<PathBuf> {
    prepare(dir)?;
    let page = dir.join(format!("{name}.html"));
    fs::write(&page, render()?).with_context(|| refusal(dir))?;
    Ok(page)
}

fn refusal(dir: &Path) -> String {
    format!(
        "cannot write the report into the folder `{}`; make it writable or name another one with \
         --report DIR",
        dir.display(),
    )
}
