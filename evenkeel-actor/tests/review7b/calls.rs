//! Questions that must get an end.

use crate::ends;
use crate::world::{Message, Sum, World, id, runtime};
use evenkeel_actor::node::in_process::{Faults, InProcess, network};
use evenkeel_actor::node::{Event, NodeId, Refused, Transport, TransportWaker};
use evenkeel_actor::remote::{Node, RemoteError};
use evenkeel_actor::{
    Actor, ActorRef, AskError, Builder, Context, Handled, ReplyTo, SendError, System,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Hands questions on to others, which keep them.
struct Broker(Node);

#[derive(Serialize, Deserialize)]
enum Deal {
    /// Has that actor keep the question.
    Keep(ActorRef<Message>, ReplyTo<u64>),
    /// Hands it on in a message that panics as it is written.
    Bomb(ActorRef<Bombs>, ReplyTo<u64>),
    /// Hands it on as the argument of a script that there is not.
    Spawn(ReplyTo<u64>),
}

#[derive(Deserialize)]
struct Bomb;

impl Serialize for Bomb {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("a bomb");
    }
}

#[derive(Serialize, Deserialize)]
struct Bombs(ReplyTo<u64>, Bomb);

struct TakesBombs;

impl Actor for TakesBombs {
    type Message = Bombs;

