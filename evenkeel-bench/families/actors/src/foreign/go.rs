//! Go: an actor is a goroutine with a channel.

use anyhow::Context;

use super::Program;
use suite::kit::go;
pub(super) use suite::kit::go::version;

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
    go::found().err()
}

/// Builds the program.
pub(super) fn build() -> anyhow::Result<Program> {
    let workshop = go::build(&SOURCES, PROGRAM).context("this peer needs Go 1.22 or later")?;
    let tool = workshop.path(PROGRAM);
    Ok(Program { workshop, tool, major: 0 })
}
