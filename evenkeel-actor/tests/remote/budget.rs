//! Tasks that loop over calls of a node that do not wait, beside other tasks of its only worker.
//! The node's host is one of these.

use crate::ending::ends;
use crate::world::{Message, Sum, World, id};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::remote::{Node, RemoteError};
use evenkeel_actor::{Actor, Builder, Context, Handled};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Turns of the other task, after which the greedy one ends.
const TURNS: usize = 20;

/// Runs a body with the first of `nodes` nodes.
fn on_first(nodes: u32, body: impl AsyncFnOnce(&World, Node) + Send + 'static) {
    ends(move || {
        let world = World::new(nodes, 1, Faults::default());
        world.on(0, async |node| body(&world, node).await);
    });
}

/// Awaits calls in a task until another task of the worker has had its turns.
async fn calls_beside_another_task<F>(node: &Node, call: impl Fn(Node) -> F + Send + 'static)
where
    F: Future<Output = ()> + Send,
{
    let (node, turns) = (node.clone(), Arc::new(AtomicUsize::new(0)));
    let seen = turns.clone();
    let greedy = evenkeel::spawn(async move {
        while seen.load(Ordering::Relaxed) < TURNS {
            call(node.clone()).await;
        }
    });
    let light = evenkeel::spawn(async move {
        for _ in 0..TURNS {
            turns.fetch_add(1, Ordering::Relaxed);
            evenkeel::yield_now().await;
        }
    });
    greedy.await.unwrap();
    light.await.unwrap();
}

/// Has the other node of two be lost.
async fn lose_other(world: &World, node: &Node) {
    let mut events = node.events();
    world.control.kill(id(1));
    while !events.next().await.unwrap().is_loss() {}
}

/// Takes numbers.
struct Sink;

impl Actor for Sink {
    type Message = u64;

    async fn handle(&mut self, _number: u64, _context: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

#[test]
fn a_search_for_a_name_of_the_own_node_lets_the_actor_be_published() {
    on_first(1, async |_, node| {
        let by = node.clone();
        let found = evenkeel::spawn(async move {
            loop {
                if let Ok(found) = by.locate::<Message>(id(0), "late").await {
                    return found;
                }
            }
        });
        let publishes = evenkeel::spawn(async move {
            let actor = Builder::new().system(node.system()).spawn(Sum::new(3)).unwrap();
            assert!(node.publish("late", actor));
        });
        assert_eq!(found.await.unwrap().ask(Message::Get).await, Ok(3));
        publishes.await.unwrap();
    });
}

#[test]
fn actors_that_are_started_on_the_own_node_let_other_tasks_run() {
    on_first(1, async |_, node| {
        calls_beside_another_task(&node, |node| async move {
            node.spawn_on::<Message, _>(id(0), "sum", &0_u64).await.unwrap();
        })
        .await;
    });
}

#[test]
fn requests_that_fail_let_other_tasks_run() {
    on_first(2, async |world, node| {
        lose_other(world, &node).await;
        calls_beside_another_task(&node, |node| async move {
            let found = node.locate::<Message>(id(1), "sum").await;
            assert!(matches!(found, Err(RemoteError::NodeDown { .. })), "{found:?}");
        })
        .await;
        calls_beside_another_task(&node, |node| async move {
            let started = node.spawn_on::<Message, _>(id(7), "sum", &0_u64).await;
            assert!(matches!(started, Err(RemoteError::NoSuchNode { .. })), "{started:?}");
        })
        .await;
    });
}

#[test]
fn casts_for_a_lost_node_let_other_tasks_run() {
    on_first(2, async |world, node| {
        world.nodes[1].1.register_script("sink", |()| Sink);
        let far = [node.spawn_on::<u64, _>(id(1), "sink", &()).await.unwrap()];
        lose_other(world, &node).await;
        calls_beside_another_task(&node, move |node| {
            let far = far.clone();
            async move { assert_eq!(node.cast(&far, &1).await.unwrap().refused, 1) }
        })
        .await;
    });
}

#[test]
fn barriers_let_other_tasks_run() {
    on_first(2, async |world, node| {
        lose_other(world, &node).await;
        calls_beside_another_task(&node, |node| async move {
            assert_eq!(node.barrier().await.map_err(|lost| lost.node), Err(Some(id(1))));
        })
        .await;
    });
    on_first(1, async |_, node| {
        calls_beside_another_task(&node, |node| async move {
            assert_eq!(node.barrier().await, Ok(()));
        })
        .await;
    });
}

#[test]
fn the_end_of_all_work_that_is_known_lets_other_tasks_run() {
    on_first(1, async |_, node| {
        calls_beside_another_task(&node, |node| async move {
            assert_eq!(node.finish().await, Ok(()));
        })
        .await;
    });
}

#[test]
fn waits_for_a_node_that_has_left_let_other_tasks_run() {
    on_first(1, async |_, node| {
        calls_beside_another_task(&node, |node| async move { node.leave().await }).await;
    });
}
