//! The experiments, and the settings of their runs.

use std::time::Duration;

use crate::Variant;
use suite::case::Case;
use suite::family;
use suite::named;
use suite::named::NAMELESS;

named! {
    /// One experiment.
    pub(crate) enum Bench as "experiment of serving" {
        /// Messages that come back.
        Echo = "echo": "messages that TCP servers send back, over loopback",
        /// Pages of HTTP/1.1.
        Http = "http": "pages of a server of HTTP/1.1, alone and beside requests that compute, \
            block or are read slowly",
        /// Connections without traffic.
        Idle = "idle": "what connections without traffic cost a TCP server",
        /// Connections that come and go.
        Soak = "soak": "connections that come and go at a TCP server, which keeps nothing of them",
    }
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// The experiment.
    pub(crate) bench: Bench,
    /// What is asked for by HTTP.
    pub(crate) variant: Variant,
    /// Workers of the server, and threads of the client.
    pub(crate) workers: usize,
    /// Connections, but for those of heavy requests.
    pub(crate) connections: usize,
    /// Bytes of a message of echo.
    pub(crate) bytes: usize,
    /// Requests per second, where they begin at fixed times; else 0.
    pub(crate) rate: u32,
    /// Requests of a connection before it goes and another one comes; 0 if it stays.
    pub(crate) life: u32,
    /// The time before the measured time.
    pub(crate) warm_up: Duration,
    /// How long the client waits for the last replies while none comes.
    pub(crate) patience: Duration,
    /// Measured time.
    pub(crate) time: Duration,
    /// The seed of the random choices.
    pub(crate) seed: u64,
}

impl Spec {
    /// Whether it asks for nothing but small pages of HTTP.
    pub(crate) fn is_small_pages(&self) -> bool {
        self.bench == Bench::Http && matches!(self.variant, Variant::Plain | Variant::Steady)
    }
}

impl family::Spec for Spec {
    fn case(&self) -> Case {
        let Self { bench, variant, workers, connections, bytes, rate, .. } = self;
        let case = |variant| Case::new(bench.name(), variant, *workers);
        match bench {
            Bench::Echo => case(NAMELESS).with("connections", *connections).with("bytes", *bytes),
            Bench::Http => {
                case(variant.name()).with("connections", *connections).with("rate", *rate)
            }
            Bench::Idle | Bench::Soak => case(NAMELESS).with("connections", *connections),
        }
    }
}
