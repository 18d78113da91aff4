//! Links between nodes, made and removed at random, from both sides at once.

use crate::links::{Blow, Order, settle, tied, tied_and_gone, world};
use crate::world::slow;
use evenkeel_actor::{ActorRef, ExitReason};
use evenkeel_policy::random::Random;

fn below(random: &mut Random, end: usize) -> usize {
    random.below(end as u64) as usize
}

/// Simultaneous operations of both sides on a link have some outcome, the same for both: a linked
/// actor then ends with the other, and an unlinked one does not.
#[test]
fn both_sides_agree_whatever_they_did_at_once() {
    let mut outcomes = [0; 2];
    for (seed, workers) in (1..=12).zip([1, 2].into_iter().cycle()) {
        let world = world(2, workers, slow(seed));
        let mut random = Random::new(seed * 77 + 1);
        for _ in 0..12 {
            let other = &world.nodes[1].1;
            let other = other.clone();
            let orders: Vec<(usize, usize)> = (0..2 + below(&mut random, 8))
                .map(|_| (below(&mut random, 2), below(&mut random, 4)))
                .collect();
            let ends = below(&mut random, 2);
            let linked = world.on(0, async move |node| {
                let gone = tied_and_gone(&node).await;
                let pair = [tied(&node, 0, false).await, tied(&node, 1, false).await];
                for &(who, what) in &orders {
                    let order = [Order::Link, Order::Link, Order::Unlink, Order::Relink][what];
                    pair[who].send(order(pair[1 - who].clone())).await.unwrap();
                }
                for actor in &pair {
                    assert_eq!(actor.ask(Order::Exits).await, Ok(vec![]));
                }
                settle(&gone).await;
                let linked = node.metrics().links;
                assert_eq!(other.metrics().links, linked, "{orders:?}");
                let stopped = pair[1 - ends].stopped();
                pair[ends].send(Order::Blow(Blow::Fail)).await.unwrap();
                pair[ends].stopped().await;
                if linked == 0 {
                    settle(&gone).await;
                    assert_eq!(pair[1 - ends].ask(Order::Exits).await, Ok(vec![]), "{orders:?}");
                    pair[1 - ends].stop();
                    assert!(stopped.await.is_normal());
                } else {
                    assert!(matches!(stopped.await, ExitReason::Linked { .. }), "{orders:?}");
                }
                settle(&gone).await;
                assert_eq!(node.metrics().links, 0);
                linked
            });
            outcomes[linked] += 1;
        }
    }
    assert!(outcomes.iter().all(|&times| times > 10), "{outcomes:?}");
}

/// The actors that learn of an end, by a small model: all that links reach through actors that do
/// not trap exits.
fn reached(links: &[Vec<bool>], traps: &[bool], from: usize) -> Vec<bool> {
    let mut reached = vec![false; traps.len()];
    let mut open = vec![from];
    reached[from] = true;
    while let Some(at) = open.pop() {
        for to in 0..traps.len() {
            if links[at][to] && !reached[to] {
                reached[to] = true;
                if !traps[to] {
                    open.push(to);
                }
            }
        }
    }
    reached
}

