//! The runtimes that run the experiments.

use suite::named;
use suite::peer;

named! {
    /// One column of the tables.
    pub(crate) enum Peer as "runtime" {
        /// This project's runtime with its own primitives.
        Evenkeel = "evenkeel": "this project's runtime with its own primitives",
        /// Tokio with hand-made park, semaphore and yield.
        TokioHand = "tokio-hand": "Tokio with hand-made park, semaphore and yield: its best; with \
            one worker its current-thread runtime",
        /// Tokio with the primitives it ships.
        TokioNative = "tokio-native": "Tokio with the primitives it ships; with one worker its \
            current-thread runtime",
        /// Go with channels.
        GoNative = "go-native": "Go with channels and Gosched",
        /// Go with the runtime's internal park and ready.
        GoHand = "go-hand": "Go with its internal park and ready",
    }
}

impl Peer {
    /// Whether it needs the Go toolchain.
    pub(crate) fn is_go(self) -> bool {
        matches!(self, Peer::GoNative | Peer::GoHand)
    }
}

impl peer::Peer for Peer {}
