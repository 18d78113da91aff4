//! The places for answers in a value, in bytes.

use super::super::varint::{self, Reader};
use super::super::{FrameError, NodeId};

/// The most places in a message. A choice: each makes the reader send to another node, and one
/// message must not hold a reader up.
pub const MOST_PLACES: usize = 1_024;

/// Places for answers to questions of other nodes than the sender of the value, in order. Their
/// bytes have been checked.
///
/// ```text
/// places := count place*          place := node call
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places<'a> {
    /// The bytes behind the count.
    bytes: &'a [u8],
}

impl<'a> Places<'a> {
    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns how many there are.
    pub(super) fn count(&self) -> usize {
        self.iter().count()
    }

    /// Returns, for each place, the node that has asked and the number of its question.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, u64)> + use<'a> {
        let mut reader = Reader::new(self.bytes, 0);
        std::iter::from_fn(
            move || {
                if reader.is_empty() { None } else { read_place(&mut reader).ok() }
            },
        )
    }

    /// Returns the bytes of the places, to be kept.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the places of bytes from [`as_bytes`](Self::as_bytes).
    pub fn from_bytes(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, FrameError> {
        let at = reader.at();
        let count = reader.number()?;
        if count > MOST_PLACES as u64 {
            return Err(FrameError::TooGreat { at, most: MOST_PLACES as u64 });
        }
        let start = reader.at();
        let mut ahead = reader.clone();
        for _ in 0..count {
            read_place(&mut ahead)?;
        }
        Ok(Self { bytes: reader.bytes(ahead.at() - start)? })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        varint::put(out, self.count() as u64);
        out.extend_from_slice(self.bytes);
    }
}

/// Builds places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacesBuf(Vec<u8>);

impl PlacesBuf {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a place.
    pub fn push(&mut self, node: NodeId, call: u64) {
        varint::put(&mut self.0, node.number().into());
        varint::put(&mut self.0, call);
    }

    /// Returns the places as a message has them.
    #[must_use]
    pub fn as_places(&self) -> Places<'_> {
        Places { bytes: &self.0 }
    }
}

fn read_place(reader: &mut Reader<'_>) -> Result<(NodeId, u64), FrameError> {
    Ok((NodeId::new(reader.number32()?), reader.number()?))
}
