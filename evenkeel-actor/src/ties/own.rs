//! Watching and linking: the steps on the side of the actor that asks for it.

use super::peer;
use crate::kin::control::AnyActor;
use crate::kin::order::Order;
use crate::kin::witness::Witness;
use crate::mailbox::{Mailbox, note};
use crate::words::event::Event;
use crate::words::id::{ActorId, HasId};
use evenkeel::internal::Public;
use std::collections::VecDeque;

/// Returns whether an order is an event of that actor: of a link, or else of a watch.
fn is_of(order: &Order, actor: ActorId, link: bool) -> bool {
    let Order::Event(news) = order else { return false };
    match news.event {
        Event::Down { actor: of, .. } => !link && of == actor,
        Event::Exit { actor: of, .. } => link && of == actor,
        _ => false,
    }
}

/// The steps of an actor on its own ties.
pub(crate) struct Own<'a, M: Send + 'static>(pub(crate) &'a Public<Mailbox<M>>);

impl<M: Send + 'static> Own<'_, M> {
    pub(crate) fn watch(&self, other: &AnyActor) {
        let (me, it) = (self.0.id(), other.id());
        if me == it {
            return;
        }
        let Some(peer) = peer::of(self.0) else { return };
        let noted = note(self.0, |kin, _| kin.watching.get_or_insert_default().insert(it));
        if !noted.unwrap_or(false) {
            return;
        }
        if let Err(reason) = other.control().watch(Witness::Actor(me, peer.clone())) {
            peer.down(it, &reason);
        }
    }

    pub(crate) fn unwatch(&self, other: &AnyActor) {
        let (me, it) = (self.0.id(), other.id());
        let forgotten = note(self.0, |kin, orders| {
            let told = extract(orders, it, false);
            (kin.forget(it), told)
        });
        if forgotten.is_ok_and(|(watched, _)| watched) {
            other.control().unwatch(me);
        }
    }

    pub(crate) fn link(&self, other: &AnyActor) {
        let (me, it) = (self.0.id(), other.id());
        if me == it {
            return;
        }
        let Some(peer) = peer::of(self.0) else { return };
        let theirs = other.control().peer();
        let before = theirs.map(|theirs| note(self.0, |kin, _| kin.links.insert(it, theirs)));
        let linked = other.control().link(me, peer.clone());
        drop(before);
        if let Err(reason) = linked {
            // As if the other actor had been linked and had ended then.
            let known = note(self.0, |kin, _| kin.links.insert(it, peer.clone()));
            drop(known);
            peer.exit(it, &reason, None);
        }
    }

    pub(crate) fn unlink(&self, other: &AnyActor) {
        let (me, it) = (self.0.id(), other.id());
        let known = note(self.0, |kin, orders| {
            let told = extract(orders, it, true);
            (kin.links.remove(&it), told)
        });
        if let Ok((Some(theirs), _)) = known {
            theirs.unlink(me);
        }
    }
}

/// Takes events of that actor out of the orders, for the caller to drop without the lock.
///
/// # Cost
/// One look at each order. There may be several events: an actor that has been watched again after
/// its end is heard of again. Orders move only where one is taken out.
fn extract(orders: &mut VecDeque<Order>, actor: ActorId, link: bool) -> Vec<Order> {
    let (mut told, mut at) = (Vec::new(), 0);
    while let Some(next) = orders.range(at..).position(|order| is_of(order, actor, link)) {
        at += next;
        told.extend(orders.remove(at));
    }
    told
}
