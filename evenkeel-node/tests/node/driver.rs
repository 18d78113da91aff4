//! The assertions about any bytes that a peer may send. The fuzz target and the tests `frames`
//! share them.

use evenkeel_node::frame::{self, Frame};
use evenkeel_node::wire::Message;

/// The longest frame that the driver reads.
const MOST: usize = 1 << 20;

/// Reads `bytes` as a frame with all its messages, and returns the number of messages. Messages
/// have one form only, so writing them again gives the same bytes.
///
/// # Panics
/// If a message, written again, has other bytes.
pub(crate) fn drive(bytes: &[u8]) -> usize {
    let frame = match Frame::read(bytes, MOST) {
        Ok(frame) => frame,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return 0;
        }
    };
    let mut again = Vec::new();
    frame::begin(&mut again, frame.lane);
    if frame.fenced {
        frame::fence(&mut again);
    }
    let mut messages = 0;
    let mut is_whole = true;
    for message in frame.messages() {
        match message {
            Ok(envelope) => {
                assert!(is_whole, "nothing comes after an error");
                messages += 1;
                if let Message::Cast { members, .. } = &envelope.message {
                    assert_eq!(members.iter().count(), members.len());
                    assert!(members.iter().all(|member| member.slots().count() == member.len()));
                }
                envelope.append(&mut again).expect("what was read can be written");
            }
            Err(error) => {
                is_whole = false;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    if is_whole {
        assert_eq!(again, bytes, "a frame has one form");
    } else {
        assert!(bytes.starts_with(&again), "what was read before the error has one form");
    }
    messages
}
