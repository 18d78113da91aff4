//! The machine in words, for the reader of a table.

use std::env;
use std::fs;

use evenkeel::topology::Topology;

use crate::affinity;

/// Returns the topology as the runtime sees it, or why it cannot be read.
pub fn topology() -> String {
    match Topology::detect() {
        Ok(topology) => topology.to_string(),
        Err(error) => format!("topology unknown: {error}"),
    }
}

/// Describes the processor, the cores in use and the system, in one line.
pub fn describe() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // What follows a hyphen names a build, which says nothing to readers elsewhere.
    let kernel = kernel.trim().split('-').next().unwrap_or_default();
    format!(
        "{}, {} cores in use, {} {kernel}",
        model(&cpuinfo).unwrap_or(env::consts::ARCH),
        affinity::cores().len(),
        env::consts::OS,
    )
}

fn model(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_read_where_there_is_one() {
        assert_eq!(
            model("processor: 0\nmodel name\t: Some CPU @ 2 GHz\n"),
            Some("Some CPU @ 2 GHz")
        );
        assert_eq!(model("processor: 0\n"), None);
    }
}
