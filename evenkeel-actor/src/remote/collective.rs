//! What all nodes do together: the barrier, and the end of all work.
//!
//! [`barrier`](crate::node::barrier) and [`termination`](crate::node::termination) are the
//! protocols; here they meet the transport and the waiting tasks.
//!
//! # What counts for the end of all work
//! Messages that have left and those that have come and were read, without those of protocols:
//! numbers that the multiplexer and the readers have anyway, so a message costs nothing more for
//! it. A node is passive when it has declared its part finished, none of its system's actors is
//! alive but subscribers to [dead letters](crate::System::on_dead_letter), and nothing that has
//! come is unread. That is looked at in one evaluation, which counts as received what had been read
//! before it, as sent what had left after it, and is thrown away if more has been read in between
//! or anything is unread at its end: so whatever was sent because of a message is counted together
//! with that message. Outside of evaluations the detector takes the node for active, and holds the
//! token.
//!
//! # When nodes leave
//! A node leaves when it has passed a barrier, or knows of the end of all work, and its going may
//! be heard of before that of which it knows has come from a third node. So a barrier is broken by
//! the loss of a neighbour in its tree alone, whose last words come before its loss, and who else
//! waits is told by its neighbours; and a node that has heard of the end of all work waits for all
//! others to have, in a barrier of its own, before it says so.
//!
//! A node that leaves, and one whose host has ended, abandons what it waits for itself: from then
//! on it is told nothing.
//!
//! Evaluations are made when a probe comes, and every [`LOOK`], since the end of an actor tells
//! nobody.

use super::barriers::{Collective, END, PASS, State};
use super::error::NodeLost;
use super::inner::{Inner, Peer};
use crate::node::barrier::{BarrierError, Outgoing, Standing};
use crate::node::termination::Order;
use crate::node::wire::{BarrierStep, Message, Probe};
use crate::node::{NodeId, tree};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::{Poll, Waker};
use std::time::Duration;

/// Between two evaluations. An estimate: far below what a user would call a delay; no benchmark
/// sets it.
const LOOK: Duration = Duration::from_micros(500);

impl Collective {
    /// Changes the state, sends what comes of it, and wakes who waits. Messages are put in under
    /// the lock, so that they are counted when an evaluation looks.
    fn change<R>(
        &self,
        node: &Inner,
        change: impl FnOnce(&mut State, &mut [Vec<Outgoing>; 2], &mut Vec<Order>) -> R,
    ) -> R {
        let (mut steps, mut orders) = ([Vec::new(), Vec::new()], Vec::new());
        let mut state = self.lock();
        let result = change(&mut state, &mut steps, &mut orders);
        for (barrier, steps) in (0..).zip(steps) {
            for Outgoing { to, phase, step } in steps {
                if let Some(peer) = node.peer(to) {
                    peer.control(Message::Barrier { barrier, phase, step });
                }
            }
        }
        for order in orders {
            match order {
                Order::Send { to, probe } => {
                    if let Some(peer) = node.peer(to) {
                        peer.control(Message::Termination(probe));
                    }
                }
                Order::Done => _ = state.outcome.get_or_insert(Ok(())),
                Order::Failed { node } => {
                    state.outcome.get_or_insert(Err(NodeLost { node: Some(node) }));
                }
            }
        }
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
        result
    }

    /// A node has said something of the barrier. False if that cannot be.
    pub(crate) fn barrier(
        &self,
        node: &Inner,
        from: NodeId,
        barrier: u64,
        phase: u64,
        step: BarrierStep,
    ) -> bool {
        let received = self.change(node, |state, out, _| {
            let barrier = usize::try_from(barrier).ok()?;
            let machine = state.barriers.get_mut(barrier)?;
            machine.receive(from, phase, step, &mut out[barrier]).ok()
        });
        received.is_some()
    }

    /// A node has sent a probe. False if that cannot be.
    pub(crate) fn probe(&self, node: &Inner, from: NodeId, probe: Probe) -> bool {
        let received = self.change(node, |state, _, out| state.detector.receive(from, probe, out));
        received.is_ok()
    }

    /// A node is gone.
    pub(crate) fn lost(&self, node: &Inner, lost: NodeId) {
        self.change(node, |state, steps, orders| {
            state.lost.get_or_insert(lost);
            let (own, other) = (node.number.number(), lost.number());
            if tree::parent(own) == Some(other) || tree::parent(other) == Some(own) {
                for (barrier, steps) in state.barriers.iter_mut().zip(steps) {
                    barrier.lost(lost, steps);
                }
            }
            state.detector.lost(lost, orders);
        });
    }

