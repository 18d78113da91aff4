//! A node with actors, calls, watches and a barrier, and a peer that sends what arbitrary bytes
//! encode. The fuzz target and the test `hostile` share this driver.
//!
//! The bytes encode a list of things to send: messages of all kinds, with fields that often name
//! existing things, frames with a flipped bit, and raw bytes as frames. The peer may end the actors
//! that it knows, and is shut out if it breaks a rule: no more. The node goes on, and serves a
//! third node.

use evenkeel::Runtime;
use evenkeel_actor::node::frame::{self, Frame, MAGIC, VERSION};
use evenkeel_actor::node::in_process::{Control, Faults, InProcess, network};
use evenkeel_actor::node::wire::{
    BarrierStep, End, EndBy, EndKind, Envelope, Failure, MembersBuf, Message as Wire, PlacesBuf,
    Probe, ReferencesBuf, StopHow,
};
use evenkeel_actor::node::{Event, Name, NodeId, Slot, Transport};
use evenkeel_actor::remote::{Events, Node};
use evenkeel_actor::{Actor, ActorRef, Builder, Context, Handled, ReplyTo, System};
use serde::{Deserialize, Serialize};
use std::any::type_name;

const NODE: NodeId = NodeId::new(0);
const PEER: NodeId = NodeId::new(1);

/// The call of a last message. Its answer shows that all earlier messages have been read.
const LAST: u64 = u64::MAX;

/// Inputs before a world is replaced, because the actors that the peer has started stay.
const INPUTS: u32 = 100;

/// A message to the actors; the first byte of a payload selects the kind.
#[derive(Clone, Serialize, Deserialize)]
enum Note {
    Add(u64),
    Text(String),
    Numbers(Vec<u64>),
    /// Adds to another actor's sum.
    Pass(ActorRef<Note>, u64),
}

/// The same with a place for an answer.
#[derive(Serialize, Deserialize)]
enum Question {
    Get(ReplyTo<u64>),
    Keep(ReplyTo<u64>),
    Me(ReplyTo<ActorRef<Question>>),
    /// Has another actor answer.
    Ask(ActorRef<Question>, ReplyTo<u64>),
    Stop,
}

#[derive(Default)]
struct Sum(u64);

impl Actor for Sum {
    type Message = Note;

    async fn handle(&mut self, note: Note, _context: &mut Context<Self>) -> Handled {
        match note {
            Note::Add(n) => self.0 = self.0.wrapping_add(n),
            Note::Text(text) => self.0 = self.0.wrapping_add(text.len() as u64),
            Note::Numbers(numbers) => self.0 = self.0.wrapping_add(numbers.len() as u64),
            Note::Pass(to, n) => drop(to.try_send(Note::Add(n))),
        }
        Ok(())
    }
}

#[derive(Default)]
struct Answers(Vec<ReplyTo<u64>>);

impl Actor for Answers {
    type Message = Question;

    async fn handle(&mut self, question: Question, context: &mut Context<Self>) -> Handled {
        match question {
            Question::Get(reply) => reply.send(7),
            Question::Keep(reply) => self.0.push(reply),
            Question::Me(reply) => reply.send(context.actor_ref()),
            Question::Ask(whom, reply) => drop(whom.try_send(Question::Get(reply))),
            Question::Stop => context.stop(),
        }
        Ok(())
    }
}

/// Reads bytes as numbers; zeros at the end of the input.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Reads a number, mostly a small one.
    fn number(&mut self) -> u64 {
        match self.byte() {
            255 => u64::from_le_bytes(std::array::from_fn(|_| self.byte())),
            254 => u64::MAX,
            253 => u64::from(u32::MAX) + 1,
            252 => u32::MAX.into(),
            small => (small % 16).into(),
        }
    }

    fn number32(&mut self) -> u32 {
        self.number() as u32
    }

    fn slot(&mut self) -> Slot {
        Slot { index: self.number32(), generation: self.number32() % 3 }
    }

    fn take(&mut self, most: usize) -> &'a [u8] {
        let length = (usize::from(self.byte()) % (most + 1)).min(self.0.len());
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }

    fn text(&mut self) -> String {
        String::from_utf8_lossy(self.take(40)).into_owned()
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::from(self.byte()) % of.len()]
    }
}

/// A value for an actor, or nearly one.
fn payload(from: &mut Bytes<'_>) -> Vec<u8> {
    let mut payload = vec![from.byte() % 6];
    for _ in 0..from.byte() % 7 {
        let mut number = from.number();
        while number >= 0x80 {
            payload.push(number as u8 | 0x80);
            number >>= 7;
        }
        payload.push(number as u8);
    }
    if from.byte() < 32 {
        payload.extend_from_slice(from.take(30));
    }
    payload
}

