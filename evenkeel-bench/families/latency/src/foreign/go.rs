//! Go.

use anyhow::{Context, ensure};

use super::{Program, Tool};
use suite::kit::toolchain::{self, Workshop};

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
    let workshop = Workshop::with("Go", &SOURCES)?;
    let program = toolchain::program(PROGRAM);
    let built = workshop.run("go", ["build", "-o", &program, "."]);
    let built = built.with_context(|| format!("cannot start `go`; {}", go::INSTALL))?;
    ensure!(
        built.status.success(),
        "cannot build the Go peer:\n{}",
        String::from_utf8_lossy(&built.stderr)
    );
    Ok(Program { workshop, tool: Tool::Itself })
}
