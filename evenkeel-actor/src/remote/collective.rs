//! Collective operations: the barrier, and the end of all work.
//!
//! [`barrier`](crate::node::barrier) and [`termination`](crate::node::termination) are the
//! protocols; here they meet the transport and the waiting tasks.
//!
//! # What counts for the end of all work
//! Messages that have left count, and those that have come and were read, without messages of
//! protocols. The multiplexer and the readers have these numbers anyway, so they cost a message
//! nothing. A node is passive under three conditions. It has declared its part finished. None of
//! its system's actors is alive, except subscribers to [dead
//! letters](crate::System::on_dead_letter). Nothing that has come is unread. One evaluation checks
//! all three. It counts as received what was read before it, and as sent what has left after it. It
//! is thrown away if more was read in between, or if anything is unread at its end. So a message is
//! counted together with all that was sent because of it. Outside of evaluations the detector takes
//! the node for active, and holds the token.
//!
//! # Why no message of the work escapes the count
//! The messages that have left are counted together. To count those of the work alone, an
//! evaluation takes off those of protocols. It must not take off one that has not left: one message
//! of the work on its way would then not count. So a sender counts a message of a protocol after it
//! has put it into a lane, and an evaluation first reads these counts, then flushes all lanes, then
//! reads how many messages have left. A message whose count it has read was in its lane before the
//! flush: it has left by then, with the flush or before. The evaluation sees that, since each frame
//! is counted under its lane's lock, which the flush takes afterwards.
//!
//! The other way round an evaluation may see a message of a protocol that has left, and not its
//! count. It then takes the message for one of the work, until the next evaluation. The receiver
//! does not: it counts by the kinds of messages. So the sum in the token is too high, never too
//! low. The algorithm's invariants hold for the true sum. If work is left, a white token with that
//! sum would end its round above zero, and with a higher one also does. So no end is found too
//! early, and a vain round is followed by another.
//!
//! # When nodes leave
//! A node leaves when it has passed a barrier, or knows of the end of all work. Other nodes may
//! hear that it left before they hear, from a third node, what it knew. So only the loss of a
//! neighbour in a node's tree breaks a barrier: a neighbour's last messages come before its loss,
//! and neighbours tell the other nodes that wait. A node that knows of the end of all work waits in
//! a barrier of its own until all others know, before it reports the end.
//!
//! A node abandons its own waits when it leaves, and when its host has ended: from then on it is
//! told nothing.
//!
//! Evaluations run when a probe comes, and every [`LOOK`], since an actor's end does not trigger
//! one.

use super::barriers::{Collective, END, PASS, State};
use super::error::NodeLost;
use super::inner::{Inner, Peer};
use crate::node::barrier::{BarrierError, Outgoing, Standing};
use crate::node::termination::Order;
use crate::node::wire::{BarrierStep, Message, Probe};
use crate::node::{NodeId, tree};
use evenkeel::budget;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

/// The time between two evaluations. An estimate: far below what a user would call a delay; no
/// benchmark sets it.
const LOOK: Duration = Duration::from_micros(500);

