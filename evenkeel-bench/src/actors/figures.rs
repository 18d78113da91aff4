//! From records to the lines of the tables.

use std::str::FromStr;

use super::bench::{Bench, Variant};
use super::peer::Peer;
use super::record::Record;
use super::savina::Program;
use crate::figures::{MIXED, SUBJECT, Summary, preference};
use crate::verdict::{self, Standing, Verdict};

/// What a line's figures are. Less is better of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Nanoseconds per message.
    Message,
    /// Nanoseconds of an actor's life.
    Life,
    /// Microseconds of a round trip: the median.
    Trip,
    /// The 99th percentile.
    Tail,
    /// The 99.9th percentile.
    FarTail,
    /// Bytes per actor.
    Bytes,
    /// Bytes per actor by the system's own account of its heap.
    Heap,
}

impl Quantity {
    /// What there is to say of an experiment.
    fn of(bench: Bench) -> &'static [Quantity] {
        match bench {
            Bench::LatencyProbe => {
                &[Quantity::Message, Quantity::Trip, Quantity::Tail, Quantity::FarTail]
            }
            Bench::Spawn | Bench::Savina(Program::Fjcreate) => &[Quantity::Life],
            Bench::Pingpong | Bench::Fanin | Bench::Savina(_) => &[Quantity::Message],
            Bench::Memory => &[Quantity::Bytes, Quantity::Heap],
        }
    }

    /// Its unit.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Quantity::Message => "ns per message",
            Quantity::Life => "ns per actor",
            Quantity::Trip => "round trip p50, µs",
            Quantity::Tail => "round trip p99, µs",
            Quantity::FarTail => "round trip p99.9, µs",
            Quantity::Bytes => "bytes per actor",
            Quantity::Heap => "bytes of its heap",
        }
    }

    /// Whether it is the experiment's own figure, of which there is a picture.
    pub(crate) fn is_first(self) -> bool {
        matches!(self, Quantity::Message | Quantity::Life | Quantity::Bytes)
    }

    fn value(self, record: &Record) -> Option<f64> {
        match self {
            Quantity::Message | Quantity::Life => record.ns_per_message,
            Quantity::Trip => record.trip_us_p50,
            Quantity::Tail => record.trip_us_p99,
            Quantity::FarTail => record.trip_us_p999,
            Quantity::Bytes => record.bytes_per_actor,
            Quantity::Heap => record.heap_bytes_per_actor,
        }
    }
}

/// One line: one quantity of one experiment in one variant.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) bench: Bench,
    pub(crate) variant: Variant,
    pub(crate) workers: usize,
    /// Actors in all; the most of any system where heavy ones have fewer.
    pub(crate) actors: usize,
    /// How near the cores were; `None` on one worker. Other regimes are other lines.
    pub(crate) regime: Option<String>,
    /// Whether it is the line of another regime that is compared.
    pub(crate) aside: bool,
    pub(crate) quantity: Quantity,
    /// Who was measured, in the order of the tables.
    pub(crate) cells: Vec<(Peer, Summary)>,
}

impl Line {
    /// What is known of a system.
    pub(crate) fn cell(&self, peer: Peer) -> Option<Summary> {
        self.cells.iter().find(|(other, _)| *other == peer).map(|(_, summary)| *summary)
    }

    /// The best of all, where there are others to be better than.
    pub(crate) fn best(&self) -> Option<Peer> {
        let compares = self.cells.len() > 1 && self.regime.as_deref() != Some(MIXED);
        self.best_among(|_| compares).map(|(peer, _)| peer)
    }

    fn best_among(&self, among: impl Fn(Peer) -> bool) -> Option<(Peer, Summary)> {
        let cells = self.cells.iter().filter(|(peer, _)| among(*peer)).copied();
        cells.min_by(|a, b| a.1.median.total_cmp(&b.1.median))
    }

    /// The subject's figure.
    pub(crate) fn subject(&self) -> Option<Summary> {
        self.best_among(is_subject).map(|(_, summary)| summary)
    }

    /// What there is to say about the subject beside its best peer.
    pub(crate) fn verdict(&self) -> Verdict {
        let even =
            |words: &str| Verdict { standing: Standing::Even, words: words.to_owned(), peer: None };
        if let (true, Some(regime)) = (self.aside, &self.regime) {
            return even(&format!("not compared: cores {regime}"));
        }
        match (self.subject(), self.best_among(|peer| !is_subject(peer))) {
            (None, _) => even("evenkeel not measured"),
            (_, None) => even("no peer to compare"),
            (Some(own), Some((peer, other))) => {
                if let Some(why) = verdict::unlike(self.regime.as_deref(), &own, &other) {
                    return even(&why);
                }
                let words = match self.quantity {
                    Quantity::Bytes | Quantity::Heap => ("smaller", "larger"),
                    Quantity::Message | Quantity::Life => ("faster", "slower"),
                    Quantity::Trip | Quantity::Tail | Quantity::FarTail => ("shorter", "longer"),
                };
                let (standing, words) = verdict::ratio(&own, &other, words);
                Verdict { standing, words, peer: Some(peer.to_string()) }
            }
        }
    }
}

/// Whether it is the system that the suite is about.
fn is_subject(peer: Peer) -> bool {
    peer.name() == SUBJECT
}

/// The colour and marker of a system in pictures: the first for the subject, whoever else is there.
pub(crate) fn slot(peer: Peer) -> usize {
    let mut others = Peer::ALL.into_iter().filter(|other| !is_subject(*other));
    others.position(|other| other == peer).map_or(0, |place| place + 1)
}

/// What tells the lines of a variant apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    workers: usize,
    /// 0 for actor_memory, whose figure is per actor and whose heavy systems have fewer.
    actors: usize,
    in_flight: Option<u32>,
    regime: Option<String>,
}

impl Key {
    fn of(record: &Record) -> Key {
        let memory = record.bench == Bench::Memory.name();
        Key {
            workers: record.workers,
            actors: if memory { 0 } else { record.actors },
            in_flight: record.in_flight,
            regime: (record.workers > 1 && !memory).then(|| record.regime.clone()),
        }
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

/// Groups the records, in the order of the tables. Records that no experiment here leaves are left out.
pub(crate) fn lines(records: &[Record]) -> Vec<Line> {
    let mut lines = Vec::new();
    for bench in Bench::ALL {
        for &variant in bench.variants() {
            let is_of =
                |record: &&Record| record.bench == bench.name() && record.variant == variant.name();
            let of_variant: Vec<&Record> = records.iter().filter(is_of).collect();
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
                let of_quantity = |&quantity| line(bench, variant, key, aside, quantity, &of_key);
                lines.extend(Quantity::of(bench).iter().map(of_quantity));
            }
        }
    }
    lines.retain(|line| !line.cells.is_empty());
    lines
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
    let actors = records.iter().map(|record| record.actors).max().unwrap_or(0);
    let cells = Peer::ALL.into_iter().filter_map(cell).collect();
    Line {
        bench,
        variant,
        workers: key.workers,
        actors,
        regime: key.regime.clone(),
        aside,
        quantity,
        cells,
    }
}

/// The systems of any of these lines, in the order of the tables.
pub(crate) fn columns(lines: &[Line]) -> Vec<Peer> {
    let is_there = |peer: &Peer| lines.iter().any(|line| line.cell(*peer).is_some());
    Peer::ALL.into_iter().filter(is_there).collect()
}
