//! Frames: written messages are read, and other bytes are an error that says why.

use crate::driver::drive;
use crate::messages::{Parts, parts};
use evenkeel_node::frame::{self, Frame, MAGIC, VERSION};
use evenkeel_node::wire::{
    End, EndBy, EndKind, Envelope, LONGEST_DETAIL, LONGEST_NAME, MOST_PLACES, MOST_REFERENCES,
    MembersBuf, Message, PlacesBuf, ReferencesBuf, write_tell,
};
use evenkeel_node::{FrameError, Name, NodeId, Slot};
use evenkeel_policy::random::Random;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// More bytes than any frame of these tests has.
const MOST: usize = 1 << 20;

fn frame_of(lane: u16, messages: &[Parts]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::begin(&mut bytes, lane);
    for message in messages {
        message.envelope().append(&mut bytes).unwrap();
    }
    bytes
}

/// A frame of lane 0 with one record.
fn record(record: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::begin(&mut bytes, 0);
    frame::append(&mut bytes, |out| {
        out.extend_from_slice(record);
        Ok::<(), ()>(())
    })
    .unwrap();
    bytes
}

/// The first error in a frame.
fn error_of(bytes: &[u8]) -> FrameError {
    match Frame::read(bytes, MOST) {
        Ok(frame) => frame.messages().find_map(Result::err).expect("the frame is whole"),
        Err(error) => error,
    }
}

proptest! {
    #[test]
    fn messages_are_read_as_they_were_written(
        messages in proptest::collection::vec(parts(), 1..6),
        lane in 0..=frame::MOST_LANES,
        fenced: bool,
    ) {
        let mut bytes = frame_of(lane, &messages);
        if fenced {
            frame::fence(&mut bytes);
        }
        let frame = Frame::read(&bytes, MOST).unwrap();
        prop_assert_eq!((frame.lane, frame.fenced), (lane, fenced));
        let read: Vec<_> = frame.messages().map(Result::unwrap).collect();
        let written: Vec<_> = messages.iter().map(Parts::envelope).collect();
        prop_assert_eq!(read, written);
        prop_assert_eq!(drive(&bytes), messages.len());
    }

    #[test]
    fn bytes_that_end_early_hold_fewer_messages(
        messages in proptest::collection::vec(parts(), 1..4),
        cut: proptest::sample::Index,
    ) {
        let bytes = frame_of(1, &messages);
        let end = cut.index(bytes.len());
        prop_assert!(drive(&bytes[..end]) < messages.len());
    }

    #[test]
    fn a_bit_that_is_flipped_is_an_error_or_another_message(
        messages in proptest::collection::vec(parts(), 1..4),
        at: proptest::sample::Index,
        bit in 0..8_u32,
    ) {
        let mut bytes = frame_of(1, &messages);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        drive(&bytes);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        drive(&bytes);
        drive(&[&[MAGIC, VERSION], &bytes[..]].concat());
    }
}

#[test]
fn every_truncation_of_every_kind_is_an_error() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..2_000 {
        let message = parts().new_tree(&mut runner).unwrap().current();
        let bytes = frame_of(0, std::slice::from_ref(&message));
        // Long payloads end early in the same way at each byte.
        let ends = (0..bytes.len()).filter(|&end| end < 300 || end + 300 > bytes.len());
        for end in ends {
            assert_eq!(drive(&bytes[..end]), 0, "{end} bytes of {bytes:?}");
            error_of(&bytes[..end]);
        }
    }
}

/// Does the same as the fuzz target, with reproducible inputs. Half of them are frames with a few
/// changed bytes, since random bytes seldom get past the head.
#[test]
fn two_hundred_thousand_random_inputs_are_read_or_refused() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let frames: Vec<Vec<u8>> = (0..200)
        .map(|_| {
            let messages = [parts(), parts()].map(|p| p.new_tree(&mut runner).unwrap().current());
            let mut bytes = frame_of(3, &messages);
            bytes.truncate(600);
            bytes
        })
        .collect();
    let mut random = Random::new(20_261_122);
    let mut messages = 0;
    for _ in 0..100_000 {
        let mut bytes: Vec<u8> = (0..random.below(64)).map(|_| random.next() as u8).collect();
        messages += drive(&bytes);
        bytes.splice(0..0, [MAGIC, VERSION, 0]);
        messages += drive(&bytes);
        let mut bytes = frames[random.below(frames.len() as u64) as usize].clone();
        for _ in 0..random.below(3) + 1 {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = random.next() as u8;
        }
        messages += drive(&bytes);
    }
    assert!(messages > 10_000, "only {messages} messages were read: the inputs are too far off");
}

