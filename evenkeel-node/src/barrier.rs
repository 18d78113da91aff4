//! A barrier of all nodes, as a state machine without a transport.
//!
//! # Protocol
//! Over the [tree] with the root 0. A node that has entered, and all of whose children have
//! arrived, arrives: it says so to its parent. When the root arrives all have entered; it releases
//! its children, and they theirs. A node is past the barrier when it releases; the next phase
//! begins then.
//!
//! A child is released by its parent, so the parent's next phase has begun before the child can
//! arrive in it: what comes from a child is of the present phase, and so is what comes from the
//! parent. Anything else is an error of the peer's.
//!
//! # If a node is lost
//! The barrier is broken for good: a node that is gone never enters again. A node that hears of a
//! loss tells its neighbours in the tree, who tell theirs. Where the tree is apart because the lost
//! node was between, both sides have heard of it from the transport. So nobody waits for ever.

use super::wire::BarrierStep;
use super::{NodeId, tree};
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;

/// A message to another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// To whom.
    pub to: NodeId,
    /// In which phase.
    pub phase: u64,
    /// What.
    pub step: BarrierStep,
}

/// How things stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// This node has not entered the present phase.
    Outside,
    /// It has, and waits for others.
    Waiting,
    /// A node is gone. Nobody passes any more.
    Broken,
}

/// Why a call or a message makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BarrierError {
    /// This node has entered already and is not through.
    Entered,
    /// The barrier is broken.
    Broken,
    /// A node has said what it cannot say now.
    Unexpected {
        /// Who.
        from: NodeId,
        /// In which phase.
        phase: u64,
        /// What.
        step: BarrierStep,
    },
}

impl fmt::Display for BarrierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entered => f.write_str("this node has entered the barrier and is not through"),
            Self::Broken => f.write_str("a node is gone, so the barrier is never passed again"),
            Self::Unexpected { from, phase, step } => {
                write!(f, "node {from} says {step:?} in phase {phase}, which it cannot now")
            }
        }
    }
}

impl Error for BarrierError {}

/// One node's part of a barrier.
#[derive(Clone, Debug)]
pub struct Barrier {
    local: u32,
    nodes: u32,
    phase: u64,
    has_entered: bool,
    arrived: BTreeSet<u32>,
    is_broken: bool,
}

impl Barrier {
    /// The part of node `local` of `nodes`.
    ///
    /// # Panics
    /// If it is none of them.
    #[must_use]
    pub fn new(local: NodeId, nodes: u32) -> Self {
        let local = local.number();
        assert!(local < nodes, "node {local} is none of {nodes}");
        let arrived = BTreeSet::new();
        Self { local, nodes, phase: 0, has_entered: false, arrived, is_broken: false }
    }

    /// How many times this node has passed it.
    #[must_use]
    pub fn phase(&self) -> u64 {
        self.phase
    }

    /// How things stand.
    #[must_use]
    pub fn standing(&self) -> Standing {
        match (self.is_broken, self.has_entered) {
            (true, _) => Standing::Broken,
            (false, true) => Standing::Waiting,
            (false, false) => Standing::Outside,
        }
    }

    /// This node enters. It is through when [`phase`](Self::phase) has risen. What is to be sent is
    /// appended to `out`.
    ///
    /// # Errors
    /// `Entered` and `Broken`.
    pub fn enter(&mut self, out: &mut Vec<Outgoing>) -> Result<(), BarrierError> {
        if self.is_broken {
            return Err(BarrierError::Broken);
        }
        if std::mem::replace(&mut self.has_entered, true) {
            return Err(BarrierError::Entered);
        }
        self.advance(out);
        Ok(())
    }

    /// Another node has said something.
    ///
    /// # Errors
    /// `Unexpected`; nothing has changed then.
    pub fn receive(
        &mut self,
        from: NodeId,
        phase: u64,
        step: BarrierStep,
        out: &mut Vec<Outgoing>,
    ) -> Result<(), BarrierError> {
        let number = from.number();
        if self.is_broken {
            // What was under way when it broke.
            return Ok(());
        }
        let is_expected = match step {
            BarrierStep::Arrive => {
                let is_child = tree::children(self.local, self.nodes).any(|child| child == number);
                is_child && phase == self.phase && self.arrived.insert(number)
            }
            BarrierStep::Release => {
                let has_arrived = self.has_entered && self.all_children_have();
                tree::parent(self.local) == Some(number) && phase == self.phase && has_arrived
            }
            BarrierStep::Broken => number < self.nodes && number != self.local,
        };
        if !is_expected {
            return Err(BarrierError::Unexpected { from, phase, step });
        }
        match step {
            BarrierStep::Arrive => self.advance(out),
            BarrierStep::Release => self.release(out),
            BarrierStep::Broken => self.break_up(Some(number), out),
        }
        Ok(())
    }

