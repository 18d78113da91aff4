//! Input from other nodes: full mailboxes, long frames, raw bytes.

mod busy_senders;
mod casts;
mod deep;
mod full;
mod readers;
mod runtimes;

use crate::ending::ends;
use crate::world::{id, runtime};
use evenkeel_actor::node::in_process::{Faults, InProcess, network};
use evenkeel_actor::node::wire::{Envelope, Message};
use evenkeel_actor::node::{Transport, frame};
use evenkeel_actor::remote::Node;
use evenkeel_actor::{Actor, Context, Handled, System};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A node, and a peer driven by hand that has introduced itself; the node's name of its first actor
/// is `0.0`.
fn with_peer(test: impl FnOnce(&evenkeel::Runtime, &Node, &mut InProcess)) {
    let (_control, mut all) = network(2, Faults::default());
    let (mut peer, end) = (all.pop().unwrap(), all.pop().unwrap());
    let runtime = runtime(2);
    let builder = Node::builder().system(System::new());
    let node = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap();
    let mut bytes = Vec::new();
    frame::begin(&mut bytes, 0);
    let hello = Message::Hello {
        node: id(1),
        nodes: 2,
        incarnation: 0,
        longest_frame: 1 << 20,
        ties: 100,
        job: "job",
        name: "peer",
    };
    Envelope::from(hello).append(&mut bytes).unwrap();
    peer.send(id(0), bytes).unwrap();
    runtime.block_on(node.ready()).unwrap();
    test(&runtime, &node, &mut peer);
    std::mem::forget((runtime, node));
}

#[derive(Clone, Serialize, Deserialize)]
struct Number(u64);

/// Checks that numbers come in their order, and says when the last of them has come.
struct Ordered {
    next: u64,
    over: Arc<AtomicBool>,
}

impl Actor for Ordered {
    type Message = Number;

    async fn handle(&mut self, number: Number, _context: &mut Context<Self>) -> Handled {
        assert_eq!(number.0, self.next);
        self.next += 1;
        self.over.store(self.next == CASTS, Ordering::SeqCst);
        Ok(())
    }
}

const CASTS: u64 = 20_000;
