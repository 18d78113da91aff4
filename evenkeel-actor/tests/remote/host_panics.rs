//! A node whose host panics.

use crate::ending::ends;
use crate::world::{Message, Sum, id, runtime};
use evenkeel_actor::node::in_process::{Faults, InProcess, network};
use evenkeel_actor::node::{Event, NodeId, Refused, Transport, TransportWaker};
use evenkeel_actor::remote::Node;
use evenkeel_actor::{AskError, SendError, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A transport that panics when it is told to.
struct Panics(InProcess, Arc<AtomicBool>);

impl Transport for Panics {
    fn local(&self) -> NodeId {
        self.0.local()
    }

    fn nodes(&self) -> u32 {
        self.0.nodes()
    }

    fn longest_frame(&self) -> usize {
        self.0.longest_frame()
    }

    fn send(&mut self, to: NodeId, frame: Vec<u8>) -> Result<(), Refused> {
        self.0.send(to, frame)
    }

    fn poll(&mut self) -> Option<Event> {
        assert!(!self.1.load(Ordering::SeqCst), "the transport panics");
        self.0.poll()
    }

    fn wait(&mut self, most: Duration) {
        self.0.wait(most);
    }

    fn waker(&self) -> TransportWaker {
        self.0.waker()
    }

    fn is_sending(&self) -> bool {
        self.0.is_sending()
    }

    fn leave(&mut self) {
        self.0.leave();
    }
}

#[test]
fn what_waits_fails_if_the_host_panics() {
    ends(|| {
        let (_control, mut all) = network(2, Faults::default());
        let (end, other) = (all.remove(0), all.remove(0));
        let panics = Arc::<AtomicBool>::default();
        let transport = Panics(end, Arc::clone(&panics));
        let (mine, theirs) = (runtime(2), runtime(1));
        let builder = || Node::builder().system(System::new()).script("sum", Sum::new);
        let node = mine.block_on(builder().start(|| Ok::<_, String>(transport))).unwrap();
        let other = theirs.block_on(builder().start(|| Ok::<_, String>(other))).unwrap();
        let keeps = mine.block_on(async {
            node.ready().await.unwrap();
            node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap()
        });
        let (asks, watches, own) = (keeps.clone(), keeps.clone(), node.clone());
        let open = mine.spawn(async move { asks.ask(Message::Keep).await });
        let watch = mine.spawn(async move { watches.stopped().await });
        let barrier = mine.spawn(async move { own.barrier().await });
        while node.metrics().open_calls < 1 || node.metrics().open_watches < 1 {
            std::thread::yield_now();
        }
        panics.store(true, Ordering::SeqCst);
        while !matches!(keeps.try_send(Message::Add(1)), Err(SendError::NodeDown(_))) {
            std::thread::yield_now();
        }
        assert_eq!(evenkeel::block_on(open).unwrap(), Err(AskError::NodeDown));
        evenkeel::block_on(watch).unwrap();
        assert!(evenkeel::block_on(barrier).unwrap().is_err());
        theirs.block_on(other.leave());
        mine.block_on(node.leave());
    });
}
