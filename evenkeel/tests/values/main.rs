//! Values, below all threads: the topology of a machine, and what types promise by their traits.

mod topology;
mod traits;
