//! What a process uses.

use std::fs;

use anyhow::Context;

use crate::told::Mark;
use suite::kit::afresh::resident_bytes;

/// Returns what this process has. Of its descriptors those do not count that lead to nothing
/// outside of it: a worker may open its set of sockets, and what wakes it there, with a connection
/// that comes late.
pub(crate) fn mark() -> anyhow::Result<Mark> {
    let folder = "/proc/self/fd";
    let open = fs::read_dir(folder);
    let open = open.with_context(|| format!("descriptors are counted on Linux only: {folder}"))?;
    let leads_out = |entry: &fs::DirEntry| {
        fs::read_link(entry.path()).is_ok_and(|to| !to.to_string_lossy().starts_with("anon_inode:"))
    };
    let counted = open.flatten().filter(leads_out).count() as u64;
    // The folder itself is open meanwhile.
    Ok(Mark { resident: resident_bytes()?, descriptors: counted.saturating_sub(1) })
}
