//! Runs cells of the table: alternating runtimes, repeats, and runs that were disturbed.
//!
//! Runtimes alternate within each repeat, so that what changes on the machine over minutes meets all
//! of them alike.

use std::cell::OnceCell;

use anyhow::anyhow;

use crate::affinity;
use crate::disturbance::{ENOUGH, Retries, Watch, remark};
use crate::record::Record;
use crate::regime;
use crate::runtime::Peer;
use crate::runtime::evenkeel::Evenkeel;
use crate::runtime::go::{self, Go};
use crate::runtime::tokio_hand::TokioHand;
use crate::runtime::tokio_native::TokioNative;
use crate::suite::output::say;
use crate::words::{self, count};
use crate::workload::{self, Bench, Fault, Outcome, Spec, Variant};

/// One line of the table: what to run, and on which runtimes.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// What to run. Each repeat adds its number to the seed.
    pub(crate) spec: Spec,
    /// On which runtimes, in this order.
    pub(crate) peers: Vec<Peer>,
}

impl Cell {
    /// What is measured, in words.
    pub(crate) fn name(&self) -> String {
        let Spec { bench, variant, procs, tasks_per_proc, .. } = self.spec;
        let variant = match variant {
            Variant::Only => String::new(),
            variant => format!(" {variant}"),
        };
        let load = words::load(bench.name(), tasks_per_proc);
        format!("{bench}{variant}, {}, {load}", count(procs, "processor"))
    }
}

/// A measured run and what there is to say about it.
pub(crate) struct Measured {
    /// The run.
    pub(crate) record: Record,
    /// Remarks, one sentence each.
    pub(crate) remarks: Vec<String>,
    /// That the run was disturbed, if it was.
    pub(crate) disturbed: Option<String>,
}

/// Runs cells, and builds what they need on first use.
pub(crate) struct Runner {
    go: OnceCell<Go>,
    retries: Retries,
}

impl Runner {
    /// A runner that repeats at most so many disturbed runs in all.
    pub(crate) fn new(spare: usize) -> Runner {
        Runner { go: OnceCell::new(), retries: Retries::new(spare) }
    }

    /// Builds the Go peer, so that its time is not part of a session's.
    pub(crate) fn build_go(&self) -> anyhow::Result<&Go> {
        if let Some(built) = self.go.get() {
            return Ok(built);
        }
        let built = Go::build()?;
        Ok(self.go.get_or_init(|| built))
    }

    /// Runs a cell on its runtimes, repeat by repeat, and gives each run to `each`. A runtime that
    /// did not complete once is not asked again.
    pub(crate) fn run(
        &self,
        cell: &Cell,
        repeats: usize,
        mut each: impl FnMut(Measured) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut out: Vec<Peer> = Vec::new();
        for repeat in 0..repeats {
            for &peer in cell.peers.iter() {
                if out.contains(&peer) {
                    continue;
                }
                let measured = self.repeat(peer, &cell.spec, repeat)?;
                if measured.record.dnc {
                    out.push(peer);
                }
                each(measured)?;
            }
        }
        Ok(())
    }

    /// Measures once, and again if the machine was busy with something else.
    fn repeat(&self, peer: Peer, spec: &Spec, repeat: usize) -> anyhow::Result<Measured> {
        let spec = Spec { seed: spec.seed + repeat as u64, ..spec.clone() };
        // A run that did not complete had far more time than any disturbance takes away.
        let disturbed = |run: &Measured| run.record.cpu_share < ENOUGH && !run.record.dnc;
        let (mut measured, tried) =
            self.retries.run(|| self.once(peer, &spec, repeat), disturbed)?;
        let run = format!("{peer} {} at {}", spec.bench, count(spec.procs, "processor"));
        measured.disturbed = tried.map(|tried| remark(run, tried, measured.record.cpu_share));
        Ok(measured)
    }

