//! Hosts over the network in one process.

mod keeping;
mod returns;
mod together;

use super::{Deliver, Host, Progress};
use crate::frame::Frame;
use crate::in_process::{Control, Faults, InProcess, network};
use crate::multiplexer::{Link, Multiplexer, PutError};
use crate::policy::Packing;
use crate::wire::{Message, write_tell};
use crate::{DownReason, NodeId, Refusal, Slot};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const A: NodeId = NodeId::new(0);
const B: NodeId = NodeId::new(1);

/// Writes down the events of a host.
#[derive(Clone, Debug, Default)]
struct Notes(Arc<Mutex<Vec<Note>>>);

#[derive(Debug, PartialEq)]
enum Note {
    /// The number in a message.
    Message(NodeId, u32),
    Up(NodeId),
    Down(NodeId, DownReason, u64),
    Refused(NodeId, u32, Refusal),
}

impl Notes {
    fn note(&self, note: Note) {
        self.0.lock().unwrap().push(note);
    }

    fn take(&self) -> Vec<Note> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Deliver for Notes {
    fn frame(&mut self, from: NodeId, frame: Vec<u8>) -> Option<Vec<u8>> {
        for message in Frame::read(&frame, 1 << 20).unwrap().messages() {
            match message.unwrap().message {
                Message::Tell { to, .. } => self.note(Note::Message(from, to.generation)),
                other => panic!("{other:?}"),
            }
        }
        Some(frame)
    }

    fn up(&mut self, node: NodeId) {
        self.note(Note::Up(node));
    }

    fn down(&mut self, node: NodeId, reason: DownReason, lost: u64) {
        self.note(Note::Down(node, reason, lost));
    }

    fn refused(&mut self, to: NodeId, messages: u32, why: Refusal) {
        self.note(Note::Refused(to, messages, why));
    }
}

struct Node {
    host: Host<InProcess, Notes>,
    multiplexer: Arc<Multiplexer>,
    notes: Notes,
}

/// Packing in which buffers do not leave because of time: other processes may keep a test from its
/// core.
fn timeless() -> Packing {
    Packing { cap: Duration::from_secs(3_600), ..Packing::default() }
}

fn nodes(nodes: u32, faults: Faults, packing: Packing) -> (Control, Vec<Node>) {
    let (control, ends) = network(nodes, faults);
    let node = |(number, end)| {
        let multiplexer = Multiplexer::new(NodeId::new(number), nodes, 1, packing);
        let notes = Notes::default();
        let host = Host::new(end, Arc::clone(&multiplexer), notes.clone());
        Node { host, multiplexer, notes }
    };
    (control, (0..).zip(ends).map(node).collect())
}

impl Node {
    fn link(&self, to: NodeId) -> Link {
        self.multiplexer.link(to).unwrap()
    }

