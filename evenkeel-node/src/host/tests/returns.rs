//! Hosts with a transport that returns buffers before it gives out frames.

use super::{A, B, Note, Notes, send, timeless};
use crate::altered::{Alter, Altered};
use crate::host::Host;
use crate::in_process::{Faults, InProcess, network};
use crate::multiplexer::Multiplexer;
use crate::policy::Packing;
use crate::{Event, NodeId, Refused, Transport};
use std::sync::Arc;

/// Returns all buffers first; the number counts those still to be returned.
struct BuffersFirst(u32);

impl Alter<InProcess> for BuffersFirst {
    fn send(&mut self, inner: &mut InProcess, to: NodeId, frame: Vec<u8>) -> Result<(), Refused> {
        inner.send(to, frame)?;
        self.0 += 1;
        Ok(())
    }

    fn poll(&mut self, inner: &mut InProcess) -> Option<Event> {
        if self.0 == 0 {
            return inner.poll();
        }
        self.0 -= 1;
        Some(Event::Sent { buffer: Vec::new() })
    }
}

#[test]
fn a_host_that_sends_hundreds_of_frames_in_a_turn_reads_what_has_come_in_the_same_turn() {
    let (_control, mut ends) = network(2, Faults::default());
    let (end, mut other) = (ends.remove(0), ends.remove(0));
    let multiplexer = Multiplexer::new(A, 2, 1, Packing { frame: 1, ..timeless() });
    let notes = Notes::default();
    let transport = Altered { inner: end, by: BuffersFirst(0) };
    let mut host = Host::new(transport, Arc::clone(&multiplexer), notes.clone());
    let _ = host.turn();
    assert_eq!(notes.take(), [Note::Up(B)]);
    let link = multiplexer.link(B).unwrap();
    for turn in 0..10 {
        for number in 0..500 {
            send(&link, number).unwrap();
        }
        other.send(A, frame_with(turn)).unwrap();
        let _ = host.turn();
        assert_eq!(notes.take(), [Note::Message(B, turn)]);
        while other.poll().is_some() {}
    }
}

/// Returns a frame with one message of this number.
fn frame_with(number: u32) -> Vec<u8> {
    let multiplexer = Multiplexer::new(B, 2, 1, Packing { frame: 1, ..timeless() });
    send(&multiplexer.link(A).unwrap(), number).unwrap();
    let mut frames = std::collections::VecDeque::new();
    multiplexer.take_departures(&mut frames);
    frames.pop_front().unwrap().sealed.frame
}
