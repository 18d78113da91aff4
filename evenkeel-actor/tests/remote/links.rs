//! Links between actors of different nodes.

use crate::world::{World, id, slow};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::remote::{Node, NodeEvent};
use evenkeel_actor::{
    Actor, ActorRef, Builder, Context, Event, ExitReason, Failure, Handled, ReplyTo,
};
use serde::{Deserialize, Serialize};

/// The way in which an actor ends.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Blow {
    Stop,
    Fail,
    Panic,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    Link(ActorRef<Order>),
    Unlink(ActorRef<Order>),
    /// Unlinks and links in one turn.
    Relink(ActorRef<Order>),
    Blow(Blow),
    /// Answers with the ends that it has learned of, and their actors, and forgets them.
    Exits(ReplyTo<Vec<(String, String)>>),
}

/// Carries out its orders, and traps exits if it was made to.
pub(crate) struct Tied {
    traps: bool,
    exits: Vec<(String, String)>,
}

impl Tied {
    pub(crate) fn new(traps: bool) -> Self {
        Self { traps, exits: Vec::new() }
    }
}

impl Actor for Tied {
    type Message = Order;

    async fn started(&mut self, context: &mut Context<Self>) -> Handled {
        context.trap_exits(self.traps);
        Ok(())
    }

    async fn handle(&mut self, order: Order, context: &mut Context<Self>) -> Handled {
        match order {
            Order::Link(other) => context.link(&other.any()),
            Order::Unlink(other) => context.unlink(&other.any()),
            Order::Relink(other) => {
                context.unlink(&other.any());
                context.link(&other.any());
            }
            Order::Blow(Blow::Stop) => context.stop(),
            Order::Blow(Blow::Fail) => return Err(Failure::message("no more ink")),
            Order::Blow(Blow::Panic) => panic!("paper jam"),
            Order::Exits(reply) => reply.send(std::mem::take(&mut self.exits)),
        }
        Ok(())
    }

    async fn event(&mut self, event: Event, _context: &mut Context<Self>) -> Handled {
        if let Event::Exit { actor, reason } = event {
            self.exits.push((actor.to_string(), reason.to_string()));
        }
        Ok(())
    }
}

pub(crate) fn world(nodes: u32, workers: usize, faults: Faults) -> World {
    let world = World::new(nodes, workers, faults);
    for (_, node) in &world.nodes {
        node.register_script("tied", Tied::new);
        node.system().on_failure(|_| {});
    }
    world
}

pub(crate) async fn tied(node: &Node, on: u32, traps: bool) -> ActorRef<Order> {
    node.spawn_on::<Order, _>(id(on), "tied", &traps).await.unwrap()
}

/// When this returns, this node and the ended actor's have heard all that they had sent each other
/// about ties.
pub(crate) async fn settle(gone: &ActorRef<Order>) {
    for _ in 0..2 {
        // The question follows all earlier messages on ties, and so does the answer; messages that
        // they cause precede the second question.
        gone.stopped().await;
    }
}

/// The next exits that an actor learns of.
async fn exits(actor: &ActorRef<Order>) -> Vec<(String, String)> {
    loop {
        let exits = actor.ask(Order::Exits).await.unwrap();
        if !exits.is_empty() {
            return exits;
        }
    }
}

async fn links(node: &Node, links: usize) {
    while node.metrics().links != links {
        evenkeel::yield_now().await;
    }
}

fn linked_to(reason: &ExitReason) -> String {
    let ExitReason::Linked { reason, .. } = reason else { panic!("{reason}") };
    reason.to_string()
}

#[test]
fn an_end_that_is_not_in_order_ends_the_other_with_the_real_reason() {
    for workers in [1, 2] {
        let world = world(2, workers, slow(3));
        world.on(0, async |node| {
            // For each of the two as the asker for the link, and as the actor that ends.
            for (asks, ends) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                for (blow, says) in [
                    (Some(Blow::Fail), "failed: no more ink"),
                    (Some(Blow::Panic), "panicked: paper jam"),
                    (None, "was killed"),
                ] {
                    let pair = [tied(&node, 0, false).await, tied(&node, 1, false).await];
                    let stopped = pair.each_ref().map(ActorRef::stopped);
                    pair[asks].send(Order::Link(pair[1 - asks].clone())).await.unwrap();
                    links(&node, 1).await;
                    assert_eq!(pair[asks].ask(Order::Exits).await, Ok(vec![]));
                    match blow {
                        Some(blow) => pair[ends].send(Order::Blow(blow)).await.unwrap(),
                        None => pair[ends].kill(),
                    }
                    let [own, far] = stopped;
                    let reasons = [own.await, far.await];
                    assert_eq!(reasons[ends].to_string(), says);
                    assert_eq!(linked_to(&reasons[1 - ends]), says);
                    if let (1, ExitReason::Linked { actor, .. }) = (ends, &reasons[0]) {
                        assert_eq!(*actor, pair[1].id(), "the first of the chain");
                    }
                    links(&node, 0).await;
                }
            }
        });
    }
}

