//! What `tracing` subscribers learn of actors, with the feature `tracing`.

mod chain;
mod lives;
mod log;
mod nodes;
mod polls;
