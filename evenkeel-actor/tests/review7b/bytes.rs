//! Bytes of a peer.

use crate::ends;
use crate::world::{Message, Sum, id, runtime};
use evenkeel_actor::System;
use evenkeel_actor::node::in_process::{Faults, network};
use evenkeel_actor::node::wire::{Envelope, Message as Wire};
use evenkeel_actor::node::{Transport, frame};
use evenkeel_actor::remote::Node;
use std::time::Duration;

/// Two nodes, and a third one, driven by hand, that was asked nothing and answers the question of the first to the second.
#[test]
fn a_node_that_was_not_asked_does_not_answer() {
    ends(|| {
        let (_control, mut all) = network(3, Faults::default());
        let mut forger = all.pop().unwrap();
        let mut bytes = Vec::new();
        frame::begin(&mut bytes, 0);
        let hello = Wire::Hello {
            node: id(2),
            nodes: 3,
            incarnation: 0,
            longest_frame: 1 << 20,
            job: "job",
            name: "forger",
        };
        Envelope { cause: None, message: hello }.append(&mut bytes).unwrap();
        let nodes: Vec<_> = all
            .into_iter()
            .map(|end| {
                let runtime = runtime(1);
                let builder = Node::builder().system(System::new());
                let node = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap();
                node.register_script("sum", Sum::new);
                (runtime, node)
            })
            .collect();
        for node in 0..2 {
            forger.send(id(node), bytes.clone()).unwrap();
        }
        let (runtime, node) = &nodes[0];
        runtime.block_on(node.ready()).unwrap();
        let keeps = runtime.block_on(node.spawn_on::<Message, _>(id(1), "sum", &0_u64)).unwrap();
        let open = runtime
            .spawn(async move { keeps.ask(Message::Keep).timeout(Duration::from_secs(2)).await });
        while node.metrics().open_calls < 1 {
            std::thread::yield_now();
        }
        bytes.clear();
        frame::begin(&mut bytes, 0);
        // Numbers of calls are given in turn.
        for call in 1..10 {
            let message = Wire::Answer { call, payload: &[66] };
            Envelope { cause: None, message }.append(&mut bytes).unwrap();
        }
        forger.send(id(0), bytes).unwrap();
        let answer = evenkeel::block_on(open).unwrap();
        assert!(answer.is_err(), "{answer:?} was never answered by the node that was asked");
        forger.leave();
        std::mem::forget(nodes);
    });
}
