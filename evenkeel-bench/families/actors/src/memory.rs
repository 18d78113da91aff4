//! actor_memory: resident bytes per idle actor.
//!
//! A fresh process of this binary spawns the actors, and its heap holds nothing that they could
//! reuse. The growth of its resident set, divided by their number, is the figure: task, mailbox,
//! state, the reference in a vector, and the allocator's share all count. At the end each actor
//! receives a message to stop, and all must stop.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::bench::Variant;
use super::finish::Finish;
use super::peer::Peer;
use super::peer::actix::Actix;
use super::peer::evenkeel::Evenkeel;
use super::peer::kameo::Kameo;
use super::peer::ractor::Ractor;
use super::peer::tokio::Tokio;
use super::spec::{Outcome, Spec};
use super::system::{Actor, Flow, System};
use suite::kit::afresh::{afresh, resident_bytes};
use suite::output::say;

/// The hidden command with which this binary calls itself.
pub const COMMAND: &str = "actor-memory-probe";

/// How often the probe reads the resident set before it reports that the set does not settle. An
/// estimate.
const LOOKS: usize = 100;

/// The arguments of the fresh process.
#[derive(Debug, Args)]
pub struct ProbeArgs {
    #[arg(long)]
    runtime: Peer,
    #[arg(long)]
    workers: usize,
    #[arg(long)]
    actors: usize,
    #[arg(long)]
    used: bool,
}

/// The output of the fresh process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Footprint {
    /// Growth of the resident set per actor.
    bytes_per_actor: f64,
}

/// Measures in a fresh process of this binary.
pub(super) fn run(peer: Peer, spec: &Spec) -> anyhow::Result<Outcome> {
    let (workers, actors) = (spec.workers.to_string(), spec.actors().to_string());
    let mut arguments =
        vec![COMMAND, "--runtime", peer.name(), "--workers", &workers, "--actors", &actors];
    if spec.variant == Variant::Used {
        arguments.push("--used");
    }
    let started = Instant::now();
    let Footprint { bytes_per_actor } = afresh(&arguments)?;
    let seconds = started.elapsed().as_secs_f64();
    let bytes_per_actor = Some(bytes_per_actor);
    Ok(Outcome { seconds, trips: None, bytes_per_actor, heap_bytes_per_actor: None })
}

/// The hidden command: measures in this process, which should have done nothing before, and prints
/// the result.
pub fn probe(args: &ProbeArgs) -> anyhow::Result<()> {
    let peer = args.runtime;
    let probe: fn(&ProbeArgs) -> anyhow::Result<Footprint> = match peer {
        Peer::Evenkeel => within::<Evenkeel>,
        Peer::Actix => within::<Actix>,
        Peer::Ractor => within::<Ractor>,
        Peer::Kameo => within::<Kameo>,
        Peer::Tokio => within::<Tokio<false>>,
        Peer::TokioBatch => within::<Tokio<true>>,
        _ => bail!("{peer} does not run in this process"),
    };
    say!("{}", serde_json::to_string(&probe(args)?)?);
    Ok(())
}

/// State that the actors share.
struct Shared {
    handled: Finish,
    stopped: Finish,
}

/// A message to an idler.
enum Message {
    Work,
    Stop,
}

/// An actor that only waits for messages.
struct Idler(Arc<Shared>);

impl Actor for Idler {
    type Message = Message;

    async fn handle(&mut self, message: Message) -> Flow {
        match message {
            Message::Work => {
                self.0.handled.one();
                Flow::Go
            }
            Message::Stop => Flow::Stop,
        }
    }
}

impl Drop for Idler {
    fn drop(&mut self) {
        self.0.stopped.one();
    }
}

fn within<S: System>(
    &ProbeArgs { workers, actors, used, .. }: &ProbeArgs,
) -> anyhow::Result<Footprint> {
    let system = S::start(workers)?;
    let measured = system.run(|spawner| measure::<S>(spawner, actors, used));
    measured.context("the task that drives the experiment has panicked")?
}

async fn measure<S: System>(
    spawner: S::Spawner,
    actors: usize,
    used: bool,
) -> anyhow::Result<Footprint> {
    let before = resident_bytes()?;
    let shared = Arc::new(Shared { handled: Finish::of(actors), stopped: Finish::of(actors) });
    let mut references = Vec::with_capacity(actors);
    for place in 0..actors {
        references.push(S::spawn(&spawner, place, Idler(shared.clone())).await);
    }
    if used {
        references.iter().for_each(|actor| S::post(actor, Message::Work));
        shared.handled.wait().await;
    }
    let after = settled(actors).await?;
    // Each actor holds the counters, so a missing actor shows in the count.
    ensure!(Arc::strong_count(&shared) == actors + 1, "an actor stopped before it was told");
    references.iter().for_each(|actor| S::post(actor, Message::Stop));
    shared.stopped.wait().await;
    Ok(Footprint { bytes_per_actor: after.saturating_sub(before) as f64 / actors as f64 })
}

/// Returns the resident set when it has stopped growing: then every actor has run and waits.
async fn settled(actors: usize) -> anyhow::Result<u64> {
    let mut last = resident_bytes()?;
    for _ in 0..LOOKS {
        // On a runtime of one thread, no other task runs until this one yields; each yield lets at
        // least one run.
        for _ in 0..actors {
            yield_now().await;
        }
        let now = resident_bytes()?;
        if now == last {
            return Ok(now);
        }
        last = now;
    }
    bail!("the resident set does not settle")
}

/// Goes to the back of the ready queue, on any runtime.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
