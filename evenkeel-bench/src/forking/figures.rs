//! From records to what tables and pictures show of a cell.
//!
//! Runtimes are compared by their speed-up over serial calls in the same language, because compilers differ by more in
//! the leaves than runtimes do around them.

use super::forker::Name;
use super::record::Record;
use super::runner::Measured;
use crate::figures::Summary;
use crate::verdict::{self, Standing, Verdict};

/// The runtime that the suite is about. Its other form is no peer of it, and neither is plain serial code.
const SUBJECT: Name = Name::Evenkeel;

impl Measured {
    /// The record of a runtime, if it was run.
    pub(crate) fn record(&self, name: Name) -> Option<&Record> {
        self.records.iter().find(|record| record.runtime == name.name())
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

    fn fastest(&self, among: impl Fn(Name) -> bool) -> Option<(Name, f64)> {
        let names = self.cell.runtimes.iter().copied().filter(|&name| among(name));
        let speedups = names.filter_map(|name| Some((name, self.record(name)?.speedup?)));
        speedups.max_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    /// What there is to say about the subject beside its best peer.
    pub(crate) fn verdict(&self) -> Verdict {
        let is_peer = |name: Name| !name.is_serial() && !name.is_own();
        let subject = self.record(SUBJECT).and_then(|record| record.speedup);
        let even =
            |words: &str| Verdict { standing: Standing::Even, words: words.to_owned(), peer: None };
        match (subject, self.fastest(is_peer)) {
            (None, _) => even("evenkeel not measured"),
            (_, None) => even("no peer to compare"),
            (Some(subject), Some((peer, speedup))) => {
                let words = ("better", "worse");
                let (standing, words) = verdict::ratio(speedup, subject, words);
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
    let serial = measured.record(name.baseline())?.seconds_median;
    let record = measured.record(name)?;
    Summary::of(record.seconds.iter().map(|seconds| serial / seconds).collect())
}

/// Nanoseconds that a fork costs on one worker beyond the serial calls; `None` where forks are not most of the work.
pub(crate) fn ns_per_fork(measured: &Measured, name: Name) -> Option<Summary> {
    let forks = measured.cell.program.forks(measured.cell.n).filter(|&forks| forks > 0)?;
    let serial = measured.record(name.baseline())?.seconds_median;
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
        let mut measured = Measured { cell, records: Vec::new(), not_run: Vec::new() };
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
