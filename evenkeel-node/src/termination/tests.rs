//! The detection on simulated nodes that work, send and die at random.

use super::{Detector, NodeId, Order, Probe, UnexpectedProbe};
use evenkeel_policy::random::Random;

/// What travels between nodes.
#[derive(Clone, Copy, Debug)]
enum Flight {
    Work,
    Probe(Probe),
}

#[derive(Debug)]
struct Node {
    detector: Detector,
    /// Remaining steps of work, in each of which the node may send.
    work: u64,
    end: Option<Order>,
}

/// A fault of a run.
#[derive(Clone, Copy)]
enum Fault {
    Death,
    Cut,
}

struct World {
    nodes: Vec<Option<Node>>,
    /// Sender, receiver and message; they arrive in any order.
    flights: Vec<(usize, usize, Flight)>,
    random: Random,
    /// Messages that may still be sent.
    budget: u64,
}

impl World {
    fn new(nodes: u32, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let node = |number| {
            let detector = Detector::new(NodeId::new(number), nodes);
            Some(Node { detector, work: random.below(4), end: None })
        };
        let nodes: Vec<_> = (0..nodes).map(node).collect();
        let budget = random.below(60);
        Self { nodes, flights: Vec::new(), random, budget }
    }

    fn obey(&mut self, number: usize, orders: Vec<Order>) {
        for order in orders {
            match order {
                Order::Send { to, probe } => {
                    let to = to.number() as usize;
                    if self.nodes[to].is_some() {
                        self.flights.push((number, to, Flight::Probe(probe)));
                    }
                }
                end => {
                    if end == Order::Done {
                        self.assert_done();
                    }
                    let node = self.nodes[number].as_mut().unwrap();
                    assert_eq!(node.end.replace(end), None, "it ends once");
                }
            }
        }
    }

    /// Asserts that all work is done.
    fn assert_done(&self) {
        let works = |node: &Node| node.work > 0;
        assert!(!self.nodes.iter().flatten().any(works), "a node works");
        let is_work = |flight: &(usize, usize, Flight)| matches!(flight.2, Flight::Work);
        assert!(!self.flights.iter().any(is_work), "a message is under way");
    }

    /// Makes a working node take a step.
    fn work(&mut self, number: usize) {
        let nodes = self.nodes.len();
        let to = self.random.below(nodes as u64) as usize;
        let sends = self.budget > 0 && self.random.below(2) == 0 && to != number;
        let node = self.nodes[number].as_mut().unwrap();
        node.work -= 1;
        if sends {
            self.budget -= 1;
            node.detector.sent(1);
        }
        let mut orders = Vec::new();
        if node.work == 0 {
            node.detector.passive(&mut orders);
        }
        if sends && self.nodes[to].is_some() {
            self.flights.push((number, to, Flight::Work));
        }
        self.obey(number, orders);
    }

    fn arrive(&mut self) {
        let index = self.random.below(self.flights.len() as u64) as usize;
        let (from, to, flight) = self.flights.swap_remove(index);
        let work = 1 + self.random.below(3);
        let Some(node) = &mut self.nodes[to] else { return };
        let mut orders = Vec::new();
        match flight {
            Flight::Work => {
                node.detector.received(1);
                node.work += work;
            }
            Flight::Probe(probe) => {
                node.detector.receive(NodeId::new(from as u32), probe, &mut orders).unwrap();
            }
        }
        self.obey(to, orders);
    }

    fn kill(&mut self, dead: usize) {
        self.nodes[dead] = None;
        self.flights.retain(|&(from, to, _)| from != dead && to != dead);
        for number in 0..self.nodes.len() {
            let mut orders = Vec::new();
            if let Some(node) = &mut self.nodes[number] {
                node.detector.lost(NodeId::new(dead as u32), &mut orders);
            }
            self.obey(number, orders);
        }
    }

    /// Two nodes lose each other, and the transport tells no other node.
    fn cut(&mut self) {
        let nodes = self.nodes.len();
        let a = self.random.below(nodes as u64) as usize;
        let b = (a + 1 + self.random.below(nodes as u64 - 1) as usize) % nodes;
        self.flights.retain(|&(from, to, _)| (from, to) != (a, b) && (from, to) != (b, a));
        for (number, other) in [(a, b), (b, a)] {
            let other = NodeId::new(other as u32);
            let mut orders = Vec::new();
            self.nodes[number].as_mut().unwrap().detector.lost(other, &mut orders);
            orders.retain(|order| !matches!(order, Order::Send { to, .. } if *to == other));
            self.obey(number, orders);
        }
    }

