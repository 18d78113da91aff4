//! Go.

use super::{Program, Tool};
use suite::kit::go;

/// The program's files, as they lie under `peers/go/latency`.
const SOURCES: [(&str, &str); 6] = [
    ("block_linux.go", include_str!("../../../../peers/go/latency/block_linux.go")),
    ("block_other.go", include_str!("../../../../peers/go/latency/block_other.go")),
    ("delays.go", include_str!("../../../../peers/go/latency/delays.go")),
    ("go.mod", include_str!("../../../../peers/go/latency/go.mod")),
    ("main.go", include_str!("../../../../peers/go/latency/main.go")),
    ("run.go", include_str!("../../../../peers/go/latency/run.go")),
];

/// The program's name within its folder.
pub(super) const PROGRAM: &str = "evenkeel-peer-latency";

/// Builds the program.
pub(super) fn build() -> anyhow::Result<Program> {
    Ok(Program { workshop: go::build(&SOURCES, PROGRAM)?, tool: Tool::Itself })
}
