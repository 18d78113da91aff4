//! Go, by a program of its own that is built if the toolchain is found.
//!
//! The program runs one experiment once and prints one JSON line; it checks its own result and
//! prints nothing if the check fails.

use std::fmt::Display;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

use super::peer::Peer;
use super::{Bench, Outcome, Spec};
use suite::kit::fault::Fault;
use suite::kit::served;
use suite::kit::toolchain::{self, Workshop};

/// The program's files, as they lie under `peers/go`.
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

/// How far a program may exceed its measured time and its patience: its own limit for its tasks to
/// end is 20 s.
const GRACE: Duration = Duration::from_secs(25);

/// Whether Go has this experiment. It lacks memory, which a fresh process of this binary measures.
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
        if let Some(checked) = errors(&workshop, &["-ldflags=-checklinkname=0"])?
            && let Some(plain) = errors(&workshop, &[])?
        {
            bail!("cannot build the Go peer:\n{checked}{plain}");
        }
        Ok(Go { workshop })
    }

    /// Runs one experiment once.
    pub(crate) fn run(&self, peer: Peer, spec: &Spec) -> Result<Outcome, Fault> {
        self.call(peer, spec).map_err(Fault::Other)
    }

    fn call(&self, peer: Peer, spec: &Spec) -> anyhow::Result<Outcome> {
        ensure!(has(spec.bench), "{peer} has no experiment `{}`", spec.bench);
        let mut command = Command::new(self.workshop.path(PROGRAM));
        command.args(arguments(peer, spec));
        let line = served::output(&mut command, spec.time + spec.patience + GRACE)?;
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

/// The arguments of a run, the same settings as those of the peers in this process.
fn arguments(peer: Peer, spec: &Spec) -> Vec<String> {
    let mode = if peer == Peer::GoHand { "hand" } else { "native" };
    let told: [(&str, &dyn Display); 10] = [
        ("--mode", &mode),
        ("--bench", &spec.bench),
        ("--variant", &spec.variant),
        ("--procs", &spec.procs),
        ("--tasks-per-proc", &spec.tasks_per_proc),
        ("--words", &spec.words),
        ("--touch", &spec.touch),
        ("--seconds", &spec.time.as_secs_f64()),
        ("--patience", &spec.patience.as_secs_f64()),
        ("--seed", &spec.seed),
    ];
    told.iter().flat_map(|(flag, value)| [flag.to_string(), value.to_string()]).collect()
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

/// The errors of a build, if any.
fn errors(workshop: &Workshop, flags: &[&str]) -> anyhow::Result<Option<String>> {
    let program = toolchain::program(PROGRAM);
    workshop.errors("go", ["build"].iter().chain(flags).copied().chain(["-o", &program, "."]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Variant;
    use suite::kit::random::Random;

    fn spec(patience: Duration, seed: u64) -> Spec {
        Spec {
            bench: Bench::Transfer,
            variant: Variant::Park,
            procs: 2,
            tasks_per_proc: 20,
            words: 2,
            touch: 3,
            time: Duration::from_millis(200),
            patience,
            seed,
        }
    }

    #[test]
    fn a_run_is_told_all_that_those_in_this_process_are_told() {
        let spec = spec(Duration::from_millis(1_500), u64::MAX);
        let told = arguments(Peer::GoHand, &spec).join(" ");
        assert_eq!(
            told,
            "--mode hand --bench transfer --variant park --procs 2 --tasks-per-proc 20 --words 2 \
             --touch 3 --seconds 0.2 --patience 1.5 --seed 18446744073709551615"
        );
        assert!(
            arguments(Peer::GoNative, &spec).starts_with(&["--mode", "native"].map(Into::into))
        );
    }

    /// The numbers that the tests of the programs expect too.
    #[test]
    fn tasks_draw_what_they_draw_in_go() {
        for (seed, task, due) in [
            (1, 0, [882, 401, 514, 306, 167]),
            (1, 1, [549, 942, 434, 702, 507]),
            (12_345_678_901, 99, [498, 410, 580, 804, 360]),
        ] {
            let mut random = Random::new(seed, task);
            assert_eq!(due.map(|_| random.below(1_000)), due, "seed {seed}, task {task}");
        }
    }

    #[test]
    fn the_programs_pass_their_own_tests_where_go_is_found() {
        if suite::kit::go::version().is_none() {
            return;
        }
        let tests = Command::new("go")
            .args(["test", "-ldflags=-checklinkname=0", "."])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../peers/go"))
            .output()
            .unwrap();
        let said = [tests.stdout, tests.stderr].concat();
        assert!(tests.status.success(), "{}", String::from_utf8_lossy(&said));
    }
}
