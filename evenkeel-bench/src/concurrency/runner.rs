//! Runs the experiments: all peers in turn, repeat by repeat.

use std::cell::OnceCell;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};

use super::bench::{Bench, Variant};
use super::cells::{self, Cell};
use super::contended::{Contention, Outcome};
use super::peer::Peer;
use super::program::{Language, Program};
use super::record::Record;
use crate::affinity;
use crate::disturbance::{ENOUGH, Retries, Watch, remark};
use crate::regime;
use crate::workload::Fault;

/// One line of the tables.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) bench: Bench,
    pub(crate) variant: Variant,
    /// Monitors that are entered together; 0 where there are none.
    pub(crate) monitors: usize,
    pub(crate) procs: usize,
    /// Tasks or threads.
    pub(crate) tasks: usize,
    /// Rounds; as many as take the time if it is not said.
    pub(crate) n: Option<u64>,
    /// How long a run is to take.
    pub(crate) time: Duration,
    /// Who runs it, in this order.
    pub(crate) peers: Vec<Peer>,
}

/// Runs rows, and builds what they need on first use.
pub(crate) struct Runner {
    c: OnceCell<Program>,
    go: OnceCell<Program>,
    retries: Retries,
}

/// What a run measured.
struct Measured {
    ops: u64,
    seconds: f64,
    longest: Option<Duration>,
}

/// The first number of rounds that is tried.
const FEW: u64 = 64;
/// A trial that takes this share of the time tells how many rounds take all of it.
const TRIAL: f64 = 0.1;
/// How many times more rounds the next trial makes: runs that begin quickly may get slower.
const STEP: u64 = 8;
/// How much longer than it should a run may take before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(30);

impl Runner {
    /// A runner that repeats at most so many disturbed runs in all.
    pub(crate) fn new(spare: usize) -> Runner {
        Runner { c: OnceCell::new(), go: OnceCell::new(), retries: Retries::new(spare) }
    }

    /// Builds a program, so that its time is not part of a session's.
    pub(crate) fn build(&self, language: Language) -> anyhow::Result<&Program> {
        let cell = match language {
            Language::C => &self.c,
            Language::Go => &self.go,
        };
        if let Some(built) = cell.get() {
            return Ok(built);
        }
        let built = Program::build(language)?;
        Ok(cell.get_or_init(|| built))
    }

    /// Runs a row repeat by repeat and gives each run to `each`, with a remark if it was disturbed.
    pub(crate) fn run(
        &self,
        row: &Row,
        repeats: usize,
        mut each: impl FnMut(Record, Option<String>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let about = |peer| move || failed(row, peer);
        let mut rounds = Vec::new();
        for &peer in &row.peers {
            let n = affinity::confined(row.procs, || self.rounds(row, peer));
            rounds.push((peer, n.with_context(about(peer))?));
        }
        for repeat in 0..repeats {
            for &(peer, n) in &rounds {
                let disturbed = |record: &Record| record.cpu_share < ENOUGH;
                let (mut record, tried) = self
                    .retries
                    .run(|| self.once(row, peer, n), disturbed)
                    .with_context(about(peer))?;
                record.repeat = repeat;
                let run = format!("{peer} {}", name(row));
                let remark = tried.map(|tried| remark(run, tried, record.cpu_share));
                each(record, remark)?;
            }
        }
        Ok(())
    }

    /// How many rounds take the time; this warms up, too.
    fn rounds(&self, row: &Row, peer: Peer) -> anyhow::Result<u64> {
        if let (Some(n), _) | (None, Some(n)) = (row.n, contended(row)) {
            return Ok(n);
        }
        let trial = row.time.mul_f64(TRIAL);
        let mut n = FEW;
        loop {
            let took = self.measure(row, peer, n, Duration::ZERO)?.seconds;
            if took >= trial.as_secs_f64() {
                return Ok((n as f64 * row.time.as_secs_f64() / took).ceil() as u64);
            }
            n *= STEP;
        }
    }

    fn once(&self, row: &Row, peer: Peer, n: u64) -> anyhow::Result<Record> {
        let line_ns_before = regime::bounce();
        let (measured, cpu_share) = affinity::confined(row.procs, || {
            let watch = Watch::start(affinity::cores());
            (self.measure(row, peer, n, row.time), watch.share())
        });
        let line_ns_after = regime::bounce();
        let Measured { ops, seconds, longest } = measured?;
        Ok(Record {
            runtime: peer.to_string(),
            bench: row.bench.to_string(),
            variant: row.variant.to_string(),
            monitors: row.monitors,
            procs: row.procs,
            tasks: row.tasks,
            repeat: 0,
            ops,
            seconds,
            ns_per_op_per_proc: seconds * 1e9 * row.procs as f64 / ops as f64,
            longest_wait_us: longest.map(|longest| longest.as_secs_f64() * 1e6),
            line_ns_before,
            line_ns_after,
            regime: regime::name(line_ns_before, line_ns_after).to_owned(),
            cpu_share,
        })
    }

    /// Makes so many rounds, which may take as long as is expected and then some.
    fn measure(
        &self,
        row: &Row,
        peer: Peer,
        n: u64,
        expected: Duration,
    ) -> anyhow::Result<Measured> {
        let Row { bench, variant, monitors, procs, tasks, time, .. } = *row;
        let cell = cells::find(peer, bench, variant, monitors)
            .ok_or_else(|| anyhow!("it has no such experiment"))?;
        // A run with a number of its own may take any time.
        let patience = if row.n.is_some() { Duration::MAX / 4 } else { PATIENCE };
        let rounds =
            |took: Duration| Measured { ops: n, seconds: took.as_secs_f64(), longest: None };
        match cell {
            Cell::Rounds(run) => patiently(expected + patience, move || run(n)).map(rounds),
            Cell::Program(language) => {
                let program = self.build(language)?;
                program.run(bench, variant, monitors, n, expected, patience).map(rounds)
            }
            Cell::Contended(run) => {
                let yields = variant == Variant::Yielding;
                let contention = Contention { procs, tasks, time, yields };
                let Outcome { entries, longest } =
                    patiently(expected + patience, move || run(contention))?;
                let seconds = time.as_secs_f64();
                Ok(Measured { ops: entries, seconds, longest: Some(longest) })
            }
        }
    }
}

/// Entries of a contended monitor are counted by time.
fn contended(row: &Row) -> Option<u64> {
    (row.bench == Bench::Contended).then_some(0)
}

/// Runs on a thread of its own, which is left behind if it does not end: somebody waits for ever in it.
pub(crate) fn patiently<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> anyhow::Result<T> {
    let (ended, end) = mpsc::channel();
    // The other end is gone if nobody waits any more.
    let thread = thread::Builder::new().spawn(move || drop(ended.send(work())));
    let thread = thread.context("cannot start a thread")?;
    match end.recv_timeout(patience) {
        Ok(result) => result.map_err(|fault| anyhow!("{fault}")),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            drop(thread.join());
            Err(anyhow!("it panicked"))
        }
        Err(mpsc::RecvTimeoutError::Timeout) => {
            Err(anyhow!("it was still running after {patience:?}: a round or a message was lost"))
        }
    }
}

