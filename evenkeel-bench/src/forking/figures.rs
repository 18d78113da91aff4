//! From records to what tables and pictures show of a cell.
//!
//! Runtimes are compared by their speed-up over serial calls in the same language, because compilers differ by more in
//! the leaves than runtimes do around them.

use super::forker::Name;
use super::record::Record;
use super::runner::Measured;
use crate::figures::Summary;
use crate::verdict::{self, Standing, Verdict};
use crate::words;

/// What plain calls take in one language, from the runs of all cells of a program and a size: how many workers stand idle
/// beside them makes no difference, so one figure serves all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Baseline {
    name: Name,
    seconds: Summary,
}

/// Pools the serial runs of the cells of each program and size, and takes every speed-up over what that gives.
pub(crate) fn pool(all: &mut [Measured]) {
    for at in 0..all.len() {
        let is_same = |other: &&Measured| all[at].is_same_work(other);
        let pooled = |name: Name| {
            let records = all.iter().filter(is_same).filter_map(|one| one.record(name));
            let seconds = Summary::of(records.flat_map(|record| record.seconds.clone()).collect())?;
            Some(Baseline { name, seconds })
        };
        let serial = Name::ALL.into_iter().filter(|name| name.is_serial());
        let baselines = serial.filter_map(pooled).collect();
        let one = &mut all[at];
        one.baselines = baselines;
        for &name in &one.cell.runtimes {
            let serial = one.serial_seconds(name);
            let records = one.records.iter_mut();
            for record in records.filter(|record| record.runtime == name.name()) {
                record.speedup = serial.map(|serial| serial / record.seconds_median);
            }
        }
    }
}

/// What makes the speed-ups of these cells doubtful, a sentence each.
pub(crate) fn doubts(all: &[Measured]) -> Vec<String> {
    let mut doubts = Vec::new();
    for (at, one) in all.iter().enumerate() {
        let earlier = || all[..at].iter().filter(|other| one.is_same_work(other));
        for name in one.cell.runtimes.iter().copied().filter(|name| name.is_serial()) {
            let Some(now) = one.record(name).and_then(milliseconds) else { continue };
            let then = earlier().filter_map(|other| {
                let then = milliseconds(other.record(name)?)?;
                (!then.overlaps(&now)).then_some((other.cell.workers, then))
            });
            doubts.extend(then.map(|(workers, then)| {
                format!(
                    "{name} {} of size {} took {} ms in the row of {} and {} in that of {}: the machine was not the \
                     same, and both rows' speed-ups are over the median of all these runs",
                    one.cell.program,
                    words::thousands(one.cell.n as i64),
                    range(&then),
                    words::count(workers, "worker"),
                    range(&now),
                    words::count(one.cell.workers, "worker"),
                )
            }));
        }
        let workers = one.cell.workers as f64;
        let above: Vec<String> = one
            .cell
            .runtimes
            .iter()
            .filter(|name| !name.is_serial())
            .filter_map(|&name| Some((name, speedup(one, name)?.median)))
            .filter(|(_, speedup)| *speedup > workers * BEYOND)
            .map(|(name, speedup)| format!("{name} {}", words::figure(speedup)))
            .collect();
        if !above.is_empty() {
            doubts.push(format!(
                "speed-ups above the number of workers, {} of size {} with {}: {}. Plain calls were slow there, or the \
                 compiler made less of them than of the parallel program",
                one.cell.program,
                words::thousands(one.cell.n as i64),
                words::count(one.cell.workers, "worker"),
                above.join(", "),
            ));
        }
    }
    doubts
}

/// A speed-up of so many times the number of workers is worth a remark: two per cent are noise (an estimate; no benchmark
/// sets it).
const BEYOND: f64 = 1.02;

fn range(Summary { median, min, max, .. }: &Summary) -> String {
    format!("{} [{}-{}]", words::figure(*median), words::figure(*min), words::figure(*max))
}

/// The runtime that the suite is about. Its other form is no peer of it, and neither is plain serial code.
const SUBJECT: Name = Name::Evenkeel;

impl Measured {
    /// The record of a runtime, if it was run.
    pub(crate) fn record(&self, name: Name) -> Option<&Record> {
        self.records.iter().find(|record| record.runtime == name.name())
    }

