//! The Go toolchain.

use super::toolchain::{self, Workshop};

/// How to install the toolchain.
pub const INSTALL: &str = "install Go 1.21 or later (https://go.dev/dl) and put it on PATH";

/// Returns the toolchain's version, if there is one.
pub fn version() -> Option<String> {
    let text = toolchain::version("go", "version")?;
    Some(text.trim_start_matches("go version ").to_owned())
}

/// Returns the toolchain's version, or what installs it.
pub fn found() -> Result<String, String> {
    version().ok_or_else(|| INSTALL.to_owned())
}

/// Builds a program from these files, given by name and text.
pub fn build(sources: &[(&str, &str)], program: &str) -> anyhow::Result<Workshop> {
    let workshop = Workshop::with("Go", sources)?;
    workshop.build("Go", "go", ["build", "-o", &toolchain::program(program), "."])?;
    Ok(workshop)
}
