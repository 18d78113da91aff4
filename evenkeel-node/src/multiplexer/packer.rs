//! One buffer: the messages of one lane for one node that have not left yet.

use super::super::frame;
use super::super::policy::{self, Packing};
use super::PutError;

/// A frame that is on its way to the transport.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sealed {
    /// Its bytes.
    pub(crate) frame: Vec<u8>,
    /// The messages in it.
    pub(crate) messages: u32,
}

/// What a message has done to its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Appended {
    /// The message is the first in the buffer.
    First,
    /// The message has joined others.
    Joined,
    /// The buffer is to leave.
    Leaves,
}

/// A buffer that is being filled.
#[derive(Debug)]
pub(crate) struct Packer {
    lane: u16,
    buffer: Vec<u8>,
    /// The length of the whole records in the buffer: all of it, unless a writer has panicked.
    whole: usize,
    messages: u32,
    /// When its first message came.
    since: u64,
    /// Whether the next frame is read after all that left before it. The first frame is: its sender
    /// may have sent by another lane.
    fenced: bool,
}

impl Packer {
    pub(crate) fn new(lane: u16) -> Self {
        Self { lane, buffer: Vec::new(), whole: 0, messages: 0, since: 0, fenced: true }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// Returns whether it has no memory: the next message needs a [buffer](Self::refill).
    #[inline]
    pub(crate) fn is_bare(&self) -> bool {
        self.buffer.capacity() == 0
    }

    /// Goes on with this buffer.
    pub(crate) fn refill(&mut self, fresh: Vec<u8>) {
        debug_assert!(self.is_empty(), "messages have memory");
        self.buffer = fresh;
    }

    /// Returns the bytes of the buffer, with those in use.
    #[cfg(test)]
    pub(crate) fn memory(&self) -> usize {
        self.buffer.capacity()
    }

    /// Returns how long the oldest message has waited.
    pub(crate) fn age(&self, now: u64) -> u64 {
        if self.is_empty() { 0 } else { now.saturating_sub(self.since) }
    }

    /// Makes the next frame be read after all that left before it.
    pub(crate) fn fence(&mut self) {
        self.fenced = true;
    }

    /// Appends the record that `write` writes.
    #[inline]
    pub(crate) fn append<E>(
        &mut self,
        packing: &Packing,
        now: impl FnOnce() -> u64,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Appended, PutError<E>> {
        if self.is_empty() {
            self.buffer.clear();
            frame::begin(&mut self.buffer, self.lane);
            self.whole = self.buffer.len();
        }
        let before = self.whole;
        self.buffer.truncate(before);
        frame::append(&mut self.buffer, write).map_err(PutError::Unwritable)?;
        let length = self.buffer.len() - before;
        if length > packing.longest_message {
            self.buffer.truncate(before);
            self.buffer.shrink_to(packing.frame);
            return Err(PutError::TooLong { length, most: packing.longest_message });
        }
        self.whole = self.buffer.len();
        self.messages += 1;
        let is_first = self.messages == 1;
        let mut age = 0;
        if is_first {
            self.since = now();
        } else if policy::looks_at_clock(self.messages) {
            age = now().saturating_sub(self.since);
        }
        Ok(if policy::leaves(self.buffer.len(), age, packing) {
            Appended::Leaves
        } else if is_first {
            Appended::First
        } else {
            Appended::Joined
        })
    }

    /// Takes out the frame, and goes on with an empty buffer.
    pub(crate) fn seal(&mut self, fresh: Vec<u8>) -> Sealed {
        let mut frame = std::mem::replace(&mut self.buffer, fresh);
        frame.truncate(self.whole);
        if std::mem::take(&mut self.fenced) {
            frame::fence(&mut frame);
        }
        Sealed { frame, messages: std::mem::take(&mut self.messages) }
    }

    /// Drops all messages, and returns their number.
    pub(crate) fn discard(&mut self) -> u32 {
        self.buffer = Vec::new();
        std::mem::take(&mut self.messages)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::frame::Frame;
    use super::super::super::policy::LOOK;
    use super::{Appended, Packer, Packing, PutError};
    use proptest::prelude::*;
    use std::convert::Infallible;
    use std::time::Duration;

    fn packing() -> Packing {
        Packing { frame: 100, longest_message: 1_000, ..Packing::default() }
    }

    /// Appends a record of `length` bytes, of the kind `Tell`.
    fn append(packer: &mut Packer, length: usize, now: u64) -> Appended {
        let write = |out: &mut Vec<u8>| {
            out.extend([1, 0, 0]);
            out.resize(out.len() + length - 3, 7);
            Ok::<_, Infallible>(())
        };
        packer.append(&packing(), || now, write).unwrap()
    }

    #[test]
    fn a_buffer_leaves_when_it_is_full() {
        let mut packer = Packer::new(0);
        assert_eq!(append(&mut packer, 40, 0), Appended::First);
        assert_eq!(append(&mut packer, 40, 0), Appended::Joined);
        assert_eq!(append(&mut packer, 40, 0), Appended::Leaves);
        let sealed = packer.seal(Vec::new());
        assert_eq!((sealed.messages, sealed.frame.len()), (3, 3 + 3 * 41));
        assert!(packer.is_empty());
        assert_eq!(append(&mut packer, 40, 0), Appended::First);
    }

    #[test]
    fn a_buffer_leaves_when_its_first_message_is_old() {
        let mut packer = Packer::new(0);
        let cap = Duration::from_micros(100).as_nanos() as u64;
        assert_eq!(append(&mut packer, 3, 1_000), Appended::First);
        for _ in 2..LOOK {
            assert_eq!(
                append(&mut packer, 3, 1_000 + cap),
                Appended::Joined,
                "no look at the clock"
            );
        }
        assert_eq!(append(&mut packer, 3, 1_000 + cap), Appended::Leaves);
        assert_eq!(packer.age(1_000 + cap), cap);
    }

    #[test]
    fn a_large_message_leaves_at_once_with_what_came_before_it() {
        let mut packer = Packer::new(0);
        assert_eq!(append(&mut packer, 10, 0), Appended::First);
        assert_eq!(append(&mut packer, 900, 0), Appended::Leaves);
        assert_eq!(packer.seal(Vec::new()).messages, 2);
        assert_eq!(append(&mut packer, 900, 0), Appended::Leaves);
    }

    #[test]
    fn a_message_that_is_too_long_or_cannot_be_written_leaves_the_others() {
        let mut packer = Packer::new(0);
        let _ = append(&mut packer, 10, 0);
        let too_long = packer.append(
            &packing(),
            || 0,
            |out| {
                out.resize(out.len() + 2_000, 0);
                Ok::<_, Infallible>(())
            },
        );
        assert_eq!(too_long, Err(PutError::TooLong { length: 2_002, most: 1_000 }));
        let unwritable = packer.append(
            &packing(),
            || 0,
            |out| {
                out.push(1);
                Err("no")
            },
        );
        assert_eq!(unwritable, Err(PutError::Unwritable("no")));
        let sealed = packer.seal(Vec::new());
        assert_eq!((sealed.messages, sealed.frame.len()), (1, 3 + 11));
    }

    #[test]
    fn a_first_message_that_cannot_be_written_leaves_an_empty_buffer() {
        let mut packer = Packer::new(0);
        assert!(packer.append(&packing(), || 0, |_| Err(())).is_err());
        assert!(packer.is_empty());
        assert_eq!(append(&mut packer, 10, 0), Appended::First);
        let sealed = packer.seal(Vec::new());
        assert_eq!(Frame::read(&sealed.frame, 1_000).unwrap().messages().count(), 1);
    }

    #[test]
    fn what_a_writer_has_written_that_panics_is_taken_back() {
        let mut packer = Packer::new(0);
        let panics = |packer: &mut Packer| {
            let write = |out: &mut Vec<u8>| -> Result<(), Infallible> {
                out.push(1);
                panic!("a writer");
            };
            let append = || packer.append(&packing(), || 0, write).map(drop);
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(append)).is_err());
        };
        panics(&mut packer);
        let _ = append(&mut packer, 10, 0);
        panics(&mut packer);
        let _ = append(&mut packer, 10, 0);
        panics(&mut packer);
        let sealed = packer.seal(Vec::new());
        assert_eq!((sealed.messages, sealed.frame.len()), (2, 3 + 22));
    }

    #[test]
    fn the_first_frame_and_the_next_after_a_fence_are_fenced() {
        let mut packer = Packer::new(5);
        let mut fences = Vec::new();
        for fence in [false, false, true, false] {
            if fence {
                packer.fence();
            }
            let _ = append(&mut packer, 10, 0);
            let sealed = packer.seal(Vec::new());
            let frame = Frame::read(&sealed.frame, 1_000).unwrap();
            assert_eq!(frame.lane, 5);
            fences.push(frame.fenced);
        }
        assert_eq!(fences, [true, false, true, false]);
    }

    proptest! {
        /// A simulation: messages of any length at any time, with a flush now and then.
        #[test]
        fn messages_leave_in_order_in_frames_within_the_bound(
            steps in proptest::collection::vec((3..300_usize, 0..20_000_u64, 0..10_u8), 1..200),
        ) {
            let packing = packing();
            let (mut packer, mut now, mut frames) = (Packer::new(0), 0, Vec::new());
            let mut without_a_look = 0;
            for (index, &(length, pause, flush)) in steps.iter().enumerate() {
                now += pause;
                let write = |out: &mut Vec<u8>| {
                    out.extend([1, 0, 0]);
                    out.resize(out.len() + length - 3, index as u8);
                    Ok::<_, Infallible>(())
                };
                let appended = packer.append(&packing, || now, write).unwrap();
                without_a_look += 1;
                if appended == Appended::Leaves || flush == 0 {
                    without_a_look = 0;
                    frames.push(packer.seal(Vec::new()));
                } else {
                    prop_assert!(without_a_look < LOOK || u128::from(packer.age(now)) < packing.cap.as_nanos() + 16 * 20_000);
                }
            }
            frames.push(packer.seal(Vec::new()));
            let longest = packing.frame + 303;
            let mut read = Vec::new();
            for sealed in frames.iter().filter(|sealed| sealed.messages > 0) {
                prop_assert!(sealed.frame.len() <= longest);
                let frame = Frame::read(&sealed.frame, longest).unwrap();
                let before = read.len();
                for message in frame.messages() {
                    match message.unwrap().message {
                        super::super::super::wire::Message::Tell { payload, .. } => {
                            read.push(payload.to_vec());
                        }
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
                prop_assert_eq!(read.len() - before, sealed.messages as usize);
            }
            let sent: Vec<_> = steps
                .iter()
                .enumerate()
                .map(|(index, step)| vec![index as u8; step.0 - 3])
                .collect();
            prop_assert_eq!(read, sent);
        }
    }
}
