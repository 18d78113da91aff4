//! Thorium's latency_probe on MPI: a node for each rank.
//!
//! ```console
//! mpiexec -n 2 target/release/examples/latency_probe --actors-per-worker 100 --pings 40000 --workers 1
//! ```
//! With one worker a rank has one thread: the main thread is the worker, and drives the transport
//! in a task. With more, the transport has a thread of its own; so it has with `-threads-per-node
//! 2`, Thorium's option, which counts that thread. The first rank prints Thorium's counters in its
//! units. Its message count has pings only; `nanoseconds-per-message` counts replies too. With
//! `--sources 1 --elsewhere` one message is in flight at a time, between two ranks. Beside it
//! stands `bare-round-trip-median`: the time of 8 bytes there and back between the first two ranks
//! by `MPI_Send` and `MPI_Recv`, before the node begins, of as many trips.

use evenkeel::Runtime;
use evenkeel_actor::System;
use evenkeel_actor::node::NodeId;
use evenkeel_actor::remote::Hosting;
use evenkeel_mpi::{Config, MpiTransport, StartError};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};
use probe::Options;
use std::error::Error;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Round trips that are timed together, so that the clock is a small part of them.
const TOGETHER: u64 = 16;

/// The median round trip of a ping-pong of the first two ranks by MPI's blocking calls, in
/// nanoseconds. It runs on the thread that has initialised MPI.
fn bare(trips: u64) -> u64 {
    let world = SimpleCommunicator::world();
    let rank = world.rank();
    if rank > 1 || world.size() < 2 {
        return 0;
    }
    let other = world.process_at_rank(1 - rank);
    let mut answer = 0_u64;
    let mut times = Vec::new();
    for _ in 0..trips.div_ceil(TOGETHER) {
        let begin = Instant::now();
        for trip in 0..TOGETHER {
            if rank == 0 {
                other.send(&trip);
                other.receive_into(&mut answer);
                assert_eq!(answer, trip);
            } else {
                other.receive_into(&mut answer);
                other.send(&answer);
            }
        }
        times.push(begin.elapsed().as_nanos() as u64 / TOGETHER);
    }
    times.sort_unstable();
    times[times.len() / 2]
}

async fn rank(options: Options) -> Result<(), Box<dyn Error + Send + Sync>> {
    let one = options.sources == Some(1) && options.elsewhere;
    let measured = Arc::new(OnceLock::new());
    let start = {
        let measured = Arc::clone(&measured);
        move || {
            let transport = MpiTransport::start(&Config::new())?;
            if one {
                _ = measured.set(bare(options.pings));
            }
            Ok::<_, StartError>(transport)
        }
    };
    let node = probe::node(start, System::current(), options.hosting).await?;
    if node.id() == NodeId::new(0) {
        let median = probe::lead(&node, options).await?;
        if let Some(&bare) = measured.get() {
            probe::line("bare-round-trip-median", &bare, "ns");
            probe::line("round-trip-to-bare", &(median as f64 / bare.max(1) as f64), "");
        }
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

fn main() -> ExitCode {
    probe::run(this_rank)
}

fn this_rank(options: Options) -> Result<(), Box<dyn Error>> {
    let builder = evenkeel::Builder::new().workers(options.workers).reliefs(0);
    if options.workers > 1 || options.hosting == Hosting::Thread {
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