impl Collective {
    /// Changes the state, sends the messages that result, and wakes the waiting tasks. Messages are
    /// put in under the lock, so that an evaluation counts them.
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
        drop(state);
        self.waiters.wake();
        result
    }

    /// Handles a peer's message about a barrier. False if the protocol does not allow it.
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

    /// Handles a peer's probe. False if the protocol does not allow it.
    pub(crate) fn probe(&self, node: &Inner, from: NodeId, probe: Probe) -> bool {
        let received = self.change(node, |state, _, out| {
            state.is_probed = true;
            state.detector.receive(from, probe, out)
        });
        received.is_ok()
    }

    /// Handles the loss of a node.
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

    /// Fails all waits here: this node leaves, or its transport is not driven any more. The others
    /// hear of that as a loss, so nothing is sent.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.has_left = true;
        let lost = state.lost;
        state.outcome.get_or_insert(Err(NodeLost { node: lost }));
        drop(state);
        self.waiters.wake();
    }

    /// Waits until all nodes have come to the same barrier.
    pub(crate) async fn pass(&self, node: &Inner) -> Result<(), NodeLost> {
        // A broken barrier fails at once, and a node alone passes at once.
        budget::consume().await;
        self.pass_barrier(node, PASS).await
    }

    /// Passes a barrier. The barrier of the end of all work is passed once, however many tasks of
    /// this node ask for it, and however often.
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
        let look = |_: &mut Context<'_>| {
            let state = self.lock();
            if state.barriers[barrier].phase() > phase {
                return Poll::Ready(Ok(()));
            }
            if state.barriers[barrier].standing() == Standing::Broken || state.has_left {
                return Poll::Ready(Err(broken(&state)));
            }
            Poll::Pending
        };
        self.waiters.until(look).await
    }

    /// Declares this node's part finished, and waits for the end of all work.
    pub(crate) async fn finish(&self, node: &Inner) -> Result<(), NodeLost> {
        // An outcome that is known is returned at once.
        budget::consume().await;
        loop {
            self.evaluate(node);
            let mut look = pin!(evenkeel::time::sleep(LOOK));
            let outcome = self.waiters.until(|context| {
                let state = self.lock();
                if state.outcome.is_some() || state.is_probed {
                    return Poll::Ready(state.outcome);
                }
                drop(state);
                look.as_mut().poll(context).map(|()| None)
            });
            if let Some(outcome) = outcome.await {
                node.multiplexer.flush();
                if outcome.is_ok() {
                    // A node that is lost at this point knows of the end too, or was not needed for
                    // it.
                    let _ = self.pass_barrier(node, END).await;
                }
                return outcome;
            }
        }
    }

    /// Checks whether this node is passive, and if so has the detector do what a passive node does.
    fn evaluate(&self, node: &Inner) {
        if self.lock().outcome.is_some() {
            return;
        }
        self.change(node, |state, _, orders| {
            state.is_probed = false;
            let received = node.received();
            if node.unread.load(Ordering::SeqCst) > 0 || node.system.working() > 0 {
                return;
            }
            let sent = node.sent();
            // Messages that a node's loss discards were not sent, so the counts do not match any
            // more; a gate is shut before. The loss itself is reported when the node's last
            // messages are read.
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
    /// Flushes all lanes, and returns the number of messages of the work that have left, modulo
    /// 2^64. While no node is down it is never too low. It is too high by messages of protocols
    /// that are put in meanwhile.
    fn sent(&self) -> u64 {
        let control = self.others().map(|peer| peer.control.load(Ordering::SeqCst));
        let control = control.fold(0, u64::wrapping_add);
        self.multiplexer.flush();
        let out = self.others().map(|peer| self.multiplexer.traffic(peer.id).messages_out);
        out.fold(0, u64::wrapping_add).wrapping_sub(control)
    }

    /// The messages of the work that have come and were read.
    fn received(&self) -> u64 {
        self.counts.messages.load(Ordering::SeqCst)
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use crate::node::NodeId;
    use crate::node::in_process::{Faults, network};
    use crate::node::policy::Packing;
    use crate::node::wire::Message;
    use crate::remote::Node;
    use crate::system::System;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    #[test]
    fn messages_of_protocols_that_are_being_put_in_hide_no_work() {
        let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
        let (_control, mut ends) = network(2, Faults::default());
        let packing = Packing { frame: 256, ..Packing::default() };
        let builder = Node::builder().system(System::new()).packing(packing);
        // The host is not driven: frames wait.
        let (node, _host) = builder.build(ends.remove(0), runtime.handle(), 2, true);
        let inner = node.inner();
        let peer = inner.peer(NodeId::new(1)).unwrap();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                (0..20_000).for_each(|loan| peer.control(Message::Counted { loan }));
                is_over.store(true, Ordering::SeqCst);
            });
            while !is_over.load(Ordering::SeqCst) {
                inner.multiplexer.flush();
                let sent = inner.sent();
                assert!(sent <= 20_000, "{} too few", sent.wrapping_neg());
            }
        });
        assert_eq!(inner.sent(), 0);
    }
}
