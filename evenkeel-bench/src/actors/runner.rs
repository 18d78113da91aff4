//! Runs the experiments: all systems in turn, repeat by repeat.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};

use super::bench::{Bench, Variant};
use super::foreign::{self, Answer, Built, Request};
use super::memory::{self, Footprint};
use super::peer::Peer;
use super::peer::actix::Actix;
use super::peer::evenkeel::Evenkeel;
use super::peer::kameo::Kameo;
use super::peer::ractor::Ractor;
use super::peer::tokio::Tokio;
use super::record::Record;
use super::savina::Program;
use super::spec::{Outcome, Sizes, Spec};
use super::workload;
use crate::affinity;
use crate::disturbance::{ENOUGH, Retries, Watch, remark};
use crate::patience::patiently;
use crate::regime;
use crate::suite::output::say;
use crate::words::count;
use crate::workload::Fault;

/// One line of the tables: what to run, and on which systems.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// What to run. Each repeat adds its number to the seed.
    pub(crate) spec: Spec,
    /// Whether the user has said how many actors actor_memory has; if not, heavy ones are fewer.
    pub(crate) exact: bool,
    /// On which systems, in this order.
    pub(crate) peers: Vec<Peer>,
}

impl Cell {
    /// The cell of an experiment with these sizes, and with those of these systems that have it.
    pub(crate) fn new(
        bench: Bench,
        variant: Variant,
        workers: usize,
        sizes: Sizes,
        peers: &[Peer],
    ) -> Cell {
        let spec = Spec::new(bench, variant, workers, sizes);
        let peers = peers.iter().copied().filter(|peer| peer.has(bench)).collect();
        Cell { spec, exact: sizes.actors.is_some(), peers }
    }

    /// What a system runs.
    fn of(&self, peer: Peer) -> Spec {
        let mut spec = self.spec.clone();
        if spec.bench == Bench::Memory && !self.exact {
            spec.actors = peer.idle_actors();
        }
        spec
    }
}

/// Runs cells, and builds what they need on first use.
pub(crate) struct Runner {
    retries: Retries,
    built: RefCell<Vec<Rc<Built>>>,
}

/// A system that is about to run a cell.
enum Ready {
    /// In this process.
    Here,
    /// In one that answers requests, until the cell is done.
    Serving(foreign::Peer),
    /// In a new one for each run, as actor_memory wants it.
    Afresh(Rc<Built>),
}

/// How long a run may take: minutes more than any of them does. A message that is lost is found out by it.
const PATIENCE: Duration = Duration::from_secs(300);

/// Share of the pings of a run that its sampled twin sends.
const TWIN: u32 = 4;

impl Runner {
    /// A runner that repeats at most so many disturbed runs in all.
    pub(crate) fn new(spare: usize) -> Runner {
        Runner { retries: Retries::new(spare), built: RefCell::new(Vec::new()) }
    }

