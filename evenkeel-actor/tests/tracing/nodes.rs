//! What comes from other nodes, and what becomes of these. The other node is driven by hand.

use crate::log::{Fields, log};
use evenkeel_actor::node::frame;
use evenkeel_actor::node::in_process::{Control, Faults, InProcess, network};
use evenkeel_actor::node::wire::{Envelope, MembersBuf, Message};
use evenkeel_actor::node::{Event, NodeId, Slot, Transport};
use evenkeel_actor::remote::{Events, Node, NodeEvent};
use evenkeel_actor::{Actor, Builder, Context, Handled, System};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tracing::Level;

const NODE: NodeId = NodeId::new(1);
const PEER: NodeId = NodeId::new(0);

struct Pair {
    control: Control,
    peer: InProcess,
    runtime: evenkeel::Runtime,
    node: Node,
    events: Events,
}

impl Pair {
    /// A node that hears a peer of this name say hello.
    fn new(name: &str) -> Self {
        let (control, mut ends) = network(2, Faults::default());
        let (peer, end) = (ends.remove(0), ends.remove(0));
        let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
        let builder = Node::builder().system(System::new());
        let node = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap();
        let events = node.events();
        let mut pair = Self { control, peer, runtime, node, events };
        let longest_frame = 1 << 20;
        let hello = Message::Hello {
            node: PEER,
            nodes: 2,
            incarnation: 0,
            longest_frame,
            ties: 100,
            job: "job",
            name,
        };
        pair.send(None, hello);
        assert!(matches!(pair.event(), NodeEvent::Up { node: PEER, .. }));
        pair
    }

    fn send(&mut self, cause: Option<u64>, message: Message<'_>) {
        let mut bytes = Vec::new();
        frame::begin(&mut bytes, 0);
        let cause = cause.and_then(NonZeroU64::new);
        Envelope { cause, message }.append(&mut bytes).unwrap();
        self.peer.send(NODE, bytes).unwrap();
    }

    fn event(&mut self) -> NodeEvent {
        self.runtime.block_on(self.events.next()).unwrap()
    }

    /// Waits for a message from the node, and gives its cause.
    fn receive<R>(&mut self, pick: impl Fn(&Message<'_>) -> Option<R>) -> (Option<u64>, R) {
        loop {
            let Some(Event::Received { frame, .. }) = self.peer.poll() else {
                std::thread::yield_now();
                continue;
            };
            let frame = frame::Frame::read(&frame, 1 << 20).unwrap();
            for envelope in frame.messages().map(Result::unwrap) {
                if let Some(found) = pick(&envelope.message) {
                    return (envelope.cause.map(NonZeroU64::get), found);
                }
            }
        }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.runtime.block_on(self.node.leave());
    }
}

struct Deep(evenkeel_actor::ActorRef<u64>);

/// Forwards what it gets.
impl Actor for Deep {
    type Message = u64;

    async fn handle(&mut self, n: u64, _: &mut Context<Self>) -> Handled {
        self.0.send(n).await?;
        Ok(())
    }
}

/// Says on a channel what it sees.
struct Bottom(std::sync::mpsc::Sender<(u64, Option<u64>)>);

impl Actor for Bottom {
    type Message = u64;