    /// This node leaves, or nobody drives its transport any more: who waits here waits in vain. The
    /// others hear of it as a loss, so nothing is sent.
    pub(crate) fn abandon(&self) {
        let waiting = {
            let mut state = self.lock();
            state.has_left = true;
            let lost = state.lost;
            state.outcome.get_or_insert(Err(NodeLost { node: lost }));
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Waits until all nodes have come as far.
    pub(crate) async fn pass(&self, node: &Inner) -> Result<(), NodeLost> {
        self.pass_barrier(node, PASS).await
    }

    /// Passes a barrier; that of the end of all work once, whoever of this node asks for it, and
    /// however often.
    async fn pass_barrier(&self, node: &Inner, barrier: usize) -> Result<(), NodeLost> {
        let broken = |state: &State| NodeLost { node: state.lost };
        let phase = self.change(node, |state, out, _| {
            if state.has_left {
                return Err(broken(state));
            }
            let machine = &mut state.barriers[barrier];
            let phase = machine.phase();
            if barrier == END && phase > 0 {
                return Ok(None);
            }
            match machine.enter(&mut out[barrier]) {
                // Another task of this node waits already: they pass together.
                Ok(()) | Err(BarrierError::Entered) => Ok(Some(phase)),
                Err(_) => Err(broken(state)),
            }
        })?;
        let Some(phase) = phase else { return Ok(()) };
        node.multiplexer.flush();
        poll_fn(|context| {
            let mut state = self.lock();
            if state.barriers[barrier].phase() > phase {
                return Poll::Ready(Ok(()));
            }
            if state.barriers[barrier].standing() == Standing::Broken || state.has_left {
                return Poll::Ready(Err(broken(&state)));
            }
            state.waiting.push(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Declares this node's part finished, and waits until all is.
    pub(crate) async fn finish(&self, node: &Inner) -> Result<(), NodeLost> {
        loop {
            self.evaluate(node);
            let mut look = pin!(evenkeel::time::sleep(LOOK));
            let outcome = poll_fn(|context| {
                let mut state = self.lock();
                if state.outcome.is_some() {
                    return Poll::Ready(state.outcome);
                }
                if look.as_mut().poll(context).is_ready() {
                    return Poll::Ready(None);
                }
                state.waiting.push(context.waker().clone());
                Poll::Pending
            })
            .await;
            if let Some(outcome) = outcome {
                node.multiplexer.flush();
                if outcome.is_ok() {
                    // A node that is lost now has heard of the end too, or was not needed for it.
                    let _ = self.pass_barrier(node, END).await;
                }
                return outcome;
            }
        }
    }

    /// Looks whether this node is passive, and if so has the detector do what a passive node does.
    fn evaluate(&self, node: &Inner) {
        if self.lock().outcome.is_some() {
            return;
        }
        self.change(node, |state, _, orders| {
            let received = node.received();
            if node.unread.load(Ordering::SeqCst) > 0 || node.system.working() > 0 {
                return;
            }
            node.multiplexer.flush();
            let sent = node.sent();
            // What a node's loss discards was not sent, so the counts fit no more; a gate is shut
            // before. The loss itself is told when its last words are read.
            if node.others().any(Peer::is_down) {
                return;
            }
            if node.unread.load(Ordering::SeqCst) > 0 || node.received() != received {
                return;
            }
            let newly = received.wrapping_sub(state.received);
            if newly > 0 {
                state.detector.received(newly);
                state.received = received;
            }
            state.detector.sent(sent.wrapping_sub(state.sent));
            state.sent = sent;
            state.detector.passive(orders);
            state.detector.active();
        });
        node.multiplexer.flush();
    }
}

impl Inner {
    /// Messages of the work that have left. Exact, modulo 2^64, while no node is down and all lanes
    /// have been flushed.
    fn sent(&self) -> u64 {
        let all = self.others().map(|peer| {
            let control = peer.control.load(Ordering::SeqCst);
            self.multiplexer.traffic(peer.id).messages_out.wrapping_sub(control)
        });
        all.fold(0, u64::wrapping_add)
    }

    /// Messages of the work that have come and were read.
    fn received(&self) -> u64 {
        self.counts.messages.load(Ordering::SeqCst)
    }
}
