//! Peers in C and Go: programs of their own, built if their compiler is found.
//!
//! A program makes a given number of rounds of one experiment, checks its own result and prints one
//! JSON line; it prints nothing if the check fails.

use std::env;
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use serde::Deserialize;

use super::bench::{Bench, Variant};
use suite::kit::go;
use suite::kit::served;
use suite::kit::toolchain::{self, Workshop};

/// The language of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Go,
}

/// The C program's file, as it lies under `peers/c`.
const C: [(&str, &str); 1] = [("pthread.c", include_str!("../../../peers/c/pthread.c"))];

/// The Go program's files, as they lie under `peers/go`.
const GO: [(&str, &str); 3] = [
    ("go.mod", include_str!("../../../peers/go/go.mod")),
    ("main.go", include_str!("../../../peers/go/concurrency/main.go")),
    ("rounds.go", include_str!("../../../peers/go/concurrency/rounds.go")),
];

/// How to install a C compiler.
const INSTALL_C: &str = "install a C compiler (Debian and Fedora: gcc) or set CC to one";

/// The program's name within its folder.
const PROGRAM: &str = "evenkeel-peer";

/// The C compiler's command.
fn compiler() -> String {
    env::var("CC").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "cc".to_owned())
}

impl Language {
    /// The version of its compiler, or why its programs cannot be built here and what would help.
    pub(crate) fn look(self) -> Result<String, String> {
        match self {
            Language::C => toolchain::version(&compiler(), "--version")
                .ok_or_else(|| format!("`{}` was not found; {INSTALL_C}", compiler())),
            Language::Go => go::found().map_err(|install| format!("`go` was not found; {install}")),
        }
    }
}

/// A built program.
pub(crate) struct Program {
    workshop: Workshop,
}

/// The output of a program.
#[derive(Deserialize)]
struct Answer {
    seconds: f64,
}

impl Program {
    /// Builds the program.
    pub(crate) fn build(language: Language) -> anyhow::Result<Program> {
        let workshop = match language {
            Language::C => {
                let workshop = Workshop::with("C", &C)?;
                let flags = ["-std=c11", "-O3", "-Wall", "-Wextra", "-pthread"];
                let files = ["pthread.c", "-o", &toolchain::program(PROGRAM)];
                workshop.build("C", &compiler(), flags.into_iter().chain(files))?;
                workshop
            }
            Language::Go => go::build(&GO, PROGRAM)?,
        };
        Ok(Program { workshop })
    }

    /// Makes `n` rounds and returns their time.
    pub(crate) fn run(
        &self,
        bench: Bench,
        variant: Variant,
        monitors: usize,
        n: u64,
        patience: Duration,
    ) -> anyhow::Result<Duration> {
        let mut command = Command::new(self.workshop.path(PROGRAM));
        command.args([bench.name(), variant.name(), &monitors.to_string(), &n.to_string()]);
        let line = served::output(&mut command, patience)?;
        let Answer { seconds } =
            serde_json::from_str(&line).with_context(|| format!("it printed `{}`", line.trim()))?;
        Ok(Duration::from_secs_f64(seconds))
    }
}
