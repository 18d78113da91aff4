//! The runs of a session as files of lines, one for each family, beside its page.
//!
//! Each run is in its file when it is over. So what was measured is there however the session ends:
//! by a panic, by a second Ctrl-C because a run hangs, or by a system that is out of memory.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::refusal;
use suite::record::Record;

/// The files of a session.
pub(crate) struct Kept {
    folder: PathBuf,
    files: BTreeMap<&'static str, File>,
}

impl Kept {
    /// Nothing yet. The folder is [there](super::prepare).
    pub(crate) fn within(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), files: BTreeMap::new() }
    }

    /// Writes a run into the file of its family. The first one takes the place of what an older
    /// session has left there.
    pub(crate) fn add(&mut self, family: &'static str, record: &Record) -> anyhow::Result<()> {
        let mut line = serde_json::to_string(record)?;
        line.push('\n');
        let opened = match self.files.entry(family) {
            Entry::Occupied(opened) => opened.into_mut(),
            Entry::Vacant(place) => {
                let opened = File::create(self.folder.join(file(family)));
                place.insert(opened.with_context(|| refusal(&self.folder))?)
            }
        };
        // One write, and no buffer: the file has whole lines at any time.
        opened.write_all(line.as_bytes()).with_context(|| refusal(&self.folder))
    }
}

/// The file of a family's runs.
pub(super) fn file(family: &str) -> String {
    format!("{family}.jsonl")
}
