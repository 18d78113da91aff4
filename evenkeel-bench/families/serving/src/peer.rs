//! The runtimes that serve.

use suite::named;
use suite::peer;

named! {
    /// One column of the tables.
    pub(crate) enum Peer as "runtime of serving" {
        /// This project's runtime.
        Evenkeel = "evenkeel": "this project's runtime with its defaults",
        /// Tokio's multi-thread runtime.
        Tokio = "tokio": "Tokio's multi-thread runtime with a thread for each processor",
        /// Tokio's current-thread runtimes, one for each core.
        TokioPerCore = "tokio-per-core": "a current-thread runtime of Tokio for each processor, \
            which get the connections in turns",
        /// No runtime.
        Bare = "bare": "one thread around a readiness set, without a runtime: what the system \
            takes; echo only",
        /// Goroutines.
        Go = "go": "a goroutine for each connection, by net and net/http",
        /// nginx.
        Nginx = "nginx": "nginx with a process for each processor; http's small pages only",
    }
}

impl peer::Peer for Peer {}