#[test]
fn a_small_message_takes_four_bytes_beside_its_payload() {
    let mut bytes = Vec::new();
    let to = Slot { index: 17, generation: 1 };
    frame::begin(&mut bytes, 0);
    let head = bytes.len();
    frame::append(&mut bytes, |out| {
        write_tell(to, None, out);
        Ok::<(), ()>(())
    })
    .unwrap();
    assert_eq!((head, bytes.len() - head), (3, 4));
    let frame = Frame::read(&bytes, MOST).unwrap();
    let message = frame.messages().next().unwrap().unwrap();
    assert_eq!(message, Envelope::from(Message::Tell { to, payload: &[] }));
}

#[test]
fn a_frame_that_begins_with_something_else_is_refused() {
    assert_eq!(error_of(b"GET / HTTP/1.1"), FrameError::NotAFrame { found: b'G' });
}

#[test]
fn a_frame_of_another_version_is_refused() {
    let error = error_of(&[MAGIC, VERSION + 1, 0, 1, 24]);
    assert_eq!(error, FrameError::WrongVersion { found: VERSION + 1 });
    assert!(error.to_string().contains("run the same build on all nodes"), "{error}");
}

#[test]
fn a_frame_without_messages_is_refused() {
    assert_eq!(error_of(&[MAGIC, VERSION, 0]), FrameError::Empty);
}

#[test]
fn a_lane_that_does_not_exist_is_refused() {
    let error = error_of(&[MAGIC, VERSION, 0x80, 0x80, 4, 1, 24]);
    assert_eq!(error, FrameError::TooGreat { at: 2, most: u64::from(frame::MOST_LANES) * 2 + 1 });
}

#[test]
fn no_bytes_are_a_truncated_frame() {
    assert_eq!(error_of(&[]), FrameError::Truncated { at: 0, missing: 1 });
}

#[test]
fn a_record_that_is_longer_than_the_frame_is_truncated() {
    let error = error_of(&[MAGIC, VERSION, 0, 9, 24]);
    assert_eq!(error, FrameError::Truncated { at: 5, missing: 8 });
    let greatest = [&[MAGIC, VERSION, 0][..], &[0xFF; 9], &[1, 24]].concat();
    assert!(matches!(error_of(&greatest), FrameError::Truncated { .. }));
}

#[test]
fn a_frame_that_is_longer_than_was_agreed_is_refused() {
    let bytes = record(&[24]);
    let error = Frame::read(&bytes, 4).unwrap_err();
    assert_eq!(error, FrameError::Oversized { what: "the frame", length: 5, most: 4 });
    assert!(Frame::read(&bytes, 5).is_ok());
}

#[test]
fn bytes_after_the_last_field_are_refused() {
    assert_eq!(error_of(&record(&[24, 0])), FrameError::Trailing { at: 5, bytes: 1 });
}

#[test]
fn an_unknown_kind_is_refused() {
    assert_eq!(error_of(&record(&[0])), FrameError::UnknownKind { at: 4, kind: 0 });
    assert_eq!(error_of(&record(&[63])), FrameError::UnknownKind { at: 4, kind: 63 });
    // A record without a kind.
    assert_eq!(error_of(&record(&[])), FrameError::Truncated { at: 4, missing: 1 });
}

#[test]
fn an_unknown_code_is_refused() {
    let error = error_of(&record(&[16, 1, 1, 3]));
    assert_eq!(error, FrameError::UnknownCode { at: 7, what: "a way to stop", code: 3 });
}