/// Appends a message of any kind to a frame.
fn append(from: &mut Bytes<'_>, out: &mut Vec<u8>) {
    let types = [type_name::<Note>(), type_name::<Question>(), "u64"];
    let kind = from.byte() % 39;
    let (call, to, payload) = (from.number(), from.slot(), payload(from));
    let (text, other) = (from.text(), from.slot());
    let (by, way) = (from.pick(EndBy::ALL), from.pick(EndKind::ALL));
    let end = End { by, kind: way, node: NodeId::new(from.number32() % 4), detail: &text };
    let opener = from.byte().is_multiple_of(2);
    let mut arguments = from.pick(&types).as_bytes().to_vec();
    arguments.push(0);
    arguments.extend_from_slice(&payload[1..]);
    let (name, messages) = (from.pick(&["sum", "answers", "none", ""]), from.pick(&types));
    let (mut members, mut places) = (MembersBuf::new(), PlacesBuf::new());
    let message = match kind {
        0..5 => Wire::Tell { to, payload: &payload },
        5..9 => Wire::Ask { to, call, limit: from.number(), payload: &payload },
        9 => Wire::Answer { call, payload: &payload },
        10 => Wire::Failed { call, failure: from.pick(Failure::ALL), detail: &text },
        11 => Wire::Abandon { call },
        12..15 => {
            let script = from.pick(&["sum", "answers", "none", "panics"]);
            Wire::Spawn { call, script, parent: None, arguments: &arguments }
        }
        15 => Wire::Spawn { call, script: &text, parent: Some(other), arguments: &payload },
        16 => Wire::Locate { call, name, messages },
        17 => Wire::Locate { call, name: &text, messages: &text },
        18 => Wire::Located { call, at: to },
        19 | 20 => Wire::Link { tie: call, from: other, to },
        21 => Wire::Monitor { tie: call, to },
        22 => Wire::Untie { tie: call, opener },
        23 | 24 => Wire::Exit { tie: call, opener, end },
        25 => Wire::Stop { to, how: from.pick(StopHow::ALL) },
        26 | 27 => {
            for _ in 0..from.byte() % 5 {
                let slots: Vec<_> = (0..from.byte() % 4).map(|_| from.slot()).collect();
                members.push(NodeId::new(from.number32() % 4), &slots);
            }
            Wire::Cast { members: members.as_members(), payload: &payload }
        }
        28 => Wire::Moved { call, to: NodeId::new(from.number32() % 4) },
        // A broken rule ends the connection, so the driver rarely breaks one.
        29..36 if from.byte() >= 16 => Wire::Tell { to, payload: &payload },
        29 => {
            let (barrier, step) = (from.number() % 3, from.pick(BarrierStep::ALL));
            Wire::Barrier { barrier, phase: from.number(), step }
        }
        30 => Wire::Termination(match from.byte() % 3 {
            0 => Probe::Token { round: call, count: from.number().cast_signed(), black: false },
            1 => Probe::Done { round: call },
            _ => Probe::Failed { node: NodeId::new(from.number32() % 4) },
        }),
        31 => hello(),
        32 => Wire::Refuse { detail: &text },
        33 => Wire::Hold { to: opener.then_some(to) },
        34 => Wire::Resume { to: opener.then_some(to) },
        35 => match from.byte() % 3 {
            0 => Wire::Release { to, from: NodeId::new(from.number32() % 4), times: from.number() },
            1 => Wire::Counted { loan: from.number() },
            _ => Wire::Lent {
                to,
                holder: NodeId::new(from.number32() % 4),
                times: from.number(),
                loan: call,
            },
        },
        36 | 37 => {
            for _ in 0..from.byte() % 5 {
                places.push(NodeId::new(from.number32() % 4), from.number());
            }
            Wire::Hand { to, call, places: places.as_places(), payload: &payload }
        }
        _ => Wire::Leave,
    };
    let mut references = ReferencesBuf::new();
    if from.byte() % 4 == 1 {
        for _ in 0..from.byte() % 5 {
            let node = NodeId::new(from.number32() % 4);
            references.push(Name { node, slot: from.slot() });
        }
    }
    let references = references.as_references();
    // A message that is too long to be written is not sent.
    let _ = Envelope { references, ..Envelope::from(message) }.append(out);
}

fn hello() -> Wire<'static> {
    let (job, name) = ("job", "hostile");
    Wire::Hello {
        node: PEER,
        nodes: 3,
        incarnation: 0,
        longest_frame: 1 << 20,
        ties: 100,
        job,
        name,
    }
}

fn frame_of(lane: u16, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::begin(&mut bytes, lane);
    write(&mut bytes);
    bytes
}

/// Three nodes: the tested one, the peer, and a well-behaved one.
pub(crate) struct World {
    _control: Control,
    runtime: Runtime,
    node: Node,
    peer: InProcess,
    third: Node,
    events: Events,
    inputs: u32,
}

