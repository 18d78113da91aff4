//! Go and Java, by programs of their own that are built if their tools are found.
//!
//! A program makes one run of the same experiment with the same settings, measures with its own
//! clock, checks its own result and prints one JSON line; it prints nothing if the check fails.

mod go;
mod java;

use std::fmt::Display;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::delays::Delays;
use crate::peer::Peer;
use crate::{BLOCK, BLOCK_EVERY, COMPUTE, Outcome, Spec, WARM_UP};
use suite::kit::fault::Fault;
use suite::kit::served;
use suite::kit::toolchain::Workshop;

/// How far a program may exceed its measured time and its patience: its own limit for tasks to end
/// is 10 s, and a virtual machine starts and warms up.
const GRACE: Duration = Duration::from_secs(20);

/// A program, and what starts it.
pub(crate) struct Program {
    workshop: Workshop,
    tool: Tool,
}

/// What starts a program.
enum Tool {
    /// It starts by itself.
    Itself,
    /// A virtual machine starts it.
    Java(java::Machine),
}

/// Returns the version of the tools that build the program of a peer, or what installs them.
pub(crate) fn look(peer: Peer) -> Result<Option<String>, String> {
    match peer {
        Peer::Evenkeel | Peer::Tokio => Ok(None),
        Peer::Go => suite::kit::go::found().map(Some),
        Peer::Java => java::version().map(Some),
    }
}

/// The printed line.
#[derive(Debug, Deserialize)]
struct Line {
    seconds: f64,
    wakes: Delays,
    spawns: Delays,
    sender_us: Option<f64>,
}

impl Program {
    /// Builds the program of a peer; `None` if the peer runs in this process.
    pub(crate) fn build(peer: Peer) -> anyhow::Result<Option<Self>> {
        match peer {
            Peer::Evenkeel | Peer::Tokio => Ok(None),
            Peer::Go => go::build().map(Some),
            Peer::Java => java::build().map(Some),
        }
    }

    /// Runs the experiment once.
    pub(crate) fn run(&self, spec: &Spec) -> Result<Outcome, Fault> {
        self.call(spec).map_err(Fault::Other)
    }

    fn call(&self, spec: &Spec) -> anyhow::Result<Outcome> {
        let mut command = match &self.tool {
            Tool::Itself => Command::new(self.workshop.path(go::PROGRAM)),
            Tool::Java(machine) => machine.command(&self.workshop, spec.workers),
        };
        command.args(arguments(spec));
        let line = served::output(&mut command, spec.time + spec.patience + GRACE)?;
        let line: Line = serde_json::from_str(&line)
            .with_context(|| format!("the program printed `{}`", line.trim()))?;
        let Line { seconds, wakes, spawns, sender_us } = line;
        let events = spec.events();
        ensure!(
            (wakes.count, spawns.count) == (events, events),
            "the program made {} wakes and {} spawns instead of {events}",
            wakes.count,
            spawns.count
        );
        Ok(Outcome { seconds, wakes, spawns, sender_us })
    }
}

/// The arguments of a run, the same settings as those of the runtimes in this process.
fn arguments(spec: &Spec) -> Vec<String> {
    let told: [(&str, &dyn Display); 12] = [
        ("--variant", &spec.variant),
        ("--workers", &spec.workers),
        ("--events", &spec.events()),
        ("--rate", &spec.rate),
        ("--computes", &spec.computes()),
        ("--compute-us", &COMPUTE.as_micros()),
        ("--blocks", &spec.blocks()),
        ("--block-ms", &BLOCK.as_millis()),
        ("--block-every-ms", &BLOCK_EVERY.as_millis()),
        ("--warm-up-ms", &WARM_UP.as_millis()),
        ("--patience-ms", &spec.patience.as_millis()),
        ("--seed", &spec.seed),
    ];
    told.iter().flat_map(|(flag, value)| [flag.to_string(), value.to_string()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Variant;

    #[test]
    fn a_program_is_told_all_that_the_runtimes_in_this_process_are_told() {
        let spec = Spec {
            variant: Variant::Compute,
            workers: 2,
            rate: 1_000,
            time: Duration::from_secs(2),
            patience: Duration::from_millis(1_500),
            seed: 7,
        };
        assert_eq!(
            arguments(&spec).join(" "),
            "--variant compute --workers 2 --events 2000 --rate 1000 --computes 1400 \
             --compute-us 1000 --blocks 0 --block-ms 100 --block-every-ms 101 \
             --warm-up-ms 30 --patience-ms 1500 --seed 7"
        );
    }
}