#[test]
fn an_end_in_order_ends_no_other_actor() {
    for workers in [1, 2] {
        let world = world(2, workers, slow(5));
        world.on(0, async |node| {
            for ends in [0, 1] {
                let pair = [tied(&node, 0, false).await, tied(&node, 1, false).await];
                pair[0].send(Order::Link(pair[1].clone())).await.unwrap();
                pair[ends].send(Order::Blow(Blow::Stop)).await.unwrap();
                assert!(pair[ends].stopped().await.is_normal());
                links(&node, 0).await;
                let other = &pair[1 - ends];
                assert_eq!(
                    other.ask(Order::Exits).await,
                    Ok(vec![]),
                    "it goes on, and is told nothing"
                );
                other.stop();
                assert!(other.stopped().await.is_normal());
            }
        });
    }
}

#[test]
fn an_actor_that_traps_exits_is_told_of_every_end() {
    for workers in [1, 2] {
        let world = world(2, workers, slow(6));
        world.on(0, async |node| {
            for traps in [0, 1] {
                for (blow, says) in [
                    (Some(Blow::Stop), "stopped"),
                    (Some(Blow::Fail), "failed: no more ink"),
                    (Some(Blow::Panic), "panicked: paper jam"),
                    (None, "was killed"),
                ] {
                    let pair = [tied(&node, 0, traps == 0).await, tied(&node, 1, traps == 1).await];
                    let other = &pair[1 - traps];
                    let gone = other.stopped();
                    other.send(Order::Link(pair[traps].clone())).await.unwrap();
                    // Two links are one, whichever side makes them.
                    other.send(Order::Link(pair[traps].clone())).await.unwrap();
                    pair[traps].send(Order::Link(other.clone())).await.unwrap();
                    links(&node, 1).await;
                    assert_eq!(pair[traps].ask(Order::Exits).await, Ok(vec![]));
                    match blow {
                        Some(blow) => other.send(Order::Blow(blow)).await.unwrap(),
                        None => other.kill(),
                    }
                    assert_eq!(gone.await.to_string(), says);
                    let told = exits(&pair[traps]).await;
                    assert_eq!(told.len(), 1, "{told:?}");
                    assert_eq!(told[0].1, says);
                    settle(&tied_and_gone(&node).await).await;
                    assert_eq!(pair[traps].ask(Order::Exits).await, Ok(vec![]), "it is told once");
                    links(&node, 0).await;
                }
            }
        });
    }
}

/// An ended actor of node 1.
pub(crate) async fn tied_and_gone(node: &Node) -> ActorRef<Order> {
    let gone = tied(node, 1, false).await;
    gone.stop_now();
    assert!(gone.stopped().await.is_normal());
    gone
}

#[test]
fn the_actor_that_an_exit_names_is_the_one_that_others_know() {
    let world = world(2, 2, slow(8));
    world.on(0, async |node| {
        let (here, there) = (tied(&node, 0, true).await, tied(&node, 1, true).await);
        here.send(Order::Link(there.clone())).await.unwrap();
        assert_eq!(here.ask(Order::Exits).await, Ok(vec![]));
        there.stop_now();
        let name = there.remote_name().unwrap().to_string();
        assert_eq!(exits(&here).await, [(name, "stopped".to_owned())]);

        // The other way round: `here` is linked before any actor there has a reference to it, and
        // still has one name.
        let there = tied(&node, 1, true).await;
        here.send(Order::Link(there.clone())).await.unwrap();
        assert_eq!(here.ask(Order::Exits).await, Ok(vec![]));
        // Messages from here do not wait for what `here` has sent.
        settle(&tied_and_gone(&node).await).await;
        there.send(Order::Unlink(here.clone())).await.unwrap();
        assert_eq!(there.ask(Order::Exits).await, Ok(vec![]));
        links(&node, 0).await;
        here.kill();
        here.stopped().await;
        settle(&tied_and_gone(&node).await).await;
        assert_eq!(there.ask(Order::Exits).await, Ok(vec![]), "its link was taken back");
    });
}

