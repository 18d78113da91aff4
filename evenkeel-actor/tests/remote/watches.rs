//! Ends of other nodes' actors.

use crate::world::{Message, World, id, slow};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::remote::Node;
use evenkeel_actor::{
    Actor, ActorId, ActorRef, AnyActor, Builder, Context, Event, ExitReason, Failure, Group,
    Handled, JoinGroupError, RegisterError, ReplyTo,
};
use serde::{Deserialize, Serialize};

/// The cause of a fragile actor's end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Blow {
    Stop,
    Fail,
    Panic,
}

struct Fragile;

impl Actor for Fragile {
    type Message = Blow;

    async fn handle(&mut self, blow: Blow, context: &mut Context<Self>) -> Handled {
        match blow {
            Blow::Stop => context.stop(),
            Blow::Fail => return Err(Failure::message("no more ink")),
            Blow::Panic => panic!("paper jam"),
        }
        Ok(())
    }
}

/// Orders to a watcher.
enum Order {
    Watch(AnyActor),
    Unwatch(AnyActor),
    /// Answers with the next event, or with one that has arrived.
    Next(ReplyTo<(ActorId, ExitReason)>),
    /// The number of events that have arrived without a question.
    Unasked(ReplyTo<usize>),
}

#[derive(Default)]
struct Watcher {
    told: Vec<(ActorId, ExitReason)>,
    asker: Option<ReplyTo<(ActorId, ExitReason)>>,
}

impl Watcher {
    fn answer(&mut self) {
        if !self.told.is_empty()
            && let Some(asker) = self.asker.take()
        {
            asker.send(self.told.remove(0));
        }
    }
}

impl Actor for Watcher {
    type Message = Order;

    async fn handle(&mut self, order: Order, context: &mut Context<Self>) -> Handled {
        match order {
            Order::Watch(actor) => context.watch(&actor),
            Order::Unwatch(actor) => context.unwatch(&actor),
            Order::Next(asker) => self.asker = Some(asker),
            Order::Unasked(asker) => asker.send(self.told.len()),
        }
        self.answer();
        Ok(())
    }

    async fn event(&mut self, event: Event, _context: &mut Context<Self>) -> Handled {
        if let Event::Down { actor, reason } = event {
            self.told.push((actor, reason));
        }
        self.answer();
        Ok(())
    }
}

fn world(nodes: u32, workers: usize, faults: Faults) -> World {
    let world = World::new(nodes, workers, faults);
    for (_, node) in &world.nodes {
        node.register_script("fragile", |(): ()| Fragile);
        node.system().on_failure(|_| {});
    }
    world
}

async fn fragile(node: &Node, on: u32) -> ActorRef<Blow> {
    node.spawn_on::<Blow, _>(id(on), "fragile", &()).await.unwrap()
}

fn spawn_watcher(node: &Node) -> ActorRef<Order> {
    Builder::new().system(node.system()).spawn(Watcher::default()).unwrap()
}

#[test]
fn a_watcher_of_an_actor_of_another_node_is_told_how_it_ends() {
    for workers in [1, 2] {
        let world = world(2, workers, slow(7));
        world.on(0, async |node| {
            let watcher = spawn_watcher(&node);
            for (blow, says) in [
                (Some(Blow::Stop), "stopped"),
                (Some(Blow::Fail), "failed: no more ink"),
                (Some(Blow::Panic), "panicked: paper jam"),
                (None, "was killed"),
            ] {
                let actor = fragile(&node, 1).await;
                watcher.send(Order::Watch(actor.any())).await.unwrap();
                // Two watches are one.
                watcher.send(Order::Watch(actor.any())).await.unwrap();
                // The watcher has seen both: a watch after the end would cause another notice.
                assert_eq!(watcher.ask(Order::Unasked).await, Ok(0));
                let stopped = actor.stopped();
                match blow {
                    Some(blow) => actor.send(blow).await.unwrap(),
                    None => actor.kill(),
                }
                let (whom, reason) = watcher.ask(Order::Next).await.unwrap();
                assert_eq!((whom, &*reason.to_string()), (actor.id(), says));
                assert_eq!(stopped.await.to_string(), says);
            }
            assert_eq!(watcher.ask(Order::Unasked).await, Ok(0));
            assert_eq!(node.metrics().open_watches, 0);
        });
        world.on(1, async |node| assert_eq!(node.metrics().watched, 0));
    }
}