    /// A node is gone.
    pub fn lost(&mut self, node: NodeId, out: &mut Vec<Outgoing>) {
        if !self.is_broken {
            self.break_up(Some(node.number()), out);
        }
    }

    fn all_children_have(&self) -> bool {
        self.arrived.len() == tree::children(self.local, self.nodes).count()
    }

    fn advance(&mut self, out: &mut Vec<Outgoing>) {
        if !self.has_entered || !self.all_children_have() {
            return;
        }
        match tree::parent(self.local) {
            None => self.release(out),
            Some(parent) => out.push(self.says(parent, BarrierStep::Arrive)),
        }
    }

    fn release(&mut self, out: &mut Vec<Outgoing>) {
        let children = tree::children(self.local, self.nodes);
        out.extend(children.map(|child| self.says(child, BarrierStep::Release)));
        self.phase += 1;
        self.has_entered = false;
        self.arrived.clear();
    }

    fn break_up(&mut self, but: Option<u32>, out: &mut Vec<Outgoing>) {
        self.is_broken = true;
        let neighbours = tree::parent(self.local).into_iter();
        let neighbours = neighbours.chain(tree::children(self.local, self.nodes));
        let told = neighbours.filter(|&neighbour| Some(neighbour) != but);
        out.extend(told.map(|neighbour| self.says(neighbour, BarrierStep::Broken)));
    }

    fn says(&self, to: u32, step: BarrierStep) -> Outgoing {
        Outgoing { to: NodeId::new(to), phase: self.phase, step }
    }
}

#[cfg(test)]
mod tests {
    use super::{Barrier, BarrierError, BarrierStep, NodeId, Outgoing, Standing};
    use evenkeel_policy::random::Random;
    use std::collections::VecDeque;

    /// Nodes, and what is under way between each pair of them, in order.
    struct World {
        nodes: Vec<Option<Barrier>>,
        ways: Vec<VecDeque<Outgoing>>,
        random: Random,
    }

    /// What goes wrong.
    #[derive(Clone, Copy)]
    enum Fault {
        Death,
        Cut,
    }

    impl World {
        fn new(nodes: u32, seed: u64) -> Self {
            let barrier = |node| Some(Barrier::new(NodeId::new(node), nodes));
            let ways = (0..nodes * nodes).map(|_| VecDeque::new()).collect();
            Self { nodes: (0..nodes).map(barrier).collect(), ways, random: Random::new(seed) }
        }

        fn send(&mut self, from: usize, out: Vec<Outgoing>) {
            let nodes = self.nodes.len();
            for message in out {
                let to = message.to.number() as usize;
                if self.nodes[to].is_some() {
                    self.ways[from * nodes + to].push_back(message);
                }
            }
        }

        /// Some message arrives; false if there is none.
        fn deliver(&mut self) -> bool {
            let nodes = self.nodes.len();
            let busy: Vec<_> = (0..self.ways.len()).filter(|&w| !self.ways[w].is_empty()).collect();
            if busy.is_empty() {
                return false;
            }
            let way = busy[self.random.below(busy.len() as u64) as usize];
            let Outgoing { phase, step, .. } = self.ways[way].pop_front().unwrap();
            let (from, to) = (way / nodes, way % nodes);
            let mut out = Vec::new();
            if let Some(node) = &mut self.nodes[to] {
                node.receive(NodeId::new(from as u32), phase, step, &mut out).unwrap();
            }
            self.send(to, out);
            true
        }

        fn enter(&mut self, node: usize) {
            let mut out = Vec::new();
            self.nodes[node].as_mut().unwrap().enter(&mut out).unwrap();
            self.send(node, out);
        }

        fn kill(&mut self, dead: usize) {
            self.nodes[dead] = None;
            for node in 0..self.nodes.len() {
                for way in [node * self.nodes.len() + dead, dead * self.nodes.len() + node] {
                    self.ways[way].clear();
                }
                let mut out = Vec::new();
                if let Some(state) = &mut self.nodes[node] {
                    state.lost(NodeId::new(dead as u32), &mut out);
                }
                self.send(node, out);
            }
        }

        /// Two nodes lose each other, and nobody else hears of it from the transport.
        fn cut(&mut self) {
            let nodes = self.nodes.len();
            let a = self.random.below(nodes as u64) as usize;
            let b = (a + 1 + self.random.below(nodes as u64 - 1) as usize) % nodes;
            for (node, other) in [(a, b), (b, a)] {
                self.ways[other * nodes + node].clear();
                let mut out = Vec::new();
                let state = self.nodes[node].as_mut().unwrap();
                state.lost(NodeId::new(other as u32), &mut out);
                out.retain(|message| message.to.number() as usize != other);
                self.send(node, out);
            }
        }

