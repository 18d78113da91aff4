//! What subscribers of `tracing` are told of actors, with the feature `tracing`.

mod chain;
mod lives;
mod log;
mod nodes;
mod polls;
