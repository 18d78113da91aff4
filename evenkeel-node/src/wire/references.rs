//! The references to actors in a value, in bytes.

use super::super::varint::{self, Reader};
use super::super::{FrameError, Name, NodeId};
use super::cast::{read_slot, write_slot};

/// The most references in a message. A choice: the reader keeps a lease for each and gives each
/// back, and one message must not hold a reader up, nor make it keep memory without a bound.
pub const MOST_REFERENCES: usize = 1 << 16;

/// The actors to which a value has references, in order, one for each reference. Their bytes have
/// been checked.
///
/// ```text
/// references := count name*       name := node index generation
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct References<'a> {
    count: u64,
    /// The bytes behind the count.
    bytes: &'a [u8],
}

impl<'a> References<'a> {
    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns how many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        // Each takes at least three bytes in memory, so their number is within `usize`.
        self.count as usize
    }

    /// Returns the names of the actors.
    pub fn iter(&self) -> impl Iterator<Item = Name> + use<'a> {
        let mut reader = Reader::new(self.bytes, 0);
        (0..self.count).map_while(move |_| read_name(&mut reader).ok())
    }

    /// Reads the references of a record that has some.
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, FrameError> {
        let at = reader.at();
        let count = reader.number()?;
        if count == 0 {
            // An empty list would be a longer form of none.
            return Err(FrameError::Overlong { at });
        }
        if count > MOST_REFERENCES as u64 {
            return Err(FrameError::TooGreat { at, most: MOST_REFERENCES as u64 });
        }
        let start = reader.at();
        let mut ahead = reader.clone();
        for _ in 0..count {
            read_name(&mut ahead)?;
        }
        Ok(Self { count, bytes: reader.bytes(ahead.at() - start)? })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        varint::put(out, self.count);
        out.extend_from_slice(self.bytes);
    }
}

/// Builds references. Messages with more than [`MOST_REFERENCES`] are neither written nor read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferencesBuf {
    count: u64,
    bytes: Vec<u8>,
}

impl ReferencesBuf {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a reference. The reader of the value finds references if they are added in the order of
    /// their names.
    pub fn push(&mut self, actor: Name) {
        self.count += 1;
        varint::put(&mut self.bytes, actor.node.number().into());
        write_slot(actor.slot, &mut self.bytes);
    }

    /// Returns the references as a message has them.
    #[must_use]
    pub fn as_references(&self) -> References<'_> {
        References { count: self.count, bytes: &self.bytes }
    }
}

fn read_name(reader: &mut Reader<'_>) -> Result<Name, FrameError> {
    Ok(Name { node: NodeId::new(reader.number32()?), slot: read_slot(reader)? })
}
