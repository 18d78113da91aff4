//! Nodes that are lost, and nodes that leave.

use crate::world::{Message, World, id, slow};
use evenkeel_actor::node::DownReason;
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::remote::{NodeEvent, NodeLost, RemoteError};
use evenkeel_actor::{AskError, SendError};

#[test]
fn what_waits_for_a_node_that_is_lost_fails() {
    for workers in [1, 2] {
        let world = World::new(3, workers, slow(4));
        let control = world.control.clone();
        world.on(0, async move |node| {
            let mut events = node.events();
            let lost = node.spawn_on::<Message, _>(id(2), "sum", &0_u64).await.unwrap();
            let alive = node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap();
            // A stream of messages, during which the node is lost, and a question that stays open.
            let stream = {
                let lost = lost.clone();
                evenkeel::spawn(async move {
                    let mut sent = 0_u64;
                    loop {
                        match lost.send(Message::Add(1)).await {
                            Ok(()) => sent += 1,
                            Err(SendError::NodeDown(Message::Add(1))) => return sent,
                            Err(error) => panic!("{error}"),
                        }
                        if sent.is_multiple_of(100) {
                            evenkeel::yield_now().await;
                        }
                    }
                })
            };
            let open = {
                let lost = lost.clone();
                evenkeel::spawn(async move { lost.ask(Message::Keep).await })
            };
            while lost.ask(Message::Get).await.unwrap() < 1_000 {}
            control.kill(id(2));
            assert_eq!(open.await.unwrap(), Err(AskError::NodeDown));
            assert!(stream.await.unwrap() >= 1_000);
            assert_eq!(lost.ask(Message::Get).await, Err(AskError::NodeDown));
            assert!(lost.is_stopped());
            let error = node.spawn_on::<Message, _>(id(2), "sum", &0_u64).await.unwrap_err();
            assert_eq!(error, RemoteError::NodeDown { node: id(2) });
            loop {
                match events.next().await.unwrap() {
                    NodeEvent::Down { node, reason: DownReason::Lost(_), .. } => {
                        assert_eq!(node, id(2));
                        break;
                    }
                    NodeEvent::Up { .. } => {}
                    event => panic!("{event:?}"),
                }
            }
            assert_eq!(alive.ask(Message::Get).await, Ok(0), "the others go on");
            assert!(node.barrier().await.is_err());
            assert_eq!(node.finish().await, Err(NodeLost { node: Some(id(2)) }));
            assert_eq!(node.metrics().open_calls, 0);
        });
    }
}

#[test]
fn a_node_that_leaves_has_sent_everything() {
    for workers in [1, 2] {
        let world = World::new(2, workers, Faults::default());
        let sum = world.on(0, async |node| {
            let mut events = node.events();
            let sum = node.spawn_on::<Message, _>(id(0), "sum", &0_u64).await.unwrap();
            assert!(node.publish("sum", sum.clone()));
            assert!(matches!(events.next().await, Some(NodeEvent::Up { .. })));
            (sum, events)
        });
        world.on(1, async |node| {
            let sum = node.locate::<Message>(id(0), "sum").await.unwrap();
            for _ in 0..1_000 {
                sum.send(Message::Add(1)).await.unwrap();
            }
            node.leave().await;
            assert!(matches!(
                sum.send(Message::Add(1)).await,
                Err(SendError::NodeDown(Message::Add(1)))
            ));
        });
        let (sum, mut events) = sum;
        world.on(0, async move |_| {
            let event = events.next().await;
            let left = NodeEvent::Down { node: id(1), reason: DownReason::Left, lost: 0 };
            assert_eq!(event, Some(left));
            assert_eq!(sum.ask(Message::Get).await, Ok(1_000));
        });
    }
}