/// What has to be built for these rows.
pub(crate) fn languages(rows: &[Row]) -> Vec<Language> {
    let peers = || rows.iter().flat_map(|row| &row.peers);
    let needs = |language: &Language| peers().any(|peer| peer.language() == Some(*language));
    [Language::C, Language::Go].into_iter().filter(needs).collect()
}

/// The row in words.
pub(crate) fn name(row: &Row) -> String {
    let mut name = row.bench.to_string();
    if row.variant != Variant::Only {
        name.push_str(&format!(" {}", row.variant));
    }
    if row.monitors > 1 {
        name.push_str(&format!(" of {} monitors", row.monitors));
    }
    name
}

fn failed(row: &Row, peer: Peer) -> String {
    format!("{peer} failed {} ({} processors, {} tasks)", name(row), row.procs, row.tasks)
}

/// The peers that this machine has, and the reason for each that it lacks with what would help.
pub(crate) fn found() -> (Vec<Peer>, Vec<(Peer, String)>) {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for peer in Peer::ALL {
        match peer.language().and_then(Language::missing) {
            None => found.push(peer),
            Some(why) => missing.push((peer, why)),
        }
    }
    (found, missing)
}

/// All rows of an experiment, with those of these peers that have it.
pub(crate) fn rows(bench: Bench, peers: &[Peer], time: Duration) -> Vec<Row> {
    let (procs, tasks) = bench.usual();
    let mut rows = Vec::new();
    for &variant in bench.variants() {
        for &monitors in bench.monitors() {
            let has = |peer: &Peer| cells::find(*peer, bench, variant, monitors).is_some();
            let peers = peers.iter().copied().filter(has).collect();
            let tasks = variant.tasks(tasks);
            rows.push(Row { bench, variant, monitors, procs, tasks, n: None, time, peers });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_ever_is_given_up() {
        let stuck = || {
            thread::park();
            Ok(())
        };
        let error = patiently(Duration::from_millis(20), stuck).unwrap_err().to_string();
        assert!(error.contains("a round or a message was lost"), "{error}");
        let error = patiently(PATIENCE, || Fault::check::<()>("odd")).unwrap_err().to_string();
        assert_eq!(error, "odd");
        let panics = || -> Result<(), Fault> { panic!("a test of this") };
        assert_eq!(patiently(PATIENCE, panics).unwrap_err().to_string(), "it panicked");
    }
}