#[test]
fn ends_reach_those_that_a_small_model_says() {
    const ACTORS: usize = 9;
    for (seed, workers) in (1..=10).zip([1, 2].into_iter().cycle()) {
        let world = world(3, workers, slow(seed));
        let nodes: Vec<_> = world.nodes.iter().map(|(_, node)| node.clone()).collect();
        world.on(0, async move |node| {
            let mut random = Random::new(seed * 991 + 5);
            let traps: Vec<bool> = (0..ACTORS).map(|_| below(&mut random, 4) == 0).collect();
            let mut actors: Vec<ActorRef<Order>> = Vec::new();
            for (n, &traps) in (0..).zip(&traps) {
                actors.push(tied(&node, n % 3, traps).await);
            }
            let mut links = vec![vec![false; ACTORS]; ACTORS];
            // One after another where it matters: an actor's answer shows that it has carried out
            // its orders, and its next links follow.
            for step in 0..60 {
                let (a, b) = (below(&mut random, ACTORS), below(&mut random, ACTORS));
                let linked = below(&mut random, 3) > 0;
                let order = if linked { Order::Link } else { Order::Unlink };
                actors[a].send(order(actors[b].clone())).await.unwrap();
                assert_eq!(actors[a].ask(Order::Exits).await, Ok(vec![]));
                if a != b {
                    (links[a][b], links[b][a]) = (linked, linked);
                }
                // Waits until both nodes have it: simultaneous operations of the two sides have
                // more than one outcome, and another test covers them.
                let across = |node: u32| {
                    let pairs = (0..ACTORS).flat_map(|x| (0..x).map(move |y| (x, y)));
                    let across = pairs.filter(|&(x, y)| {
                        let (x_on, y_on) = (x as u32 % 3, y as u32 % 3);
                        links[x][y] && x_on != y_on && (x_on == node || y_on == node)
                    });
                    across.count()
                };
                for (number, node) in (0..).zip(&nodes) {
                    let expected = across(number);
                    let mut looks = 0;
                    while node.metrics().links != expected {
                        looks += 1;
                        assert!(
                            looks < 10_000_000,
                            "step {step}: node {number} is not at {expected}"
                        );
                        evenkeel::yield_now().await;
                    }
                }
            }
            let first = below(&mut random, ACTORS);
            let reached = reached(&links, &traps, first);
            let stopped: Vec<_> = actors.iter().map(ActorRef::stopped).collect();
            actors[first].send(Order::Blow(Blow::Fail)).await.unwrap();
            for (n, stopped) in stopped.into_iter().enumerate() {
                if n == first {
                    assert_eq!(stopped.await.to_string(), "failed: no more ink");
                } else if reached[n] && !traps[n] {
                    let reason = stopped.await;
                    let ExitReason::Linked { reason, .. } = reason else { panic!("{reason}") };
                    assert_eq!(reason.to_string(), "failed: no more ink");
                }
            }
            for (n, actor) in actors.iter().enumerate() {
                let ended = n == first || (reached[n] && !traps[n]);
                if ended {
                    continue;
                }
                // One notice for each linked actor that has ended.
                let told = |m: usize| links[n][m] && (m == first || (reached[m] && !traps[m]));
                let expected = if traps[n] { (0..ACTORS).filter(|&m| told(m)).count() } else { 0 };
                let mut exits = Vec::new();
                while exits.len() < expected {
                    exits.extend(actor.ask(Order::Exits).await.unwrap());
                }
                assert_eq!(exits.len(), expected, "{exits:?}");
            }
        });
    }
}

/// Links, ends and new actors at once. In the end all are stopped, and nothing is left on any node.
#[test]
fn a_storm_leaves_nothing_behind() {
    for (seed, workers) in (1..=6).zip([1, 2].into_iter().cycle()) {
        let world = world(3, workers, slow(seed));
        let nodes: Vec<_> = world.nodes.iter().map(|(_, node)| node.clone()).collect();
        world.on(0, async move |node| {
            let mut random = Random::new(seed * 31 + 7);
            let mut actors: Vec<ActorRef<Order>> = Vec::new();
            for n in 0..12 {
                actors.push(tied(&node, n % 3, n % 4 == 0).await);
            }
            for step in 0..600 {
                let (a, b) = (below(&mut random, 12), below(&mut random, 12));
                let order = match below(&mut random, 10) {
                    0..=4 => Order::Link(actors[b].clone()),
                    5..=7 => Order::Unlink(actors[b].clone()),
                    8 => Order::Relink(actors[b].clone()),
                    _ => Order::Blow([Blow::Stop, Blow::Fail, Blow::Panic][below(&mut random, 3)]),
                };
                let ends = matches!(order, Order::Blow(_));
                drop(actors[a].send(order).await);
                if ends {
                    actors[a] = tied(&node, step % 3, step % 4 == 0).await;
                }
            }
            for actor in &actors {
                actor.kill();
                actor.stopped().await;
            }
            for node in &nodes {
                let mut looks = 0;
                while node.metrics().links > 0 || node.metrics().watched > 0 {
                    looks += 1;
                    assert!(looks < 10_000_000, "{:?}", node.metrics());
                    evenkeel::yield_now().await;
                }
            }
        });
    }
}
