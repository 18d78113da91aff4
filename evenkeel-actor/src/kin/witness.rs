//! Witnesses: receivers of the news that an actor has ended.

use super::peer::Peer;
use crate::primitives::oneshot;
use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use evenkeel::internal::contain;
use std::collections::HashSet;
use std::sync::Arc;

/// The pending report of a supervisor's end, shared by the actors below the supervisor.
pub(crate) trait Keeper: Send + Sync {
    /// Gives a share back. The last share makes the report, and returns the shares that the
    /// supervisor itself had.
    fn release(self: Arc<Self>) -> Vec<Arc<dyn Keeper>>;
}

/// A receiver of the news that an actor has ended.
pub(crate) enum Witness {
    /// A watching actor.
    Actor(ActorId, Peer),
    /// A future.
    Future(oneshot::Sender<ExitReason>),
    /// The pending report of its supervisor, which has ended. Dropping the last share makes the
    /// report.
    Keeper(Arc<dyn Keeper>),
}

impl Witness {
    pub(crate) fn is_gone(&self) -> bool {
        match self {
            Self::Actor(_, peer) => peer.is_gone(),
            Self::Future(sender) => sender.is_closed(),
            Self::Keeper(_) => false,
        }
    }

    /// Returns whether the witness is an actor.
    pub(crate) fn is_actor(&self) -> bool {
        matches!(self, Self::Actor(..))
    }

    /// Tells the witness that an actor has ended.
    pub(crate) fn tell(self, of: ActorId, reason: &ExitReason) {
        match self {
            Self::Actor(_, peer) => peer.down(of, reason),
            // A future that has been dropped is not told.
            Self::Future(sender) => drop(contain(|| sender.send(reason.clone()).is_ok())),
            Self::Keeper(last) => drop(last),
        }
    }
}

/// The witnesses of one actor.
#[derive(Default)]
pub(crate) struct Witnesses {
    all: Vec<Witness>,
    /// The number of witnesses at which those that have gone are looked for.
    bound: usize,
}

impl Witnesses {
    /// Adds a witness. Returns the witnesses that have gone, and duplicates, for the caller to drop
    /// outside of the lock. A duplicate arises when a restarted actor has forgotten its watch. The
    /// search runs whenever the number has doubled, so that a long life with many short watches
    /// does not grow.
    #[must_use]
    pub(crate) fn add(&mut self, witness: Witness) -> Vec<Witness> {
        let mut gone = Vec::new();
        if self.all.len() >= self.bound.max(8) {
            let mut seen = HashSet::new();
            let mut is_spare = |witness: &mut Witness| match witness {
                Witness::Actor(by, _) if !seen.insert(*by) => true,
                witness => witness.is_gone(),
            };
            gone.extend(self.all.extract_if(.., &mut is_spare));
            self.bound = self.all.len() * 2;
        }
        self.all.push(witness);
        gone
    }

    #[must_use]
    pub(crate) fn remove(&mut self, by: ActorId) -> Option<Witness> {
        let is = |witness: &Witness| matches!(witness, Witness::Actor(id, _) if *id == by);
        let index = self.all.iter().position(is)?;
        Some(self.all.swap_remove(index))
    }

    pub(crate) fn take(&mut self) -> Vec<Witness> {
        std::mem::take(&mut self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn witnesses_that_have_gone_make_room() {
        let mut witnesses = Witnesses::default();
        let mut kept = Vec::new();
        for n in 0..10_000 {
            let (sender, receiver) = oneshot::channel();
            drop(witnesses.add(Witness::Future(sender)));
            if n % 1_000 == 0 {
                kept.push(receiver);
            }
        }
        assert!(witnesses.all.len() < 64, "{}", witnesses.all.len());
        let told = witnesses.take().into_iter().filter(|witness| !witness.is_gone());
        assert_eq!(told.count(), kept.len());
    }
}