    /// Runs until all have ended, and returns the number of steps.
    fn run(&mut self, fault: Option<(u64, Fault)>) -> u64 {
        for number in 0..self.nodes.len() {
            let mut orders = Vec::new();
            let node = self.nodes[number].as_mut().unwrap();
            if node.work == 0 {
                node.detector.passive(&mut orders);
            }
            self.obey(number, orders);
        }
        for step in 0_u64.. {
            assert!(step < 100_000, "it goes on for ever");
            match fault.filter(|fault| fault.0 == step) {
                Some((_, Fault::Death)) => {
                    let dead = self.random.below(self.nodes.len() as u64) as usize;
                    self.kill(dead);
                }
                Some((_, Fault::Cut)) => {
                    self.cut();
                }
                None => {}
            }
            if self.nodes.iter().flatten().all(|node| node.end.is_some()) {
                return step;
            }
            let works =
                |&number: &usize| self.nodes[number].as_ref().is_some_and(|node| node.work > 0);
            let working: Vec<_> = (0..self.nodes.len()).filter(works).collect();
            let pick = self.random.below((working.len() + self.flights.len()) as u64) as usize;
            match working.get(pick) {
                Some(&number) => self.work(number),
                None => {
                    assert!(!self.flights.is_empty(), "nothing moves and it has not ended");
                    self.arrive();
                }
            }
        }
        unreachable!("the loop ends by returning")
    }
}

#[test]
fn the_end_is_found_and_never_too_early() {
    for seed in 0..10_000 {
        let mut world = World::new(1 + (seed % 9) as u32, seed);
        world.run(None);
        for node in world.nodes.iter().flatten() {
            assert_eq!(node.end, Some(Order::Done), "seed {seed}");
        }
    }
}

#[test]
fn a_node_or_a_connection_that_is_lost_ends_the_detection_everywhere() {
    let mut failed = 0;
    for seed in 0..10_000 {
        let nodes = 2 + (seed % 8) as u32;
        let mut world = World::new(nodes, seed);
        let fault = if seed % 3 == 0 { Fault::Cut } else { Fault::Death };
        world.run(Some((seed % 50, fault)));
        for node in world.nodes.iter().flatten() {
            failed += u32::from(matches!(node.end, Some(Order::Failed { .. })));
        }
    }
    assert!(failed > 10_000, "only {failed} nodes saw a failure: the deaths come too late");
}

#[test]
fn a_node_alone_is_done_when_it_is_passive() {
    let mut detector = Detector::new(NodeId::new(0), 1);
    let mut orders = Vec::new();
    detector.passive(&mut orders);
    assert_eq!(orders, [Order::Done]);
    assert!(detector.is_over());
}

#[test]
fn a_node_that_has_received_makes_the_token_black_once() {
    let mut orders = Vec::new();
    let mut one = Detector::new(NodeId::new(1), 3);
    one.passive(&mut orders);
    let token = |round| Probe::Token { round, count: 0, black: false };
    one.receive(NodeId::new(0), token(1), &mut orders).unwrap();
    one.received(1);
    one.passive(&mut orders);
    one.receive(NodeId::new(0), token(2), &mut orders).unwrap();
    let sent = |round, count, black| Order::Send {
        to: NodeId::new(2),
        probe: Probe::Token { round, count, black },
    };
    one.receive(NodeId::new(0), token(3), &mut orders).unwrap();
    assert_eq!(orders, [sent(1, 0, false), sent(2, -1, true), sent(3, -1, false)]);
}

#[test]
fn what_a_peer_cannot_send_is_an_error_and_changes_nothing() {
    let mut orders = Vec::new();
    let mut detector = Detector::new(NodeId::new(1), 4);
    detector.passive(&mut orders);
    let token = |round| Probe::Token { round, count: 0, black: false };
    for (from, probe) in [
        (2, token(1)),
        (0, token(0)),
        (0, token(2)),
        (1, token(1)),
        (9, token(1)),
        (2, Probe::Done { round: 0 }),
    ] {
        let from = NodeId::new(from);
        let error = detector.receive(from, probe, &mut orders).unwrap_err();
        assert_eq!(error, UnexpectedProbe { from, probe });
    }
    assert_eq!(orders, []);
    // An active node keeps the token, and a second one is not taken.
    detector.active();
    detector.receive(NodeId::new(0), token(1), &mut orders).unwrap();
    assert!(detector.receive(NodeId::new(0), token(2), &mut orders).is_err());
    assert_eq!(orders, []);
}
