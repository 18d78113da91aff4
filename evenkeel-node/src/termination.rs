//! When all work of all nodes is done, as a state machine without a transport: Safra's counted
//! token.
//!
//! # Protocol
//! After E. W. Dijkstra, "Shmuel Safra's version of termination detection" (EWD 998, 1987). A node
//! is *active* while it has anything to do, and only an active node sends messages of the work; a
//! passive one becomes active by receiving one. Each node counts the messages that it has sent less
//! those that it has received, and becomes *black* by receiving. A token goes round, from each node
//! to the one with the next number. It is held by an active node and passed on by a passive one,
//! which adds its count to the token's, makes the token black if it is black itself, and becomes
//! white. When the token is back at node 0, and that is passive, all is done if token and node are
//! white and the token's count and its own add up to zero. If not, it sends the token round again.
//!
//! # Why it is right
//! A count that does not add up to zero means messages that are under way. If the counts add up
//! although some node has become active again behind the token, then because a message was counted
//! as received and not as sent, or the reverse: the receiver is black and still before the token,
//! so the token becomes black. It needs no order of messages, and no time. The detection comes
//! after at most two rounds in which nothing happens.
//!
//! # If a node is lost
//! What it has sent and received is not known, so nothing can be concluded: the detection fails,
//! everywhere, as each node that hears of a loss tells all others.
//!
//! # Rejected
//! Silence for some seconds, as in Thorium: it takes those seconds, and is wrong if a node computes
//! for longer. Mattern's four counters: two waves that visit all nodes where the token's round is
//! one, for no gain with tens of nodes.

use super::NodeId;
use super::wire::Probe;
use std::error::Error;
use std::fmt;

/// What a detector wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Send this to another node.
    Send {
        /// To whom.
        to: NodeId,
        /// What.
        probe: Probe,
    },
    /// All work of all nodes is done. Comes once, on each node.
    Done,
    /// It cannot be known any more. Comes once, on each node, and not after `Done`.
    Failed {
        /// The node that is gone.
        node: NodeId,
    },
}

/// A node has said what it cannot say now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnexpectedProbe {
    /// Who.
    pub from: NodeId,
    /// What.
    pub probe: Probe,
}

impl fmt::Display for UnexpectedProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} sends {:?}, which it cannot now", self.from, self.probe)
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
    /// The part of node `local` of `nodes`. It is active.
    ///
    /// # Panics
    /// If it is none of them.
    #[must_use]
    pub fn new(local: NodeId, nodes: u32) -> Self {
        let local = local.number();
        assert!(local < nodes, "node {local} is none of {nodes}");
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

    /// Whether it is done or has failed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// This node has sent so many messages of the work to others. To be called before they can
    /// arrive.
    pub fn sent(&mut self, messages: u64) {
        self.count = self.count.wrapping_add_unsigned(messages);
    }

    /// This node has received so many messages of the work from others, and is active by that.
    pub fn received(&mut self, messages: u64) {
        self.count = self.count.wrapping_sub_unsigned(messages);
        self.is_black = true;
        self.is_active = true;
    }

    /// This node has something to do.
    pub fn active(&mut self) {
        self.is_active = true;
    }

    /// This node has nothing to do until it receives a message, and all that it has sent is
    /// [counted](Self::sent). What is to be done now is appended to `out`.
    pub fn passive(&mut self, out: &mut Vec<Order>) {
        self.is_active = false;
        self.advance(out);
    }

    /// Another node has sent a probe.
    ///
    /// # Errors
    /// [`UnexpectedProbe`]; nothing has changed then.
    pub fn receive(
        &mut self,
        from: NodeId,
        probe: Probe,
        out: &mut Vec<Order>,
    ) -> Result<(), UnexpectedProbe> {
        if self.is_over {
            // What was under way when it ended.
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
                    // Its own token, which has been round.
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

    /// A node is gone.
    pub fn lost(&mut self, node: NodeId, out: &mut Vec<Order>) {
        if !self.is_over {
            self.fail(node, out);
        }
    }

    /// Does with the token what can be done.
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
