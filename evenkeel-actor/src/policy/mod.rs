//! Decisions, as functions of plain values.

pub(crate) mod intensity;
mod members;
pub(crate) mod references;
#[cfg(test)]
mod references_tests;
pub(crate) mod restart;
pub(crate) mod room;
pub(crate) mod tree;
pub(crate) mod turn;

pub use turn::Priority;