    /// Runs a cell repeat by repeat, after a short run of each that warms up, and gives each run to `each`, with a
    /// remark if it was disturbed.
    pub(crate) fn run(
        &self,
        cell: &Cell,
        repeats: usize,
        mut each: impl FnMut(Record, Option<String>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut ready = Vec::new();
        for &peer in &cell.peers {
            let spec = cell.of(peer);
            let started = affinity::confined(spec.workers, || self.start(peer, &spec));
            ready.push((peer, started.with_context(|| failed(peer, &spec))?));
        }
        for repeat in 0..repeats {
            for (peer, ready) in &mut ready {
                let peer = *peer;
                let spec = cell.of(peer);
                let spec = Spec { seed: spec.seed + repeat as u64, ..spec };
                let disturbed = |record: &Record| record.cpu_share < ENOUGH;
                let (record, tried) = self
                    .retries
                    .run(|| once(peer, ready, &spec), disturbed)
                    .with_context(|| failed(peer, &spec))?;
                let run = format!("{peer} {}", name(&spec));
                let remark = tried.map(|tried| remark(run, tried, record.cpu_share));
                let trips = match (spec.bench, &ready) {
                    (Bench::LatencyProbe, Ready::Here) => Some(trips(peer, &spec)?),
                    _ => None,
                };
                each(Record { repeat, ..record.with_trips(trips) }, remark)?;
            }
        }
        Ok(())
    }

    /// Builds the programs of these systems, so that their time is not part of a session's.
    pub(crate) fn build(&self, peers: &[Peer]) -> anyhow::Result<()> {
        let is_built = |name: &foreign::Name| {
            self.built.borrow().iter().any(|program| program.name() == *name)
        };
        let mut names: Vec<foreign::Name> =
            peers.iter().filter_map(|peer| peer.foreign()).collect();
        names.retain(|name| !is_built(name));
        let built = Built::all(&names)?;
        self.built.borrow_mut().extend(built.into_iter().map(Rc::new));
        Ok(())
    }

    /// Makes a system ready for a cell; one in this process has run once then.
    fn start(&self, peer: Peer, spec: &Spec) -> anyhow::Result<Ready> {
        let Some(name) = peer.foreign() else {
            // A process of its own has nothing to warm up.
            if spec.bench != Bench::Memory {
                here(peer, &spec.warm_up(), false)?;
            }
            return Ok(Ready::Here);
        };
        self.build(&[peer])?;
        let built = self.built.borrow();
        let program = built.iter().find(|program| program.name() == name);
        let program = program.context("it is not built")?;
        Ok(match spec.bench {
            Bench::Memory => Ready::Afresh(program.clone()),
            _ => Ready::Serving(program.start(spec.workers)?),
        })
    }
}

/// Where the round trips lie, by a run of its own, so that the clock is no part of the other one.
fn trips(peer: Peer, spec: &Spec) -> anyhow::Result<crate::mixed::latency::Quantiles> {
    let twin = Spec { pings: (spec.pings / TWIN).max(1), ..spec.clone() };
    let outcome = affinity::confined(spec.workers, || here(peer, &twin, true))
        .with_context(|| failed(peer, &twin))?;
    let trips = outcome.trips.filter(|trips| trips.len() > 0);
    let trips = trips.ok_or_else(|| anyhow!("no round trip was timed"));
    Ok(trips.with_context(|| failed(peer, &twin))?.quantiles())
}

fn once(peer: Peer, ready: &mut Ready, spec: &Spec) -> anyhow::Result<Record> {
    let child = match ready {
        Ready::Serving(program) => Some(program.id()),
        Ready::Here | Ready::Afresh(_) => None,
    };
    let line_ns_before = regime::bounce();
    let (outcome, cpu_share) = affinity::confined(spec.workers, || {
        let watch = Watch::beside(affinity::cores(), child);
        let outcome = match ready {
            Ready::Here => here(peer, spec, false),
            Ready::Serving(program) => {
                program.once(&request(spec), PATIENCE).and_then(|answer| there(answer, spec))
            }
            Ready::Afresh(program) => {
                program.memory(&request(spec), PATIENCE).and_then(|answer| there(answer, spec))
            }
        };
        (outcome, watch.share())
    });
    let line_ns_after = regime::bounce();
    let Outcome { seconds, bytes_per_actor, heap_bytes_per_actor, .. } = outcome?;
    let messages = spec.messages();
    let timed = spec.bench != Bench::Memory;
    Ok(Record {
        runtime: peer.to_string(),
        bench: spec.bench.to_string(),
        variant: spec.variant.to_string(),
        workers: spec.workers,
        actors: spec.actors(),
        in_flight: (spec.bench == Bench::Pingpong).then_some(spec.in_flight),
        repeat: 0,
        messages,
        seconds,
        ns_per_message: timed.then(|| seconds * 1e9 / messages as f64),
        bytes_per_actor,
        heap_bytes_per_actor,
        trip_us_p50: None,
        trip_us_p99: None,
        trip_us_p999: None,
        trip_us_max: None,
        line_ns_before,
        line_ns_after,
        regime: regime::name(line_ns_before, line_ns_after).to_owned(),
        cpu_share,
    })
}

/// Runs a system in this process, or in a fresh one of this binary.
fn here(peer: Peer, spec: &Spec, sampled: bool) -> anyhow::Result<Outcome> {
    if spec.bench == Bench::Memory {
        let started = Instant::now();
        let used = spec.variant == Variant::Used;
        let Footprint { bytes_per_actor } = memory::run(peer, spec.workers, spec.actors, used)?;
        let seconds = started.elapsed().as_secs_f64();
        return Ok(Outcome {
            seconds,
            trips: None,
            bytes_per_actor: Some(bytes_per_actor),
            heap_bytes_per_actor: None,
        });
    }
    if let Bench::Savina(program) = spec.bench {
        let run: fn(&Spec, Program) -> Result<Outcome, Fault> = match peer {
            Peer::Evenkeel => workload::run_savina::<Evenkeel>,
            Peer::Actix => workload::run_savina::<Actix>,
            Peer::Tokio => workload::run_savina::<Tokio<false>>,
            _ => bail!("{peer} does without the programs of Savina"),
        };
        let spec = spec.clone();
        return patiently(PATIENCE, move || run(&spec, program));
    }
    let run: fn(&Spec, bool) -> Result<Outcome, Fault> = match peer {
        Peer::Evenkeel => workload::run::<Evenkeel>,
        Peer::Actix => workload::run::<Actix>,
        Peer::Ractor => workload::run::<Ractor>,
        Peer::Kameo => workload::run::<Kameo>,
        Peer::Tokio => workload::run::<Tokio<false>>,
        Peer::TokioBatch => workload::run::<Tokio<true>>,
        Peer::Foreign(_) => bail!("{peer} does not run in this process"),
    };
    let spec = spec.clone();
    patiently(PATIENCE, move || run(&spec, sampled))
}

/// What a program is asked for.
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
        actors: spec.actors,
    }
}