    fn once(&self, peer: Peer, spec: &Spec, repeat: usize) -> anyhow::Result<Measured> {
        let line_ns_before = regime::bounce();
        let (outcome, cpu_share) = affinity::confined(spec.procs, || {
            let watch = Watch::start(affinity::cores());
            (self.measure(peer, spec), watch.share())
        });
        let line_ns_after = regime::bounce();
        let outcome = outcome.map_err(|fault| {
            anyhow!(
                "{peer} failed {} (variant {}, {}, {}, seed {}): {fault}",
                spec.bench,
                spec.variant,
                count(spec.procs, "processor"),
                count(spec.tasks(), "task"),
                spec.seed,
            )
        })?;
        let mut remarks = Vec::new();
        if let Some(footprint) = outcome.footprint {
            remarks.push(format!(
                "Of {peer}'s bytes per parked task {} are the future.",
                footprint.future_bytes,
            ));
        }
        let record = Record {
            line_ns_before,
            line_ns_after,
            regime: regime::name(line_ns_before, line_ns_after).to_owned(),
            cpu_share,
            ..record(peer, spec, repeat, &outcome)
        };
        Ok(Measured { record, remarks, disturbed: None })
    }

    fn measure(&self, peer: Peer, spec: &Spec) -> Result<Outcome, Fault> {
        match peer {
            Peer::Evenkeel => workload::run::<Evenkeel>(spec),
            Peer::TokioHand => workload::run::<TokioHand>(spec),
            Peer::TokioNative => workload::run::<TokioNative>(spec),
            Peer::GoNative | Peer::GoHand => self.build_go().map_err(Fault::Start)?.run(peer, spec),
        }
    }
}

/// The run's own figures.
fn record(peer: Peer, spec: &Spec, repeat: usize, outcome: &Outcome) -> Record {
    let Outcome { ops, seconds, dnc, footprint } = *outcome;
    let per_op = if ops == 0 { 0.0 } else { seconds / ops as f64 };
    let timed = !matches!(spec.bench, Bench::Transfer | Bench::Memory);
    let arrays = spec.bench == Bench::Locality;
    Record {
        runtime: peer.name().to_owned(),
        bench: spec.bench.name().to_owned(),
        variant: spec.variant.name().to_owned(),
        procs: spec.procs,
        tasks_per_proc: spec.tasks_per_proc,
        tasks: spec.tasks(),
        repeat,
        ops,
        seconds,
        ns_per_op_per_proc: if timed { per_op * 1e9 * spec.procs as f64 } else { 0.0 },
        transfer_us: (spec.bench == Bench::Transfer && !dnc).then_some(per_op * 1e6),
        bytes_per_task: footprint.map(|footprint| footprint.bytes_per_task),
        dnc,
        words: if arrays { spec.words } else { 0 },
        touch: if arrays { spec.touch } else { 0 },
        line_ns_before: 0.0,
        line_ns_after: 0.0,
        regime: String::new(),
        cpu_share: 1.0,
    }
}

/// The hidden command of [`workload::memory`]: measures in this process and prints the result.
pub(crate) fn probe(peer: Peer, procs: usize, tasks: usize) -> anyhow::Result<()> {
    let footprint = match peer {
        Peer::Evenkeel => workload::memory::probe::<Evenkeel>(procs, tasks),
        Peer::TokioHand => workload::memory::probe::<TokioHand>(procs, tasks),
        Peer::TokioNative => workload::memory::probe::<TokioNative>(procs, tasks),
        Peer::GoNative | Peer::GoHand => Err(anyhow!("{peer} does not run in this process")),
    }?;
    say!("{}", serde_json::to_string(&footprint)?);
    Ok(())
}

/// The runtimes that this machine has, and the reason for each that it lacks.
pub(crate) fn found() -> (Vec<Peer>, Vec<(Peer, &'static str)>) {
    let go = go::version().is_some();
    let (found, missing): (Vec<Peer>, Vec<Peer>) =
        Peer::ALL.into_iter().partition(|peer| go || !peer.is_go());
    (found, missing.into_iter().map(|peer| (peer, go::INSTALL)).collect())
}
