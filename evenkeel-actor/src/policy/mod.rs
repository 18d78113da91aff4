//! What is decided, as functions of plain values.

pub(crate) mod room;
pub(crate) mod turn;

pub use turn::Priority;