    /// Makes turns until there is nothing to do.
    fn settle(&mut self) -> Progress {
        loop {
            match self.host.turn() {
                Progress::Worked => {}
                other => return other,
            }
        }
    }
}

fn send(link: &Link, number: u32) -> Result<(), PutError<Infallible>> {
    link.try_put(|out| {
        write_tell(Slot { index: 0, generation: number }, None, out);
        Ok(())
    })
}

#[test]
fn messages_get_from_node_to_node_packed() {
    let (_control, mut nodes) = nodes(2, Faults::default(), timeless());
    let link = nodes[0].link(B);
    for number in 0..3 {
        send(&link, number).unwrap();
    }
    assert_eq!(nodes[0].settle(), Progress::Idle);
    nodes[1].settle();
    assert_eq!(nodes[1].notes.take(), [Note::Up(A)], "no flusher has run");
    nodes[0].multiplexer.flush();
    nodes[0].settle();
    nodes[1].settle();
    assert_eq!(nodes[1].notes.take(), [0, 1, 2].map(|number| Note::Message(A, number)));
    let (out, into) = (nodes[0].multiplexer.traffic(B), nodes[1].multiplexer.traffic(A));
    assert_eq!((out.frames_out, out.messages_out), (1, 3));
    assert_eq!((into.frames_in, into.bytes_in), (1, out.bytes_out));
}

#[test]
fn a_host_that_turns_sends_what_is_old() {
    let cap = Duration::from_nanos(1);
    let (_control, mut nodes) = nodes(2, Faults::default(), Packing { cap, ..Packing::default() });
    send(&nodes[0].link(B), 0).unwrap();
    assert_eq!(nodes[0].multiplexer.traffic(B).frames_out, 0, "the host has made no turn");
    while nodes[0].multiplexer.traffic(B).frames_out == 0 {
        let _ = nodes[0].host.turn();
    }
}

#[test]
fn a_transport_that_is_full_is_tried_again_in_order() {
    let faults = Faults { under_way: 1, ..Faults::default() };
    let (_control, mut nodes) = nodes(2, faults, Packing { frame: 1, ..timeless() });
    let link = nodes[0].link(B);
    for number in 0..5 {
        send(&link, number).unwrap();
    }
    nodes[0].settle();
    for number in 0..5 {
        nodes[1].settle();
        let notes = nodes[1].notes.take();
        assert_eq!(notes.last(), Some(&Note::Message(A, number)));
        nodes[0].settle();
    }
}

#[test]
fn a_node_that_is_lost_is_an_event_and_its_messages_are_counted() {
    let faults = Faults { under_way: 1, ..Faults::default() };
    let (control, mut nodes) = nodes(3, faults, timeless());
    nodes[0].settle();
    nodes[0].notes.take();
    let link = nodes[0].link(B);
    // One under way, one with the host, one packed.
    for number in 0..3 {
        send(&link, number).unwrap();
        if number < 2 {
            nodes[0].multiplexer.flush();
            nodes[0].settle();
        }
    }
    control.kill(B);
    nodes[0].settle();
    let notes = nodes[0].notes.take();
    let lost = DownReason::Lost("the node was killed".to_owned());
    // The transport may refuse the frame first, or report the loss first.
    assert_eq!(notes, [Note::Refused(B, 1, Refusal::Down), Note::Down(B, lost, 1)]);
    assert_eq!(nodes[0].multiplexer.traffic(B).messages_lost, 2);
    assert_eq!(send(&link, 3), Err(PutError::Down));
    // The other node is there.
    let link = nodes[0].link(NodeId::new(2));
    send(&link, 4).unwrap();
    nodes[0].multiplexer.flush();
    nodes[0].settle();
    nodes[2].settle();
    assert!(nodes[2].notes.take().contains(&Note::Message(A, 4)));
}

#[test]
fn closing_sends_everything_and_the_others_hear_that_the_node_has_left() {
    let faults = Faults { under_way: 1, ..Faults::default() };
    let (_control, mut nodes) = nodes(2, faults, Packing { frame: 1, ..timeless() });
    let link = nodes[0].link(B);
    for number in 0..2 {
        send(&link, number).unwrap();
    }
    nodes[0].multiplexer.close();
    assert_eq!(nodes[0].settle(), Progress::Idle, "the transport has taken one of two");
    nodes[1].settle();
    assert_eq!(nodes[0].settle(), Progress::Finished);
    nodes[1].settle();
    let left = Note::Down(A, DownReason::Left, 0);
    let messages = [0, 1].map(|number| Note::Message(A, number));
    let notes = nodes[1].notes.take();
    assert_eq!(notes[1..3], messages);
    assert_eq!(notes[3..], [left]);
}

#[test]
fn a_host_leaves_although_a_node_that_was_shut_out_takes_nothing() {
    let faults = Faults { under_way: 1, ..Faults::default() };
    let (_control, mut nodes) = nodes(2, faults, Packing { frame: 1, ..timeless() });
    let link = nodes[0].link(B);
    for number in 0..3 {
        send(&link, number).unwrap();
    }
    nodes[0].settle();
    // It may still take what it is told last, until this node leaves.
    nodes[0].multiplexer.node_is_down(B);
    assert_eq!(nodes[0].settle(), Progress::Idle);
    assert_eq!(nodes[0].multiplexer.traffic(B).messages_lost, 0);
    nodes[0].multiplexer.close();
    assert_eq!(nodes[0].settle(), Progress::Finished);
    assert_eq!(nodes[0].multiplexer.traffic(B).messages_lost, 2);
    let refused = Note::Refused(B, 1, Refusal::Down);
    let notes = nodes[0].notes.take();
    assert_eq!(notes.iter().filter(|&note| *note == refused).count(), 2, "{notes:?}");
}

#[test]
fn a_host_leaves_although_another_node_keeps_sending() {
    let (_control, mut nodes) = nodes(2, Faults::default(), timeless());
    for node in &mut nodes {
        node.settle();
    }
    let link = nodes[1].link(A);
    send(&nodes[0].link(B), 0).unwrap();
    nodes[0].multiplexer.close();
    for number in 0.. {
        assert!(number < 100, "the host does not end");
        // For each turn of the one there is a frame of the other, until it has heard of the end.
        let _ = send(&link, number);
        nodes[1].multiplexer.flush();
        let _ = nodes[1].host.turn();
        if nodes[0].host.turn() == Progress::Finished {
            break;
        }
    }
    drop(nodes.remove(0));
    nodes[0].settle();
    let left = Note::Down(A, DownReason::Left, 0);
    let notes = nodes[0].notes.take();
    assert!(notes.contains(&Note::Message(A, 0)), "{notes:?}");
    assert!(notes.contains(&left), "{notes:?}");
}

#[test]
fn a_host_that_is_dropped_leaves_no_sender_waiting() {
    let packing = Packing { waiting: 1, ..Packing::default() };
    let (_control, mut nodes) = nodes(2, Faults::default(), packing);
    let link = nodes[0].link(B);
    send(&link, 0).unwrap();
    nodes[0].multiplexer.flush();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            evenkeel::block_on(link.put(|out| {
                write_tell(Slot::default(), None, out);
                Ok::<_, Infallible>(())
            }))
        });
        drop(nodes.remove(0));
        assert_eq!(waits.join().unwrap(), Err(PutError::Leaving));
    });
}

