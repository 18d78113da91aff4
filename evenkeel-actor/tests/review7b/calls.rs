//! Questions that must get an end.

use crate::ends;
use crate::world::{Message, Sum, World, id, runtime};
use evenkeel_actor::node::in_process::{Faults, InProcess, network};
use evenkeel_actor::node::{Event, NodeId, Refused, Transport, TransportWaker};
use evenkeel_actor::remote::Node;
use evenkeel_actor::{Actor, ActorRef, AskError, Builder, Context, Handled, SendError, System};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A transport that does what a test says, around one in the process.
struct Wrapped {
    inner: InProcess,
    panics: Arc<AtomicBool>,
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
        self.inner.poll()
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
    runtime: evenkeel::Runtime,
    node: Node,
    other: (evenkeel::Runtime, Node),
}

fn odd(workers: usize, is_sending: bool) -> Odd {
    let (_control, mut nodes) = network(2, Faults::default());
    let (end, other) = (nodes.remove(0), nodes.remove(0));
    let panics = Arc::<AtomicBool>::default();
    let wrapped = Wrapped { inner: end, panics: Arc::clone(&panics), is_sending };
    let (mine, theirs) = (runtime(workers), runtime(1));
    let packing = evenkeel_actor::node::policy::Packing { frame: 1, ..Default::default() };
    let builder = || Node::builder().system(System::new()).packing(packing);
    let node = mine.block_on(builder().start(|| Ok::<_, String>(wrapped))).unwrap();
    let other = theirs.block_on(builder().start(|| Ok::<_, String>(other))).unwrap();
    other.register_script("sum", Sum::new);
    node.register_script("sum", Sum::new);
    mine.block_on(node.ready()).unwrap();
    theirs.block_on(other.ready()).unwrap();
    Odd { panics, runtime: mine, node, other: (theirs, other) }
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

struct Stuck;

impl Actor for Stuck {
    type Message = Message;

    async fn handle(&mut self, _message: Message, _context: &mut Context<Self>) -> Handled {
        std::future::pending().await
    }
}

/// A transport that sends is polled for that; what comes meanwhile is bounded all the same.
#[test]
fn unread_frames_are_bounded_while_the_transport_sends() {
    ends(|| {
        let Odd { runtime, node, other, .. } = odd(2, true);
        runtime.block_on(async {
            let stuck = Builder::new().capacity(1).system(node.system()).spawn(Stuck).unwrap();
            assert!(node.publish("stuck", stuck));
        });
        let flood = other.1.clone();
        let flooded = other.0.spawn(async move {
            let stuck = flood.locate::<Message>(id(0), "stuck").await.unwrap();
            for n in 0..5_000 {
                stuck.send(Message::Add(n)).await.unwrap();
            }
        });
        std::thread::sleep(Duration::from_millis(500));
        let unread = node.metrics().unread_frames;
        assert!(unread <= 512, "{unread} frames are unread");
        std::mem::forget((runtime, node, other, flooded));
    });
}

/// Sends as it is written, as a logger does that is an actor of another node.
#[derive(Deserialize)]
struct Talks(#[serde(skip)] Option<ActorRef<Message>>);

impl Serialize for Talks {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(to) = &self.0 {
            let _ = to.try_send(Message::Add(1));
        }
        ().serialize(serializer)
    }
}

struct Listens;

impl Actor for Listens {
    type Message = Talks;

    async fn handle(&mut self, _message: Talks, _context: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

#[test]
fn a_message_may_send_as_it_is_written() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        world.nodes[1].1.register_script("listens", |()| Listens);
        world.on(0, async |node| {
            let sum = node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap();
            let listens = node.spawn_on::<Talks, _>(id(1), "listens", &()).await.unwrap();
            // Done, or an error or a panic that says what is wrong.
            let _ = listens.send(Talks(Some(sum.clone()))).await;
        });
    });
}