    async fn handle(&mut self, _: u64, context: &mut Context<Self>) -> Handled {
        let cause = context.cause().map(NonZeroU64::get);
        self.0.send((context.message_id().unwrap().get(), cause))?;
        Ok(())
    }
}

#[test]
fn any_cause_of_a_peer_is_taken_as_it_is() {
    let log = log();
    let mut pair = Pair::new("honest");
    let (sender, receiver) = std::sync::mpsc::channel();
    let script = move |()| Deep(evenkeel_actor::spawn(Bottom(sender.clone())));
    pair.node.register_script("deep", script);
    for cause in [1, 1 << 44 | 5, u64::MAX] {
        let arguments = b"u64\0";
        let script = Message::Spawn { call: 1, script: "deep", parent: None, arguments };
        pair.send(Some(cause), script);
        let located = |message: &Message<'_>| match message {
            Message::Located { at, .. } => Some(*at),
            _ => None,
        };
        let (back, to): (_, Slot) = pair.receive(located);
        assert_eq!(back, Some(cause), "what is sent because of it says so");
        pair.send(Some(cause), Message::Tell { to, payload: &[7] });
        let (_, deep) = receiver.recv().unwrap();
        let with = |fields: &Fields| fields.number("cause") == Some(cause);
        for name in ["start", "handle"] {
            let spans = log.spans(name, "nodes::Deep");
            let (_, fields) = spans.iter().find(|span| with(&span.1)).unwrap();
            assert_eq!(fields.number("node"), Some(1));
            if name == "handle" {
                assert_eq!(fields.number("message.id"), deep);
            }
        }
    }
    // Without one there is none.
    let arguments = b"u64\0";
    pair.send(None, Message::Spawn { call: 1, script: "deep", parent: None, arguments });
    let located = |message: &Message<'_>| matches!(message, Message::Located { .. }).then_some(());
    assert_eq!(pair.receive(located).0, None);
}

/// Handles nothing before it is let, then says the causes.
struct Gated(Arc<AtomicBool>, std::sync::mpsc::Sender<Option<u64>>);

impl Actor for Gated {
    type Message = u64;

    async fn handle(&mut self, _: u64, context: &mut Context<Self>) -> Handled {
        while !self.0.load(Ordering::SeqCst) {
            evenkeel::yield_now().await;
        }
        self.1.send(context.cause().map(NonZeroU64::get))?;
        Ok(())
    }
}

#[test]
fn what_has_waited_for_room_has_its_cause() {
    let mut pair = Pair::new("patient");
    let (sender, receiver) = std::sync::mpsc::channel();
    let lets = Arc::<AtomicBool>::default();
    let gated = Gated(Arc::clone(&lets), sender);
    let gated = pair.runtime.block_on(async {
        Builder::new().capacity(1).system(pair.node.system()).spawn(gated).unwrap()
    });
    assert!(pair.node.publish("gated", gated));
    pair.send(None, Message::Locate { call: 1, name: "gated", messages: "u64" });
    let (_, to) = pair.receive(|message| match message {
        Message::Located { at, .. } => Some(*at),
        _ => None,
    });
    for cause in 1..=6 {
        pair.send(Some(cause), Message::Tell { to, payload: &[7] });
    }
    let mut members = MembersBuf::new();
    members.push(NODE, &[to]);
    pair.send(Some(7), Message::Cast { members: members.as_members(), payload: &[7] });
    // One is handled and one in the mailbox.
    while pair.node.metrics().waiting_messages < 5 {
        std::thread::yield_now();
    }
    lets.store(true, Ordering::SeqCst);
    for cause in 1..=7 {
        assert_eq!(receiver.recv().unwrap(), Some(cause));
    }
}

#[test]
fn nodes_that_come_and_go_are_told_of() {
    let log = log();
    let up = |name: &str| {
        let ups = log.events("node up");
        ups.iter().filter(|event| event.1.get("peer.name") == name).count()
    };
    let mut pair = Pair::new("mortal");
    assert_eq!(up("mortal"), 1);
    pair.control.kill(PEER);
    assert!(matches!(pair.event(), NodeEvent::Down { .. }));
    let downs = log.events("node down");
    assert!(downs.iter().any(|(level, fields, _)| *level == Level::WARN
        && fields.number("peer") == Some(0)
        && fields.number("node") == Some(1)
        && !fields.get("reason").is_empty()));
}

#[test]
fn a_frame_that_is_none_is_told_of() {
    let log = log();
    let mut pair = Pair::new("noisy");
    let mut bytes = Vec::new();
    frame::begin(&mut bytes, 0);
    bytes.extend_from_slice(&[1, 99]);
    pair.peer.send(NODE, bytes).unwrap();
    let NodeEvent::Malformed { error, .. } = pair.event() else { panic!("it is no message") };
    let rejected = log.events("frame rejected");
    let is = |fields: &Fields| fields.get("reason") == error.to_string();
    assert!(rejected.iter().any(|(level, fields, _)| *level == Level::WARN && is(fields)));
}
