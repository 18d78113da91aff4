//! Thorium's counters of latency_probe: `PERFORMANCE_COUNTER name = value unit`, one per line;
//! numbers have no unit.
//!
//! Names and definitions are Thorium's at the time of the post on it, which counts pings alone:
//! `worker-latency` is the inverse of a worker's throughput, and no actor has waited that time.
//! Lines with names ending in `with-replies` also count the replies, and the `round-trip` lines are
//! the times that actors have waited.

use std::fmt;

use super::bench::Bench;
use suite::record::Record;
use suite::rows::Row;
use suite::words::count;

/// The unit of throughputs.
const RATE: &str = "messages / s";

/// A run in terms of the counters.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counters {
    /// Processes.
    pub(crate) nodes: usize,
    /// Workers of all nodes.
    pub(crate) workers: usize,
    /// Actors of all workers.
    pub(crate) actors: usize,
    /// Pings of all actors.
    pub(crate) pings: u64,
    /// Time from the first message until the last actor was done, in seconds.
    pub(crate) seconds: f64,
    /// Round trips in microseconds, in the order of [`TRIPS`]: those that the run has.
    pub(crate) trips: [Option<f64>; 4],
}

/// The counters of round trips, and the figures of a record that have them.
const TRIPS: [(&str, &str); 4] = [
    ("round-trip-p50", "trip_us_p50"),
    ("round-trip-p99", "trip_us_p99"),
    ("round-trip-p99.9", "trip_us_p999"),
    ("round-trip-max", "trip_us_max"),
];

/// The dividend of the rates: the pings, or all messages.
struct Rates {
    ending: &'static str,
    messages: u64,
}

impl Counters {
    /// The counters of a run of latency_probe; `None` if the record lacks a number that they need.
    fn of(record: &Record) -> Option<Counters> {
        let setting = |name| record.case.settings.number(name);
        let figure = |name| record.figures.number(name);
        let trips = TRIPS.map(|(_, field)| figure(field));
        Some(Counters {
            nodes: 1,
            workers: record.case.workers,
            actors: setting("actors")? as usize,
            pings: setting("messages")? as u64 / 2,
            seconds: figure("seconds")?,
            trips,
        })
    }

    fn rates(&self, f: &mut fmt::Formatter<'_>, rates: &Rates) -> fmt::Result {
        let Rates { ending, messages } = rates;
        let all = *messages as f64 / self.seconds;
        let (worker, actor) = (all / self.workers as f64, all / self.actors as f64);
        for (name, value, unit) in [
            ("computation-throughput", all, RATE),
            ("node-throughput", all / self.nodes as f64, RATE),
            ("worker-throughput", worker, RATE),
            ("worker-latency", 1e9 / worker, "ns"),
            ("actor-throughput", actor, RATE),
            ("actor-latency", 1e9 / actor, "ns"),
        ] {
            line(f, &format!("{name}{ending}"), format_args!("{value:.6} {unit}"))?;
        }
        Ok(())
    }
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, value: impl fmt::Display) -> fmt::Result {
    writeln!(f, "PERFORMANCE_COUNTER {name} = {value}")
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Counters { nodes, workers, actors, pings, seconds, trips } = self;
        let whole = |a: u64, b: usize| a / b.max(1) as u64;
        line(f, "node-count", nodes)?;
        line(f, "worker-count-per-node", whole(workers as u64, nodes))?;
        line(f, "actor-count-per-worker", whole(actors as u64, workers))?;
        line(f, "worker-count", workers)?;
        line(f, "actor-count", actors)?;
        line(f, "message-count-per-actor", whole(pings, actors))?;
        line(f, "message-count", pings)?;
        line(f, "elapsed-time", format_args!("{seconds:.9} s"))?;
        self.rates(f, &Rates { ending: "", messages: pings })?;
        line(f, "ping-message-count", pings)?;
        // Each ping has one reply: the run has checked it.
        line(f, "pong-message-count", pings)?;
        line(f, "message-count-with-replies", 2 * pings)?;
        self.rates(f, &Rates { ending: "-with-replies", messages: 2 * pings })?;
        for ((name, _), micros) in TRIPS.into_iter().zip(trips) {
            if let Some(micros) = micros {
                line(f, name, format_args!("{:.0} ns", micros * 1e3))?;
            }
        }
        Ok(())
    }
}

