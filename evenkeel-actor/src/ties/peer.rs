//! Addresses of actors that keep no actor alive.
//!
//! A reference to an actor counts, and an actor without references stops. A *peer* does not count:
//! it is a cell with the address of the actor's task. The actor empties the cell, under the cell's
//! lock, before it gives up its own reference to the task. So a thread that finds an address there,
//! under the same lock, can make a counted reference of it.

#![allow(unsafe_code, reason = "an address is kept that counts nothing")]

use super::steps;
use crate::kin::order::{Counted, Order};
use crate::kin::peer::{OwnPeer, Peer, Reach};
use crate::mailbox::{Mailbox, note, tell};
use crate::words::event::Event;
use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use evenkeel::internal::{Own, Public, SpinLock};
use std::sync::Arc;

/// The peer of an actor of this process.
struct Local<M: Send + 'static>(SpinLock<Option<Own<Mailbox<M>>>>);

impl<M: Send + 'static> Local<M> {
    fn reach(&self) -> Option<Public<Mailbox<M>>> {
        self.0.lock().as_ref().map(Own::public)
    }
}

/// Makes a peer of an actor.
///
/// # Safety
/// The peer is severed before the reference that `own` was made of is gone.
unsafe fn local<M: Send + 'static>(own: &Public<Mailbox<M>>) -> Peer {
    // SAFETY: the caller's promise: it severs the peer before the reference is gone.
    let own = unsafe { Own::of(own) };
    Arc::new(Local(SpinLock::new(Some(own))))
}

impl<M: Send + 'static> Reach for Local<M> {
    fn down(&self, from: ActorId, reason: &ExitReason) {
        let Some(to) = self.reach() else { return };
        let event = Event::Down { actor: from, reason: reason.clone() };
        let mut order = Some(Order::event(event, None));
        let _ = tell(&to, |kin, orders| {
            if kin.forget(from) {
                orders.extend(order.take());
            }
        });
    }

    fn exit(&self, from: ActorId, reason: &ExitReason, counted: Option<Counted>) {
        let Some(to) = self.reach() else { return };
        let event = Event::Exit { actor: from, reason: reason.clone() };
        let mut order = Some(Order::event(event, counted));
        let mut verdict = (!reason.is_normal()).then(|| reason.for_linked(from));
        // In one step: after it an `unlink` finds no link, and there may be another incarnation.
        let dies = tell(&to, |kin, orders| {
            let link = kin.links.remove(&from);
            if link.is_some() && kin.traps {
                orders.extend(order.take());
            }
            let dies = link.is_some() && !kin.traps && verdict.is_some();
            let razed = dies.then(|| kin.raze(verdict.take()));
            (razed, link)
        });
        if let Ok((Some((false, _)), _)) = dies {
            to.abort();
        }
    }

    fn link(&self, other: ActorId, peer: Peer) -> bool {
        let Some(to) = self.reach() else { return false };
        steps::link(&to, other, peer).is_ok()
    }

    fn unlink(&self, from: ActorId) {
        let Some(to) = self.reach() else { return };
        let _ = tell(&to, |kin, _| kin.links.remove(&from));
    }

    fn child_ended(&self, number: u64, child: ActorId, reason: &ExitReason) {
        let Some(to) = self.reach() else { return };
        let event = Event::ChildEnded { child, reason: reason.clone() };
        let mut order = Some(Order::event(event, None));
        let _ = tell(&to, |kin, orders| {
            // A child of an earlier incarnation does not concern the present one.
            if number >= kin.first_child {
                orders.extend(order.take());
            }
            kin.children.remove(&number)
        });
    }

    fn event(&self, event: Event) {
        let Some(to) = self.reach() else { return };
        let mut order = Some(Order::event(event, None));
        let _ = tell(&to, |_, orders| orders.extend(order.take()));
    }

    fn is_gone(&self) -> bool {
        self.0.lock().is_none()
    }

    fn sever(&self) {
        *self.0.lock() = None;
    }
}

/// Returns the actor's own peer, and makes it if there is none. Returns `None` if the actor has
/// ended.
pub(crate) fn of<M: Send + 'static>(own: &Public<Mailbox<M>>) -> Option<Peer> {
    note(own, |kin, _| {
        // SAFETY: an actor severs the peer that it has when it ends, and after that it takes none.
        let make = || unsafe { local(own) };
        kin.peer.get_or_insert_with(|| OwnPeer(make())).0.clone()
    })
    .ok()
}
