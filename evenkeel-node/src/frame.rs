//! Frames: each moves one or more messages from one node to another.
//!
//! # The format, version 4
//! ```text
//! frame   := 0xEA  version  lane  record+
//! lane    := number                       twice the lane's number, plus one if the frame is fenced
//! record  := length  kind  [cause]  [references]  fields
//! number  := LEB128, in its shortest form
//! ```
//! The length of a record counts the bytes that follow it. The high bit of its kind says that a
//! cause is there, the next bit that [references](super::wire::References) are. The fields are
//! those of [`wire`]. A payload is always the last field and takes the rest of its record, so it
//! needs no length.
//!
//! A receiver reads the frames of one lane in the order in which they came. It reads a *fenced*
//! frame after all frames, of any lane, that came before it from that node;
//! [`multiplexer`](super::multiplexer) says why.
//!
//! # What a reader may count on
//! Nothing: the bytes are a peer's. The reader checks each step, does not allocate and does not
//! panic. A message that is read and written again gives the same bytes. An error ends the frame;
//! earlier messages of the same frame have been read.

use super::varint::{self, Reader};
use super::wire::{self, Envelope};
use super::{FrameError, Slot};

/// The first byte of each frame. A choice: no ASCII and no UTF-8 text begins with it and the
/// version.
pub const MAGIC: u8 = 0xEA;

/// The version of the format that this build writes, and the only one that it reads.
pub const VERSION: u8 = 4;

/// The greatest number of a lane.
pub const MOST_LANES: u16 = u16::MAX >> 1;

/// The byte with the fence in its lowest bit.
const FENCE_AT: usize = 2;

/// Begins a frame in an empty buffer.
pub fn begin(out: &mut Vec<u8>, lane: u16) {
    debug_assert!(out.is_empty(), "a frame begins a buffer");
    debug_assert!(lane <= MOST_LANES);
    out.extend([MAGIC, VERSION]);
    varint::put(out, u64::from(lane) << 1);
}

/// Fences a frame that has been begun.
pub fn fence(frame: &mut [u8]) {
    if let Some(byte) = frame.get_mut(FENCE_AT) {
        *byte |= 1;
    }
}

/// Appends a record to a frame that has been begun: the bytes that `write` appends, with their
/// length in front.
///
/// A record of up to 127 bytes is not moved; a longer one is moved by one to four bytes.
///
/// # Errors
/// Those of `write`. The frame is then as it was.
pub fn append<E>(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let start = out.len();
    out.push(0);
    if let Err(error) = write(out) {
        out.truncate(start);
        return Err(error);
    }
    let length = out.len() - start - 1;
    if length < 0x80 {
        out[start] = length as u8;
    } else {
        make_room(out, start, length);
    }
    Ok(())
}

/// Writes a length of several bytes where one byte was left free.
#[cold]
fn make_room(out: &mut Vec<u8>, start: usize, length: usize) {
    let more = varint::length(length as u64) - 1;
    let end = out.len();
    varint::put(out, length as u64);
    // The length stands behind the record, and has to stand before it.
    out.copy_within(start + 1..end, start + 1 + more);
    let mut number = length;
    for byte in &mut out[start..=start + more] {
        *byte = number as u8 | 0x80;
        number >>= 7;
    }
    out[start + more] &= 0x7F;
    out.truncate(end + more);
}

/// A frame with a checked head.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// Its lane.
    pub lane: u16,
    /// Whether it is to be read after all frames that came before it.
    pub fenced: bool,
    records: Reader<'a>,
}

impl<'a> Frame<'a> {
    /// Reads the head of a frame of at most `most` bytes. [`messages`](Self::messages) reads the
    /// messages.
    ///
    /// # Errors
    /// [`FrameError`], if the head is wrong.
    pub fn read(bytes: &'a [u8], most: usize) -> Result<Self, FrameError> {
        if bytes.len() > most {
            return Err(FrameError::Oversized { what: "the frame", length: bytes.len(), most });
        }
        let mut reader = Reader::new(bytes, 0);
        match reader.byte()? {
            MAGIC => {}
            found => return Err(FrameError::NotAFrame { found }),
        }
        match reader.byte()? {
            VERSION => {}
            found => return Err(FrameError::WrongVersion { found }),
        }
        let lane = reader.number_up_to(u64::from(MOST_LANES) << 1 | 1)?;
        if reader.is_empty() {
            return Err(FrameError::Empty);
        }
        Ok(Self { lane: (lane >> 1) as u16, fenced: lane & 1 == 1, records: reader })
    }

