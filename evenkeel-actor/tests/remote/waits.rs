//! Waits that are polled again and again leave one waker each, and none when they are dropped.

use crate::ending::ends;
use crate::world::World;
use evenkeel_actor::System;
use evenkeel_actor::node::altered::{Alter, Altered};
use evenkeel_actor::node::in_process::{Faults, InProcess, network};
use evenkeel_actor::remote::Node;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

struct Nothing;

impl Wake for Nothing {
    fn wake(self: Arc<Self>) {}
}

/// Polls a future that stays pending, and drops it. Returns how many wakers it has left in both
/// cases.
fn wakers_of(mut wait: Pin<Box<dyn Future<Output = ()> + Send + '_>>) -> [usize; 2] {
    let nothing = Arc::new(Nothing);
    let waker = Waker::from(Arc::clone(&nothing));
    for _ in 0..1_000 {
        assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    let own = 2;
    let polled = Arc::strong_count(&nothing) - own;
    drop(wait);
    [polled, Arc::strong_count(&nothing) - own]
}

#[test]
fn a_barrier_keeps_one_waker() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        world.on(0, async |node| {
            let wait = Box::pin(async { _ = node.barrier().await });
            assert_eq!(wakers_of(wait), [1, 0]);
        });
    });
}

#[test]
fn the_search_for_the_end_keeps_one_waker() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        world.on(0, async |node| {
            let wait = Box::pin(async { _ = node.finish().await });
            let [polled, dropped] = wakers_of(wait);
            // One more in the timer that ends the wait.
            assert!(polled <= 2 && dropped <= 1, "{polled} and {dropped}");
        });
    });
}

/// A transport that does not end before it may.
struct Lasts(Arc<AtomicBool>);

impl Alter<InProcess> for Lasts {
    fn ended(&mut self, _inner: &mut InProcess) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

#[test]
fn a_node_that_leaves_keeps_one_waker_of_each_wait() {
    ends(|| {
        let (_control, mut ends) = network(1, Faults::default());
        let (may_end, end) = (Arc::new(AtomicBool::new(false)), ends.remove(0));
        let by = Lasts(Arc::clone(&may_end));
        let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
        runtime.block_on(async {
            let builder = Node::builder().system(System::new());
            let start = move || Ok::<_, String>(Altered { inner: end, by });
            let node = builder.start(start).await.unwrap();
            assert_eq!(wakers_of(Box::pin(node.leave())), [1, 0]);
            may_end.store(true, Ordering::SeqCst);
            node.leave().await;
        });
    });
}
