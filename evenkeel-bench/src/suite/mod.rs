//! What all families of experiments share.

pub(crate) mod output;