/// What a program has measured, if it has done what it was asked for.
fn there(answer: Option<Answer>, spec: &Spec) -> anyhow::Result<Outcome> {
    let answer = answer
        .ok_or_else(|| anyhow!("it was still running after {PATIENCE:?}: a message was lost"))?;
    ensure!(
        spec.bench == Bench::Memory || answer.messages == spec.messages(),
        "it has counted {} messages, not {}",
        answer.messages,
        spec.messages()
    );
    let measured = (spec.bench == Bench::Memory).then_some(answer.bytes_per_actor);
    ensure!(measured != Some(None), "it could not tell its memory");
    Ok(Outcome {
        seconds: answer.seconds,
        trips: None,
        bytes_per_actor: measured.flatten(),
        heap_bytes_per_actor: answer.heap_bytes_per_actor,
    })
}

/// Systems that this machine lacks, with the reason and what would help.
type Missing = Vec<(Peer, String)>;

/// The systems that this machine has, and those that it lacks. Takes a second or so.
pub(crate) fn found() -> anyhow::Result<(Vec<Peer>, Missing)> {
    let missing: Missing = foreign::look()?
        .into_iter()
        .filter_map(|(name, why)| why.map(|why| (Peer::Foreign(name), why)))
        .collect();
    let is_there = |peer: &Peer| !missing.iter().any(|(other, _)| other == peer);
    Ok((Peer::ALL.into_iter().filter(is_there).collect(), missing))
}

/// The hidden command of [`memory`]: measures in this process and prints the result.
pub(crate) fn probe(peer: Peer, workers: usize, actors: usize, used: bool) -> anyhow::Result<()> {
    let probe: fn(usize, usize, bool) -> anyhow::Result<Footprint> = match peer {
        Peer::Evenkeel => memory::probe::<Evenkeel>,
        Peer::Actix => memory::probe::<Actix>,
        Peer::Ractor => memory::probe::<Ractor>,
        Peer::Kameo => memory::probe::<Kameo>,
        Peer::Tokio => memory::probe::<Tokio<false>>,
        Peer::TokioBatch => memory::probe::<Tokio<true>>,
        Peer::Foreign(_) => bail!("{peer} does not run in this process"),
    };
    say!("{}", serde_json::to_string(&probe(workers, actors, used)?)?);
    Ok(())
}

/// The experiment in words.
pub(crate) fn name(spec: &Spec) -> String {
    let variant = match spec.variant {
        Variant::Only => String::new(),
        variant => format!(" {variant}"),
    };
    format!("{}{variant}, {}", spec.bench, count(spec.workers, "worker"))
}

fn failed(peer: Peer, spec: &Spec) -> String {
    format!("{peer} failed {} ({}, seed {})", name(spec), count(spec.actors(), "actor"), spec.seed)
}