    async fn handle(&mut self, _message: Bombs, _context: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

impl Actor for Broker {
    type Message = Deal;

    async fn handle(&mut self, deal: Deal, _context: &mut Context<Self>) -> Handled {
        match deal {
            Deal::Keep(whom, reply) => whom.send(Message::Keep(reply)).await?,
            Deal::Bomb(whom, reply) => whom.send(Bombs(reply, Bomb)).await?,
            Deal::Spawn(reply) => {
                let spawned = self.0.spawn_on::<Message, _>(id(0), "nothing", &reply).await;
                assert_eq!(spawned.unwrap_err(), RemoteError::NoSuchScript);
            }
        }
        Ok(())
    }
}

fn brokers(nodes: u32) -> World {
    let world = World::new(nodes, 1, Faults::default());
    for (_, node) in &world.nodes {
        let own = node.clone();
        node.register_script("broker", move |()| Broker(own.clone()));
        node.register_script("bombs", |()| TakesBombs);
    }
    world
}

#[test]
fn a_question_that_was_handed_on_to_a_node_that_is_lost_fails() {
    ends(|| {
        let world = brokers(3);
        let control = world.control.clone();
        world.on(0, async move |node| {
            let broker = node.spawn_on::<Deal, _>(id(1), "broker", &()).await.unwrap();
            let keeps = node.spawn_on::<Message, _>(id(2), "sum", &0_u64).await.unwrap();
            let whom = keeps.clone();
            let open =
                evenkeel::spawn(async move { broker.ask(|reply| Deal::Keep(whom, reply)).await });
            // It is kept once the third node has answered a question that comes after it.
            for _ in 0..50 {
                evenkeel::time::sleep(Duration::from_millis(1)).await;
                keeps.ask(Message::Get).await.unwrap();
            }
            control.kill(id(2));
            assert!(open.await.unwrap().is_err());
            assert_eq!(node.metrics().open_calls, 0);
        });
    });
}

#[test]
fn a_question_that_is_handed_on_in_a_message_that_panics_fails() {
    ends(|| {
        let world = brokers(3);
        world.on(0, async |node| {
            let broker = node.spawn_on::<Deal, _>(id(1), "broker", &()).await.unwrap();
            let bombs = node.spawn_on::<Bombs, _>(id(2), "bombs", &()).await.unwrap();
            let asked = broker.ask(|reply| Deal::Bomb(bombs, reply)).await;
            assert_eq!(asked, Err(AskError::NoReply));
        });
    });
}

#[test]
fn a_question_that_is_the_argument_of_a_script_that_fails_has_no_reply() {
    ends(|| {
        let world = brokers(2);
        let (runtime, node) = &world.nodes[1];
        // The asker is local to the broker: its place for the answer goes to node 0 and is forgotten there.
        let asked = runtime.block_on(async {
            let broker = Builder::new().system(node.system()).spawn(Broker(node.clone())).unwrap();
            broker.ask(Deal::Spawn).await
        });
        assert_eq!(asked, Err(AskError::NoReply));
        assert_eq!(node.metrics().open_calls, 0);
    });
}

/// A transport that does what a test says, around one in the process.
struct Wrapped {
    inner: InProcess,
    panics: Arc<AtomicBool>,
    /// Says that the other node is down, and then up again.
    returns: Arc<AtomicBool>,
    events: Vec<Event>,
    is_sending: bool,
}

impl Transport for Wrapped {
    fn local(&self) -> NodeId {
        self.inner.local()
    }

    fn nodes(&self) -> u32 {
        self.inner.nodes()
    }

    fn longest_frame(&self) -> usize {
        self.inner.longest_frame()
    }

    fn send(&mut self, to: NodeId, frame: Vec<u8>) -> Result<(), Refused> {
        self.inner.send(to, frame)
    }

    fn poll(&mut self) -> Option<Event> {
        assert!(!self.panics.load(Ordering::SeqCst), "the transport panics");
        if self.returns.swap(false, Ordering::SeqCst) {
            let node = id(1);
            let reason = evenkeel_actor::node::DownReason::Lost("for a moment".to_owned());
            self.events = vec![Event::Up { node }, Event::Down { node, reason }];
        }
        self.events.pop().or_else(|| self.inner.poll())
    }

    fn wait(&mut self, most: Duration) {
        self.inner.wait(most);
    }

    fn waker(&self) -> TransportWaker {
        self.inner.waker()
    }

    fn is_sending(&self) -> bool {
        self.is_sending || self.inner.is_sending()
    }

    fn leave(&mut self) {
        self.is_sending = false;
        self.inner.leave();
    }
}

struct Odd {
    panics: Arc<AtomicBool>,
    returns: Arc<AtomicBool>,
    runtime: evenkeel::Runtime,
    node: Node,
    other: (evenkeel::Runtime, Node),
}

fn odd(workers: usize, is_sending: bool) -> Odd {
    let (_control, mut nodes) = network(2, Faults::default());
    let (end, other) = (nodes.remove(0), nodes.remove(0));
    let (panics, returns) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    let wrapped = Wrapped {
        inner: end,
        panics: Arc::clone(&panics),
        returns: Arc::clone(&returns),
        events: Vec::new(),
        is_sending,
    };
    let (mine, theirs) = (runtime(workers), runtime(1));
    let packing = evenkeel_actor::node::policy::Packing { frame: 1, ..Default::default() };
    let builder = || Node::builder().system(System::new()).packing(packing);
    let node = mine.block_on(builder().start(|| Ok::<_, String>(wrapped))).unwrap();
    let other = theirs.block_on(builder().start(|| Ok::<_, String>(other))).unwrap();
    other.register_script("sum", Sum::new);
    node.register_script("sum", Sum::new);
    mine.block_on(node.ready()).unwrap();
    theirs.block_on(other.ready()).unwrap();
    Odd { panics, returns, runtime: mine, node, other: (theirs, other) }
}

#[test]
fn what_waits_fails_if_the_host_panics() {
    ends(|| {
        let Odd { panics, runtime, node, other, .. } = odd(2, false);
        let keeps = runtime.block_on(node.spawn_on::<Message, _>(id(1), "sum", &0_u64)).unwrap();
        let (asks, watches, node2) = (keeps.clone(), keeps.clone(), node.clone());
        let open = runtime.spawn(async move { asks.ask(Message::Keep).await });
        let watch = runtime.spawn(async move { watches.stopped().await });
        let barrier = runtime.spawn(async move { node2.barrier().await });
        std::thread::sleep(Duration::from_millis(20));
        panics.store(true, Ordering::SeqCst);
        while !matches!(keeps.try_send(Message::Add(1)), Err(SendError::NodeDown(_))) {
            std::thread::yield_now();
        }
        assert_eq!(evenkeel::block_on(open).unwrap(), Err(AskError::NodeDown));
        evenkeel::block_on(watch).unwrap();
        assert!(evenkeel::block_on(barrier).unwrap().is_err());
        std::mem::forget((runtime, node, other));
    });
}

/// The trait says that nodes may come and go; a shut-out node's gate is opened by it too.
#[test]
fn a_node_that_comes_back_is_either_there_or_refused() {
    ends(|| {
        let Odd { returns, runtime, node, other, .. } = odd(2, false);
        let sum = runtime.block_on(node.spawn_on::<Message, _>(id(1), "sum", &0_u64)).unwrap();
        returns.store(true, Ordering::SeqCst);
        let mut events = node.events();
        runtime.block_on(async { while !events.next().await.unwrap().is_loss() {} });
        std::thread::sleep(Duration::from_millis(50));
        // An answer or an error; not neither.
        let _ = runtime.block_on(sum.ask(Message::Get));
        std::mem::forget((runtime, node, other));
    });
}

#[test]
fn nodes_that_are_refused_hear_of_it() {
    ends(|| {
        let (_control, all) = network(3, Faults::default());
        let names = ["a", "b", "b"];
        let nodes: Vec<_> = all
            .into_iter()
            .zip(names)
            .map(|(end, name)| {
                let runtime = runtime(1);
                let builder = Node::builder().system(System::new()).name(name);
                let node = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap();
                node.register_script("sum", Sum::new);
                (runtime, node)
            })
            .collect();
        std::thread::sleep(Duration::from_millis(100));
        // One of them was refused by the first, and asks it for an actor: an answer or an error.
        for (runtime, node) in &nodes[1..] {
            let _ = runtime.block_on(node.spawn_on::<Message, _>(id(0), "sum", &0_u64));
        }
        std::mem::forget(nodes);
    });
}

#[test]
fn questions_whose_askers_have_given_up_are_forgotten() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        world.on(0, async |node| {
            let keeps = node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap();
            for _ in 0..100 {
                let asked =
                    (0..100).map(|_| keeps.ask(Message::Keep).timeout(Duration::from_millis(2)));
                for asked in futures::future::join_all(asked).await {
                    assert_eq!(asked, Err(AskError::Elapsed));
                }
            }
            let open = node.metrics().open_calls;
            assert!(open <= 256, "{open} calls that nobody waits for");
        });
    });
}
