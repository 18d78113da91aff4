//! Runtimes as a whole: construction, counters, and shutdown.

#[path = "../common"]
mod common {
    pub(crate) mod counting;
    pub(crate) mod named;
    pub(crate) mod panics;
    pub(crate) mod runtime;
    pub(crate) mod stuck;
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

mod blocking;
mod build;
mod enter;
mod left_behind;
mod macros;
mod metrics;
mod shutdown;
mod stalls;
mod stuck;
