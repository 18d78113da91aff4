//! Memory: resident bytes per parked task.
//!
//! A fresh process of this binary spawns tasks that all wait at one semaphore; its heap holds
//! nothing that they could reuse. The growth of its resident set, divided by their number, is the
//! figure: header, future, waiting place and the allocator's share all count, and nothing is
//! subtracted. The future's own size is reported beside it. At the end the probe releases all, and
//! all must end.

use std::mem;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::peer::Peer;
use super::{Outcome, Spec};
use suite::kit::afresh::{afresh, resident_bytes};
use suite::kit::fault::Fault;
use suite::kit::runtime::evenkeel::Evenkeel;
use suite::kit::runtime::tokio_hand::TokioHand;
use suite::kit::runtime::tokio_native::TokioNative;
use suite::kit::runtime::{Runtime, Semaphores};
use suite::output::say;

/// Parked tasks, unless the user says otherwise: enough that the runtime's own memory is
/// negligible.
pub(crate) const TASKS: usize = 100_000;

/// The hidden command with which this binary calls itself.
pub const COMMAND: &str = "memory-probe";

/// The longest time for the tasks to park or to end.
const LIMIT: Duration = Duration::from_secs(30);

/// The arguments of the fresh process.
#[derive(Debug, Args)]
pub struct ProbeArgs {
    #[arg(long)]
    runtime: Peer,
    #[arg(long)]
    procs: usize,
    #[arg(long)]
    tasks: usize,
}

/// The output of the fresh process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Footprint {
    /// Growth of the resident set per task.
    pub(crate) bytes_per_task: f64,
    /// Size of each task's future, which is part of that.
    pub(crate) future_bytes: usize,
}

/// Measures in a fresh process of this binary.
pub(super) fn run(runtime: &str, spec: &Spec) -> Result<Outcome, Fault> {
    let started = Instant::now();
    let footprint = call(runtime, spec).map_err(Fault::Other)?;
    Ok(Outcome {
        ops: spec.tasks() as u64,
        seconds: started.elapsed().as_secs_f64(),
        dnc: false,
        footprint: Some(footprint),
    })
}

fn call(runtime: &str, spec: &Spec) -> anyhow::Result<Footprint> {
    let (procs, tasks) = (spec.procs.to_string(), spec.tasks().to_string());
    afresh(&[COMMAND, "--runtime", runtime, "--procs", &procs, "--tasks", &tasks])
}

/// The hidden command: measures in this process, which should have done nothing before, and prints
/// the result.
pub fn probe(&ProbeArgs { runtime, procs, tasks }: &ProbeArgs) -> anyhow::Result<()> {
    let footprint = match runtime {
        Peer::Evenkeel => within::<Evenkeel>(procs, tasks)?,
        Peer::TokioHand => within::<TokioHand>(procs, tasks)?,
        Peer::TokioNative => within::<TokioNative>(procs, tasks)?,
        Peer::GoNative | Peer::GoHand => bail!("{runtime} does not run in this process"),
    };
    say!("{}", serde_json::to_string(&footprint)?);
    Ok(())
}

fn within<R: Runtime>(procs: usize, tasks: usize) -> anyhow::Result<Footprint> {
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
            // The handle is dropped: a parked task usually has no joiner.
            drop(R::spawn(parked));
        }
        future_bytes
    };
    let future_bytes = runtime.block_on(async { R::spawn(spawner).await })?;
    let after = settled()?;
    // Each task holds the row, so a task that has ended shows in the count.
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

/// Returns the resident set when it has stopped growing: then every task has run and parked.
fn settled() -> anyhow::Result<u64> {
    let started = Instant::now();
    let mut last = resident_bytes()?;
    loop {
        thread::sleep(Duration::from_millis(100));
        let now = resident_bytes()?;
        if now == last {
            return Ok(now);
        }
        ensure!(started.elapsed() < LIMIT, "the resident set does not settle");
        last = now;
    }
}
