//! Watching, linking and killing: the steps.

use super::peer::{self, Peer};
use super::{Stopped, Witness};
use crate::control::AnyActor;
use crate::event::Event;
use crate::exit::ExitReason;
use crate::mailbox::{Mailbox, Order, note, tell};
use crate::oneshot;
use crate::words::id::{ActorId, HasId};
use evenkeel::internal::Public;

/// Kills an actor, or the present incarnation of a supervised one.
pub(crate) fn kill<M: Send + 'static>(to: &Public<Mailbox<M>>) {
    if !to.has_post() || !raze(to, None) {
        to.abort();
    }
}

/// The same for a reason.
pub(crate) fn kill_for<M: Send + 'static>(to: &Public<Mailbox<M>>, reason: ExitReason) {
    if !raze(to, Some(reason)) {
        to.abort();
    }
}

/// Whether the actor is supervised, so that its life sees to it.
fn raze<M: Send + 'static>(to: &Public<Mailbox<M>>, reason: Option<ExitReason>) -> bool {
    let razed = tell(to, |kin, _| {
        let late = match kin.verdict {
            None => {
                kin.verdict = reason;
                None
            }
            Some(_) => reason,
        };
        (kin.post.as_mut().map(|post| post.raze = true).is_some(), late)
    });
    razed.is_ok_and(|(supervised, _)| supervised)
}

/// Has a witness told of the end of an actor; gives the reason if that has ended already, and all
/// others have been told.
pub(crate) fn watch<M: Send + 'static>(
    to: &Public<Mailbox<M>>,
    witness: Witness,
) -> Result<(), ExitReason> {
    to.witness(witness).map(drop)
}

pub(crate) fn unwatch<M: Send + 'static>(to: &Public<Mailbox<M>>, by: ActorId) {
    let _ = note(to, |kin, _| kin.witnesses.remove(by));
}

pub(crate) fn stopped<M: Send + 'static>(to: &Public<Mailbox<M>>) -> Stopped {
    let (sender, receiver) = oneshot::channel();
    match watch(to, Witness::Future(sender)) {
        Ok(()) => Stopped::when(receiver),
        Err(reason) => Stopped::over(reason),
    }
}

pub(crate) fn link<M: Send + 'static>(
    to: &Public<Mailbox<M>>,
    id: ActorId,
    peer: Peer,
) -> Result<(), ExitReason> {
    note(to, |kin, _| kin.links.insert(id, peer)).map(drop)
}

/// Whether an order is an event of that actor.
fn is_of(order: &Order, actor: ActorId, link: bool) -> bool {
    let Order::Event(event) = order else { return false };
    match **event {
        Event::Down { actor: of, .. } => !link && of == actor,
        Event::Exit { actor: of, .. } => link && of == actor,
        _ => false,
    }
}

/// What an actor itself does with its ties.
pub(crate) struct Own<'a, M: Send + 'static>(pub(crate) &'a Public<Mailbox<M>>);

impl<M: Send + 'static> Own<'_, M> {
    pub(crate) fn watch(&self, other: &AnyActor) {
        let (me, it) = (self.0.id(), other.id());
        if me == it {
            return;
        }
        let Some(peer) = peer::of(self.0) else { return };
        if !note(self.0, |kin, _| kin.watching.insert(it)).unwrap_or(false) {
            return;
        }
        if let Err(reason) = other.control().watch(Witness::Actor(me, peer.clone())) {
            peer.down(it, &reason);
        }
    }

    pub(crate) fn unwatch(&self, other: &AnyActor) {
        let (me, it) = (self.0.id(), other.id());
        let forgotten = note(self.0, |kin, orders| {
            let told: Vec<_> = orders.extract_if_of(it, false);
            (kin.watching.remove(&it), told)
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
            // As if it had been linked and had ended then.
            let known = note(self.0, |kin, _| kin.links.insert(it, peer.clone()));
            drop(known);
            peer.exit(it, &reason);
        }
    }

    pub(crate) fn unlink(&self, other: &AnyActor) {
        let (me, it) = (self.0.id(), other.id());
        let known = note(self.0, |kin, orders| {
            let told: Vec<_> = orders.extract_if_of(it, true);
            (kin.links.remove(&it), told)
        });
        if let Ok((Some(theirs), _)) = known {
            theirs.unlink(me);
        }
    }
}

/// Taking events out of the orders.
trait Extract {
    fn extract_if_of(&mut self, actor: ActorId, link: bool) -> Vec<Order>;
}

impl Extract for std::collections::VecDeque<Order> {
    fn extract_if_of(&mut self, actor: ActorId, link: bool) -> Vec<Order> {
        let (told, kept): (Vec<_>, Vec<_>) =
            self.drain(..).partition(|order| is_of(order, actor, link));
        self.extend(kept);
        told
    }
}