/// Its messages cannot be sent to other nodes.
struct Shy(ActorRef<Order>);

impl Actor for Shy {
    type Message = std::sync::mpsc::Sender<()>;

    async fn started(&mut self, context: &mut Context<Self>) -> Handled {
        context.link(&self.0.any());
        Ok(())
    }

    async fn handle(&mut self, done: Self::Message, _context: &mut Context<Self>) -> Handled {
        done.send(())?;
        Ok(())
    }
}

#[test]
fn an_actor_that_no_other_node_can_know_is_linked_and_not_kept() {
    for workers in [1, 2] {
        let world = world(2, workers, slow(9));
        world.on(0, async |node| {
            let there = tied(&node, 1, false).await;
            let known = node.metrics().known_actors;
            let shy = Builder::new().system(node.system()).spawn(Shy(there.clone())).unwrap();
            let stopped = shy.stopped();
            links(&node, 1).await;
            assert_eq!(node.metrics().known_actors, known);
            drop(shy);
            assert!(matches!(stopped.await, ExitReason::Unreferenced));
            links(&node, 0).await;
            assert_eq!(there.ask(Order::Exits).await, Ok(vec![]), "it ended in order");
            let shy = Builder::new().system(node.system()).spawn(Shy(there.clone())).unwrap();
            links(&node, 1).await;
            there.kill();
            assert_eq!(linked_to(&shy.stopped().await), "was killed");
        });
    }
}

#[test]
fn a_link_that_is_taken_back_ends_no_actor() {
    for workers in [1, 2] {
        let world = world(2, workers, slow(10));
        world.on(0, async |node| {
            for (links_it, unlinks) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let pair = [tied(&node, 0, false).await, tied(&node, 1, false).await];
                pair[links_it].send(Order::Link(pair[1 - links_it].clone())).await.unwrap();
                links(&node, 1).await;
                assert_eq!(pair[1].ask(Order::Exits).await, Ok(vec![]));
                pair[unlinks].send(Order::Unlink(pair[1 - unlinks].clone())).await.unwrap();
                links(&node, 0).await;
                // Removing a nonexistent link does no harm.
                pair[0].send(Order::Unlink(pair[1].clone())).await.unwrap();
                assert_eq!(pair[0].ask(Order::Exits).await, Ok(vec![]));
                pair[0].kill();
                pair[0].stopped().await;
                settle(&tied_and_gone(&node).await).await;
                assert_eq!(pair[1].ask(Order::Exits).await, Ok(vec![]));
                pair[1].stop();
            }
        });
    }
}

#[test]
fn a_link_to_an_actor_that_has_ended_is_told_of_at_once() {
    for workers in [1, 2] {
        let world = world(2, workers, slow(12));
        world.on(0, async |node| {
            for (blow, says) in [(Blow::Stop, "stopped"), (Blow::Fail, "failed: no more ink")] {
                let gone = tied(&node, 1, false).await;
                gone.send(Order::Blow(blow)).await.unwrap();
                gone.stopped().await;
                let here = tied(&node, 0, true).await;
                here.send(Order::Link(gone.clone())).await.unwrap();
                assert_eq!(exits(&here).await[0].1, says, "its node knows it still");
                // A later message makes its node forget it.
                gone.send(Order::Blow(blow)).await.unwrap();
                while !matches!(gone.stopped().await, ExitReason::Forgotten) {}
                here.send(Order::Link(gone.clone())).await.unwrap();
                assert_eq!(exits(&here).await[0].1, ExitReason::Forgotten.to_string());
            }
            assert_eq!(node.metrics().links, 0);
        });
    }
}

