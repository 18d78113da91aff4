//! Collective operations of all nodes.

use crate::world::{Message, Sum, World, id, slow};
use evenkeel_actor::remote::{Node, NodeLost};
use evenkeel_actor::{Actor, ActorRef, Builder, Context, Handled};
use evenkeel_policy::random::Random;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Numbers in a cloneable message.
#[derive(Clone, Serialize, Deserialize)]
enum Numbers {
    Add(u64, ActorRef<Message>),
}

/// Passes its numbers on.
struct Relay(u64);

impl Actor for Relay {
    type Message = Numbers;

    async fn handle(&mut self, message: Numbers, _context: &mut Context<Self>) -> Handled {
        let Numbers::Add(n, to) = message;
        to.send(Message::Add(n + self.0)).await?;
        Ok(())
    }
}

#[test]
fn a_cast_gets_to_each_actor_once() {
    for workers in [1, 2] {
        let world = World::new(4, workers, slow(7));
        for (_, node) in &world.nodes {
            node.register_script("relay", Relay);
        }
        world.on(1, async |node| {
            let own = Builder::new().system(node.system()).spawn(Sum::default()).unwrap();
            let mut actors = Vec::new();
            for n in 0..100_u64 {
                actors.push(node.spawn_on(id(n as u32 % 4), "relay", &(n * 1_000)).await.unwrap());
            }
            let report = node.cast(&actors, &Numbers::Add(1, own.clone())).await.unwrap();
            assert_eq!((report.delivered, report.handed_on, report.refused), (25, 75, 0));
            while own.ask(Message::Get).await != Ok(4_950_100) {
                evenkeel::yield_now().await;
            }
        });
    }
}

/// Runs a function on all nodes at once.
fn all<R: Send + 'static>(world: &World, f: impl AsyncFn(Node) -> R + Sync) -> Vec<R> {
    let f = &f;
    std::thread::scope(|scope| {
        let threads: Vec<_> = world
            .nodes
            .iter()
            .map(|(runtime, node)| {
                let node = node.clone();
                scope.spawn(move || runtime.block_on(f(node)))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn no_node_passes_a_barrier_before_all_have_come() {
    for workers in [1, 2] {
        let world = World::new(5, workers, slow(8));
        let come = Arc::new(AtomicU32::new(0));
        let passed = all(&world, async move |node: Node| {
            for round in 1..=10 {
                come.fetch_add(1, Ordering::SeqCst);
                node.barrier().await.unwrap();
                assert!(come.load(Ordering::SeqCst) >= round * 5);
            }
        });
        assert_eq!(passed.len(), 5);
    }
}

/// A part of a tree of work: does its part, starts parts on random nodes, and ends.
struct Work {
    node: Node,
    done: Arc<AtomicU64>,
    random: Random,
}

#[derive(Serialize, Deserialize)]
struct Task {
    /// The number of further generations below.
    depth: u32,
}

impl Actor for Work {
    type Message = Task;

    async fn handle(&mut self, task: Task, context: &mut Context<Self>) -> Handled {
        self.done.fetch_add(1, Ordering::SeqCst);
        for _ in 0..task.depth {
            let on = id(self.random.below(self.node.nodes().into()) as u32);
            let seed = self.random.next();
            let actor = self.node.spawn_on::<Task, _>(on, "work", &seed).await?;
            actor.send(Task { depth: task.depth - 1 }).await?;
        }
        context.stop();
        Ok(())
    }
}

#[test]
fn the_end_of_all_work_is_found_when_it_is_there() {
    for workers in [1, 2] {
        let world = World::new(3, workers, slow(9));
        let done = Arc::new(AtomicU64::new(0));
        for (_, node) in &world.nodes {
            let (own, done) = (node.clone(), Arc::clone(&done));
            node.register_script("work", move |seed| Work {
                node: own.clone(),
                done: Arc::clone(&done),
                random: Random::new(seed),
            });
        }
        let counted = Arc::clone(&done);
        let ends = all(&world, async move |node: Node| {
            if node.id() == id(0) {
                let root = node.spawn_on::<Task, _>(id(1), "work", &1_u64).await.unwrap();
                root.send(Task { depth: 6 }).await.unwrap();
            }
            let end = node.finish().await;
            (end, counted.load(Ordering::SeqCst))
        });
        // A tree with 6, 5, 4 and so on children per level.
        assert_eq!(ends, [(Ok(()), 1_957); 3]);
    }
}

#[test]
fn the_end_of_all_work_is_not_found_without_a_node() {
    let world = World::new(3, 1, slow(10));
    let control = world.control.clone();
    let ends = all(&world, async move |node: Node| {
        if node.id() == id(2) {
            control.kill(id(2));
            return Err(NodeLost { node: None });
        }
        node.finish().await
    });
    assert_eq!(ends[..2], [Err(NodeLost { node: Some(id(2)) }); 2]);
}

#[test]
fn nodes_may_leave_as_soon_as_they_know() {
    for seed in 0..20 {
        let world = World::new(5, 1 + seed as usize % 2, slow(100 + seed));
        let ends = all(&world, async move |node: Node| {
            let passed = node.barrier().await;
            let ended = if seed % 4 < 2 { node.finish().await } else { Ok(()) };
            node.leave().await;
            (passed, ended)
        });
        assert_eq!(ends, [(Ok(()), Ok(())); 5], "seed {seed}");
    }
}
