//! Exports the metrics of a runtime through the facade [`metrics`], to whatever recorder the
//! program has installed: that of Prometheus, of StatsD, or one of its own.
//!
//! A runtime counts by itself, at all times ([`evenkeel::metrics`]). An [`Exporter`] reads these
//! counts and hands them to the recorder, when it is called or at intervals.
//!
//! ```
//! use evenkeel_metrics::Exporter;
//! use std::time::Duration;
//!
//! let runtime = evenkeel::Runtime::new().unwrap();
//! let exporter = Exporter::new(&runtime.handle()).name("web").every(Duration::from_secs(10));
//! exporter.describe();
//! // At intervals, by a task ...
//! let exports = runtime.spawn(exporter.clone().run());
//! // ... or when the figures are asked for, such as before a page of Prometheus is rendered.
//! exporter.record();
//! # drop(exports);
//! ```
//!
//! # Names
//! A figure has the name of its field in [`evenkeel::metrics`]. All have the label `runtime`, the
//! name that [`Exporter::name`] gives. Figures of a processor have the label `processor` too: the
//! worker's number, or `relief-0` and so on for [reliefs](evenkeel::Builder::reliefs).
//!
//! | what | name | kind |
//! |---|---|---|
//! | a count, such as `polls` | `evenkeel_polls_total` | counter |
//! | a number at the moment, such as `ready` | `evenkeel_ready` | gauge |
//! | a time, such as `longest_wait` | `evenkeel_longest_wait_seconds` | gauge |
//! | what was done for sockets, such as `accepted` | `evenkeel_sockets_accepted_total` | as above |
//! | how workers have spent their time | `evenkeel_times_seconds_total`, with `occupation`: `execution`, `scheduling`, `searching`, `asleep` | gauge that only grows |
//! | work that was taken, by distance | `evenkeel_times_steals_total`, with `distance` | counter |
//! | the histogram `delays` | `evenkeel_sockets_delays_seconds_bucket`, with `le`; `evenkeel_sockets_delays_seconds_count` | counters |
//! | the number of workers | `evenkeel_workers` | gauge |
//! | the number of tasks, closures, calls and jobs that have not ended | `evenkeel_alive` | gauge |
//!
//! *An alarm takes what falls again*: `evenkeel_head_age_seconds`, `evenkeel_ready`,
//! `evenkeel_alive`, `evenkeel_blocking_waiting`, and rates of counters.
//! `evenkeel_longest_wait_seconds` and `evenkeel_longest_batch_seconds` are the longest since the
//! runtime began, and never fall.
//!
//! *Times that add up are gauges*, because the counters of the facade are whole numbers, and whole
//! seconds are too coarse. An exporter and its clones never set one back, so `rate` and `increase`
//! of Prometheus, which do not ask for the kind, treat them as the counters that they are:
//!
//! ```text
//! sum by (processor) (rate(evenkeel_times_seconds_total{occupation="execution"}[1m]))
//! ```
//!
//! # Histograms
//! The runtime keeps numbers of times by their magnitude, and not the times. So none can be given
//! to a histogram of the facade without making times up. The buckets are exported as Prometheus
//! has them: each is a counter of the times up to its label `le`, in seconds; `+Inf` has all. They
//! double from 1,024 ns to 17 s. What is shorter is in the first bucket.
//!
//! ```text
//! histogram_quantile(0.99, sum by (le) (rate(evenkeel_sockets_delays_seconds_bucket[5m])))
//! ```
//!
//! A recorder that appends `_total` to the name of each counter, as that of Prometheus does with
//! `with_recommended_naming`, appends it to these two as well, and no query by the plain names
//! finds them.
//!
//! There is no `_sum`, because the runtime has none: a mean cannot be computed.
//!
//! # Which recorder
//! Each call of [`Exporter::record`] and [`Exporter::describe`], and each poll of
//! [`Exporter::run`], uses the recorder of the thread that it is on: the one of
//! `metrics::with_local_recorder`, if there is one, and the program's otherwise. Nothing of a
//! recorder is kept between calls. So a recorder that is installed late gets all counts from the
//! next call on, two recorders each get all of them, and one that drops idle series gets these
//! again. Without a recorder the calls have no effect.
//!
//! # Several runtimes
//! Runtimes that are exported to one recorder need different names, or their figures overwrite one
//! another. A counter of the facade does not go back: a runtime that follows another under the same
//! name shows the other's counts until it has counted further.
//!
//! # Cost
//! The runtime does nothing for it: its counters are there anyway. A call of `record` reads them
//! and looks up some 70 series for each processor in the recorder: less than 50 µs a processor
//! with Prometheus' recorder, and less than 10 µs without a recorder. These are as many series in
//! Prometheus: 5,000 for a runtime with 64 workers, unless its configuration drops some.

#![forbid(unsafe_code)]

mod delays;
mod exporter;
mod figures;
mod series;
mod times;

pub use exporter::Exporter;

/// Compiles and runs the example of the package's front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