#[test]
fn an_end_names_a_node_where_one_is_meant_and_nowhere_else() {
    let bytes = |by, kind, node: &[u8]| record(&[&[12, 1, by, kind], node, &[0]].concat());
    let read = |bytes: &[u8]| match Frame::read(bytes, MOST).unwrap().messages().next().unwrap() {
        Ok(Envelope { message: Message::Exit { end, .. }, .. }) => Ok((end.by, end.kind, end.node)),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error),
    };
    let down = (EndBy::Link, EndKind::NodeDown, NodeId::new(9));
    assert_eq!(read(&bytes(1, 7, &[9])), Ok(down));
    assert_eq!(read(&bytes(0, 2, &[])), Ok((EndBy::Itself, EndKind::Killed, NodeId::new(0))));
    assert_eq!(read(&bytes(0, 7, &[])), Err(FrameError::Truncated { at: 9, missing: 1 }));
    let code = FrameError::UnknownCode { at: 6, what: "whose end", code: 2 };
    assert_eq!(read(&bytes(2, 0, &[])), Err(code));
    // No end has the code 5.
    let code = FrameError::UnknownCode { at: 7, what: "an end", code: 5 };
    assert_eq!(read(&bytes(0, 5, &[])), Err(code));
}

#[test]
fn a_slot_of_more_than_32_bits_is_refused() {
    let error = error_of(&record(&[1, 0x80, 0x80, 0x80, 0x80, 0x10, 0]));
    assert_eq!(error, FrameError::TooGreat { at: 5, most: u32::MAX.into() });
}

#[test]
fn a_cause_of_zero_is_refused() {
    assert_eq!(error_of(&record(&[24 | 0x80, 0])), FrameError::Overlong { at: 5 });
}

#[test]
fn a_name_that_is_no_text_is_refused() {
    assert_eq!(error_of(&record(&[8, 1, 2, 0xC3, 0x28])), FrameError::NotText { at: 7 });
}

#[test]
fn a_text_that_is_too_long_is_neither_written_nor_read() {
    let name = "n".repeat(LONGEST_NAME + 1);
    let what = "the name of an actor";
    let oversized = FrameError::Oversized { what, length: 256, most: LONGEST_NAME };
    let message = Message::Locate { call: 1, name: &name, messages: "u32" };
    let locate = Envelope::from(message);
    let mut bytes = record(&[24]);
    let before = bytes.clone();
    assert_eq!(locate.append(&mut bytes), Err(oversized.clone()));
    assert_eq!(bytes, before, "the frame is as it was");
    let forged = [&[8, 1, 0x80, 2], name.as_bytes()].concat();
    assert_eq!(error_of(&record(&forged)), oversized);

    let detail = "d".repeat(LONGEST_DETAIL + 1);
    let node = NodeId::new(0);
    let end = End { by: EndBy::Itself, kind: EndKind::Panicked, node, detail: &detail };
    let exit = Envelope::from(Message::Exit { tie: 1, opener: true, end });
    assert!(matches!(exit.append(&mut bytes), Err(FrameError::Oversized { .. })));
    assert_eq!(bytes, before);
}

#[test]
fn members_that_are_not_there_are_refused_without_memory_for_them() {
    let error = error_of(&record(&[17, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]));
    assert!(matches!(error, FrameError::Truncated { .. }), "{error}");
}

#[test]
fn more_places_than_a_message_may_have_are_neither_written_nor_read() {
    let hand = |count: usize| {
        let mut places = PlacesBuf::new();
        (0..count).for_each(|call| places.push(NodeId::new(2), call as u64));
        let to = Slot { index: 0, generation: 0 };
        let message = Message::Hand { to, call: 0, places: places.as_places(), payload: &[7] };
        let mut bytes = record(&[24]);
        Envelope::from(message).append(&mut bytes).map(|()| bytes)
    };
    let bytes = hand(MOST_PLACES).unwrap();
    let read: Result<Vec<_>, _> = Frame::read(&bytes, MOST).unwrap().messages().collect();
    match read.unwrap()[1].message {
        Message::Hand { places, .. } => assert_eq!(places.iter().count(), MOST_PLACES),
        ref other => panic!("{other:?}"),
    }
    assert!(matches!(hand(MOST_PLACES + 1), Err(FrameError::TooGreat { most: 1_024, .. })));
    // The kind, the slot, no call, and the count.
    let to = Slot { index: 0, generation: 0 };
    let mut forged = Vec::new();
    let places = PlacesBuf::new();
    let none = Message::Hand { to, call: 0, places: places.as_places(), payload: &[] };
    Envelope::from(none).write(&mut forged).unwrap();
    forged.pop();
    forged.extend([0x81, 0x08]);
    forged.resize(forged.len() + 2 * (MOST_PLACES + 1), 1);
    let error = error_of(&record(&forged));
    assert!(matches!(error, FrameError::TooGreat { most: 1_024, .. }), "{error}");
}

