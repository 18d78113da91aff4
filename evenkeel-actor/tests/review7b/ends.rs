//! The end of work, of nodes, and of messages.

use crate::ends;
use crate::world::{Message, Sum, World, id, runtime};
use evenkeel_actor::node::in_process::{Faults, network};
use evenkeel_actor::node::policy::Packing;
use evenkeel_actor::remote::{Hosting, Node, RemoteError};
use evenkeel_actor::{
    Actor, ActorRef, AskError, Builder, Context, ExitReason, Handled, ReplyTo, SendError, System,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[test]
fn a_barrier_that_waits_as_its_node_leaves_fails() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        let (runtime, node) = &world.nodes[0];
        let own = node.clone();
        let waits = runtime.spawn(async move { own.barrier().await });
        std::thread::sleep(Duration::from_millis(20));
        runtime.block_on(node.leave());
        assert!(evenkeel::block_on(waits).unwrap().is_err());
    });
}

#[test]
fn a_barrier_after_the_node_has_left_fails() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        let (runtime, node) = &world.nodes[0];
        runtime.block_on(node.leave());
        assert!(runtime.block_on(node.barrier()).is_err());
    });
}

#[test]
fn a_finish_that_waits_as_its_node_leaves_fails() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        let (runtime, node) = &world.nodes[0];
        let own = node.clone();
        let waits = runtime.spawn(async move { own.finish().await });
        std::thread::sleep(Duration::from_millis(20));
        runtime.block_on(node.leave());
        assert!(evenkeel::block_on(waits).unwrap().is_err());
    });
}

#[test]
fn the_end_of_all_work_stays_known() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        std::thread::scope(|scope| {
            for (runtime, node) in &world.nodes {
                scope.spawn(|| assert_eq!(runtime.block_on(node.finish()), Ok(())));
            }
        });
        let (runtime, node) = &world.nodes[0];
        // Another task of the node asks, or one asks again whose first wait was cancelled.
        assert_eq!(runtime.block_on(node.finish()), Ok(()));
    });
}

/// Control messages are counted before they are counted as messages, so their difference can be below zero.
#[test]
fn the_count_of_received_messages_does_not_go_below_zero() {
    let panicked = std::thread::spawn(|| {
        let world = World::new(2, 3, Faults::default());
        let (runtime, node) = &world.nodes[0];
        let finishes: Vec<_> = (0..400)
            .map(|_| {
                let node = node.clone();
                runtime.spawn(async move { node.finish().await })
            })
            .collect();
        std::thread::scope(|scope| {
            for (runtime, node) in &world.nodes {
                scope.spawn(move || {
                    runtime.block_on(async {
                        for _ in 0..10_000 {
                            node.barrier().await.unwrap();
                        }
                    });
                });
            }
        });
        world.control.kill(id(1));
        finishes.into_iter().filter_map(|finish| evenkeel::block_on(finish).err()).count()
    });
    assert_eq!(panicked.join().unwrap(), 0, "tasks have panicked in `finish`");
}

#[test]
fn a_short_longest_message_does_not_keep_a_node_from_saying_who_it_is() {
    ends(|| {
        let (_control, mut nodes) = network(2, Faults::default());
        let runtime = runtime(2);
        runtime.block_on(async {
            let packing = Packing { longest_message: 20, ..Packing::default() };
            let mut started = Vec::new();
            for end in nodes.drain(..) {
                let builder = Node::builder().system(System::new()).packing(packing);
                match builder.start(|| Ok::<_, String>(end)).await {
                    Ok(node) => started.push(node),
                    // To refuse it is as good.
                    Err(_) => return,
                }
            }
            for node in &started {
                let _ = node.ready().await;
            }
            for node in started {
                node.leave().await;
            }
        });
    });
}

