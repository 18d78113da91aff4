//! Recursive values from a peer.

use super::{ends, with_peer};
use crate::world::id;
use evenkeel_actor::node::wire::{Envelope, Message as Wire};
use evenkeel_actor::node::{Slot, Transport, frame};
use evenkeel_actor::{Actor, Builder, Context, Handled};
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

/// One frame of four megabytes, within the limit of frames.
#[test]
fn a_deep_value_does_not_end_the_process() {
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
            let locate = Wire::Locate { call: 1, name: "trees", messages };
            for message in [locate, Wire::Tell { to, payload: &payload }] {
                Envelope::from(message).append(&mut bytes).unwrap();
            }
            peer.send(id(0), bytes).unwrap();
            while node.metrics().messages_in < 3 {
                std::thread::yield_now();
            }
        });
    });
}
