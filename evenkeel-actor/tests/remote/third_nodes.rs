//! A peer that makes a node send to a third, innocent node.

use crate::bad_peers::{frame_of, receive};
use crate::ending::ends;
use crate::world::{Message, Sum, id, runtime};
use evenkeel::Runtime;
use evenkeel_actor::System;
use evenkeel_actor::node::in_process::{Control, Faults, InProcess, network};
use evenkeel_actor::node::policy::Packing;
use evenkeel_actor::node::wire::{MembersBuf, Message as Wire};
use evenkeel_actor::node::{Slot, Transport};
use evenkeel_actor::remote::{Limits, Node};

/// The most bytes that may wait for a node.
const BACKLOG: usize = 16 << 10;

/// A node, and two peers that the test drives by hand.
struct Three {
    _control: Control,
    runtime: Runtime,
    node: Node,
    hostile: InProcess,
    innocent: InProcess,
}

fn send(peer: &mut InProcess, messages: &[Wire<'_>]) {
    let mut frame = frame_of(messages);
    while let Err(refused) = peer.send(id(0), frame) {
        // The most that can be under way.
        frame = refused.frame;
        std::thread::yield_now();
    }
}

fn greets(peer: &mut InProcess, name: &'static str) {
    let node = peer.local();
    let longest_frame = 1 << 20;
    let ties = 1 << 16;
    let hello =
        Wire::Hello { node, nodes: 3, incarnation: 0, longest_frame, ties, job: "job", name };
    send(peer, &[hello]);
}

/// Has an actor started on the node: the answer shows that all earlier messages of the peer have
/// been read.
fn spawn(peer: &mut InProcess) -> Slot {
    let mut arguments = std::any::type_name::<Message>().as_bytes().to_vec();
    arguments.extend([0, 9]);
    send(peer, &[Wire::Spawn { call: 5, script: "sum", parent: None, arguments: &arguments }]);
    receive(peer, |message| match message {
        Wire::Located { call: 5, at } => Some(*at),
        _ => None,
    })
}

fn three(workers: usize) -> Three {
    let (control, mut ends) = network(3, Faults { under_way: 4, ..Faults::default() });
    let (mut innocent, mut hostile) = (ends.pop().unwrap(), ends.pop().unwrap());
    let runtime = runtime(workers);
    let limits = Limits { backlog: BACKLOG, ..Limits::default() };
    let packing = Packing { frame: 64, waiting: BACKLOG / 4, ..Packing::default() };
    let builder = Node::builder().system(System::new()).limits(limits).packing(packing);
    let end = ends.pop().unwrap();
    let node = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap();
    node.register_script("sum", Sum::new);
    greets(&mut hostile, "hostile");
    greets(&mut innocent, "innocent");
    runtime.block_on(node.ready()).unwrap();
    Three { _control: control, runtime, node, hostile, innocent }
}

impl Three {
    /// The third node has taken nothing so far. It is not shut out for messages that others made
    /// the node send.
    fn innocent_stays(mut self) {
        assert!(self.node.metrics().undelivered > 0);
        spawn(&mut self.innocent);
        self.runtime.block_on(async {
            let mut events = self.node.events();
            for _ in 0..2 {
                let event = events.next().await.unwrap();
                assert!(!event.is_loss(), "{event:?}");
            }
            self.node.leave().await;
        });
    }
}

#[test]
fn casts_are_not_passed_on_without_a_bound() {
    ends(|| {
        for workers in [1, 2] {
            let mut three = three(workers);
            let mut members = MembersBuf::new();
            members.push(id(0), &[]);
            members.push(id(2), &[Slot { index: 7, generation: 0 }]);
            let payload = [0; 1_000];
            let cast = Wire::Cast { members: members.as_members(), payload: &payload };
            for _ in 0..100 {
                send(&mut three.hostile, std::slice::from_ref(&cast));
            }
            spawn(&mut three.hostile);
            three.innocent_stays();
        }
    });
}

#[test]
fn places_for_answers_that_a_peer_has_made_up_are_not_answered_without_a_bound() {
    ends(|| {
        for workers in [1, 2] {
            let mut three = three(workers);
            let to = spawn(&mut three.hostile);
            let payloads = [[1, 2, 3], [6, 2, 3]];
            // `Get` and `Forget`, with a place of the third node.
            let made_up = payloads.each_ref().map(|payload| Wire::Tell { to, payload });
            for _ in 0..1_000 {
                send(&mut three.hostile, &[made_up.clone(), made_up.clone()].concat());
            }
            // The peer's own place: by then all others have been handled.
            send(&mut three.hostile, &[Wire::Tell { to, payload: &[1, 1, 77] }]);
            receive(&mut three.hostile, |message| {
                matches!(message, Wire::Answer { call: 77, .. }).then_some(())
            });
            three.innocent_stays();
        }
    });
}
