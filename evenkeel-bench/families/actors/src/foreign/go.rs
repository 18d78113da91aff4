//! Go: an actor is a goroutine with a channel.

use anyhow::{Context, ensure};

use super::Program;
use suite::kit::go::INSTALL;
pub(super) use suite::kit::go::version;
use suite::kit::toolchain::{Workshop, program};

/// The program's files, as they lie under `peers/go/actors`.
const SOURCES: [(&str, &str); 6] = [
    ("go.mod", include_str!("../../../../peers/go/actors/go.mod")),
    ("lives.go", include_str!("../../../../peers/go/actors/lives.go")),
    ("main.go", include_str!("../../../../peers/go/actors/main.go")),
    ("probe.go", include_str!("../../../../peers/go/actors/probe.go")),
    ("settings.go", include_str!("../../../../peers/go/actors/settings.go")),
    ("streams.go", include_str!("../../../../peers/go/actors/streams.go")),
];

/// The program's name within its folder.
const PROGRAM: &str = "evenkeel-peer";

/// Returns the line that installs the toolchain, if it is missing.
pub(super) fn missing() -> Option<String> {
    version().is_none().then(|| INSTALL.to_owned())
}

/// Builds the program.
pub(super) fn build() -> anyhow::Result<Program> {
    let workshop = Workshop::with("Go", &SOURCES)?;
    let output = workshop
        .run("go", ["build", "-o", &program(PROGRAM), "."])
        .with_context(|| format!("cannot start `go`; {INSTALL}"))?;
    ensure!(
        output.status.success(),
        "cannot build the Go peer of the actor benchmarks, which needs Go 1.22 or later:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tool = workshop.path(PROGRAM);
    Ok(Program { workshop, tool, major: 0 })
}
