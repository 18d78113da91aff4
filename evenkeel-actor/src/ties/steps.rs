//! Watching, linking and killing: the steps on the side of the target.

use crate::kin::peer::Peer;
use crate::kin::stopped::Stopped;
use crate::kin::witness::Witness;
use crate::mailbox::{Mailbox, note, tell};
use crate::primitives::oneshot;
use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use evenkeel::internal::Public;

/// Kills an actor, or the present incarnation of a supervised one.
pub(crate) fn kill<M: Send + 'static>(to: &Public<Mailbox<M>>) {
    let is_razed =
        || tell(to, |kin, _| kin.raze(None)).is_ok_and(|(is_supervised, _)| is_supervised);
    if !to.has_post() || !is_razed() {
        to.abort();
    }
}

/// Adds a witness of the end of an actor. Returns the reason if the actor has ended, and all other
/// witnesses have been told.
pub(crate) fn watch<M: Send + 'static>(
    to: &Public<Mailbox<M>>,
    witness: Witness,
) -> Result<(), ExitReason> {
    to.witness(witness)
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