impl World {
    fn new(workers: usize) -> Self {
        let (control, mut ends) = network(3, Faults::default());
        let (third, mut peer) = (ends.remove(2), ends.remove(1));
        let own = ends.remove(0);
        // With one worker there are no reliefs: the host of a node is a task.
        let reliefs = if workers == 1 { 0 } else { 64 };
        let runtime = evenkeel::Builder::new().workers(workers).reliefs(reliefs).build().unwrap();
        let (node, third) = runtime.block_on(async {
            let start = |end| Node::builder().system(System::new()).start(|| Ok::<_, String>(end));
            (start(own).await.unwrap(), start(third).await.unwrap())
        });
        node.system().on_failure(|_| ());
        node.register_script("sum", |n: u64| Sum(n));
        node.register_script("answers", |()| Answers::default());
        let greeting = frame_of(0, |out| {
            Envelope::from(hello()).append(out).unwrap();
        });
        peer.send(NODE, greeting).unwrap();
        let events = node.events();
        let mut world = Self { _control: control, runtime, node, peer, third, events, inputs: 0 };
        world.begin();
        world
    }

    /// Gives the node dealings with the peer: actors that it may send to, questions that it may
    /// answer, a barrier that it may enter.
    fn begin(&mut self) {
        let node = self.node.clone();
        self.runtime.block_on(async move {
            let builder = Builder::new().system(node.system());
            node.publish("sum", builder.clone().spawn(Sum(1)).unwrap());
            node.publish("answers", builder.spawn(Answers::default()).unwrap());
            for _ in 0..4 {
                let node = node.clone();
                drop(evenkeel::spawn(async move {
                    let Ok(actor) = node.spawn_on::<Question, _>(PEER, "any", &1_u64).await else {
                        return;
                    };
                    let ended = evenkeel::spawn(actor.stopped());
                    let _ = actor.ask(Question::Get).await;
                    let _ = actor.ask(Question::Me).await;
                    let _ = ended.await;
                }));
            }
            drop(evenkeel::spawn(async move { while node.barrier().await.is_ok() {} }));
        });
    }

    /// Whether the node has shut the peer out.
    fn is_shut_out(&mut self) -> bool {
        while let Some(event) = futures_now(self.events.next()) {
            if event.is_some_and(|event| event.node() == Some(PEER) && event.is_loss()) {
                return true;
            }
        }
        false
    }

    /// Takes what the node has sent to the peer, and returns whether [`LAST`] was answered.
    fn is_answered(&mut self) -> bool {
        let mut answered = false;
        while let Some(event) = self.peer.poll() {
            let Event::Received { frame, .. } = event else { continue };
            let frame = Frame::read(&frame, 1 << 24).expect("what a node sends is a frame");
            for message in frame.messages() {
                let message = message.expect("what a node sends is a message").message;
                answered |= matches!(message, Wire::Failed { call: LAST, .. });
            }
        }
        answered
    }

    /// The third node starts an actor on the node and asks it.
    fn assert_serves(&self) {
        self.runtime.block_on(async {
            // The peer may end an actor after guessing its name.
            for _ in 0..100 {
                let actor = self.third.spawn_on::<Question, _>(NODE, "answers", &()).await.unwrap();
                let answer = actor.ask(Question::Get).await;
                actor.kill();
                if answer == Ok(7) {
                    return;
                }
            }
            panic!("no actor answers");
        });
    }

    /// Sends what `bytes` encode. Returns false if this world must be replaced.
    fn run(&mut self, bytes: &[u8]) -> bool {
        let mut from = Bytes(bytes);
        while !from.0.is_empty() {
            let (how, lane) = (from.byte(), from.byte() % 3);
            let bytes = if how < 4 {
                [&[MAGIC, VERSION, lane * 2], from.take(100)].concat()
            } else {
                let mut bytes = frame_of(lane.into(), |out| {
                    (0..=how % 8).for_each(|_| append(&mut from, out));
                });
                if how >= 252 {
                    let at = usize::from(from.byte()) % bytes.len();
                    bytes[at] ^= 1 << (how % 8);
                }
                bytes
            };
            // A peer that the node has cut off is cut off from the network as well.
            if self.peer.send(NODE, bytes).is_err() {
                break;
            }
        }
        let last = Wire::Locate { call: LAST, name: "nobody", messages: "" };
        let last = frame_of(0, |out| {
            Envelope::from(last).append(out).unwrap();
        });
        let _ = self.peer.send(NODE, last);
        self.inputs += 1;
        // A peer may block itself, behind a mailbox that stays full.
        for _ in 0..1_000 {
            self.assert_serves();
            if self.is_shut_out() {
                return false;
            }
            if self.is_answered() {
                return self.inputs < INPUTS;
            }
        }
        false
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.runtime.block_on(async {
            self.third.leave().await;
            self.node.leave().await;
        });
    }
}

/// Polls a future once, and returns its output if it is ready.
fn futures_now<F: Future>(future: F) -> Option<F::Output> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

/// Runs an input in the existing world, or in a new one.
///
/// # Panics
/// If the node sends a malformed frame, or does not serve the third node.
pub(crate) fn drive(world: &mut Option<World>, workers: usize, bytes: &[u8]) {
    if !world.get_or_insert_with(|| World::new(workers)).run(bytes) {
        *world = None;
    }
}
