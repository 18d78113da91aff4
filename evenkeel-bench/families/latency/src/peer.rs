//! The runtimes that run the experiment.

use suite::named;
use suite::peer;

named! {
    /// One column of the tables.
    pub(crate) enum Peer as "runtime of latency" {
        /// This project's runtime with its own primitives.
        Evenkeel = "evenkeel": "this project's runtime with its own primitives",
        /// Tokio with the primitives it ships.
        Tokio = "tokio-native": "Tokio with the primitives it ships; with one worker its \
            current-thread runtime",
        /// Goroutines.
        Go = "go": "a goroutine for each task, with channels",
        /// Virtual threads of Java.
        Java = "java": "a virtual thread of Java for each task",
    }
}

impl peer::Peer for Peer {}
