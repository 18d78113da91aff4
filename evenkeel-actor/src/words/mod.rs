//! What is said of actors, by plain values.

pub(crate) mod id;
