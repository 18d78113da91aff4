//! What a process uses.

use std::fs;
use std::time::Duration;

use anyhow::Context;
use rustix::time::{ClockId, clock_gettime};

use crate::told::Mark;
use suite::kit::afresh::resident_bytes;

/// Returns the processor time of all threads of this process, user and system.
pub(crate) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns what this process has.
pub(crate) fn mark() -> anyhow::Result<Mark> {
    let folder = "/proc/self/fd";
    let open = fs::read_dir(folder);
    let open = open.with_context(|| format!("descriptors are counted on Linux only: {folder}"))?;
    // The folder itself is open meanwhile.
    let descriptors = (open.count() as u64).saturating_sub(1);
    Ok(Mark { resident: resident_bytes()?, descriptors })
}
