//! Frames of a node that are not read yet.

use crate::node::demultiplexer::Demultiplexer;

/// Frames of a node that are not read yet, and its readers.
#[derive(Default)]
pub(crate) struct Frames {
    pub(super) waiting: Demultiplexer<Vec<u8>>,
    pub(super) readers: usize,
    /// The bytes of the frames, and what each takes beside them.
    pub(super) bytes: usize,
}

impl Frames {
    /// Takes the next frame that a reader may read, with its lane. Without one the reader ends.
    pub(super) fn next(&mut self) -> Option<(u16, Vec<u8>)> {
        let next = self.waiting.next();
        self.readers -= usize::from(next.is_none());
        next
    }
}