#[test]
fn a_host_that_is_dropped_drops_what_it_has_not_sent() {
    let faults = Faults { under_way: 1, ..Faults::default() };
    let (_control, mut nodes) = nodes(2, faults, timeless());
    let link = nodes[0].link(B);
    let multiplexer = Arc::clone(&nodes[0].multiplexer);
    // One under way, one that waits with the host, one handed over, and one packed.
    for number in 0..4 {
        send(&link, number).unwrap();
        if number < 3 {
            multiplexer.flush();
        }
        if number < 2 {
            nodes[0].settle();
        }
    }
    assert!(link.backlog() > 0);
    drop(nodes.remove(0));
    assert_eq!((link.backlog(), multiplexer.traffic(B).messages_lost), (0, 3));
}

#[test]
#[should_panic(expected = "by a transport that takes 1000")]
fn a_transport_that_does_not_take_the_longest_message_is_refused() {
    let faults = Faults { longest_frame: 1_000, ..Faults::default() };
    let _ = nodes(2, faults, Packing { longest_message: 1_000, ..Packing::default() });
}

#[test]
fn the_longest_message_gets_through_and_a_longer_one_is_an_error() {
    let packing = Packing { frame: 100, longest_message: 1_000, ..timeless() };
    let faults = Faults { longest_frame: packing.longest_frame(), ..Faults::default() };
    let (_control, mut nodes) = nodes(2, faults, packing);
    let link = nodes[0].link(B);
    let long = |length: usize| {
        link.try_put(|out| {
            write_tell(Slot { index: 0, generation: 2 }, None, out);
            out.resize(out.len() + length, 0);
            Ok::<_, Infallible>(())
        })
    };
    // As much as a frame holds without leaving.
    while nodes[0].multiplexer.traffic(B).frames_out == 0 {
        send(&link, 1).unwrap();
    }
    for _ in 0..24 {
        send(&link, 1).unwrap();
    }
    assert_eq!(long(1_000), Err(PutError::TooLong { length: 1_005, most: 1_000 }));
    long(995).unwrap();
    nodes[0].settle();
    nodes[1].settle();
    assert_eq!(nodes[1].notes.take().last(), Some(&Note::Message(A, 2)));
    let traffic = nodes[0].multiplexer.traffic(B);
    assert_eq!((traffic.frames_out, traffic.messages_lost), (2, 0));
}

