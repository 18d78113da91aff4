//! Detects that all work of all nodes is done, as a state machine without a transport: Safra's
//! counted token.
//!
//! # Protocol
//! After E. W. Dijkstra, "Shmuel Safra's version of termination detection" (EWD 998, 1987). A node
//! is *active* while it has anything to do, and only an active node sends messages of the work; a
//! passive node becomes active when it receives one. Each node counts the messages that it has sent
//! less those that it has received, and becomes *black* when it receives. A token goes round, from
//! each node to the one with the next number. An active node keeps the token. A passive node passes
//! it on: it adds its count to the token's, makes the token black if it is black itself, and
//! becomes white. Once the token is back at node 0 and node 0 is passive, all is done if both are
//! white and their counts add up to zero. If not, node 0 sends the token round again.
//!
//! # Why it is right
//! If the counts do not add up to zero, messages are under way. If they do although a node has
//! become active again behind the token, a message was counted as received and not as sent, or the
//! reverse. Its receiver is then black and still ahead of the token, so the token becomes black.
//! The proof needs no order of messages, and no time. The detection comes after at most two rounds
//! in which nothing happens.
//!
//! # If a node is lost
//! Its counts are unknown, so no conclusion is possible: the detection fails on all nodes, as each
//! node that learns of a loss tells all others.
//!
//! # Rejected
//! Silence for some seconds, as in Thorium: it takes those seconds, and is wrong if a node computes
//! for longer. Mattern's four counters: two waves over all nodes instead of one round of a token,
//! for no gain with tens of nodes.

use super::NodeId;
use super::wire::Probe;
use std::error::Error;
use std::fmt;

/// What a detector asks of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Send this to another node.
    Send {
        /// The receiver.
        to: NodeId,
        /// The probe.
        probe: Probe,
    },
    /// All work of all nodes is done. Comes once, on each node.
    Done,
    /// The detection has failed. Comes once, on each node, and not after `Done`.
    Failed {
        /// The lost node.
        node: NodeId,
    },
}

/// A node has sent a probe that it cannot send in this state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnexpectedProbe {
    /// The sender.
    pub from: NodeId,
    /// The probe.
    pub probe: Probe,
}

impl fmt::Display for UnexpectedProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} sent an unexpected {:?}", self.from, self.probe)
    }
}

impl Error for UnexpectedProbe {}

/// One node's part of the detection.
#[derive(Clone, Debug)]
pub struct Detector {
    local: u32,
    nodes: u32,
    /// Messages of the work that were sent less those that were received.
    count: i64,
    is_black: bool,
    is_active: bool,
    token: Option<Token>,
    /// The last round that this node has seen.
    round: u64,
    is_over: bool,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    count: i64,
    is_black: bool,
}

impl Detector {
    /// Creates the part of node `local` of `nodes`. The node is active.
    ///
    /// # Panics
    /// If `local` is not one of `nodes` nodes.
    #[must_use]
    pub fn new(local: NodeId, nodes: u32) -> Self {
        let local = local.number();
        assert!(local < nodes, "node {local} is not one of {nodes} nodes");
        // Node 0 begins as if a round had ended in vain.
        let token = (local == 0).then_some(Token { count: 0, is_black: true });
        Self {
            local,
            nodes,
            count: 0,
            is_black: false,
            is_active: true,
            token,
            round: 0,
            is_over: false,
        }
    }

    /// Returns whether the detection is done or has failed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Counts messages of the work that this node sends to others. The caller calls it before they
    /// can arrive.
    pub fn sent(&mut self, messages: u64) {
        self.count = self.count.wrapping_add_unsigned(messages);
    }

    /// Counts messages of the work that this node has received from others, and makes it active.
    pub fn received(&mut self, messages: u64) {
        self.count = self.count.wrapping_sub_unsigned(messages);
        self.is_black = true;
        self.is_active = true;
    }

    /// Notes that this node has something to do.
    pub fn active(&mut self) {
        self.is_active = true;
    }

    /// Notes that this node has nothing to do until it receives a message, and that all its sent
    /// messages are [counted](Self::sent). Appends orders to `out`.
    pub fn passive(&mut self, out: &mut Vec<Order>) {
        self.is_active = false;
        self.advance(out);
    }

    /// Handles a probe of another node.
    ///
    /// # Errors
    /// [`UnexpectedProbe`]; the state is then unchanged.
    pub fn receive(
        &mut self,
        from: NodeId,
        probe: Probe,
        out: &mut Vec<Order>,
    ) -> Result<(), UnexpectedProbe> {
        if self.is_over {
            // The probe was under way when the detection ended.
            return Ok(());
        }
        let unexpected = Err(UnexpectedProbe { from, probe });
        let number = from.number();
        if number >= self.nodes || number == self.local {
            return unexpected;
        }
        match probe {
            Probe::Token { round, count, black } => {
                let is_from_before = (number + 1) % self.nodes == self.local;
                let is_next = match self.local {
                    // Node 0's own token, which has been round.
                    0 => round == self.round,
                    _ => round == self.round.wrapping_add(1),
                };
                if !is_from_before || !is_next || self.token.is_some() {
                    return unexpected;
                }
                self.round = round;
                self.token = Some(Token { count, is_black: black });
                self.advance(out);
            }
            Probe::Done { .. } if number == 0 => {
                self.is_over = true;
                out.push(Order::Done);
            }
            Probe::Done { .. } => return unexpected,
            Probe::Failed { node } => self.fail(node, out),
        }
        Ok(())
    }

    /// Handles the loss of a node.
    pub fn lost(&mut self, node: NodeId, out: &mut Vec<Order>) {
        if !self.is_over {
            self.fail(node, out);
        }
    }

    /// Passes the token on, or concludes, if this node may.
    fn advance(&mut self, out: &mut Vec<Order>) {
        if self.is_active || self.is_over {
            return;
        }
        let Some(token) = self.token.take() else { return };
        let sum = token.count.wrapping_add(self.count);
        let is_black = token.is_black | std::mem::take(&mut self.is_black);
        let is_alone = self.nodes == 1;
        if self.local != 0 {
            let probe = Probe::Token { round: self.round, count: sum, black: is_black };
            out.push(Order::Send { to: NodeId::new((self.local + 1) % self.nodes), probe });
        } else if is_alone || (!is_black && sum == 0) {
            self.is_over = true;
            self.tell_others(Probe::Done { round: self.round }, None, out);
            out.push(Order::Done);
        } else {
            self.round = self.round.wrapping_add(1);
            let probe = Probe::Token { round: self.round, count: 0, black: false };
            out.push(Order::Send { to: NodeId::new(1), probe });
        }
    }

    fn fail(&mut self, node: NodeId, out: &mut Vec<Order>) {
        self.is_over = true;
        self.token = None;
        self.tell_others(Probe::Failed { node }, Some(node), out);
        out.push(Order::Failed { node });
    }

    fn tell_others(&self, probe: Probe, but: Option<NodeId>, out: &mut Vec<Order>) {
        let others = (0..self.nodes).filter(|&node| node != self.local).map(NodeId::new);
        let told = others.filter(|&node| Some(node) != but);
        out.extend(told.map(|to| Order::Send { to, probe }));
    }
}

#[cfg(test)]
mod tests;
