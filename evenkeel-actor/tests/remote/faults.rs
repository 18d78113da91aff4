//! Faults of actors, as seen from other nodes.

use crate::world::{World, id, slow};
use evenkeel_actor::{
    Actor, ActorRef, AskError, Child, Context, ExitReason, Failure, Handled, ReplyTo, Supervisor,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Debug, Serialize, Deserialize)]
enum Message {
    Count(ReplyTo<u64>),
    Panic(ReplyTo<u64>),
    Fail,
}

/// Counts its questions.
#[derive(Default)]
struct Counter(u64);

impl Actor for Counter {
    type Message = Message;

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        match message {
            Message::Count(reply) => {
                self.0 += 1;
                reply.send(self.0);
            }
            Message::Panic(_reply) => panic!("paper jam"),
            Message::Fail => return Err(Failure::message("no more ink")),
        }
        Ok(())
    }
}

/// Publishes a supervised actor on node 1, which may be restarted `restarts` times.
fn supervised(world: &World, restarts: u32) -> evenkeel_actor::SupervisorRef {
    let (runtime, node) = &world.nodes[1];
    node.system().on_failure(|_| {});
    runtime.block_on(async {
        let minute = Duration::from_secs(60);
        let mut tree = Supervisor::one_for_one().system(node.system()).intensity(restarts, minute);
        let counter = tree.child(Child::new("counter", Counter::default));
        assert!(node.publish("counter", counter));
        tree.spawn()
    })
}

async fn locate(world: &evenkeel_actor::remote::Node) -> ActorRef<Message> {
    world.locate(id(1), "counter").await.unwrap()
}

#[test]
fn a_handler_that_panics_without_a_supervisor_is_the_end_for_all_nodes() {
    for workers in [1, 2] {
        let world = World::new(2, workers, slow(1));
        world.nodes[1].1.register_script("counter", |(): ()| Counter::default());
        world.nodes[1].1.system().on_failure(|_| {});
        world.on(0, async |node| {
            let counter = node.spawn_on::<Message, _>(id(1), "counter", &()).await.unwrap();
            let stopped = counter.stopped();
            assert_eq!(counter.ask(Message::Panic).await, Err(AskError::NoReply));
            assert_eq!(stopped.await.to_string(), "panicked: paper jam");
            assert_eq!(counter.ask(Message::Count).await, Err(AskError::Stopped));
            assert_eq!(node.metrics().open_calls, 0);
        });
    }
}

#[test]
fn a_handler_that_panics_under_a_supervisor_is_no_end_for_other_nodes() {
    for workers in [1, 2] {
        let world = World::new(2, workers, slow(2));
        let tree = supervised(&world, 100);
        world.on(0, async |node| {
            let counter = locate(&node).await;
            let mut stopped = Box::pin(counter.stopped());
            for _ in 0..20 {
                assert_eq!(counter.ask(Message::Count).await, Ok(1));
                assert_eq!(counter.ask(Message::Count).await, Ok(2));
                assert_eq!(counter.ask(Message::Panic).await, Err(AskError::NoReply));
            }
            assert_eq!(counter.ask(Message::Count).await, Ok(1), "it has begun anew");
            assert!(futures::poll!(&mut stopped).is_pending());
        });
        drop(tree);
    }
}

#[test]
fn a_storm_of_restarts_ends_and_other_nodes_are_told() {
    for workers in [1, 2] {
        let world = World::new(2, workers, slow(3));
        let tree = supervised(&world, 3);
        world.on(0, async |node| {
            let counter = locate(&node).await;
            let stopped = counter.stopped();
            for _ in 0..10 {
                drop(counter.send(Message::Fail).await);
            }
            let reason = stopped.await;
            assert!(!matches!(reason, ExitReason::NodeDown(_)), "{reason}");
            assert_eq!(counter.ask(Message::Count).await, Err(AskError::Stopped));
        });
        drop(tree);
    }
}
