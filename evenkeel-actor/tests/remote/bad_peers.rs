//! Peers that send what they must not.

use crate::ending::ends;
use crate::world::{Message, Sum, runtime};
use evenkeel::Runtime;
use evenkeel_actor::node::altered::{Alter, Altered};
use evenkeel_actor::node::frame::{self, VERSION};
use evenkeel_actor::node::in_process::{Control, Faults, InProcess, network};
use evenkeel_actor::node::policy::Packing;
use evenkeel_actor::node::wire::{Envelope, MembersBuf, Message as Wire};
use evenkeel_actor::node::{Event, FrameError, NodeId, Refusal, Slot, Transport};
use evenkeel_actor::remote::{Events, Hosting, Limits, Mismatch, Node, NodeEvent, RemoteError};
use evenkeel_actor::{AskError, Builder, System};
use evenkeel_policy::random::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) const NODE: NodeId = NodeId::new(0);
pub(crate) const PEER: NodeId = NodeId::new(1);

/// A node, and a peer that the test drives by hand.
pub(crate) struct Pair {
    control: Control,
    peer: InProcess,
    pub(crate) runtime: Runtime,
    pub(crate) node: Node,
    events: Events,
}

pub(crate) fn hello(name: &'static str) -> Wire<'static> {
    Wire::Hello {
        node: PEER,
        nodes: 2,
        incarnation: 0,
        longest_frame: 1 << 20,
        ties: 1 << 16,
        job: "job",
        name,
    }
}

/// A frame of lane 0.
pub(crate) fn frame_of(messages: &[Wire<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::begin(&mut bytes, 0);
    for message in messages {
        Envelope::from(message.clone()).append(&mut bytes).unwrap();
    }
    bytes
}

impl Pair {
    fn new(workers: usize) -> Self {
        Self::limited(workers, Faults::default(), Limits::default())
    }

    pub(crate) fn limited(workers: usize, faults: Faults, limits: Limits) -> Self {
        let (control, mut ends) = network(2, faults);
        let (end, peer) = (ends.remove(0), ends.remove(0));
        let runtime = runtime(workers);
        let builder = Node::builder().name("good").system(System::new()).limits(limits);
        let node = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap();
        node.register_script("sum", Sum::new);
        let events = node.events();
        Self { control, peer, runtime, node, events }
    }

    /// A node that the peer has greeted.
    pub(crate) fn greeted(workers: usize, limits: Limits) -> Self {
        let mut pair = Self::limited(workers, Faults::default(), limits);
        pair.send(&[hello("peer")]);
        assert!(matches!(pair.event(), NodeEvent::Up { .. }));
        pair
    }

    /// A node that the peer has greeted, and an actor there that the peer has started.
    pub(crate) fn with_actor(workers: usize, limits: Limits) -> (Self, Slot) {
        let mut pair = Self::greeted(workers, limits);
        let at = pair.spawn();
        (pair, at)
    }

    /// Has the peer start an actor of the node.
    pub(crate) fn spawn(&mut self) -> Slot {
        let mut arguments = std::any::type_name::<Message>().as_bytes().to_vec();
        arguments.extend([0, 9]);
        self.send(&[Wire::Spawn { call: 5, script: "sum", parent: None, arguments: &arguments }]);
        self.receive(|message| match message {
            Wire::Located { call: 5, at } => Some(*at),
            _ => None,
        })
    }

    pub(crate) fn send(&mut self, messages: &[Wire<'_>]) {
        self.send_bytes(frame_of(messages));
    }

    pub(crate) fn send_envelope(&mut self, envelope: &Envelope<'_>) {
        let mut bytes = Vec::new();
        frame::begin(&mut bytes, 0);
        envelope.append(&mut bytes).unwrap();
        self.send_bytes(bytes);
    }

    pub(crate) fn send_bytes(&mut self, bytes: Vec<u8>) {
        self.peer.send(NODE, bytes).unwrap();
    }

    pub(crate) fn event(&mut self) -> NodeEvent {
        self.runtime.block_on(self.events.next()).unwrap()
    }

    /// Waits for the next message of a kind from the node.
    pub(crate) fn receive<R>(&mut self, pick: impl Fn(&Wire<'_>) -> Option<R>) -> R {
        receive(&mut self.peer, pick)
    }
}

/// Waits for the next message of a kind to a peer.
pub(crate) fn receive<R>(peer: &mut InProcess, pick: impl Fn(&Wire<'_>) -> Option<R>) -> R {
    loop {
        match peer.poll() {
            Some(Event::Received { frame, .. }) => {
                let frame = frame::Frame::read(&frame, 1 << 20).unwrap();
                let mut messages = frame.messages().map(|message| message.unwrap().message);
                if let Some(found) = messages.find_map(|message| pick(&message)) {
                    return found;
                }
            }
            Some(_) => {}
            None => std::thread::yield_now(),
        }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.runtime.block_on(self.node.leave());
    }
}

#[test]
fn a_peer_that_is_not_of_the_job_is_shut_out() {
    let refusals: [(Wire<'_>, Mismatch); 5] = [
        (hello("good"), Mismatch::SameName { name: "good".into(), other: NODE }),
        (
            Wire::Hello {
                node: NODE,
                nodes: 2,
                incarnation: 0,
                longest_frame: 1,
                ties: 1,
                job: "job",
                name: "bad",
            },
            Mismatch::Number { says: NODE },
        ),
        (
            Wire::Hello {
                node: PEER,
                nodes: 3,
                incarnation: 0,
                longest_frame: 1,
                ties: 1,
                job: "job",
                name: "bad",
            },
            Mismatch::Nodes { says: 3 },
        ),
        (
            Wire::Hello {
                node: PEER,
                nodes: 2,
                incarnation: 0,
                longest_frame: 1,
                ties: 1,
                job: "another",
                name: "bad",
            },
            Mismatch::Job { says: "another".into() },
        ),
        (Wire::Abandon { call: 1 }, Mismatch::Silent),
    ];
    for (message, why) in refusals {
        for workers in [1, 2] {
            let mut pair = Pair::new(workers);
            pair.send(std::slice::from_ref(&message));
            assert_eq!(pair.event(), NodeEvent::Refused { node: PEER, why: why.clone() });
            let error = pair.runtime.block_on(pair.node.ready()).unwrap_err();
            assert_eq!(error.node, Some(PEER));
        }
    }
}

#[test]
fn a_peer_that_says_its_name_twice_is_shut_out_and_stays_so() {
    for workers in [1, 2] {
        let mut pair = Pair::new(workers);
        pair.send(&[hello("twice")]);
        assert!(matches!(pair.event(), NodeEvent::Up { .. }));
        pair.send(&[hello("twice")]);
        let why = Mismatch::OutOfTurn;
        assert_eq!(pair.event(), NodeEvent::Refused { node: PEER, why });
        pair.send(&[hello("twice")]);
        pair.runtime.block_on(pair.node.leave());
        assert_eq!(pair.runtime.block_on(pair.events.next()), None);
    }
}

#[test]
fn a_peer_of_another_version_is_shut_out() {
    let mut pair = Pair::new(1);
    pair.send_bytes(vec![frame::MAGIC, VERSION + 1, 0, 1, 1]);
    let why = Mismatch::Version { says: VERSION + 1 };
    assert!(why.to_string().contains("same build"));
    assert_eq!(pair.event(), NodeEvent::Refused { node: PEER, why });
}

#[test]
fn a_peer_that_casts_to_more_nodes_than_there_are_is_shut_out() {
    for workers in [1, 2] {
        let mut pair = Pair::new(workers);
        let mut members = MembersBuf::new();
        for _ in 0..3 {
            members.push(NODE, &[Slot { index: 0, generation: 0 }]);
        }
        let cast = Wire::Cast { members: members.as_members(), payload: &[0, 1] };
        pair.send(&[hello("peer"), cast]);
        assert!(matches!(pair.event(), NodeEvent::Up { .. }));
        let why = Mismatch::OutOfTurn;
        assert_eq!(pair.event(), NodeEvent::Refused { node: PEER, why });
    }
}

#[test]
fn bytes_that_are_no_frame_are_an_event() {
    for workers in [1, 2] {
        for bytes in [vec![], vec![7; 40], vec![frame::MAGIC, VERSION, 0, 200]] {
            let mut pair = Pair::greeted(workers, Limits::default());
            pair.send_bytes(bytes);
            assert!(matches!(pair.event(), NodeEvent::Malformed { node: PEER, .. }));
        }
    }
}

#[test]
fn a_frame_that_is_too_long_for_the_transport_is_an_event() {
    for workers in [1, 2] {
        let faults = Faults { longest_frame: 2_000, ..Faults::default() };
        let mut pair = Pair::limited(workers, faults, Limits::default());
        pair.send(&[hello("bad")]);
        assert!(matches!(pair.event(), NodeEvent::Up { .. }));
        // The record claims to be longer than any frame.
        pair.send_bytes(vec![frame::MAGIC, VERSION, 0, 0xFF, 0xFF, 0x7F, 1, 0, 0]);
        let NodeEvent::Malformed { node: PEER, error } = pair.event() else { panic!("no event") };
        assert!(matches!(error, FrameError::Truncated { .. }), "{error}");
        // The transport itself refuses longer ones.
        let refused = pair.peer.send(NODE, vec![0; 2_001]).unwrap_err();
        assert!(matches!(refused.why, Refusal::TooLong), "{:?}", refused.why);
    }
}

#[test]
fn random_bytes_behind_a_frames_head_do_no_harm() {
    let mut random = Random::new(1);
    for _ in 0..200 {
        let mut pair = Pair::new(1);
        pair.send(&[hello("bad")]);
        let mut bytes = vec![frame::MAGIC, VERSION, 0];
        for _ in 0..40 {
            bytes.push(random.below(32) as u8);
        }
        pair.send_bytes(bytes);
        // The node reads what follows, or shuts the sender out, and goes on.
        assert!(matches!(pair.event(), NodeEvent::Up { .. }));
        let own = pair.runtime.block_on(async {
            let own = Builder::new().system(pair.node.system()).spawn(Sum::new(3)).unwrap();
            own.ask(Message::Get).await
        });
        assert_eq!(own, Ok(3));
    }
}

#[test]
fn values_for_no_actor_and_of_other_types_are_dead_letters_and_the_peer_stays() {
    for workers in [1, 2] {
        let (mut pair, at) = Pair::with_actor(workers, Limits::default());
        let nobody = Slot { index: 1_000, generation: 0 };
        pair.send(&[
            Wire::Tell { to: nobody, payload: &[] },
            Wire::Tell { to: at, payload: &[99] },
            // A reference to an actor of a nonexistent node.
            Wire::Tell { to: at, payload: &[2, 77, 0, 0, 1] },
            Wire::Ask { to: nobody, call: 6, limit: 0, payload: &[] },
            Wire::Ask { to: at, call: 7, limit: 0, payload: &[99] },
            // Get, with the place for the answer.
            Wire::Ask { to: at, call: 8, limit: 0, payload: &[1, 1, 8] },
        ]);
        let mut failures = Vec::new();
        for _ in 0..3 {
            failures.push(pair.receive(|message| match message {
                Wire::Failed { call, failure, .. } => Some((*call, failure.code())),
                Wire::Answer { call, payload } => Some((*call, payload[0])),
                _ => None,
            }));
            if failures.len() == 1 {
                break;
            }
        }
        assert_eq!(failures[0], (6, 1), "there is no such actor");
        // The last counts of each.
        while pair.node.system().dead_letters() < 5 {
            std::thread::yield_now();
        }
        let metrics = pair.node.metrics();
        assert_eq!((metrics.undelivered, metrics.unreadable), (5, 3));
        assert_eq!(pair.node.system().dead_letters(), 5);
    }
}

#[test]
fn a_peer_that_is_lost_after_it_has_moved_a_request_away_fails_it() {
    ends(|| {
        for (workers, locates) in [(1, false), (1, true), (2, false), (2, true)] {
            let mut pair = Pair::greeted(workers, Limits::default());
            let node = pair.node.clone();
            let asked = pair.runtime.spawn(async move {
                match locates {
                    true => node.locate::<Message>(PEER, "sum").await.map(drop),
                    false => node.spawn_on::<Message, _>(PEER, "sum", &7_u64).await.map(drop),
                }
            });
            let call = pair.receive(|message| match message {
                Wire::Spawn { call, .. } | Wire::Locate { call, .. } => Some(*call),
                _ => None,
            });
            // Not a place that the peer could hand on, least of all to the node that asks.
            pair.send(&[Wire::Moved { call, to: NODE }]);
            pair.control.kill(PEER);
            let failed = evenkeel::block_on(asked).unwrap();
            assert_eq!(failed, Err(RemoteError::NodeDown { node: PEER }));
        }
    });
}

#[test]
fn a_node_that_is_refused_hears_of_it() {
    ends(|| {
        let (_control, all) = network(3, Faults::default());
        let nodes: Vec<_> = all
            .into_iter()
            .zip(["a", "b", "b"])
            .map(|(end, name)| {
                let runtime = runtime(1);
                let builder = Node::builder().system(System::new()).name(name);
                let builder = builder.script("sum", Sum::new);
                let node = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap();
                (runtime, node)
            })
            .collect();
        let mut events = nodes[0].1.events();
        let refused = nodes[0].0.block_on(async {
            loop {
                match events.next().await.unwrap() {
                    NodeEvent::Refused { node, why: Mismatch::SameName { .. } } => break node,
                    NodeEvent::Up { .. } => {}
                    event => panic!("{event:?}"),
                }
            }
        });
        for (runtime, node) in &nodes[1..] {
            let spawned = runtime.block_on(node.spawn_on::<Message, _>(NODE, "sum", &0_u64));
            if node.id() != refused {
                assert!(spawned.is_ok());
                continue;
            }
            assert_eq!(spawned.unwrap_err(), RemoteError::NodeDown { node: NODE });
            let mut events = node.events();
            let why = runtime.block_on(async {
                loop {
                    let event = events.next().await.unwrap();
                    if let NodeEvent::Refused { node: NODE, why } = event {
                        break why;
                    }
                }
            });
            assert!(
                matches!(&why, Mismatch::Refuses { why } if why.contains("called `b`")),
                "{why}"
            );
        }
        for (runtime, node) in &nodes {
            runtime.block_on(node.leave());
        }
    });
}

#[test]
fn a_node_that_was_not_asked_does_not_answer() {
    ends(|| {
        let (_control, mut all) = network(3, Faults::default());
        let mut forger = all.pop().unwrap();
        let mut bytes = Vec::new();
        frame::begin(&mut bytes, 0);
        let hello = Wire::Hello {
            node: forger.local(),
            nodes: 3,
            incarnation: 0,
            longest_frame: 1 << 20,
            ties: 100,
            job: "job",
            name: "forger",
        };
        Envelope::from(hello).append(&mut bytes).unwrap();
        let start = |end| {
            let runtime = runtime(1);
            let builder = Node::builder().system(System::new()).script("sum", Sum::new);
            let node = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap();
            (runtime, node)
        };
        let nodes: Vec<_> = all.into_iter().map(start).collect();
        for node in [NODE, PEER] {
            forger.send(node, bytes.clone()).unwrap();
        }
        let (runtime, node) = &nodes[0];
        runtime.block_on(node.ready()).unwrap();
        let sum = runtime.block_on(node.spawn_on::<Message, _>(PEER, "sum", &7_u64)).unwrap();
        let keeps = sum.clone();
        let open = runtime.spawn(async move { keeps.ask(Message::Keep).await });
        while node.metrics().open_calls < 1 {
            std::thread::yield_now();
        }
        bytes.clear();
        frame::begin(&mut bytes, 0);
        for call in 1..10 {
            let message = Wire::Answer { call, payload: &[66] };
            Envelope::from(message).append(&mut bytes).unwrap();
        }
        forger.send(NODE, bytes).unwrap();
        while node.metrics().late_answers < 9 {
            std::thread::yield_now();
        }
        // The question is still open, until its actor ends.
        assert_eq!(node.metrics().open_calls, 1);
        runtime.block_on(async {
            assert_eq!(sum.ask(Message::Get).await, Ok(7));
            sum.send(Message::Stop).await.unwrap();
        });
        assert_eq!(evenkeel::block_on(open).unwrap(), Err(AskError::NoReply));
        for (runtime, node) in &nodes {
            runtime.block_on(node.leave());
        }
    });
}

/// Its own actors: the node would give a lease of each back to it.
#[test]
fn a_peer_that_names_two_hundred_thousand_references_in_a_message_is_shut_out() {
    ends(|| {
        for workers in [1, 2] {
            let mut pair = Pair::greeted(workers, Limits::default());
            // The kind of a `Tell` with references, and their number.
            let mut record = vec![1 | 0x40, 0xC0, 0x9A, 0x0C];
            for index in 0..200_000_u32 {
                let [first, second] = [index, index >> 7].map(|part| part as u8 | 0x80);
                record.extend([1, first, second, (index >> 14) as u8 + 1, 0]);
            }
            record.extend([7, 0]);
            let mut bytes = Vec::new();
            frame::begin(&mut bytes, 0);
            let append = |out: &mut Vec<u8>| {
                out.extend_from_slice(&record);
                Ok::<_, FrameError>(())
            };
            frame::append(&mut bytes, append).unwrap();
            pair.send_bytes(bytes);
            let NodeEvent::Malformed { node: PEER, error } = pair.event() else {
                panic!("it is not shut out")
            };
            assert!(matches!(error, FrameError::TooGreat { most: 65_536, .. }), "{error}");
        }
    });
}

/// A transport that is sending as long as this is true, and so is polled all the time.
struct Sends(Arc<AtomicBool>);

impl Alter<InProcess> for Sends {
    fn is_sending(&self, _inner: &InProcess) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Sends more frames with this payload than may be unread, and is shut out.
fn floods(payload: &'static [u8], parked: usize) {
    ends(move || {
        // Most of the frames are with the node when its worker goes on.
        let (_control, mut both) = network(2, Faults { under_way: 64, ..Faults::default() });
        let (end, mut peer) = (both.remove(0), both.remove(0));
        let sends = Arc::new(AtomicBool::new(true));
        let end = Altered { inner: end, by: Sends(Arc::clone(&sends)) };
        let runtime = runtime(1);
        let limits = Limits { parked, ..Limits::default() };
        let packing = Packing { waiting: 1 << 10, ..Packing::default() };
        let builder = Node::builder().system(System::new()).limits(limits).packing(packing);
        let builder = builder.hosting(Hosting::Thread);
        let node = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap();
        let mut events = node.events();
        peer.send(NODE, frame_of(&[hello("floods")])).unwrap();
        let up = runtime.block_on(events.next()).unwrap();
        assert!(matches!(up, NodeEvent::Up { .. }), "{up:?}");
        // The only worker reads nothing meanwhile.
        let (begins, has_begun) = std::sync::mpsc::channel();
        let (goes_on, may_go_on) = std::sync::mpsc::channel();
        let stuck = runtime.spawn(async move {
            begins.send(()).unwrap();
            may_go_on.recv().unwrap();
        });
        has_begun.recv().unwrap();
        let to = Slot { index: 7, generation: 0 };
        let frame = frame_of(&[Wire::Tell { to, payload }]);
        for _ in 0..2_000 {
            let mut next = frame.clone();
            while let Err(refused) = peer.send(NODE, next) {
                next = refused.frame;
                std::thread::yield_now();
            }
        }
        peer.leave();
        goes_on.send(()).unwrap();
        evenkeel::block_on(stuck).unwrap();
        let NodeEvent::Refused { node: PEER, why } = runtime.block_on(events.next()).unwrap()
        else {
            panic!("it is not shut out");
        };
        assert!(matches!(why, Mismatch::Unread { .. }), "{why}");
        sends.store(false, Ordering::SeqCst);
        runtime.block_on(node.leave());
    });
}

#[test]
fn a_peer_that_does_not_hold_while_its_frames_are_not_read_is_shut_out() {
    floods(&[0; 8 << 10], 1 << 20);
}

#[test]
fn frames_of_a_few_bytes_count_as_the_memory_that_they_take() {
    floods(&[], 64 << 10);
}
