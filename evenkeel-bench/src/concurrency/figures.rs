//! From records to the lines of the tables.

use std::str::FromStr;

use super::bench::{Bench, Variant};
use super::peer::Peer;
use super::record::Record;
use crate::figures::{MIXED, Summary, preference};
use crate::verdict::{self, Standing, Verdict};

/// The peer that the suite is about.
const SUBJECT: Peer = Peer::Evenkeel;

/// What a line's figures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Nanoseconds of a round.
    Time,
    /// Millions of entries per second.
    Throughput,
    /// Microseconds of the longest wait.
    Longest,
}

impl Quantity {
    /// What there is to say of an experiment.
    fn of(bench: Bench) -> &'static [Quantity] {
        match bench {
            Bench::Contended => &[Quantity::Throughput, Quantity::Longest],
            _ => &[Quantity::Time],
        }
    }

    /// Its unit.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Quantity::Time => "ns",
            Quantity::Throughput => "entries, million/s",
            Quantity::Longest => "longest wait, µs",
        }
    }

    fn value(self, record: &Record) -> Option<f64> {
        match self {
            Quantity::Time => Some(record.ns_per_op_per_proc),
            Quantity::Throughput => Some(record.ops as f64 / record.seconds / 1e6),
            Quantity::Longest => record.longest_wait_us,
        }
    }

    fn is_better(self, a: &Summary, b: &Summary) -> bool {
        match self {
            Quantity::Throughput => a.median > b.median,
            Quantity::Time | Quantity::Longest => a.median < b.median,
        }
    }
}

/// One line: one quantity of one experiment in one variant.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) bench: Bench,
    pub(crate) variant: Variant,
    pub(crate) monitors: usize,
    pub(crate) procs: usize,
    pub(crate) tasks: usize,
    /// How near the cores were; `None` on one processor. Other regimes are other lines.
    pub(crate) regime: Option<String>,
    /// Whether it is the line of another regime that is compared.
    pub(crate) aside: bool,
    pub(crate) quantity: Quantity,
    /// Who was measured, in the order of the tables.
    pub(crate) cells: Vec<(Peer, Summary)>,
}

impl Line {
    /// What is known of a peer.
    pub(crate) fn cell(&self, peer: Peer) -> Option<Summary> {
        self.cells.iter().find(|(other, _)| *other == peer).map(|(_, summary)| *summary)
    }

    /// The best of those that are compared, where there are others to be better than.
    pub(crate) fn best(&self) -> Option<Peer> {
        let compared = self.cells.iter().filter(|(peer, _)| !peer.is_floor()).count();
        let compares =
            compared > 1 && self.regime.as_deref() != Some(MIXED) && !self.variant.is_removed();
        self.best_among(|peer| compares && !peer.is_floor()).map(|(peer, _)| peer)
    }

    fn best_among(&self, among: impl Fn(Peer) -> bool) -> Option<(Peer, Summary)> {
        let cells = self.cells.iter().filter(|(peer, _)| among(*peer)).copied();
        cells.reduce(|best, one| if self.quantity.is_better(&one.1, &best.1) { one } else { best })
    }

    /// What there is to say about the subject beside its best peer.
    pub(crate) fn verdict(&self) -> Verdict {
        let even =
            |words: &str| Verdict { standing: Standing::Even, words: words.to_owned(), peer: None };
        if let (true, Some(regime)) = (self.aside, &self.regime) {
            return even(&format!("not compared: cores {regime}"));
        }
        if self.variant.is_removed() {
            return even("not compared: the compiler removes it");
        }
        let best = self.best_among(|peer| peer != SUBJECT && !peer.is_floor());
        match (self.cell(SUBJECT), best) {
            (None, _) => even("evenkeel not measured"),
            (_, None) => even("no peer to compare"),
            (Some(own), Some((peer, other))) => {
                if let Some(why) = verdict::unlike(self.regime.as_deref(), &own, &other) {
                    return even(&why);
                }
                let (standing, words) = match self.quantity {
                    Quantity::Throughput => verdict::ratio(&other, &own, ("better", "worse")),
                    Quantity::Time => verdict::ratio(&own, &other, ("faster", "slower")),
                    Quantity::Longest => verdict::ratio(&own, &other, ("shorter", "longer")),
                };
                Verdict { standing, words, peer: Some(peer.to_string()) }
            }
        }
    }
}

/// Groups the records, in the order of the tables. Records that no experiment here leaves are left out.
pub(crate) fn lines(records: &[Record]) -> Vec<Line> {
    let mut lines = Vec::new();
    for bench in Bench::ALL {
        let of_bench: Vec<&Record> = records.iter().filter(|r| r.bench == bench.name()).collect();
        for &variant in bench.variants() {
            let name = variant.name();
            let of_variant: Vec<&Record> =
                of_bench.iter().copied().filter(|record| record.variant == name).collect();
            let mut keys: Vec<Key> = of_variant.iter().map(|record| Key::of(record)).collect();
            keys.sort();
            keys.dedup();
            let within = |key: &Key| -> Vec<&Record> {
                of_variant.iter().copied().filter(|record| Key::of(record) == *key).collect()
            };
            for key in &keys {
                let alike = keys.iter().filter(|other| other.is_but_for_regime(key));
                let aside = alike.max_by_key(|other| other.preference(&within(other))) != Some(key);
                let of_key = within(key);
                for &quantity in Quantity::of(bench) {
                    lines.push(line(bench, variant, key, aside, quantity, &of_key));
                }
            }
        }
    }
    lines
}

/// What tells the lines of a variant apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    monitors: usize,
    procs: usize,
    tasks: usize,
    regime: Option<String>,
}

impl Key {
    fn of(record: &Record) -> Key {
        let Record { monitors, procs, tasks, .. } = *record;
        Key { monitors, procs, tasks, regime: (procs > 1).then(|| record.regime.clone()) }
    }

    /// Whether they are the same but for the regime.
    fn is_but_for_regime(&self, other: &Key) -> bool {
        *self == Key { regime: self.regime.clone(), ..other.clone() }
    }

    /// How much its line, of these records, is to be preferred for a comparison.
    fn preference(&self, records: &[&Record]) -> impl Ord + use<> {
        let regime = self.regime.as_deref().unwrap_or_default();
        preference(regime, records.iter().map(|record| record.runtime.as_str()))
    }
}

fn line(
    bench: Bench,
    variant: Variant,
    key: &Key,
    aside: bool,
    quantity: Quantity,
    records: &[&Record],
) -> Line {
    let cell = |peer: Peer| {
        let own =
            records.iter().filter(|record| Peer::from_str(&record.runtime).ok() == Some(peer));
        Summary::of(own.filter_map(|record| quantity.value(record)).collect())
            .map(|summary| (peer, summary))
    };
    let Key { monitors, procs, tasks, regime } = key.clone();
    let cells = Peer::ALL.into_iter().filter_map(cell).collect();
    Line { bench, variant, monitors, procs, tasks, regime, aside, quantity, cells }
}

/// The peers of any of these lines, in the order of the tables.
pub(crate) fn columns(lines: &[Line]) -> Vec<Peer> {
    let is_there = |peer: &Peer| lines.iter().any(|line| line.cell(*peer).is_some());
    Peer::ALL.into_iter().filter(is_there).collect()
}
