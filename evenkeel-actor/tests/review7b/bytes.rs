//! Bytes of a peer.

use crate::ends;
use crate::world::{id, runtime};
use evenkeel_actor::node::in_process::{Faults, InProcess, network};
use evenkeel_actor::node::wire::{Envelope, Message as Wire};
use evenkeel_actor::node::{Slot, Transport, frame};
use evenkeel_actor::remote::Node;
use evenkeel_actor::{Actor, Builder, Context, Handled, System};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Tree {
    Leaf,
    Over(Box<Self>),
}

struct Trees;

impl Actor for Trees {
    type Message = Tree;

    async fn handle(&mut self, _message: Tree, _context: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

/// A node, and a peer driven by hand that has said who it is; the node's name of its first actor is `0.0`.
fn with_peer(test: impl FnOnce(&evenkeel::Runtime, &Node, &mut InProcess)) {
    let (_control, mut all) = network(2, Faults::default());
    let (mut peer, end) = (all.pop().unwrap(), all.pop().unwrap());
    let runtime = runtime(2);
    let builder = Node::builder().system(System::new());
    let node = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap();
    let mut bytes = Vec::new();
    frame::begin(&mut bytes, 0);
    let hello = Wire::Hello {
        node: id(1),
        nodes: 2,
        incarnation: 0,
        longest_frame: 1 << 20,
        ties: 1 << 16,
        job: "job",
        name: "peer",
    };
    Envelope { cause: None, message: hello }.append(&mut bytes).unwrap();
    peer.send(id(0), bytes).unwrap();
    runtime.block_on(node.ready()).unwrap();
    test(&runtime, &node, &mut peer);
    std::mem::forget((runtime, node));
}

/// One frame of four megabytes, within the bound on frames.
#[test]
fn a_deep_value_does_not_end_the_process() {
    const DEEP: &str = "EVENKEEL_REVIEW_DEEP";
    if std::env::var_os(DEEP).is_none() {
        let program = std::env::current_exe().unwrap();
        let mut test = std::process::Command::new(program);
        test.args(["bytes::a_deep_value_does_not_end_the_process", "--exact"]).env(DEEP, "1");
        let output = test.output().unwrap();
        assert!(
            output.status.success(),
            "{}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        return;
    }
    ends(|| {
        with_peer(|runtime, node, peer| {
            runtime.block_on(async {
                let trees = Builder::new().system(node.system()).spawn(Trees).unwrap();
                assert!(node.publish("trees", trees));
            });
            let messages = std::any::type_name::<Tree>();
            let mut payload = vec![1; 4 << 20];
            payload.push(0);
            let mut bytes = Vec::new();
            frame::begin(&mut bytes, 0);
            let to = Slot { index: 0, generation: 0 };
            for message in [
                Wire::Locate { call: 1, name: "trees", messages },
                Wire::Tell { to, payload: &payload },
            ] {
                Envelope { cause: None, message }.append(&mut bytes).unwrap();
            }
            peer.send(id(0), bytes).unwrap();
            while node.metrics().messages_in < 3 {
                std::thread::yield_now();
            }
        });
    });
}

/// A reader that is interrupted begins the frame anew to find its place: the cost grows with the square of the frame's messages.
#[test]
fn a_long_frame_of_short_messages_is_read_in_time() {
    ends(|| {
        with_peer(|_, node, peer| {
            const MESSAGES: u64 = 1 << 20;
            let mut bytes = Vec::new();
            frame::begin(&mut bytes, 0);
            let to = Slot { index: 0, generation: 0 };
            for _ in 0..MESSAGES {
                let message = Wire::Tell { to, payload: &[] };
                Envelope { cause: None, message }.append(&mut bytes).unwrap();
            }
            assert!(bytes.len() < 5 << 20);
            peer.send(id(0), bytes).unwrap();
            while node.metrics().messages_in <= MESSAGES {
                std::thread::yield_now();
            }
        });
    });
}