        /// Nodes enter as they come out until all have passed this many times, unless the barrier
        /// breaks. In between all is checked.
        fn run(&mut self, phases: u64, fault: Option<(u64, Fault)>) {
            let fault_at = fault.map(|fault| fault.0);
            for step in 0.. {
                match fault.filter(|fault| fault.0 == step) {
                    Some((_, Fault::Death)) => {
                        let dead = self.random.below(self.nodes.len() as u64) as usize;
                        self.kill(dead);
                    }
                    Some((_, Fault::Cut)) => self.cut(),
                    None => {}
                }
                let phase = |node: &Barrier| node.phase();
                let alive = || self.nodes.iter().flatten();
                let (least, most) = (alive().map(phase).min(), alive().map(phase).max());
                if let (Some(least), Some(most)) = (least, most) {
                    assert!(most - least <= 1, "a node is two phases ahead");
                    let is_behind = |node: &Barrier| {
                        node.phase() == least && node.standing() == Standing::Outside
                    };
                    assert!(most == least || !alive().any(is_behind), "one has not entered");
                }
                let may_enter = |node: &Option<Barrier>| {
                    node.as_ref().is_some_and(|node| {
                        node.standing() == Standing::Outside && node.phase() < phases
                    })
                };
                let entering: Vec<_> =
                    (0..self.nodes.len()).filter(|&node| may_enter(&self.nodes[node])).collect();
                let enters = self.random.below(3) == 0;
                if enters && !entering.is_empty() {
                    let node = entering[self.random.below(entering.len() as u64) as usize];
                    self.enter(node);
                } else if !self.deliver()
                    && entering.is_empty()
                    && fault_at.is_none_or(|at| at <= step)
                {
                    return;
                }
            }
        }
    }

    #[test]
    fn nobody_passes_before_all_have_entered_and_then_all_do() {
        for seed in 0..3_000 {
            let nodes = 1 + (seed % 11) as u32;
            let mut world = World::new(nodes, seed);
            world.run(4, None);
            let passed: Vec<_> = world.nodes.iter().flatten().map(Barrier::phase).collect();
            assert_eq!(passed, vec![4; nodes as usize], "seed {seed}");
        }
    }

    #[test]
    fn a_node_or_a_connection_that_is_lost_leaves_nobody_waiting() {
        for seed in 0..3_000 {
            let mut world = World::new(2 + (seed % 10) as u32, seed);
            let fault = if seed % 3 == 0 { Fault::Cut } else { Fault::Death };
            world.run(4, Some((seed % 61, fault)));
            for node in world.nodes.iter().flatten() {
                assert_eq!(node.standing(), Standing::Broken, "seed {seed}");
            }
        }
    }

    #[test]
    fn what_a_peer_cannot_say_is_an_error_and_changes_nothing() {
        let mut barrier = Barrier::new(NodeId::new(1), 3);
        let mut out = Vec::new();
        for (from, phase, step) in [
            // No child.
            (2, 0, BarrierStep::Arrive),
            // No parent; and not before it has arrived.
            (2, 0, BarrierStep::Release),
            (0, 0, BarrierStep::Release),
            (7, 0, BarrierStep::Broken),
        ] {
            let from = NodeId::new(from);
            let unexpected = BarrierError::Unexpected { from, phase, step };
            assert_eq!(barrier.receive(from, phase, step, &mut out), Err(unexpected));
            assert_eq!((barrier.standing(), barrier.phase()), (Standing::Outside, 0));
        }
        let mut root = Barrier::new(NodeId::new(0), 3);
        let child = NodeId::new(1);
        root.receive(child, 0, BarrierStep::Arrive, &mut out).unwrap();
        assert!(root.receive(child, 0, BarrierStep::Arrive, &mut out).is_err(), "twice");
        assert!(root.receive(NodeId::new(2), 1, BarrierStep::Arrive, &mut out).is_err(), "early");
        assert_eq!(out, []);
    }

    #[test]
    fn a_node_enters_once_for_each_phase_and_never_a_broken_barrier() {
        let mut barrier = Barrier::new(NodeId::new(0), 2);
        let mut out = Vec::new();
        barrier.enter(&mut out).unwrap();
        assert_eq!(barrier.enter(&mut out), Err(BarrierError::Entered));
        barrier.lost(NodeId::new(1), &mut out);
        assert_eq!(barrier.enter(&mut out), Err(BarrierError::Broken));
        assert_eq!(out, [], "the lost one is not told");
    }
}
