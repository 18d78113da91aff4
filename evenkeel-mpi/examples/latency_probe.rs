//! Thorium's latency_probe on MPI: a node for each rank.
//!
//! ```console
//! mpiexec -n 2 target/release/examples/latency_probe --actors-per-worker 100 --pings 40000 --workers 1
//! ```
//! With one worker a rank has one thread: the main thread is the worker, and drives the transport in a task. With more, the transport has a thread of its own. The first rank prints
//! Thorium's counters; its message count is of pings alone, `nanoseconds-per-message` counts replies too. `--sources 1 --elsewhere` has one message in flight at a time, between two ranks.

#[path = "../../evenkeel-actor/examples/two_nodes/probe.rs"]
mod probe;

use evenkeel::Runtime;
use evenkeel_actor::node::NodeId;
use evenkeel_actor::remote::Hosting;
use evenkeel_mpi::{Config, MpiTransport};
use probe::Options;
use std::error::Error;

async fn rank(options: Options) -> Result<(), Box<dyn Error + Send + Sync>> {
    let node = probe::node(|| MpiTransport::start(&Config::new()), Hosting::Auto).await?;
    if node.id() == NodeId::new(0) {
        probe::lead(&node, options).await?;
    }
    node.barrier().await?;
    node.leave().await;
    Ok(())
}

/// Waits for the end of this rank's part, and ends its runtime.
fn end(runtime: Runtime, options: Options) -> Result<(), String> {
    let part = runtime.spawn(rank(options));
    let ended = evenkeel::block_on(part).map_err(|error| error.to_string());
    drop(runtime);
    ended?.map_err(|error| error.to_string())
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read()?;
    let builder = evenkeel::Builder::new().workers(options.workers);
    if options.workers > 1 {
        return Ok(end(builder.build()?, options)?);
    }
    let mut worker = None;
    let runtime = builder.build_with(|only| {
        worker = Some(only);
        Ok(())
    })?;
    std::thread::scope(|scope| {
        let ended = scope.spawn(|| end(runtime, options));
        if let Some(worker) = worker {
            worker.run();
        }
        ended.join().map_err(|_| "the thread that waits has panicked")?
    })?;
    Ok(())
}
