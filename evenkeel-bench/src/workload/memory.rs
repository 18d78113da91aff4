//! Memory: resident bytes per parked task.
//!
//! Tasks that all wait at one semaphore are spawned in a fresh process of this binary, whose heap
//! holds nothing that they could reuse. What its resident set grows by is divided by their number:
//! header, future, waiting place and the allocator's share all count, and nothing is subtracted. The
//! future's own size is told beside it. At the end all are released, and all must end.

use std::env;
use std::fs;
use std::mem;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Fault, Outcome, Spec};
use crate::runtime::evenkeel::Evenkeel;
use crate::runtime::tokio_hand::TokioHand;
use crate::runtime::tokio_native::TokioNative;
use crate::runtime::{Peer, Runtime, Semaphores};

/// Parked tasks, unless the user says otherwise: enough that the runtime's own memory vanishes.
pub(crate) const TASKS: usize = 100_000;

/// The hidden command with which this binary calls itself.
pub(crate) const COMMAND: &str = "memory-probe";

/// How long the tasks may take to park or to end.
const LIMIT: Duration = Duration::from_secs(30);

/// What the fresh process prints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Footprint {
    /// Growth of the resident set per task.
    pub(crate) bytes_per_task: f64,
    /// Size of each task's future, which is part of that.
    pub(crate) future_bytes: usize,
}

/// Measures in a fresh process of this binary.
pub(super) fn run(peer: Peer, spec: &Spec) -> Result<Outcome, Fault> {
    let started = Instant::now();
    let footprint = call(peer, spec).map_err(Fault::Other)?;
    Ok(Outcome {
        ops: spec.tasks() as u64,
        seconds: started.elapsed().as_secs_f64(),
        dnc: false,
        footprint: Some(footprint),
    })
}

fn call(peer: Peer, spec: &Spec) -> anyhow::Result<Footprint> {
    let (procs, tasks) = (spec.procs.to_string(), spec.tasks().to_string());
    afresh(&[COMMAND, "--runtime", peer.name(), "--procs", &procs, "--tasks", &tasks])
}

/// What a fresh process of this binary prints, called with these arguments.
pub(crate) fn afresh<T: DeserializeOwned>(arguments: &[&str]) -> anyhow::Result<T> {
    let output = command(arguments)?.output().context("cannot start this binary afresh")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    // A test says more around it.
    let line = printed.lines().find_map(|line| line.get(line.find('{')?..)).unwrap_or(&printed);
    serde_json::from_str(line).context("the fresh process printed something else")
}

/// This binary with these arguments.
fn command(arguments: &[&str]) -> anyhow::Result<Command> {
    let binary = env::current_exe().context("cannot find this binary to start it afresh")?;
    let mut command = Command::new(binary);
    if cfg!(test) {
        // Tests are a binary of their own, of which one is called in its place.
        let test = "workload::tests::this_binary_called_afresh";
        command.args([test, "--exact", "--nocapture"]).env(AFRESH, arguments.join(" "));
    } else {
        command.args(arguments);
    }
    Ok(command)
}

/// Holds the arguments of this binary, called afresh by its own tests.
pub(super) const AFRESH: &str = "EVENKEEL_TEST_AFRESH";

/// Measures a runtime in this process, which should have done nothing before.
pub(crate) fn in_this_process(peer: Peer, procs: usize, tasks: usize) -> anyhow::Result<Footprint> {
    match peer {
        Peer::Evenkeel => probe::<Evenkeel>(procs, tasks),
        Peer::TokioHand => probe::<TokioHand>(procs, tasks),
        Peer::TokioNative => probe::<TokioNative>(procs, tasks),
        Peer::GoNative | Peer::GoHand => bail!("{peer} does not run in this process"),
    }
}

fn probe<R: Runtime>(procs: usize, tasks: usize) -> anyhow::Result<Footprint> {
    let runtime = R::start(procs)?;
    let before = resident_bytes()?;
    let row = Arc::new(R::Permits::new(1, tasks));
    let shared = row.clone();
    let spawner = async move {
        let mut future_bytes = 0;
        for number in 0..tasks {
            let row = shared.clone();
            let mut seat = row.seat(number);
            let parked = async move { row.acquire(0, &mut seat).await };
            future_bytes = mem::size_of_val(&parked);
            // The handle is dropped: a task that nobody joins is the common case of a parked one.
            drop(R::spawn(parked));
        }
        future_bytes
    };
    let future_bytes = runtime.block_on(async { R::spawn(spawner).await })?;
    let after = settled()?;
    // Each task holds the row, so its last one going shows in the count.
    ensure!(Arc::strong_count(&row) == tasks + 1, "a task ended before it was released");
    for _ in 0..tasks {
        row.release(0, ());
    }
    let started = Instant::now();
    while Arc::strong_count(&row) > 1 {
        ensure!(started.elapsed() < LIMIT, "not every task ended: a wake was lost");
        thread::sleep(Duration::from_millis(1));
    }
    ensure!(row.available(0) == 0, "{} permits were not taken", row.available(0));
    let bytes_per_task = after.saturating_sub(before) as f64 / tasks as f64;
    Ok(Footprint { bytes_per_task, future_bytes })
}

/// The resident set once it has stopped growing, which is when every task has run and parked.
fn settled() -> anyhow::Result<u64> {
    let started = Instant::now();
    let mut last = resident_bytes()?;
    loop {
        thread::sleep(Duration::from_millis(100));
        let now = resident_bytes()?;
        if now == last {
            return Ok(now);
        }
        ensure!(started.elapsed() < LIMIT, "the resident set does not come to rest");
        last = now;
    }
}

/// The resident set of this process.
pub(crate) fn resident_bytes() -> anyhow::Result<u64> {
    let path = "/proc/self/statm";
    let text = fs::read_to_string(path)
        .with_context(|| format!("memory is measured on Linux only: cannot read {path}"))?;
    let pages = text.split_whitespace().nth(1).and_then(|field| field.parse::<u64>().ok());
    let pages = pages.with_context(|| format!("{path} has no second number: `{}`", text.trim()))?;
    Ok(pages * rustix::param::page_size() as u64)
}
