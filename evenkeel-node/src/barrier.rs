//! A barrier of all nodes, as a state machine without a transport.
//!
//! # Protocol
//! The nodes form the [tree] with the root 0. A node *arrives* when it has entered and all its
//! children have arrived; it then tells its parent. When the root arrives, all nodes have entered;
//! the root releases its children, and they release theirs. A node is past the barrier when it
//! releases; its next phase begins then.
//!
//! A parent releases its child, so the parent's next phase begins before the child can arrive in
//! it. Messages of a child are therefore of the present phase, and so are those of the parent. Any
//! other message is the peer's error.
//!
//! # If a node is lost
//! The barrier is broken for good: a lost node never enters again. A node that learns of a loss
//! tells its neighbours in the tree, and they tell theirs. Where the lost node divides the tree,
//! the transport has told both sides. So no node waits for ever.

use super::wire::BarrierStep;
use super::{NodeId, tree};
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;

/// A message to another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The receiver.
    pub to: NodeId,
    /// The phase.
    pub phase: u64,
    /// The step.
    pub step: BarrierStep,
}

/// The state of the barrier on this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// This node has not entered the present phase.
    Outside,
    /// This node has entered, and waits for others.
    Waiting,
    /// A node is lost. No node passes again.
    Broken,
}

/// Why the barrier rejects a call or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BarrierError {
    /// This node has entered and has not passed.
    Entered,
    /// The barrier is broken.
    Broken,
    /// A peer has sent a message that it cannot send in this state.
    Unexpected {
        /// The sender.
        from: NodeId,
        /// The phase in its message.
        phase: u64,
        /// The step in its message.
        step: BarrierStep,
    },
}

impl fmt::Display for BarrierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entered => f.write_str("this node has entered the barrier and has not passed it"),
            Self::Broken => f.write_str("a node is lost, so no node passes the barrier again"),
            Self::Unexpected { from, phase, step } => {
                write!(f, "node {from} sent an unexpected {step:?} in phase {phase}")
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
    /// Creates the part of node `local` of `nodes`.
    ///
    /// # Panics
    /// If `local` is not one of `nodes` nodes.
    #[must_use]
    pub fn new(local: NodeId, nodes: u32) -> Self {
        let local = local.number();
        assert!(local < nodes, "node {local} is not one of {nodes} nodes");
        let arrived = BTreeSet::new();
        Self { local, nodes, phase: 0, has_entered: false, arrived, is_broken: false }
    }

    /// Returns how many times this node has passed the barrier.
    #[must_use]
    pub fn phase(&self) -> u64 {
        self.phase
    }

    /// Returns the state of the barrier on this node.
    #[must_use]
    pub fn standing(&self) -> Standing {
        match (self.is_broken, self.has_entered) {
            (true, _) => Standing::Broken,
            (false, true) => Standing::Waiting,
            (false, false) => Standing::Outside,
        }
    }

    /// Enters the barrier. This node has passed when [`phase`](Self::phase) has risen. Appends the
    /// messages to send to `out`.
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

    /// Handles a message of another node.
    ///
    /// # Errors
    /// `Unexpected`; the state is then unchanged.
    pub fn receive(
        &mut self,
        from: NodeId,
        phase: u64,
        step: BarrierStep,
        out: &mut Vec<Outgoing>,
    ) -> Result<(), BarrierError> {
        let number = from.number();
        if self.is_broken {
            // The message was under way when the barrier broke.
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

    /// Handles the loss of a node.
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

    /// Nodes, and the messages under way between each pair of them, in order.
    struct World {
        nodes: Vec<Option<Barrier>>,
        ways: Vec<VecDeque<Outgoing>>,
        random: Random,
    }

    /// A fault of a run.
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

        /// Delivers a random message; returns false if there is none.
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

        /// Two nodes lose each other, and the transport tells no other node.
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

        /// Nodes enter again after each pass until all have passed `phases` times, unless the
        /// barrier breaks. Each step checks all states.
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
    fn no_node_passes_before_all_have_entered_and_then_all_do() {
        for seed in 0..3_000 {
            let nodes = 1 + (seed % 11) as u32;
            let mut world = World::new(nodes, seed);
            world.run(4, None);
            let passed: Vec<_> = world.nodes.iter().flatten().map(Barrier::phase).collect();
            assert_eq!(passed, vec![4; nodes as usize], "seed {seed}");
        }
    }

    #[test]
    fn a_lost_node_or_connection_leaves_no_node_waiting() {
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
            // Not a child.
            (2, 0, BarrierStep::Arrive),
            // Not the parent; and the parent, before this node has arrived.
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