    /// Returns the frame's messages, in order. The first malformed message ends the iterator.
    #[must_use]
    pub fn messages(&self) -> Messages<'a> {
        Messages { rest: self.records.clone() }
    }

    /// Returns the messages from a place on that [`Messages::at`] has returned; from zero, all.
    pub fn messages_from(&self, at: usize) -> Messages<'a> {
        let mut messages = self.messages();
        let before = at.saturating_sub(messages.at());
        if messages.rest.bytes(before).is_err() {
            messages.rest.rest();
        }
        messages
    }
}

/// The messages of a frame.
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    rest: Reader<'a>,
}

impl<'a> Messages<'a> {
    /// Returns the place of the next message in the frame.
    #[inline]
    pub fn at(&self) -> usize {
        self.rest.at()
    }

    /// Reads the next message if that is a `Tell` without a cause or references, and returns the
    /// actor and the value. It costs less than [`next`](Self::next), which serves for the others.
    #[inline]
    pub fn next_plain_tell(&mut self) -> Option<(Slot, &'a [u8])> {
        // A copy of the reader would be stored in pieces and loaded whole, which waits for the
        // stores.
        let (&length, behind) = self.rest.left().split_first()?;
        if length >= 0x80 {
            return self.next_long_plain_tell();
        }
        let length = usize::from(length);
        let tell = wire::read_plain_tell(Reader::new(behind.get(..length)?, 0))?;
        self.rest.skip(1 + length);
        Some(tell)
    }

    /// The same if the length of its record takes several bytes.
    #[inline(never)]
    fn next_long_plain_tell(&mut self) -> Option<(Slot, &'a [u8])> {
        let mut rest = self.rest.clone();
        let tell = wire::read_plain_tell(record(&mut rest).ok()?)?;
        self.rest = rest;
        Some(tell)
    }
}

/// Reads the length of a record, and returns its bytes.
#[inline]
fn record<'a>(rest: &mut Reader<'a>) -> Result<Reader<'a>, FrameError> {
    let length = usize::try_from(rest.number()?).unwrap_or(usize::MAX);
    let at = rest.at();
    Ok(Reader::new(rest.bytes(length)?, at))
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<Envelope<'a>, FrameError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let message = record(&mut self.rest).and_then(Envelope::read);
        if message.is_err() {
            self.rest.rest();
        }
        Some(message)
    }
}

impl std::iter::FusedIterator for Messages<'_> {}

#[cfg(test)]
mod tests {
    use super::super::Slot;
    use super::super::wire::{Message, write_tell};
    use super::{Frame, append, begin};

    #[test]
    fn messages_are_read_on_from_where_the_last_one_ended() {
        let mut bytes = Vec::new();
        begin(&mut bytes, 700);
        for index in 0..300 {
            let written = append(&mut bytes, |out| {
                write_tell(Slot { index, generation: 0 }, None, out);
                out.resize(out.len() + index as usize, 7);
                Ok::<_, ()>(())
            });
            written.unwrap();
        }
        let frame = Frame::read(&bytes, bytes.len()).unwrap();
        let all: Vec<_> = frame.messages().collect();
        let mut tells = frame.messages();
        let plain = std::iter::from_fn(|| tells.next_plain_tell());
        let plain = plain.map(|(to, payload)| Ok(Message::Tell { to, payload }.into()));
        assert!(plain.eq(all.iter().cloned()) && tells.next().is_none());
        let mut messages = frame.messages_from(0);
        for number in 1..=all.len() {
            assert!(messages.next().is_some());
            let rest = frame.messages_from(messages.at());
            assert!(rest.eq(all[number..].iter().cloned()), "behind {number}");
        }
        assert_eq!(frame.messages_from(bytes.len() + 1).count(), 0);
    }
}