#[test]
fn a_host_that_is_a_task_needs_one_worker_and_says_so() {
    ends(|| {
        let runtime = runtime(3);
        let (_control, mut nodes) = network(1, Faults::default());
        let end = nodes.remove(0);
        let builder = Node::builder().system(System::new()).hosting(Hosting::Task);
        let started = runtime.block_on(builder.start(|| Ok::<_, String>(end)));
        assert!(started.is_err(), "it has started, to panic when its task is stolen");
    });
}

#[derive(Serialize, Deserialize)]
enum Hold {
    This(ActorRef<Message>),
    /// Sends to it.
    Poke(ReplyTo<()>),
    Give(ReplyTo<ActorRef<Message>>),
}

#[derive(Default)]
struct Holds(Option<ActorRef<Message>>);

impl Actor for Holds {
    type Message = Hold;

    async fn handle(&mut self, message: Hold, _context: &mut Context<Self>) -> Handled {
        match message {
            Hold::This(actor) => self.0 = Some(actor),
            Hold::Poke(reply) => {
                if let Some(actor) = &self.0 {
                    actor.send(Message::Add(1)).await?;
                }
                reply.send(());
            }
            Hold::Give(reply) => reply.send(self.0.take().unwrap()),
        }
        Ok(())
    }
}

/// What comes home of an actor that has stopped says that this node is down.
#[test]
fn a_reference_to_a_stopped_actor_that_comes_home_is_one_to_a_stopped_actor() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        world.nodes[1].1.register_script("holds", |()| Holds::default());
        world.on(0, async |node| {
            let holds = node.spawn_on::<Hold, _>(id(1), "holds", &()).await.unwrap();
            let own = Builder::new().system(node.system()).spawn(Sum::default()).unwrap();
            holds.send(Hold::This(own.clone())).await.unwrap();
            holds.ask(Hold::Poke).await.unwrap();
            own.send(Message::Stop).await.unwrap();
            own.stopped().await;
            // A message finds it stopped, so its slot is given up.
            holds.ask(Hold::Poke).await.unwrap();
            let home = holds.ask(Hold::Give).await.unwrap();
            let error = home.send(Message::Add(1)).await.unwrap_err();
            assert!(matches!(error, SendError::Stopped(_)), "{error}");
            assert!(!matches!(home.stopped().await, ExitReason::NodeDown(_)));
            assert_eq!(home.ask(Message::Get).await, Err(AskError::Stopped));
        });
    });
}

#[test]
fn the_name_of_an_actor_that_has_stopped_can_be_published_again() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        world.on(0, async |node| {
            let spawn = || Builder::new().system(node.system()).spawn(Sum::default()).unwrap();
            let first = spawn();
            assert!(node.publish("sum", first.clone()));
            first.stop();
            first.stopped().await;
            assert!(node.publish("sum", spawn()));
        });
    });
}

#[derive(Serialize, Deserialize)]
struct Generic<T>(T);

struct Takes;

type Four<T> = Generic<Generic<Generic<Generic<T>>>>;
type Deep = Four<Four<Four<u64>>>;

impl Actor for Takes {
    type Message = Deep;

    async fn handle(&mut self, _message: Deep, _context: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

#[test]
fn an_actor_whose_messages_have_a_long_type_is_found() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        let (runtime, node) = &world.nodes[1];
        runtime.block_on(async {
            let takes = Builder::new().system(node.system()).spawn(Takes).unwrap();
            assert!(node.publish("takes", takes));
        });
        world.on(0, async |node| {
            let found: Result<ActorRef<Deep>, RemoteError> = node.locate(id(1), "takes").await;
            assert_eq!(found.err(), None);
        });
    });
}

#[test]
fn actors_live_on_when_their_node_leaves() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        let _sum = world
            .on(0, async |node| node.spawn_on::<Message, _>(id(1), "sum", &1_u64).await.unwrap());
        let (runtime, node) = &world.nodes[1];
        let before = node.system().snapshot().alive();
        runtime.block_on(node.leave());
        std::thread::sleep(Duration::from_millis(50));
        // "The actors live on."
        assert_eq!((before, node.system().snapshot().alive()), (1, 1));
    });
}
