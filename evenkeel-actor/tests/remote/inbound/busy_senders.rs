//! Senders that send as fast as possible, to an actor that does not take messages yet.

use super::ends;
use crate::world::{Message, World, id};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::{Actor, Builder, Context, Handled};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// A message of variable length.
#[derive(Serialize, Deserialize)]
struct Load(String);

/// Handles nothing until it may.
struct Slow {
    may: Arc<AtomicBool>,
    handled: Arc<AtomicU64>,
}

impl Actor for Slow {
    type Message = Load;

    async fn handle(&mut self, _load: Load, _context: &mut Context<Self>) -> Handled {
        while !self.may.load(Ordering::SeqCst) {
            evenkeel::time::sleep(Duration::from_millis(1)).await;
        }
        self.handled.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// The most messages of a kibibyte that may be sent before the senders are told to hold. It is a
/// third of what a node parks of a peer before it shuts the peer out, and many times what a turn
/// sends.
const MOST: u64 = 80_000;

/// The host that sends for them also reads: the order to hold, and answers to others.
#[test]
fn senders_in_a_loop_are_held_and_others_are_answered_with_one_worker() {
    ends(|| {
        // The network is never full, so in each turn a host sends all that was handed over.
        let faults = Faults { under_way: 1 << 20, ..Faults::default() };
        let world = World::new(2, 1, faults);
        let (may, handled) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (runtime, other) = &world.nodes[1];
        runtime.block_on(async {
            let slow = Slow { may: Arc::clone(&may), handled: Arc::clone(&handled) };
            let slow = Builder::new().system(other.system()).spawn(slow).unwrap();
            assert!(other.publish("slow", slow));
        });
        let sent = Arc::<AtomicU64>::default();
        let counted = Arc::clone(&sent);
        world.on(0, async move |node| {
            let idle = node.spawn_on::<Message, _>(id(1), "sum", &7_u64).await.unwrap();
            let slow = node.locate::<Load>(id(1), "slow").await.unwrap();
            let over = Arc::<AtomicBool>::default();
            let senders: Vec<_> = (0..4)
                .map(|_| {
                    let (to, sent, over) = (slow.clone(), Arc::clone(&counted), Arc::clone(&over));
                    evenkeel::spawn(async move {
                        while !over.load(Ordering::SeqCst) {
                            to.send(Load("x".repeat(1 << 10))).await.expect("it is honest");
                            sent.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                })
                .collect();
            for answered in 0..5 {
                let mut ask = std::pin::pin!(idle.ask(Message::Get));
                let answer = std::future::poll_fn(|context| {
                    let sent = counted.load(Ordering::SeqCst);
                    assert!(sent < MOST, "{sent} sent, {answered} of 5 answered");
                    context.waker().wake_by_ref();
                    ask.as_mut().poll(context)
                });
                assert_eq!(answer.await, Ok(7));
            }
            over.store(true, Ordering::SeqCst);
            may.store(true, Ordering::SeqCst);
            for sender in senders {
                sender.await.unwrap();
            }
        });
        while handled.load(Ordering::SeqCst) < sent.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    });
}
