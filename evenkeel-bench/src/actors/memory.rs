//! actor_memory: resident bytes per idle actor.
//!
//! The actors are spawned in a fresh process of this binary, whose heap holds nothing that they could reuse. What its
//! resident set grows by is divided by their number: task, mailbox, state, the reference that is kept in a vector, and the
//! allocator's share all count. At the end each is sent a message to stop, and all must.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

use super::finish::Finish;
use super::peer::Peer;
use super::system::{Actor, Flow, System};
use crate::workload::memory::{afresh, resident_bytes};

/// The hidden command with which this binary calls itself.
pub(crate) const COMMAND: &str = "actor-memory-probe";

/// How often the resident set is looked at before it is said that it does not come to rest. An estimate.
const LOOKS: usize = 100;

/// What the fresh process prints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Footprint {
    /// Growth of the resident set per actor.
    pub(crate) bytes_per_actor: f64,
}

/// Measures in a fresh process of this binary.
pub(crate) fn run(
    peer: Peer,
    workers: usize,
    actors: usize,
    used: bool,
) -> anyhow::Result<Footprint> {
    let (workers, actors) = (workers.to_string(), actors.to_string());
    let mut arguments =
        vec![COMMAND, "--runtime", peer.name(), "--workers", &workers, "--actors", &actors];
    if used {
        arguments.push("--used");
    }
    afresh(&arguments)
}

/// What the actors share.
struct Shared {
    handled: Finish,
    stopped: Finish,
}

/// What is sent.
enum Message {
    Work,
    Stop,
}

/// An actor that mostly waits.
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

/// Measures in this process, which should have done nothing before.
pub(crate) fn probe<S: System>(
    workers: usize,
    actors: usize,
    used: bool,
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
    // Each actor holds the counters, so one that has gone shows.
    ensure!(Arc::strong_count(&shared) == actors + 1, "an actor stopped before it was told");
    references.iter().for_each(|actor| S::post(actor, Message::Stop));
    shared.stopped.wait().await;
    Ok(Footprint { bytes_per_actor: after.saturating_sub(before) as f64 / actors as f64 })
}

/// The resident set once it has stopped growing: then every actor has run and waits.
async fn settled(actors: usize) -> anyhow::Result<u64> {
    let mut last = resident_bytes()?;
    for _ in 0..LOOKS {
        // On a runtime of one thread nobody else runs until this task yields; each yield lets at least one other run.
        for _ in 0..actors {
            yield_now().await;
        }
        let now = resident_bytes()?;
        if now == last {
            return Ok(now);
        }
        last = now;
    }
    bail!("the resident set does not come to rest")
}

/// Goes to the back of the ready queue, on whatever runtime.
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
