//! Hosts whose transport gives buffers back before what has come.

use super::{A, B, Note, Notes, send, timeless};
use crate::node::host::Host;
use crate::node::in_process::{Faults, InProcess, network};
use crate::node::multiplexer::Multiplexer;
use crate::node::policy::Packing;
use crate::node::{Event, NodeId, Refused, Transport, TransportWaker};
use std::sync::Arc;
use std::time::Duration;

/// A transport that gives back all buffers first.
struct BuffersFirst(InProcess, u32);

impl Transport for BuffersFirst {
    fn local(&self) -> NodeId {
        self.0.local()
    }

    fn nodes(&self) -> u32 {
        self.0.nodes()
    }

    fn longest_frame(&self) -> usize {
        self.0.longest_frame()
    }

    fn send(&mut self, to: NodeId, frame: Vec<u8>) -> Result<(), Refused> {
        self.0.send(to, frame)?;
        self.1 += 1;
        Ok(())
    }

    fn poll(&mut self) -> Option<Event> {
        if self.1 == 0 {
            return self.0.poll();
        }
        self.1 -= 1;
        Some(Event::Sent { buffer: Vec::new() })
    }

    fn wait(&mut self, most: Duration) {
        self.0.wait(most);
    }

    fn waker(&self) -> TransportWaker {
        self.0.waker()
    }

    fn is_sending(&self) -> bool {
        self.0.is_sending()
    }

    fn leave(&mut self) {
        self.0.leave();
    }
}

#[test]
fn a_host_that_sends_hundreds_of_frames_in_a_turn_reads_what_has_come_in_the_same_turn() {
    let (_control, mut ends) = network(2, Faults::default());
    let (end, mut other) = (ends.remove(0), ends.remove(0));
    let multiplexer = Multiplexer::new(A, 2, 1, Packing { frame: 1, ..timeless() });
    let notes = Notes::default();
    let transport = BuffersFirst(end, 0);
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

/// A frame with a message of this number.
fn frame_with(number: u32) -> Vec<u8> {
    let multiplexer = Multiplexer::new(B, 2, 1, Packing { frame: 1, ..timeless() });
    send(&multiplexer.link(A).unwrap(), number).unwrap();
    let mut frames = std::collections::VecDeque::new();
    multiplexer.take_departures(&mut frames);
    frames.pop_front().unwrap().sealed.frame
}
