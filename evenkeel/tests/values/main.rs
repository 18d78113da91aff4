//! Values, below all threads: the topology of a machine, and what types promise by their traits.

mod panics;
mod topology;
mod traits;
