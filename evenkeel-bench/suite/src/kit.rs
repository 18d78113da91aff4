//! Tools for several families, to run their experiments and to find and build their peers.

pub mod afresh;
pub mod cpp;
pub mod fake;
pub mod fault;
pub mod go;
pub mod installer;
pub mod java;
pub mod latency;
pub mod patience;
pub mod places;
pub mod processor_time;
pub mod runtime;
pub mod served;
pub mod toolchain;
pub mod work;

pub use evenkeel_sim::random;
