//! Input from other nodes, and the fate of those nodes. The test drives the other node by hand.

use crate::log::{Fields, log};
use evenkeel_actor::node::altered::{Alter, Altered};
use evenkeel_actor::node::frame;
use evenkeel_actor::node::in_process::{Control, Faults, InProcess, network};
use evenkeel_actor::node::wire::{Envelope, MembersBuf, Message};
use evenkeel_actor::node::{Event, NodeId, Refusal, Refused, Slot, Transport};
use evenkeel_actor::remote::{Events, Node, NodeEvent};
use evenkeel_actor::{Actor, AskError, Builder, Context, Handled, ReplyTo, SendError, System};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tracing::Level;

const NODE: NodeId = NodeId::new(1);
const PEER: NodeId = NodeId::new(0);

/// Refuses to send to one node.
struct Refuses(Option<NodeId>);

impl Alter<InProcess> for Refuses {
    fn send(&mut self, inner: &mut InProcess, to: NodeId, frame: Vec<u8>) -> Result<(), Refused> {
        if Some(to) == self.0 {
            return Err(Refused { frame, why: Refusal::TooLong });
        }
        inner.send(to, frame)
    }
}

/// Two nodes of a job: one that runs, and a peer.
struct Pair {
    at: NodeId,
    control: Control,
    peer: InProcess,
    /// The ends of the other nodes, which would count as down without them.
    _others: Vec<InProcess>,
    runtime: evenkeel::Runtime,
    node: Node,
    events: Events,
}

impl Pair {
    /// A node that receives a greeting from a peer of this name.
    fn new(name: &str) -> Self {
        Self::of(2, PEER, NODE, name, None)
    }

    /// The same with other numbers in a job of `nodes` nodes; nothing can be sent to `refuses`.
    fn of(nodes: u32, from: NodeId, at: NodeId, name: &str, refuses: Option<NodeId>) -> Self {
        let (control, mut ends) = network(nodes, Faults::default());
        // The peer's number is the lower one.
        let end = Altered { inner: ends.remove(at.number() as usize), by: Refuses(refuses) };
        let peer = ends.remove(from.number() as usize);
        let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
        let builder = Node::builder().system(System::new());
        let node = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap();
        let events = node.events();
        let mut pair = Self { at, control, peer, _others: ends, runtime, node, events };
        let longest_frame = 1 << 20;
        let hello = Message::Hello {
            node: from,
            nodes,
            incarnation: 0,
            longest_frame,
            ties: 100,
            job: "job",
            name,
        };
        pair.send(None, hello);
        assert!(matches!(pair.event(), NodeEvent::Up { node, .. } if node == from));
        pair
    }

    fn send(&mut self, cause: Option<u64>, message: Message<'_>) {
        let mut bytes = Vec::new();
        frame::begin(&mut bytes, 0);
        let cause = cause.and_then(NonZeroU64::new);
        Envelope { cause, ..Envelope::from(message) }.append(&mut bytes).unwrap();
        self.peer.send(self.at, bytes).unwrap();
    }

    fn event(&mut self) -> NodeEvent {
        self.runtime.block_on(self.events.next()).unwrap()
    }

    /// Waits for a message from the node, and returns its cause too.
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

/// Forwards its messages.
impl Actor for Deep {
    type Message = u64;

    async fn handle(&mut self, n: u64, _: &mut Context<Self>) -> Handled {
        self.0.send(n).await?;
        Ok(())
    }
}

/// Reports on a channel what it sees.
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
    // Without a cause there is none.
    let arguments = b"u64\0";
    pair.send(None, Message::Spawn { call: 1, script: "deep", parent: None, arguments });
    let located = |message: &Message<'_>| matches!(message, Message::Located { .. }).then_some(());
    assert_eq!(pair.receive(located).0, None);
}

/// Handles nothing until it may, then reports the causes.
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
    // One is handled and one is in the mailbox.
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

/// No other test has these numbers, so all events with them are of this one.
#[test]
fn what_the_transport_says_of_nodes_is_told() {
    let log = log();
    let [peer, refused, at] = [3, 5, 6].map(NodeId::new);
    let mut pair = Pair::of(8, peer, at, "spoken of", Some(refused));
    let told = |words: &str, of: NodeId| {
        let all = log.events(words).into_iter().filter(|(_, fields, _)| {
            let number = |node: NodeId| Some(u64::from(node.number()));
            (fields.number("node"), fields.number("peer")) == (number(at), number(of))
        });
        all.map(|(level, fields, _)| (level, fields)).collect::<Vec<_>>()
    };
    let connected = told("connected", peer);
    assert!(matches!(&connected[..], [(Level::DEBUG, _)]), "{connected:?}");
    assert!(told("disconnected", peer).is_empty());

    // Its own greeting is refused.
    while pair.node.metrics().undelivered == 0 {
        std::thread::yield_now();
    }
    let not_sent = told("frame not sent", refused);
    let [(Level::WARN, fields)] = &not_sent[..] else { panic!("{not_sent:?}") };
    assert_eq!(fields.number("messages"), Some(1));
    assert_eq!(fields.get("reason"), Refusal::TooLong.to_string());
    assert!(told("frame not sent", peer).is_empty());

    pair.control.kill(peer);
    let NodeEvent::Down { reason, .. } = pair.event() else { panic!("it was killed") };
    let disconnected = told("disconnected", peer);
    let [(Level::DEBUG, fields)] = &disconnected[..] else { panic!("{disconnected:?}") };
    assert_eq!(fields.get("reason"), reason.to_string());
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

/// Can be neither written nor read.
#[derive(Debug)]
struct Stubborn;

impl Serialize for Stubborn {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("on purpose"))
    }
}

impl<'de> Deserialize<'de> for Stubborn {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(serde::de::Error::custom("on purpose"))
    }
}

#[derive(Serialize, Deserialize)]
enum Asked {
    Tell(Stubborn),
    Ask(ReplyTo<Stubborn>),
}

struct Answers;

impl Actor for Answers {
    type Message = Asked;

    async fn handle(&mut self, message: Asked, _context: &mut Context<Self>) -> Handled {
        if let Asked::Ask(reply) = message {
            reply.send(Stubborn);
        }
        Ok(())
    }
}

#[test]
fn why_a_message_or_a_reply_does_not_get_there_is_told() {
    let log = log();
    let (_control, ends) = network(2, Faults::default());
    let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
    runtime.block_on(async {
        let mut nodes = Vec::new();
        for end in ends {
            let builder = Node::builder().system(System::new()).script("answers", |()| Answers);
            nodes.push(builder.start(|| Ok::<_, String>(end)).await.unwrap());
        }
        let answers = nodes[0].spawn_on::<Asked, _>(NODE, "answers", &()).await.unwrap();
        let error = answers.try_send(Asked::Tell(Stubborn)).unwrap_err();
        assert!(matches!(error, SendError::Unwritable(_)), "{error}");
        assert_eq!(answers.ask(Asked::Ask).await.unwrap_err(), AskError::Unreadable);
        for node in nodes {
            node.leave().await;
        }
    });
    for (words, of) in [("message not written", "Asked"), ("reply not read", "Stubborn")] {
        let told = log.events(words);
        let is = |fields: &Fields| {
            fields.get("message.type").ends_with(of) && fields.get("reason").contains("cannot be")
        };
        assert!(
            told.iter().any(|(level, fields, _)| *level == Level::WARN && is(fields)),
            "{told:?}"
        );
    }
}
