//! How a program of this suite was built. Each program prints it with `--version`, so that one
//! build can ask another instead of trusting its user.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;

use suite::asked::Usage;
use suite::named::named;

named! {
    /// How a program was built, as found by `build.rs`.
    pub(crate) enum Build as "build" {
        /// Optimised, as this workspace builds for speed.
        Tuned = "tuned": "the release profile of this workspace: one unit of code generation, and \
            optimisation across crates",
        /// Built as most users build.
        Default = "default": "`cargo build --profile default-build`, as Cargo builds without a \
            profile",
        /// Built for tests.
        Debug = "debug": "a debug build, whose figures say nothing",
        /// Built in an unknown way.
        Other = "other": "a build by another profile, or by one that the environment overrides",
    }
}

/// The output of `--version` after the name of the program.
pub(crate) const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("EVENKEEL_BENCH_BUILD"), ")");

/// The output of `--version` before the name of the build.
const BEFORE: &str = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"), " (");

impl Build {
    /// Returns the build of this program.
    pub(super) fn this() -> anyhow::Result<Build> {
        Ok(env!("EVENKEEL_BENCH_BUILD").parse()?)
    }

    /// Returns the build of another program. It must be of this version of the suite: other
    /// versions may measure other things by the same names.
    pub(super) fn of(program: &Path) -> anyhow::Result<Build> {
        let output = Command::new(program)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run {}", program.display()))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let why = || {
            let (program, said) = (program.display(), said.trim());
            Usage(format!(
                "{program} is no build of this program: asked for `--version`, it says `{said}`, \
                 and not `{BEFORE}...)`; name another with --other FILE"
            ))
        };
        Ok(told(&said).ok_or_else(why)?)
    }
}

/// Parses the build from the output of `--version`.
fn told(said: &str) -> Option<Build> {
    said.trim().strip_prefix(BEFORE)?.strip_suffix(')')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_this_version_tells_its_build() {
        let this = Build::this().unwrap();
        assert_eq!(told(&format!("{} {VERSION}\n", env!("CARGO_PKG_NAME"))), Some(this));
        assert_eq!(told(&format!("{BEFORE}default)\n")), Some(Build::Default));
        for said in ["", "evenkeel-bench 0.0.1 (tuned)", "true (GNU coreutils) 9.1"] {
            assert_eq!(told(said), None, "{said}");
        }
        assert_eq!(told(&format!("{BEFORE}odd)")), None);
    }
}
