//! Messages that wait when their node leaves, or when its host has ended, and remains after the end
//! of all work.

use crate::ending::ends;
use crate::world::{Message, Sum, World, id};
use evenkeel_actor::Builder;
use evenkeel_actor::node::in_process::Faults;
use std::pin::pin;

#[test]
fn a_barrier_that_waits_as_its_node_leaves_fails() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        let (runtime, node) = &world.nodes[0];
        runtime.block_on(async {
            let mut waits = pin!(node.barrier());
            assert!(futures::poll!(waits.as_mut()).is_pending());
            node.leave().await;
            assert!(waits.await.is_err());
        });
    });
}

#[test]
fn a_barrier_after_the_node_has_left_fails() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        let (runtime, node) = &world.nodes[0];
        runtime.block_on(node.leave());
        assert!(runtime.block_on(node.barrier()).is_err());
    });
}

#[test]
fn a_finish_that_waits_as_its_node_leaves_fails() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        let (runtime, node) = &world.nodes[0];
        runtime.block_on(async {
            let mut waits = pin!(node.finish());
            assert!(futures::poll!(waits.as_mut()).is_pending());
            node.leave().await;
            assert!(waits.await.is_err());
        });
    });
}

#[test]
fn the_end_of_all_work_stays_known() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        std::thread::scope(|scope| {
            for (runtime, node) in &world.nodes {
                scope.spawn(|| assert_eq!(runtime.block_on(node.finish()), Ok(())));
            }
        });
        let (runtime, node) = &world.nodes[0];
        // Another task of the node asks, or one asks again after its first wait was cancelled.
        assert_eq!(runtime.block_on(node.finish()), Ok(()));
    });
}

/// Each evaluation takes the counts of messages while the barrier's, which are no work, are on
/// their way.
#[test]
fn barriers_pass_while_many_tasks_wait_for_the_end() {
    let panicked = std::thread::spawn(|| {
        let world = World::new(2, 3, Faults::default());
        let (runtime, node) = &world.nodes[0];
        let finishes: Vec<_> = (0..50)
            .map(|_| {
                let node = node.clone();
                runtime.spawn(async move { node.finish().await })
            })
            .collect();
        std::thread::scope(|scope| {
            for (runtime, node) in &world.nodes {
                scope.spawn(move || {
                    runtime.block_on(async {
                        for _ in 0..2_000 {
                            node.barrier().await.unwrap();
                        }
                    });
                });
            }
        });
        world.control.kill(id(1));
        finishes.into_iter().filter_map(|finish| evenkeel::block_on(finish).err()).count()
    });
    assert_eq!(panicked.join().unwrap(), 0, "tasks have panicked in `finish`");
}

#[test]
fn a_listener_to_dead_letters_does_not_keep_the_work_from_its_end() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        let (letters, heard) = std::sync::mpsc::channel();
        let subscription = world.on(0, async move |node| {
            node.system().on_dead_letter(move |letter| letters.send(letter.kind).unwrap())
        });
        std::thread::scope(|scope| {
            for (runtime, node) in &world.nodes {
                scope.spawn(|| assert_eq!(runtime.block_on(node.finish()), Ok(())));
            }
        });
        assert_eq!(world.nodes[0].1.system().metrics().alive(), 1);
        assert!(heard.try_recv().is_err());
        drop(subscription);
    });
}

#[test]
fn actors_live_on_that_something_here_refers_to_when_their_node_leaves() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        let keeps = world.on(1, async |node| {
            let keeps = Builder::new().system(node.system()).spawn(Sum::new(5)).unwrap();
            assert!(node.publish("keeps", keeps.clone()));
            keeps
        });
        let known = world.on(0, async |node| {
            node.locate::<Message>(id(1), "keeps").await.unwrap();
            node.spawn_on::<Message, _>(id(1), "sum", &1_u64).await.unwrap()
        });
        let (runtime, node) = &world.nodes[1];
        assert_eq!(node.system().metrics().alive(), 2);
        runtime.block_on(node.leave());
        runtime.block_on(async {
            assert_eq!(keeps.ask(Message::Get).await, Ok(5));
            // No other node knows the other actor any more.
            while node.system().metrics().alive() > 1 {
                evenkeel::yield_now().await;
            }
        });
        drop(known);
    });
}

#[test]
fn a_node_that_has_left_publishes_nothing_and_keeps_no_actor() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        let (runtime, node) = &world.nodes[0];
        runtime.block_on(async {
            node.leave().await;
            let late = Builder::new().system(node.system()).spawn(Sum::new(5)).unwrap();
            assert!(!node.publish("late", late.clone()));
            assert!(!node.unpublish("late"), "it has no name");
            assert_eq!(late.ask(Message::Get).await, Ok(5));
            drop(late);
            while node.system().metrics().alive() > 0 {
                evenkeel::yield_now().await;
            }
        });
    });
}

#[test]
fn a_node_whose_runtime_ends_before_it_leaves_is_down() {
    ends(|| {
        for workers in [1, 2] {
            let mut world = World::new(2, workers, Faults::default());
            let (runtime, node) = world.nodes.pop().unwrap();
            let mut events = world.nodes[0].1.events();
            drop(runtime);
            world.on(0, async move |node| {
                while !events.next().await.unwrap().is_loss() {}
                assert!(node.barrier().await.is_err());
                assert!(node.locate::<Message>(id(1), "any").await.is_err());
            });
            drop(node);
        }
    });
}
