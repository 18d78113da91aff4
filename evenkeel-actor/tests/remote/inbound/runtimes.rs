//! Senders outside the node's runtime, and sends during serialisation.

use super::{CASTS, Number, Ordered, ends};
use crate::world::{Message, World, id, runtime};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::node::policy::Packing;
use evenkeel_actor::{Actor, ActorRef, Builder, Context, Handled, SendError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// One task of a runtime with several workers sends through a node that was started on another,
/// with one worker.
#[test]
fn order_is_kept_for_senders_of_another_runtime() {
    ends(|| {
        let packing = Packing { frame: 64, cap: Duration::from_micros(5), ..Packing::default() };
        let world = World::with(2, 1, Faults::default(), packing);
        let over = Arc::new(AtomicBool::new(false));
        let (theirs, other) = &world.nodes[1];
        theirs.block_on(async {
            let actor = Ordered { next: 0, over: Arc::clone(&over) };
            let ordered = Builder::new().system(other.system()).spawn(actor).unwrap();
            assert!(other.publish("ordered", ordered));
        });
        let ordered = world.on(0, async |node| node.locate(id(1), "ordered").await.unwrap());
        let senders = runtime(3);
        let noise: Vec<_> = (0..6)
            .map(|_| {
                let over = Arc::clone(&over);
                senders.spawn(async move {
                    while !over.load(Ordering::SeqCst) {
                        evenkeel::yield_now().await;
                    }
                })
            })
            .collect();
        let sends: ActorRef<Number> = ordered.clone();
        let sent = senders.spawn(async move {
            for number in 0..CASTS {
                sends.send(Number(number)).await.unwrap();
                evenkeel::yield_now().await;
            }
        });
        world.nodes[0].0.block_on(async {
            let mut end = ordered.stopped();
            while !over.load(Ordering::SeqCst) {
                if let Some(reason) = futures::future::poll_immediate(&mut end).await {
                    over.store(true, Ordering::SeqCst);
                    panic!("{reason}");
                }
                evenkeel::yield_now().await;
            }
        });
        drop((noise, sent));
    });
}

/// Sends during its own serialisation, like a logger that is an actor of another node.
#[derive(Deserialize)]
struct Talks(#[serde(skip)] Option<ActorRef<Message>>);

impl Serialize for Talks {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(to) = &self.0 {
            // The message being written occupies the way to the node, so another is refused; an
            // order follows it.
            assert!(matches!(to.try_send(Message::Add(1)), Err(SendError::Unwritable(_))));
            to.stop();
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
fn a_message_that_sends_as_it_is_written_hears_that_it_cannot() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        world.nodes[1].1.register_script("listens", |()| Listens);
        world.on(0, async |node| {
            let sum = node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap();
            let listens = node.spawn_on::<Talks, _>(id(1), "listens", &()).await.unwrap();
            listens.send(Talks(Some(sum.clone()))).await.unwrap();
            sum.stopped().await;
        });
    });
}