#[test]
fn an_actor_that_has_ended_before_is_told_of_at_once() {
    for workers in [1, 2] {
        let world = world(2, workers, Faults::default());
        world.on(0, async |node| {
            let actor = fragile(&node, 1).await;
            actor.stop_now();
            assert!(actor.stopped().await.is_normal());
            assert!(actor.stopped().await.is_normal(), "its node knows it still");
            // A later message makes its node forget it.
            actor.send(Blow::Stop).await.unwrap();
            while !matches!(actor.stopped().await, ExitReason::Forgotten) {}
            let watcher = spawn_watcher(&node);
            watcher.send(Order::Watch(actor.any())).await.unwrap();
            let (whom, reason) = watcher.ask(Order::Next).await.unwrap();
            assert_eq!(whom, actor.id());
            assert!(matches!(reason, ExitReason::Forgotten), "{reason}");
        });
    }
}

#[test]
fn the_loss_of_a_node_is_the_end_of_its_actors() {
    for workers in [1, 2] {
        let world = world(3, workers, slow(11));
        let control = world.control.clone();
        world.on(0, async move |node| {
            let (lost, alive) = (fragile(&node, 2).await, fragile(&node, 1).await);
            let watcher = spawn_watcher(&node);
            watcher.send(Order::Watch(lost.any())).await.unwrap();
            watcher.send(Order::Watch(alive.any())).await.unwrap();
            let (stopped, still) = (lost.stopped(), alive.stopped());
            control.kill(id(2));
            assert!(matches!(stopped.await, ExitReason::NodeDown(node) if node == id(2)));
            let (whom, reason) = watcher.ask(Order::Next).await.unwrap();
            assert_eq!(whom, lost.id());
            assert!(matches!(reason, ExitReason::NodeDown(node) if node == id(2)), "{reason}");
            // Later watches receive the notice at once.
            assert!(matches!(lost.any().stopped().await, ExitReason::NodeDown(_)));
            watcher.send(Order::Watch(lost.any())).await.unwrap();
            assert!(matches!(watcher.ask(Order::Next).await, Ok((_, ExitReason::NodeDown(_)))));
            alive.send(Blow::Stop).await.unwrap();
            assert!(still.await.is_normal());
            assert_eq!(watcher.ask(Order::Next).await.unwrap().0, alive.id());
            assert_eq!(node.metrics().open_watches, 0);
        });
    }
}

#[test]
fn what_is_not_watched_any_more_is_forgotten_on_both_nodes() {
    for workers in [1, 2] {
        let world = world(2, workers, Faults::default());
        world.on(0, async |node| {
            let (actor, watcher) = (fragile(&node, 1).await, spawn_watcher(&node));
            watcher.send(Order::Watch(actor.any())).await.unwrap();
            watcher.send(Order::Unwatch(actor.any())).await.unwrap();
            assert_eq!(watcher.ask(Order::Unasked).await, Ok(0));
            assert_eq!(node.metrics().open_watches, 0);
            // Each waiter that gives up, and each watcher that ends, makes room for others.
            for _ in 0..1_000 {
                drop(actor.stopped());
                let short = spawn_watcher(&node);
                short.send(Order::Watch(actor.any())).await.unwrap();
                short.stop();
                short.stopped().await;
            }
            let left = node.metrics().open_watches;
            assert!(left <= 64, "{left}");
            let last = actor.stopped();
            actor.send(Blow::Stop).await.unwrap();
            assert!(last.await.is_normal());
            assert_eq!(watcher.ask(Order::Unasked).await, Ok(0));
        });
    }
}

#[test]
fn an_actor_of_another_node_gets_no_name_and_joins_no_group_here() {
    let world = World::new(2, 1, Faults::default());
    world.on(0, async |node| {
        let sum = node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap();
        let error = node.system().register("sum", &sum).unwrap_err();
        assert_eq!(error, RegisterError::OtherNode { id: sum.id() });
        let group: Group<Message> = node.system().group("sums").unwrap();
        assert_eq!(group.join(&sum), Err(JoinGroupError::OtherNode { id: sum.id() }));
        assert!(group.is_empty());
    });
}