#[test]
fn the_loss_of_a_node_ends_those_that_are_linked_to_its_actors() {
    for workers in [1, 2] {
        let world = world(3, workers, slow(13));
        let control = world.control.clone();
        world.on(0, async move |node| {
            let lost = tied(&node, 2, false).await;
            let [here, there] = [tied(&node, 0, false).await, tied(&node, 1, false).await];
            let trapper = tied(&node, 1, true).await;
            here.send(Order::Link(lost.clone())).await.unwrap();
            // The chain goes on to a node that learns of the loss itself.
            there.send(Order::Link(here.clone())).await.unwrap();
            lost.send(Order::Link(trapper.clone())).await.unwrap();
            assert_eq!(lost.ask(Order::Exits).await, Ok(vec![]));
            links(&node, 2).await;
            let [own, far] = [&here, &there].map(ActorRef::stopped);
            assert_eq!(trapper.ask(Order::Exits).await, Ok(vec![]));
            control.kill(id(2));
            let down = ExitReason::NodeDown(id(2)).to_string();
            assert_eq!(linked_to(&own.await), down);
            assert_eq!(linked_to(&far.await), down);
            let told = exits(&trapper).await;
            assert_eq!(told.len(), 1, "{told:?}");
            let (name, reason) = &told[0];
            assert_eq!(*name, lost.remote_name().unwrap().to_string());
            // The lost node may have found the first of the others lost, and reported the ends that
            // this caused.
            let ended_first =
                reason.starts_with("ended with actor") && reason.ends_with("lost with node 0");
            assert!(*reason == down || ended_first, "{reason}");
            // Later links receive the notice at once.
            let late = tied(&node, 0, false).await;
            late.send(Order::Link(lost.clone())).await.unwrap();
            assert_eq!(linked_to(&late.stopped().await), down);
            links(&node, 0).await;
        });
    }
}

#[test]
fn a_node_is_lost_while_its_actors_are_linked_and_unlinked() {
    for (seed, workers) in (0..20).zip([1, 2].into_iter().cycle()) {
        let world = world(2, workers, slow(seed));
        let control = world.control.clone();
        world.on(0, async move |node| {
            let mut events = node.events();
            let (mut here, mut there) = (Vec::new(), Vec::new());
            for _ in 0..8 {
                here.push(tied(&node, 0, false).await);
                there.push(tied(&node, 1, false).await);
            }
            let stopped: Vec<_> = here.iter().map(ActorRef::stopped).collect();
            for round in 0..20 {
                for (n, (own, far)) in here.iter().zip(&there).enumerate() {
                    let (a, b) = if (n + round) % 2 == 0 { (own, far) } else { (far, own) };
                    let order = if round % 3 == 2 { Order::Unlink } else { Order::Link };
                    drop(a.send(order(b.clone())).await);
                }
                if round == 10 {
                    control.kill(id(1));
                }
            }
            loop {
                if let Some(NodeEvent::Down { .. }) = events.next().await {
                    break;
                }
            }
            // Each linked actor ends; so does each that links itself now, and no task waits.
            for (own, far) in here.iter().zip(&there) {
                drop(own.send(Order::Link(far.clone())).await);
            }
            for stopped in stopped {
                assert_eq!(linked_to(&stopped.await), ExitReason::NodeDown(id(1)).to_string());
            }
            let left = node.metrics();
            assert_eq!((left.links, left.open_watches, left.watched), (0, 0, 0));
        });
    }
}

#[test]
fn a_chain_of_links_across_nodes_ends_with_the_reason_of_the_first() {
    for workers in [1, 2] {
        let world = world(3, workers, slow(15));
        world.on(0, async |node| {
            let mut chain = Vec::new();
            for n in 0..12 {
                chain.push(tied(&node, n % 3, false).await);
            }
            for (a, b) in chain.iter().zip(&chain[1..]) {
                a.send(Order::Link(b.clone())).await.unwrap();
                assert_eq!(a.ask(Order::Exits).await, Ok(vec![]));
            }
            for actor in &chain {
                assert_eq!(actor.ask(Order::Exits).await, Ok(vec![]));
            }
            let stopped: Vec<_> = chain.iter().map(ActorRef::stopped).collect();
            chain[5].send(Order::Blow(Blow::Panic)).await.unwrap();
            for (n, stopped) in stopped.into_iter().enumerate() {
                let reason = stopped.await;
                match n {
                    5 => assert_eq!(reason.to_string(), "panicked: paper jam"),
                    _ => assert_eq!(linked_to(&reason), "panicked: paper jam"),
                }
            }
            links(&node, 0).await;
        });
    }
}
