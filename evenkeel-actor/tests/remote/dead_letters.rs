//! Dead letters whose subscribers are on other nodes.

use crate::ending::ends;
use crate::world::{World, id};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::remote::Node;
use evenkeel_actor::{
    Actor, ActorRef, Builder, Context, DeadLetter, DeadLetterKind, Handled, ReplyTo,
};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Message {
    Letters(u64),
    Get(ReplyTo<u64>),
}

impl From<DeadLetter> for Message {
    fn from(letter: DeadLetter) -> Self {
        Self::Letters(letter.count)
    }
}

/// Counts dead letters.
#[derive(Default)]
struct Collector(u64);

impl Actor for Collector {
    type Message = Message;

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        match message {
            Message::Letters(count) => self.0 += count,
            Message::Get(reply) => reply.send(self.0),
        }
        Ok(())
    }
}

/// Two nodes, each of which sends its dead letters to a collector on the other.
fn world(workers: usize) -> (World, [ActorRef<Message>; 2]) {
    let world = World::new(2, workers, Faults::default());
    for (_, node) in &world.nodes {
        node.register_script("collector", |()| Collector::default());
    }
    let collectors = [0, 1].map(|own| {
        world.on(own, async move |node| {
            let collector = node.spawn_on(id(1 - own as u32), "collector", &()).await.unwrap();
            node.system().send_dead_letters_to::<Message, _>(&collector).keep();
            collector
        })
    });
    (world, collectors)
}

/// Leaves a message behind.
async fn leave_behind(node: Node) {
    let actor = Builder::new().system(node.system()).spawn(Collector::default()).unwrap();
    let stopped = actor.stopped();
    actor.kill();
    let _ = actor.try_send(Message::Letters(0));
    stopped.await;
}

#[test]
fn a_dead_letter_goes_to_a_subscriber_on_another_node() {
    ends(|| {
        for workers in [1, 2] {
            let (world, [collector, _]) = world(workers);
            world.on(0, leave_behind);
            world.on(0, async move |node| {
                let letters = node.system().dead_letters();
                while collector.ask(Message::Get).await.unwrap() < letters {
                    evenkeel::yield_now().await;
                }
            });
        }
    });
}

#[test]
fn a_dead_letter_does_not_go_round_between_nodes_whose_subscribers_have_stopped() {
    ends(|| {
        for workers in [1, 2] {
            let (world, collectors) = world(workers);
            for (own, collector) in collectors.into_iter().enumerate() {
                world.on(own, async move |_| {
                    let stopped = collector.stopped();
                    collector.stop();
                    stopped.await;
                });
            }
            let systems = [0, 1].map(|node| world.nodes[node].1.system());
            world.on(0, async move |node| {
                while systems[0].dead_letters() == 0 {
                    leave_behind(node.clone()).await;
                }
                // The record is a dead letter on the other node, and no record of it is sent back.
                while systems[1].unrecorded_dead_letters() < systems[0].dead_letters() {
                    evenkeel::yield_now().await;
                }
            });
            assert_eq!(systems[0].dead_letters_of(DeadLetterKind::Undelivered), 0);
        }
    });
}
