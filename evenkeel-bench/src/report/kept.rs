//! The files of a session: its runs as lines, one file for each family, and its page.
//!
//! Each run is written to its file when it ends. So the measured runs are there however the session
//! ends: by a panic, by a second Ctrl-C because a run hangs, or by a lack of memory.
//!
//! Until all is measured, the files are in a folder of their own, [`UNFINISHED`], and the files of
//! an older session beside it stay unchanged. A session that ends early leaves its report there,
//! and the first run of the next session replaces it. While a session writes, no other one begins.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::{Session, page, prepare, refusal};
use crate::families::FAMILIES;
use suite::record::Record;

/// The folder, within that of the report, for a session that is under way or ended early.
pub(crate) const UNFINISHED: &str = "unfinished";

/// The page.
const PAGE: &str = "index.html";

/// The files of a session.
pub(crate) struct Kept {
    /// The folder of the finished report.
    folder: PathBuf,
    /// The folder of the unfinished report.
    unfinished: PathBuf,
    files: BTreeMap<&'static str, File>,
    /// The folder, locked; `None` if the system has no such locks.
    _lock: Option<File>,
}

impl Kept {
    /// Begins a report without runs. If no file can be written in the folder, or another session
    /// writes there, returns an error, before minutes are spent.
    pub(crate) fn begin(folder: &Path) -> anyhow::Result<Self> {
        let unfinished = folder.join(UNFINISHED);
        prepare(folder)?;
        let lock = locked(folder)?;
        fs::create_dir_all(&unfinished).with_context(|| refusal(folder))?;
        let files = BTreeMap::new();
        Ok(Self { folder: folder.to_owned(), unfinished, files, _lock: lock })
    }

    /// Writes a run into the file of its family. The first run removes what an earlier session left
    /// unfinished: until then there is nothing to replace it.
    pub(crate) fn add(&mut self, family: &'static str, record: &Record) -> anyhow::Result<()> {
        if self.files.is_empty() {
            self.remove_from(&self.unfinished, |_| true)?;
        }
        let mut line = serde_json::to_string(record)?;
        line.push('\n');
        let opened = match self.files.entry(family) {
            Entry::Occupied(opened) => opened.into_mut(),
            Entry::Vacant(place) => {
                let opened = File::create(self.unfinished.join(file(family)));
                place.insert(opened.with_context(|| refusal(&self.folder))?)
            }
        };
        // One write, and no buffer: the file has whole lines at any time.
        opened.write_all(line.as_bytes()).with_context(|| refusal(&self.folder))
    }

    /// Writes the page, and returns its path. If `all` was measured, the report replaces the
    /// previous one.
    pub(crate) fn write(&self, session: &Session, all: bool) -> anyhow::Result<PathBuf> {
        let page = self.unfinished.join(PAGE);
        fs::write(&page, page::render(session)?).with_context(|| refusal(&self.folder))?;
        if !all {
            return Ok(page);
        }
        // A file of a family without a run in this session is from an older one.
        self.remove_from(&self.folder, |name| !self.files.contains_key(name))?;
        let own = self.files.keys().map(|family| file(family));
        for name in own.chain([PAGE.to_owned()]) {
            fs::rename(self.unfinished.join(&name), self.folder.join(&name))
                .with_context(|| refusal(&self.folder))?;
        }
        self.leave();
        Ok(self.folder.join(PAGE))
    }

    /// Removes the folder of unfinished files, if it is empty.
    pub(crate) fn leave(&self) {
        _ = fs::remove_dir(&self.unfinished);
    }

    /// Removes the page and the files of the `wanted` families from a folder.
    fn remove_from(&self, folder: &Path, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
        let names =
            FAMILIES.iter().map(|entry| (entry.describe)().name).filter(|name| wanted(name));
        for name in names.map(file).chain([PAGE.to_owned()]) {
            match fs::remove_file(folder.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| refusal(&self.folder));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Locks a folder until the returned file is closed, and returns `None` where that is not possible:
/// the lock protects a user from mistakes. Returns an error if another session has locked it.
fn locked(folder: &Path) -> anyhow::Result<Option<File>> {
    let Ok(lock) = File::open(folder) else { return Ok(None) };
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::Error(_)) => Ok(None),
        Err(TryLockError::WouldBlock) => bail!(
            "another session writes into the folder `{}`; wait until it ends, or name another \
             folder with --report DIR",
            folder.display(),
        ),
    }
}

/// Returns the name of the file of a family's runs.
pub(super) fn file(family: &str) -> String {
    format!("{family}.jsonl")
}
