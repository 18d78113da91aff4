//! How a program of this suite was built. Each says it with its `--version`, so that another build
//! can be asked, and nobody has to be believed.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;

use suite::asked::Usage;
use suite::named::named;

named! {
    /// How a program was built, as `build.rs` finds.
    pub(crate) enum Build as "build" {
        /// As this workspace builds for speed.
        Tuned = "tuned": "the release profile of this workspace: one unit of code generation, and \
            optimisation across crates",
        /// As most users build.
        Default = "default": "`cargo build --profile default-build`, as Cargo builds without a \
            profile",
        /// For tests.
        Debug = "debug": "a debug build, whose figures say nothing",
        /// In a way that is not known.
        Other = "other": "a build by another profile, or by one that the environment overrides",
    }
}

/// What `--version` says behind the name of the program.
pub(crate) const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("EVENKEEL_BENCH_BUILD"), ")");

/// What stands before the name of the build.
const BEFORE: &str = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"), " (");

impl Build {
    /// That of this program.
    pub(super) fn this() -> anyhow::Result<Build> {
        Ok(env!("EVENKEEL_BENCH_BUILD").parse()?)
    }

    /// That of another program, which must be of this version of the suite: others may measure
    /// other things by the same names.
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

/// The build that `--version` tells of.
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
