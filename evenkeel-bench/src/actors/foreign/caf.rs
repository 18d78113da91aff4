//! The C++ Actor Framework.

use std::process::Command;

use anyhow::{Context, bail};

pub(super) use crate::forking::cpp::version;
use crate::forking::cpp::{INSTALL, compiler, refusal};
use crate::toolchain::{Workshop, program};

/// The programs' files, as they lie under `peers/caf`.
const SOURCES: [(&str, &str); 9] = [
    ("actor_memory.hpp", include_str!("../../../peers/caf/actor_memory.hpp")),
    ("actor_spawn.hpp", include_str!("../../../peers/caf/actor_spawn.hpp")),
    ("fanin.hpp", include_str!("../../../peers/caf/fanin.hpp")),
    ("latency_probe.hpp", include_str!("../../../peers/caf/latency_probe.hpp")),
    ("main.cpp", include_str!("../../../peers/caf/main.cpp")),
    ("outcome.hpp", include_str!("../../../peers/caf/outcome.hpp")),
    ("pingpong.hpp", include_str!("../../../peers/caf/pingpong.hpp")),
    ("settings.hpp", include_str!("../../../peers/caf/settings.hpp")),
    ("trial.cpp", include_str!("../../../peers/caf/trial.cpp")),
];

/// What would bring the library.
const LIBRARY: &str = "install CAF 0.17 with its headers (Debian 12: libcaf-dev)";

/// Why it cannot be built or run here, and what would help.
pub(super) fn missing() -> anyhow::Result<Option<String>> {
    if version().is_none() {
        return Ok(Some(format!("`{}` was not found; {INSTALL}", compiler())));
    }
    let workshop = Workshop::with("CAF", &SOURCES)?;
    let errors = compile(&workshop, "trial", "-O0")?;
    Ok(refusal(&workshop, errors).map(|why| format!("{why}; {LIBRARY}")))
}

/// Compiles `<source>.cpp` into the program `<source>`. Gives what there is against it.
fn compile(workshop: &Workshop, source: &str, level: &str) -> anyhow::Result<Option<String>> {
    let (from, to) = (format!("{source}.cpp"), program(source));
    let flags = ["-std=c++17", level, "-march=native", &from, "-o", &to, "-lcaf_core", "-pthread"];
    let output = workshop
        .run(&compiler(), flags)
        .with_context(|| format!("cannot start `{}`; {INSTALL}", compiler()))?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok((!output.status.success()).then_some(errors))
}

/// Builds the program.
pub(super) fn build() -> anyhow::Result<Workshop> {
    let workshop = Workshop::with("CAF", &SOURCES)?;
    if let Some(errors) = compile(&workshop, "main", "-O3")? {
        bail!("cannot build the peer on CAF:\n{errors}");
    }
    Ok(workshop)
}

/// What starts it. It sets its threads by itself.
pub(super) fn command(workshop: &Workshop) -> Command {
    Command::new(workshop.path("main"))
}