#[test]
fn a_host_that_flushes_takes_what_was_handed_over_before_what_is_packed() {
    let (_control, mut nodes) =
        nodes(2, Faults::default(), Packing { frame: 12, ..Packing::default() });
    let mut answers = nodes.pop().unwrap();
    let Node { host, multiplexer, .. } = nodes.pop().unwrap();
    let mut host = host.flushing();
    let link = multiplexer.link(B).unwrap();
    for number in 0..10 {
        send(&link, number).unwrap();
    }
    assert!(multiplexer.traffic(B).messages_out < 10, "some are packed");
    let _ = host.turn();
    answers.settle();
    let messages = (0..10).map(|number| Note::Message(A, number));
    assert!(answers.notes.take().into_iter().skip(1).eq(messages));
    let traffic = multiplexer.traffic(B);
    assert_eq!((traffic.messages_out, traffic.messages_lost), (10, 0));
}

#[test]
fn what_a_host_has_taken_itself_counts_as_waiting_while_the_transport_is_full() {
    let faults = Faults { under_way: 1, ..Faults::default() };
    let (_control, mut nodes) = nodes(2, faults, Packing { waiting: 1, ..Packing::default() });
    let mut answers = nodes.pop().unwrap();
    let Node { host, multiplexer, .. } = nodes.pop().unwrap();
    let mut host = host.flushing();
    let link = multiplexer.link(B).unwrap();
    send(&link, 0).unwrap();
    let _ = host.turn();
    send(&link, 1).unwrap();
    let _ = host.turn();
    assert_eq!(send(&link, 2), Err(PutError::Full { most: 1 }));
    answers.settle();
    let _ = host.turn();
    send(&link, 2).unwrap();
    answers.settle();
    let _ = host.turn();
    answers.settle();
    let notes = answers.notes.take();
    assert_eq!(notes[1..], [0, 1, 2].map(|number| Note::Message(A, number)));
}

#[test]
fn a_frame_after_a_silence_is_handed_on_alone_and_then_all_that_are_there() {
    let (_control, mut nodes) = nodes(2, Faults::default(), Packing::default());
    for node in &mut nodes {
        node.settle();
        node.notes.take();
    }
    let link = nodes[0].link(B);
    for number in 0..4 {
        send(&link, number).unwrap();
        nodes[0].multiplexer.flush();
    }
    nodes[0].settle();
    assert_eq!(nodes[1].host.turn(), Progress::Worked);
    assert_eq!(nodes[1].notes.take(), [Note::Message(A, 0)]);
    assert_eq!(nodes[1].host.turn(), Progress::Worked);
    assert_eq!(nodes[1].notes.take(), [1, 2, 3].map(|number| Note::Message(A, number)));
    assert_eq!(nodes[1].host.turn(), Progress::Idle);
}

#[test]
fn a_task_is_alone_while_no_other_is_ready() {
    let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
    let alone = runtime.spawn(async {
        let before = evenkeel::internal::is_alone();
        let other = evenkeel::spawn(async {});
        let beside = evenkeel::internal::is_alone();
        drop(other.await);
        [before, beside]
    });
    assert_eq!(evenkeel::block_on(alone).unwrap(), [true, false]);
    assert!(!evenkeel::internal::is_alone(), "this thread is no worker");
}
