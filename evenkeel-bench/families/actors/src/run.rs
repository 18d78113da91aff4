//! Runs an experiment once on one system.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use super::bench::{Bench, Variant};
use super::foreign::{self, Answer, Built, Request};
use super::memory;
use super::peer::Peer;
use super::peer::actix::Actix;
use super::peer::evenkeel::Evenkeel;
use super::peer::kameo::Kameo;
use super::peer::ractor::Ractor;
use super::peer::tokio::Tokio;
use super::savina::Program;
use super::spec::{Outcome, Spec};
use super::workload;
use suite::kit::fault::Fault;
use suite::kit::patience::patiently;

/// A system that is ready to run a case.
pub(crate) enum Ready {
    /// In this process.
    Here,
    /// In a process that answers requests until the case is done.
    Serving(foreign::Peer),
    /// In a new process for each run, for actor_memory.
    Afresh(Arc<Built>),
}

/// The longest time of a run, minutes above any run's: it detects a lost message.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs a case once.
pub(super) fn once(peer: Peer, ready: &mut Ready, spec: &Spec) -> anyhow::Result<Outcome> {
    match ready {
        Ready::Here if spec.bench == Bench::Memory => memory::run(peer, spec),
        Ready::Here => {
            let outcome = here(peer, spec, false)?;
            if spec.bench != Bench::LatencyProbe {
                return Ok(outcome);
            }
            // Round trips have a run of their own, so that reading the clock is no part of this
            // one.
            let trips = here(peer, &spec.twin(), true)?.trips;
            let trips = trips.filter(|trips| trips.count() > 0);
            let trips = trips.context("no round trip was timed")?;
            Ok(Outcome { trips: Some(trips), ..outcome })
        }
        Ready::Serving(program) => there(program.once(&request(spec), PATIENCE)?, spec),
        Ready::Afresh(program) => there(program.memory(&request(spec), PATIENCE)?, spec),
    }
}

/// Runs a system in this process. latency_probe reports round trips if it is `sampled`.
pub(super) fn here(peer: Peer, spec: &Spec, sampled: bool) -> anyhow::Result<Outcome> {
    let spec = spec.clone();
    if let Some(program) = spec.bench.program() {
        let run: fn(&Spec, Program) -> Result<Outcome, Fault> = match peer {
            Peer::Evenkeel => workload::run_savina::<Evenkeel>,
            Peer::Actix => workload::run_savina::<Actix>,
            Peer::Tokio => workload::run_savina::<Tokio<false>>,
            Peer::TokioBatch => workload::run_savina::<Tokio<true>>,
            _ => bail!("{peer} does not run the programs of Savina"),
        };
        return patiently(PATIENCE, move || run(&spec, program));
    }
    let run: fn(&Spec, bool) -> Result<Outcome, Fault> = match peer {
        Peer::Evenkeel => workload::run::<Evenkeel>,
        Peer::Actix => workload::run::<Actix>,
        Peer::Ractor => workload::run::<Ractor>,
        Peer::Kameo => workload::run::<Kameo>,
        Peer::Tokio => workload::run::<Tokio<false>>,
        Peer::TokioBatch => workload::run::<Tokio<true>>,
        _ => bail!("{peer} does not run in this process"),
    };
    patiently(PATIENCE, move || run(&spec, sampled))
}

/// The request for a case.
fn request(spec: &Spec) -> Request {
    Request {
        bench: spec.bench.name(),
        mode: (spec.variant != Variant::Only).then(|| spec.variant.name()),
        workers: spec.workers,
        actors_per_worker: spec.actors_per_worker,
        pings: spec.pings,
        pairs: spec.pairs,
        repeats: spec.pings,
        in_flight: spec.in_flight,
        producers: spec.producers,
        messages: spec.messages_each,
        actors: spec.actors(),
    }
}

/// The outcome of a program's answer, if it did what was requested.
fn there(answer: Option<Answer>, spec: &Spec) -> anyhow::Result<Outcome> {
    let late = || format!("it was still running after {PATIENCE:?}: a message was lost");
    let Answer { seconds, messages, mut bytes_per_actor, heap_bytes_per_actor, .. } =
        answer.with_context(late)?;
    if spec.bench == Bench::Memory {
        ensure!(bytes_per_actor.is_some(), "it could not report its memory");
    } else {
        let due = spec.messages();
        ensure!(messages == due, "it has counted {messages} messages, not {due}");
        bytes_per_actor = None;
    }
    Ok(Outcome { seconds, trips: None, bytes_per_actor, heap_bytes_per_actor })
}