    /// Whether the other cell is of the same program and size.
    fn is_same_work(&self, other: &Self) -> bool {
        (self.cell.program, self.cell.n) == (other.cell.program, other.cell.n)
    }

    /// Seconds of plain calls in the runtime's language: of all cells [pooled](pool), or else of this one.
    fn serial_seconds(&self, name: Name) -> Option<f64> {
        let name = name.baseline();
        let pooled = self.baselines.iter().find(|baseline| baseline.name == name);
        let pooled = pooled.map(|baseline| baseline.seconds.median);
        pooled.or_else(|| Some(self.record(name)?.seconds_median))
    }

    /// The regime of the cores, the same for all runtimes because they alternate; `None` if lines do not travel.
    pub(crate) fn regime(&self) -> Option<&str> {
        let regime = self.records.first().map(|record| record.regime.as_str());
        regime.filter(|_| self.cell.workers > 1)
    }

    /// The runtime that forks with the largest speed-up.
    pub(crate) fn best(&self) -> Option<Name> {
        self.fastest(|name| !name.is_serial()).map(|(name, _)| name)
    }

    fn fastest(&self, among: impl Fn(Name) -> bool) -> Option<(Name, Summary)> {
        let names = self.cell.runtimes.iter().copied().filter(|&name| among(name));
        let speedups = names.filter_map(|name| Some((name, speedup(self, name)?)));
        speedups.max_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))
    }

    /// What there is to say about the subject, plain `join`, beside its best peer.
    pub(crate) fn verdict(&self) -> Verdict {
        let is_peer = |name: Name| !name.is_serial() && !name.is_own();
        let subject = speedup(self, SUBJECT);
        let even =
            |words: &str| Verdict { standing: Standing::Even, words: words.to_owned(), peer: None };
        match (subject, self.fastest(is_peer)) {
            (None, _) => even("evenkeel not measured"),
            (_, None) => even("no peer to compare"),
            (Some(subject), Some((peer, speedup))) => {
                let words = ("better", "worse");
                // Of speed-ups the larger is the better.
                let (standing, words) = verdict::ratio(&speedup, &subject, words);
                Verdict { standing, words, peer: Some(peer.to_string()) }
            }
        }
    }
}

/// The times of the repeats in milliseconds.
pub(crate) fn milliseconds(record: &Record) -> Option<Summary> {
    Summary::of(record.seconds.iter().map(|seconds| seconds * 1e3).collect())
}

/// How many times faster than the serial one of the same language each repeat was; `None` without a serial one.
pub(crate) fn speedup(measured: &Measured, name: Name) -> Option<Summary> {
    let serial = measured.serial_seconds(name)?;
    let record = measured.record(name)?;
    Summary::of(record.seconds.iter().map(|seconds| serial / seconds).collect())
}

