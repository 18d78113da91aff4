//! Thorium's latency_probe on two nodes in one process, each with its own runtime.
//!
//! ```console
//! cargo run --release -p evenkeel-bench-probe --example two_nodes -- --actors-per-worker 100 --pings 40000 --workers 1
//! ```
//! Prints Thorium's counters: its message count covers only pings, and `nanoseconds-per-message`
//! also counts replies.

use evenkeel_actor::System;
use evenkeel_actor::node::in_process::{Faults, network};
use probe::Options;
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    probe::run(two_nodes)
}

fn two_nodes(options: Options) -> Result<(), Box<dyn Error>> {
    let (_control, mut ends) = network(2, Faults::default());
    let (end, other) = (ends.remove(0), ends.remove(0));
    let runtime = || evenkeel::Builder::new().workers(options.workers).reliefs(0).build();
    let (leading, following) = (runtime()?, runtime()?);
    let follow = following.spawn(async move {
        let node = probe::node(|| Ok::<_, String>(other), System::new(), options.hosting).await?;
        node.barrier().await?;
        node.leave().await;
        Ok::<_, Box<dyn Error + Send + Sync>>(())
    });
    let lead = leading.spawn(async move {
        let node = probe::node(|| Ok::<_, String>(end), System::new(), options.hosting).await?;
        probe::lead(&node, options).await?;
        node.barrier().await?;
        node.leave().await;
        Ok::<_, Box<dyn Error + Send + Sync>>(())
    });
    evenkeel::block_on(lead)?.map_err(|error| error.to_string())?;
    evenkeel::block_on(follow)?.map_err(|error| error.to_string())?;
    Ok(())
}
