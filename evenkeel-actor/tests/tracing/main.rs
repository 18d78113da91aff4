//! What subscribers of `tracing` are told of actors, with the feature `tracing`.

#[path = "../common/altered.rs"]
mod altered;
mod chain;
mod lives;
mod log;
mod nodes;
mod polls;
