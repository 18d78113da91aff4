//! The members of a collective send, in bytes.

use super::super::varint::{self, Reader};
use super::super::{FrameError, NodeId, Slot};

/// The nodes of a collective send and the actors on each, in order. Their bytes have been checked.
///
/// ```text
/// members := count member*        member := node count slot*        slot := index generation
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members<'a> {
    count: u64,
    bytes: &'a [u8],
}

/// One node of a collective send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The node.
    pub node: NodeId,
    count: u64,
    bytes: &'a [u8],
    /// All its bytes, with the node and the count.
    whole: &'a [u8],
}

impl<'a> Members<'a> {
    /// Returns how many nodes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        // Each takes at least two bytes, so their number is at most the length in bytes.
        self.count as usize
    }

    /// Returns whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the nodes.
    pub fn iter(&self) -> impl Iterator<Item = Member<'a>> + use<'a> {
        let mut reader = Reader::new(self.bytes, 0);
        let mut rest = self.bytes;
        (0..self.count).map_while(move |_| {
            let before = reader.at();
            let (node, count, bytes) = read_member(&mut reader).ok()?;
            let (whole, after) = rest.split_at(reader.at() - before);
            rest = after;
            Some(Member { node, count, bytes, whole })
        })
    }

    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, FrameError> {
        let count = reader.number()?;
        let start = reader.at();
        let mut ahead = reader.clone();
        // Each turn of the loop takes bytes, so a made-up count ends with them.
        for _ in 0..count {
            read_member(&mut ahead)?;
        }
        let bytes = reader.bytes(ahead.at() - start)?;
        Ok(Self { count, bytes })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        varint::put(out, self.count);
        out.extend_from_slice(self.bytes);
    }
}

impl<'a> Member<'a> {
    /// Returns how many actors there are on the node.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Returns whether there are no actors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the actors.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + use<'a> {
        let mut reader = Reader::new(self.bytes, 0);
        (0..self.count).map_while(move |_| read_slot(&mut reader).ok())
    }
}

/// Builds members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MembersBuf {
    count: u64,
    bytes: Vec<u8>,
}

impl MembersBuf {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node and actors on it.
    pub fn push(&mut self, node: NodeId, slots: &[Slot]) {
        self.count += 1;
        varint::put(&mut self.bytes, node.number().into());
        varint::put(&mut self.bytes, slots.len() as u64);
        for &slot in slots {
            write_slot(slot, &mut self.bytes);
        }
    }

    /// Adds a node of other members unchanged.
    pub fn push_member(&mut self, member: Member<'_>) {
        self.count += 1;
        self.bytes.extend_from_slice(member.whole);
    }

    /// Returns the members as a message has them.
    #[must_use]
    pub fn as_members(&self) -> Members<'_> {
        Members { count: self.count, bytes: &self.bytes }
    }
}

fn read_member<'a>(reader: &mut Reader<'a>) -> Result<(NodeId, u64, &'a [u8]), FrameError> {
    let node = NodeId::new(reader.number32()?);
    let count = reader.number()?;
    let start = reader.at();
    let mut ahead = reader.clone();
    for _ in 0..count {
        read_slot(&mut ahead)?;
    }
    Ok((node, count, reader.bytes(ahead.at() - start)?))
}

#[inline]
pub(super) fn read_slot(reader: &mut Reader<'_>) -> Result<Slot, FrameError> {
    Ok(Slot { index: reader.number32()?, generation: reader.number32()? })
}

#[inline]
pub(super) fn write_slot(slot: Slot, out: &mut Vec<u8>) {
    varint::put(out, slot.index.into());
    varint::put(out, slot.generation.into());
}