#[test]
fn more_references_than_a_message_may_have_are_neither_written_nor_read() {
    let to = Slot { index: 0, generation: 0 };
    let tell = |count: usize| {
        let mut references = ReferencesBuf::new();
        (0..count).for_each(|_| references.push(Name { node: NodeId::new(3), slot: to }));
        let references = references.as_references();
        let mut bytes = record(&[24]);
        let message = Message::Tell { to, payload: &[7] };
        Envelope { references, ..Envelope::from(message) }.append(&mut bytes).map(|()| bytes)
    };
    let bytes = tell(MOST_REFERENCES).unwrap();
    let read: Result<Vec<_>, _> = Frame::read(&bytes, MOST).unwrap().messages().collect();
    assert_eq!(read.unwrap()[1].references.len(), MOST_REFERENCES);
    assert!(matches!(tell(MOST_REFERENCES + 1), Err(FrameError::TooGreat { most: 65_536, .. })));
    // The kind, the count, the names, and the rest of the `Tell`.
    let mut forged = vec![1 | 0x40, 0x81, 0x80, 0x04];
    (0..=MOST_REFERENCES).for_each(|_| forged.extend([3, 0, 0]));
    forged.extend([0, 0, 7]);
    assert_eq!(error_of(&record(&forged)), FrameError::TooGreat { at: 7, most: 65_536 });
}

#[test]
fn references_are_said_of_values_alone_and_where_there_are_some() {
    // A `Tell` with a reference, which ends where the slot of its actor begins.
    let one = [1 | 0x40, 1, 3, 17, 2];
    assert!(matches!(error_of(&record(&one)), FrameError::Truncated { .. }));
    let bytes = record(&[&one[..], &[8, 0, 77]].concat());
    let message = Frame::read(&bytes, MOST).unwrap().messages().next().unwrap().unwrap();
    let slot = Slot { index: 17, generation: 2 };
    assert!(message.references.iter().eq([Name { node: NodeId::new(3), slot }]));
    let to = Slot { index: 8, generation: 0 };
    assert_eq!(message.message, Message::Tell { to, payload: &[77] });
    assert_eq!(error_of(&record(&[1 | 0x40, 0, 8, 0])), FrameError::Overlong { at: 5 });
    // A count greater than the bytes allow.
    let many = [1 | 0x40, 0xFF, 0x7F, 3, 17, 2];
    assert!(matches!(error_of(&record(&many)), FrameError::Truncated { .. }));
    let leave = 24 | 0x40;
    assert_eq!(error_of(&record(&[leave])), FrameError::UnknownKind { at: 4, kind: leave });
}

#[test]
fn members_are_passed_on_as_they_came() {
    let slots = [Slot { index: 1, generation: 0 }, Slot { index: 300, generation: 70_000 }];
    let mut all = MembersBuf::new();
    all.push(NodeId::new(0), &slots[..1]);
    all.push(NodeId::new(500), &slots);
    all.push(NodeId::new(2), &[]);
    let mut some = MembersBuf::new();
    for member in all.as_members().iter().skip(1) {
        some.push_member(member);
    }
    let members = some.as_members();
    let seen: Vec<_> =
        members.iter().map(|m| (m.node.number(), m.slots().collect::<Vec<_>>())).collect();
    assert_eq!(seen, [(500, slots.to_vec()), (2, vec![])]);
}

#[test]
fn what_came_before_an_error_is_read() {
    let mut bytes = record(&[24]);
    bytes.extend([1, 99, 1, 24]);
    let messages: Vec<_> = Frame::read(&bytes, MOST).unwrap().messages().collect();
    let leave = Envelope::from(Message::Leave);
    assert_eq!(messages, [Ok(leave), Err(FrameError::UnknownKind { at: 6, kind: 99 })]);
}
