//! What a process uses.

use std::fs;

use anyhow::Context;

use crate::told::Mark;
use suite::kit::afresh::resident_bytes;

/// Returns what this process has.
pub(crate) fn mark() -> anyhow::Result<Mark> {
    let folder = "/proc/self/fd";
    let open = fs::read_dir(folder);
    let open = open.with_context(|| format!("descriptors are counted on Linux only: {folder}"))?;
    // The folder itself is open meanwhile.
    let descriptors = (open.count() as u64).saturating_sub(1);
    Ok(Mark { resident: resident_bytes()?, descriptors })
}
