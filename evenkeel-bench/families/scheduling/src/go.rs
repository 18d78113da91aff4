//! Go, by programs of its own that are built when its toolchain is found.
//!
//! A program runs one experiment once and prints one JSON line; it checks its own result and prints
//! nothing if the check fails.

use std::process::{Command, Output};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

use super::peer::Peer;
use super::{Bench, Outcome, Spec};
use suite::kit::fault::Fault;
use suite::kit::go::INSTALL;
use suite::kit::toolchain::{self, Workshop};

/// The programs' files, as they lie under `peers/go`.
const SOURCES: [(&str, &str); 14] = [
    ("churn.go", include_str!("../../../peers/go/churn.go")),
    ("cycle.go", include_str!("../../../peers/go/cycle.go")),
    ("flags.go", include_str!("../../../peers/go/flags.go")),
    ("fleet.go", include_str!("../../../peers/go/fleet.go")),
    ("go.mod", include_str!("../../../peers/go/go.mod")),
    ("hand.go", include_str!("../../../peers/go/hand.go")),
    ("hand.s", include_str!("../../../peers/go/hand.s")),
    ("locality.go", include_str!("../../../peers/go/locality.go")),
    ("main.go", include_str!("../../../peers/go/main.go")),
    ("native.go", include_str!("../../../peers/go/native.go")),
    ("random.go", include_str!("../../../peers/go/random.go")),
    ("spawn.go", include_str!("../../../peers/go/spawn.go")),
    ("transfer.go", include_str!("../../../peers/go/transfer.go")),
    ("yield.go", include_str!("../../../peers/go/yield.go")),
];

/// How much longer than its measured time a program may take: its own limits are 5 s for a transfer
/// and 20 s for its tasks to end.
const GRACE: Duration = Duration::from_secs(30);

/// Whether Go has this experiment: memory is measured by a fresh process of this binary.
pub(crate) fn has(bench: Bench) -> bool {
    bench != Bench::Memory
}

/// The built program.
pub(crate) struct Go {
    workshop: Workshop,
}

impl Go {
    /// Builds the program.
    pub(crate) fn build() -> anyhow::Result<Go> {
        let workshop = Workshop::with("Go", &SOURCES)?;
        // The hand-made primitives link to names of Go's runtime, which its linker refuses by
        // default from 1.23 on. Linkers before that do not know the flag and allow it anyway.
        let checked = build(&workshop, &["-ldflags=-checklinkname=0"])?;
        if !checked.status.success() {
            let plain = build(&workshop, &[])?;
            ensure!(
                plain.status.success(),
                "cannot build the Go peer:\n{}{}",
                String::from_utf8_lossy(&checked.stderr),
                String::from_utf8_lossy(&plain.stderr),
            );
        }
        Ok(Go { workshop })
    }

    /// Runs one experiment once.
    pub(crate) fn run(&self, peer: Peer, spec: &Spec) -> Result<Outcome, Fault> {
        self.call(peer, spec).map_err(Fault::Other)
    }

    fn call(&self, peer: Peer, spec: &Spec) -> anyhow::Result<Outcome> {
        ensure!(has(spec.bench), "{peer} has no experiment `{}`", spec.bench);
        let mode = if peer == Peer::GoHand { "hand" } else { "native" };
        let mut command = Command::new(self.workshop.path(PROGRAM));
        command
            .args(["--mode", mode, "--bench", spec.bench.name(), "--variant", spec.variant.name()])
            .args(["--procs", &spec.procs.to_string()])
            .args(["--tasks-per-proc", &spec.tasks_per_proc.to_string()])
            .args(["--words", &spec.words.to_string(), "--touch", &spec.touch.to_string()])
            .args(["--seconds", &spec.time.as_secs_f64().to_string()]);
        let line = toolchain::answer(&mut command, spec.time, GRACE)?;
        let printed: Line = serde_json::from_str(&line)
            .with_context(|| format!("the Go peer printed `{}`", line.trim()))?;
        Ok(Outcome {
            ops: printed.ops,
            seconds: printed.seconds,
            dnc: printed.dnc,
            footprint: None,
        })
    }
}

/// The program's name within its folder.
const PROGRAM: &str = "evenkeel-peer";

/// The part of the printed line that only the program knows.
#[derive(Deserialize)]
struct Line {
    ops: u64,
    seconds: f64,
    dnc: bool,
}

fn build(workshop: &Workshop, flags: &[&str]) -> anyhow::Result<Output> {
    let program = toolchain::program(PROGRAM);
    let arguments = ["build"].iter().chain(flags).copied().chain(["-o", &program, "."]);
    match workshop.run("go", arguments) {
        Ok(output) => Ok(output),
        Err(error) => bail!("cannot start `go`: {error}; {INSTALL}"),
    }
}
