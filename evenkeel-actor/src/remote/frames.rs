//! What a node has sent that is not read yet.

use crate::node::demultiplexer::Demultiplexer;

/// What a node has sent that is not read yet.
#[derive(Default)]
pub(crate) struct Frames {
    pub(super) waiting: Demultiplexer<Vec<u8>>,
    pub(super) readers: usize,
}
