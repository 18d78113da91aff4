//! A node and a panic of its host.

use crate::ending::ends;
use crate::world::{Message, Sum, id, runtime};
use evenkeel_actor::node::altered::{Alter, Altered};
use evenkeel_actor::node::in_process::{Faults, InProcess, network};
use evenkeel_actor::node::{Event, Transport};
use evenkeel_actor::remote::Node;
use evenkeel_actor::{AskError, SendError, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Panics in the first poll after it is set.
struct Panics(Arc<AtomicBool>);

impl Alter<InProcess> for Panics {
    fn poll(&mut self, inner: &mut InProcess) -> Option<Event> {
        assert!(!self.0.load(Ordering::SeqCst), "the transport panics");
        inner.poll()
    }
}

#[test]
fn what_waits_fails_if_the_host_panics() {
    ends(|| {
        let (_control, mut all) = network(2, Faults::default());
        let (end, other) = (all.remove(0), all.remove(0));
        let panics = Arc::<AtomicBool>::default();
        let transport = Altered { inner: end, by: Panics(Arc::clone(&panics)) };
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