/// Nanoseconds that a fork costs on one worker beyond the serial calls; `None` where forks are not most of the work.
pub(crate) fn ns_per_fork(measured: &Measured, name: Name) -> Option<Summary> {
    let forks = measured.cell.program.forks(measured.cell.n).filter(|&forks| forks > 0)?;
    let serial = measured.serial_seconds(name)?;
    let record = measured.record(name).filter(|record| record.workers == 1)?;
    let cost = |seconds: &f64| (seconds - serial) * 1e9 / forks as f64;
    Summary::of(record.seconds.iter().map(cost).collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::forking::program::Program;
    use crate::forking::record::NotRun;
    use crate::forking::runner::Cell;

    /// A made-up cell: all runtimes that there are, with these medians in milliseconds; 0 for "not run".
    pub(crate) fn example(
        program: Program,
        n: usize,
        workers: usize,
        medians: [f64; 9],
    ) -> Measured {
        let cell = Cell { program, n, workers, runtimes: Name::ALL.to_vec() };
        let mut measured =
            Measured { cell, records: Vec::new(), not_run: Vec::new(), baselines: Vec::new() };
        let serial = |name: Name| {
            let place = Name::ALL.iter().position(|other| *other == name.baseline());
            place.map_or(0.0, |place| medians[place])
        };
        for (name, median) in Name::ALL.into_iter().zip(medians) {
            if median == 0.0 {
                let (runtime, bench) = (name.to_string(), program.to_string());
                let why = "it would take too long".to_owned();
                measured.not_run.push(NotRun { runtime, bench, n, workers, why });
                continue;
            }
            let seconds: Vec<f64> = [1.0, 0.98, 1.05].map(|by| median * by / 1e3).to_vec();
            measured.records.push(Record {
                runtime: name.to_string(),
                bench: program.to_string(),
                n,
                workers: if name.is_serial() { 1 } else { workers },
                reps: seconds.len(),
                seconds_median: seconds[0],
                seconds_min: seconds[1],
                seconds_max: seconds[2],
                seconds,
                checksum: "0x0000000000000001".to_owned(),
                speedup: Some(serial(name) / median),
                line_ns_before: 40.0,
                line_ns_after: 40.0,
                regime: "near".to_owned(),
                cpu_share: 1.0,
                metrics: None,
            });
        }
        measured
    }

    #[test]
    fn serial_ones_and_the_own_other_form_are_no_peers() {
        let medians = [1.0, 4.0, 2.0, 9.0, 5.0, 8.0, 0.5, 50.0, 0.0];
        let measured = example(Program::Fib, 30, 2, medians);
        assert_eq!(measured.best(), Some(Name::EvenkeelWorker));
        let verdict = measured.verdict();
        assert_eq!((verdict.standing, &*verdict.words), (Standing::Ahead, "1.25 x better"));
        assert_eq!(verdict.peer.as_deref(), Some("chili"));
        assert_eq!(measured.regime(), Some("near"));
        let alone = example(Program::Fib, 30, 1, [1.0, 4.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!((alone.verdict().standing, alone.regime()), (Standing::Even, None));
    }

    #[test]
    fn serial_runs_of_all_worker_counts_are_one_figure() {
        let medians = |serial| [serial, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let cell = |n, workers, serial| example(Program::Matmul, n, workers, medians(serial));
        let mut all = [cell(512, 1, 20.0), cell(512, 2, 40.0), cell(1024, 2, 15.0)];
        pool(&mut all);
        // The median of 19.6, 20, 21, 39.2, 40 and 42.
        let speedups = all.each_ref().map(|one| one.record(Name::Evenkeel).unwrap().speedup);
        assert_eq!(
            speedups.map(|speedup| speedup.unwrap().mul_add(100.0, 0.5) as u32),
            [301, 301, 150]
        );
        assert_eq!(
            speedup(&all[1], Name::Evenkeel).map(|s| (s.median * 100.0).round()),
            Some(301.0)
        );
        let doubts = doubts(&all);
        assert_eq!(doubts.len(), 3, "{doubts:?}");
        assert!(
            doubts[0].starts_with("speed-ups above")
                && doubts[0].contains("1 worker: evenkeel 3.01"),
            "{doubts:?}"
        );
        assert!(
            doubts[1].starts_with(
                "serial matmul of size 512 took 20.0 [19.6-21.0] ms in the row of 1 worker and 40.0 [39.2-42.0] in that of 2 workers"
            ),
            "{doubts:?}"
        );
        let mut steady = [cell(512, 1, 20.0), cell(512, 2, 20.1)];
        pool(&mut steady);
        assert_eq!(super::doubts(&steady[1..]), Vec::<String>::new());
    }

    #[test]
    fn speed_ups_and_costs_are_over_the_serial_one_of_the_language() {
        let medians = [10.0, 40.0, 20.0, 90.0, 50.0, 80.0, 5.0, 500.0, 0.0];
        let on_one = example(Program::Skynet, 6, 1, medians);
        let of = |summary: Option<Summary>| summary.map(|summary| (summary.median * 1e3).round());
        assert_eq!(of(speedup(&on_one, Name::Rayon)), Some(111.0));
        assert_eq!(of(speedup(&on_one, Name::Onetbb)), Some(10.0));
        assert_eq!(of(speedup(&on_one, Name::Openmp)), None);
        assert_eq!(of(ns_per_fork(&on_one, Name::Evenkeel)), Some(30_000.0));
        let matmul = example(Program::Matmul, 64, 1, medians);
        assert_eq!(of(ns_per_fork(&matmul, Name::Evenkeel)), None);
        let on_two = example(Program::Skynet, 6, 2, medians);
        assert_eq!(of(ns_per_fork(&on_two, Name::Evenkeel)), None);
    }
}