/// The counters of the run with the median time, of each system in each row of latency_probe.
pub(crate) fn render(rows: &[Row<'_>]) -> String {
    let mut text = String::new();
    for row in rows.iter().filter(|row| row.case.bench == Bench::LatencyProbe.name()) {
        for cell in &row.cells {
            let mut runs = cell.runs.clone();
            let seconds = |record: &Record| record.figures.number("seconds").unwrap_or_default();
            runs.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
            let Some(counters) = Counters::of(runs[(runs.len() - 1) / 2]) else { continue };
            let (workers, of) = (count(row.case.workers, "worker"), count(runs.len(), "run"));
            let name = cell.peer.name;
            text.push_str(&format!("\n{name}, {workers}, the median of {of}:\n{counters}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use suite::entry::Measured;
    use suite::rows::rows;

    #[test]
    fn counters_follow_their_definitions() {
        // 2 nodes of 2 workers of 100 actors, 40 pings each in 2 s: 8,000 pings per second, 2,000
        // by each worker, 20 by each actor.
        let trips = [1.5, 20.0, 300.0, 4_000.0].map(Some);
        let counters =
            Counters { nodes: 2, workers: 4, actors: 400, pings: 16_000, seconds: 2.0, trips };
        let expected = [
            "node-count = 2",
            "worker-count-per-node = 2",
            "actor-count-per-worker = 100",
            "worker-count = 4",
            "actor-count = 400",
            "message-count-per-actor = 40",
            "message-count = 16000",
            "elapsed-time = 2.000000000 s",
            "computation-throughput = 8000.000000 messages / s",
            "node-throughput = 4000.000000 messages / s",
            "worker-throughput = 2000.000000 messages / s",
            "worker-latency = 500000.000000 ns",
            "actor-throughput = 20.000000 messages / s",
            "actor-latency = 50000000.000000 ns",
            "ping-message-count = 16000",
            "pong-message-count = 16000",
            "message-count-with-replies = 32000",
            "computation-throughput-with-replies = 16000.000000 messages / s",
            "node-throughput-with-replies = 8000.000000 messages / s",
            "worker-throughput-with-replies = 4000.000000 messages / s",
            "worker-latency-with-replies = 250000.000000 ns",
            "actor-throughput-with-replies = 40.000000 messages / s",
            "actor-latency-with-replies = 25000000.000000 ns",
            "round-trip-p50 = 1500 ns",
            "round-trip-p99 = 20000 ns",
            "round-trip-p99.9 = 300000 ns",
            "round-trip-max = 4000000 ns",
        ];
        let text = counters.to_string();
        let lines: Vec<&str> = text
            .lines()
            .map(|line| line.strip_prefix("PERFORMANCE_COUNTER ").expect("each line has it"))
            .collect();
        assert_eq!(lines, expected);
        let short = Counters { trips: [None; 4], ..counters }.to_string();
        assert_eq!(short.lines().count(), expected.len() - 4);
    }

    #[test]
    fn the_median_run_of_latency_probe_is_shown_and_no_other_experiment() {
        let Measured { of, records, absent } = super::super::tests::example();
        let text = render(&rows(&of, &records, &absent));
        let heads: Vec<&str> = text.lines().filter(|line| line.contains("the median of")).collect();
        assert_eq!(
            heads,
            ["actix, 1 worker, the median of 3 runs:", "tokio, 1 worker, the median of 3 runs:"]
        );
        // 91 ns per message: 8 million messages, 4 million pings.
        assert!(text.contains("elapsed-time = 0.728000000 s\n"), "{text}");
        assert!(text.contains("message-count = 4000000"), "{text}");
        assert_eq!(render(&[]), "");
    }
}
