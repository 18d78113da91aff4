//! The places for answers that are in a value, in bytes.

use super::super::varint::{self, Reader};
use super::super::{FrameError, NodeId};

/// How many places may be in a message at most. A choice: each is an order to say something to
/// another node, so one message is not to hold a reader up.
pub const MOST_PLACES: usize = 1_024;

/// Places for answers to questions of other nodes than the one that sends the value, in order.
/// They have been checked.
///
/// ```text
/// places := count place*          place := node call
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places<'a> {
    /// Those that follow the count.
    bytes: &'a [u8],
}

impl<'a> Places<'a> {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.iter().count()
    }

    /// The node that has asked, and the number of its question.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, u64)> + use<'a> {
        let mut reader = Reader::new(self.bytes, 0);
        std::iter::from_fn(
            move || {
                if reader.is_empty() { None } else { read_place(&mut reader).ok() }
            },
        )
    }

    /// What they are in memory that is kept.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The places that were these bytes before.
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

/// Places that are being put together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacesBuf(Vec<u8>);

impl PlacesBuf {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, node: NodeId, call: u64) {
        varint::put(&mut self.0, node.number().into());
        varint::put(&mut self.0, call);
    }

    /// What they are in a message.
    #[must_use]
    pub fn as_places(&self) -> Places<'_> {
        Places { bytes: &self.0 }
    }
}

fn read_place(reader: &mut Reader<'_>) -> Result<(NodeId, u64), FrameError> {
    Ok((NodeId::new(reader.number32()?), reader.number()?))
}
