//! Dropped references, and the actors that they kept alive.

use crate::bad_peers::{NODE, Pair};
use crate::ending::ends;
use crate::world::{Message, World, id, slow};
use evenkeel_actor::node::Slot;
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::node::wire::Message as Wire;
use evenkeel_actor::remote::{Limits, Mismatch, Node, NodeEvent};
use evenkeel_actor::{Actor, ActorRef, Builder, Context, Handled, ReplyTo};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Waits until other nodes know `actors` actors of a node, and its system has as many.
pub(crate) async fn known(node: &Node, actors: usize) {
    while node.metrics().known_actors != actors || node.system().metrics().alive() != actors as u64
    {
        evenkeel::yield_now().await;
    }
}

#[test]
fn actors_whose_references_on_another_node_are_dropped_end() {
    ends(|| {
        for workers in [1, 2] {
            let world = World::new(2, workers, Faults::default());
            let other = world.nodes[1].1.clone();
            world.on(0, async move |node| {
                for _ in 0..1_000 {
                    drop(node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap());
                }
                known(&other, 0).await;
                // Each clone keeps the actor alive.
                let actor = node.spawn_on::<Message, _>(id(1), "sum", &7_u64).await.unwrap();
                let clone = actor.clone();
                drop(actor);
                drop(node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap());
                known(&other, 1).await;
                assert_eq!(clone.ask(Message::Get).await, Ok(7));
                drop(clone);
                known(&other, 0).await;
            });
        }
    });
}

#[test]
fn a_weak_reference_keeps_no_actor_of_another_node() {
    ends(|| {
        for workers in [1, 2] {
            let world = World::new(2, workers, Faults::default());
            let other = world.nodes[1].1.clone();
            world.on(0, async move |node| {
                let actor = node.spawn_on::<Message, _>(id(1), "sum", &7_u64).await.unwrap();
                let weak = actor.downgrade();
                assert_eq!(weak.id(), actor.id());
                let upgraded = weak.upgrade().unwrap();
                drop(actor);
                assert_eq!(upgraded.ask(Message::Get).await, Ok(7));
                drop(upgraded);
                assert!(weak.upgrade().is_none());
                known(&other, 0).await;
            });
        }
    });
}

/// Adds its messages up.
struct Tally(Arc<AtomicU64>);

impl Actor for Tally {
    type Message = u64;

    async fn handle(&mut self, number: u64, _context: &mut Context<Self>) -> Handled {
        self.0.fetch_add(number, Ordering::SeqCst);
        Ok(())
    }
}

/// The frames of several workers overtake each other before they are read.
#[test]
fn what_was_sent_before_its_reference_is_dropped_is_handled() {
    ends(|| {
        const TASKS: u64 = 40;
        const ACTORS: u64 = 25;
        let world = World::new(2, 2, slow(5));
        let other = world.nodes[1].1.clone();
        let sum = Arc::new(AtomicU64::new(0));
        let sums = Arc::clone(&sum);
        other.register_script("tally", move |()| Tally(Arc::clone(&sums)));
        world.on(0, async move |node| {
            let tasks: Vec<_> = (0..TASKS)
                .map(|_| {
                    let node = node.clone();
                    evenkeel::Handle::current().spawn(async move {
                        for _ in 0..ACTORS {
                            let actor = node.spawn_on::<u64, _>(id(1), "tally", &()).await.unwrap();
                            for _ in 0..3 {
                                actor.send(1).await.unwrap();
                                evenkeel::yield_now().await;
                            }
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            known(&other, 0).await;
            assert_eq!(sum.load(Ordering::SeqCst), 3 * TASKS * ACTORS);
        });
    });
}

#[derive(Serialize, Deserialize)]
enum Held {
    Take(ActorRef<Message>),
    /// Asks the held actor.
    Ask(ReplyTo<u64>),
}

/// Holds a reference to another node's actor.
#[derive(Default)]
struct Holder(Option<ActorRef<Message>>);

impl Actor for Holder {
    type Message = Held;

    async fn handle(&mut self, message: Held, _context: &mut Context<Self>) -> Handled {
        match (message, &self.0) {
            (Held::Take(actor), _) => self.0 = Some(actor),
            (Held::Ask(reply), Some(actor)) => reply.send(actor.ask(Message::Get).await?),
            (Held::Ask(_), None) => {}
        }
        Ok(())
    }
}

#[test]
fn an_actor_stays_whose_reference_was_handed_on_before_it_was_dropped() {
    ends(|| {
        let world = World::new(3, 1, Faults::default());
        let owner = world.nodes[1].1.clone();
        world.nodes[2].1.register_script("holder", |()| Holder::default());
        world.on(0, async move |node| {
            let holder = node.spawn_on::<Held, _>(id(2), "holder", &()).await.unwrap();
            let actor = node.spawn_on::<Message, _>(id(1), "sum", &7_u64).await.unwrap();
            holder.send(Held::Take(actor.clone())).await.unwrap();
            let any = node.spawn_on::<Message, _>(id(1), "sum", &8_u64).await.unwrap().any();
            drop(actor);
            // Earlier releases are applied together with this one.
            drop(node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap());
            known(&owner, 2).await;
            assert_eq!(holder.ask(Held::Ask).await, Ok(7));
            assert!(!any.is_stopped());
        });
    });
}

#[test]
fn an_actor_that_is_published_stays_when_those_that_have_found_it_are_gone() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        let owner = world.nodes[1].1.clone();
        world.on(0, async move |node| {
            let sum =
                Builder::new().system(owner.system()).spawn(crate::world::Sum::new(5)).unwrap();
            assert!(owner.publish("sum", sum));
            for _ in 0..3 {
                let found = node.locate::<Message>(id(1), "sum").await.unwrap();
                assert_eq!(found.ask(Message::Get).await, Ok(5));
                drop(found);
                while owner.metrics().known_actors > 0 {
                    evenkeel::yield_now().await;
                }
            }
            owner.unpublish("sum");
            known(&owner, 0).await;
        });
    });
}

#[test]
fn the_references_of_a_node_that_is_lost_are_given_back() {
    ends(|| {
        let world = World::new(3, 1, Faults::default());
        let control = world.control.clone();
        let owner = world.nodes[2].1.clone();
        let lost = world.on(0, async move |node| {
            node.spawn_on::<Message, _>(id(2), "sum", &0_u64).await.unwrap()
        });
        world.on(1, async move |node| {
            let stays = node.spawn_on::<Message, _>(id(2), "sum", &1_u64).await.unwrap();
            control.kill(id(0));
            known(&owner, 1).await;
            assert_eq!(stays.ask(Message::Get).await, Ok(1));
        });
        drop(lost);
    });
}

#[test]
fn a_peer_that_gives_back_what_it_has_not_is_shut_out() {
    ends(|| {
        let mut pair = Pair::greeted(1, Limits::default());
        pair.send(&[Wire::Release { to: Slot { index: 9, generation: 0 }, from: NODE, times: 1 }]);
        let event = pair.event();
        assert!(matches!(event, NodeEvent::Refused { why: Mismatch::OutOfTurn, .. }), "{event:?}");
    });
}
