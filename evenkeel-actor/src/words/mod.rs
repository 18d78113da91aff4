//! Plain values that describe actors: numbers, reasons, events, errors and counts.

pub(crate) mod dead_letter;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod exit;
pub(crate) mod id;
pub(crate) mod metrics;
