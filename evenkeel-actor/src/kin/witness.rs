//! Witnesses: receivers of the news that an actor has ended.

use super::peer::Peer;
use crate::primitives::oneshot;
use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use evenkeel::internal::contain;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
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
    Future(Joiner),
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
        self.actor().is_some()
    }

    /// Returns the actor that watches, if the witness is one.
    fn actor(&self) -> Option<ActorId> {
        match self {
            Self::Actor(by, _) => Some(*by),
            Self::Future(_) | Self::Keeper(_) => None,
        }
    }

    /// Tells the witness that an actor has ended.
    pub(crate) fn tell(self, of: ActorId, reason: &ExitReason) {
        match self {
            Self::Actor(_, peer) => peer.down(of, reason),
            Self::Future(joiner) => tell(joiner, reason),
            Self::Keeper(last) => drop(last),
        }
    }
}

/// The futures that wait for the end of one actor. Most actors that are waited for have one, which
/// needs no list.
#[derive(Debug, Default)]
pub(crate) struct Joiners {
    first: Option<Joiner>,
    more: Vec<Joiner>,
}

/// The end at which a future is told.
pub(crate) type Joiner = oneshot::Sender<ExitReason>;

impl Joiners {
    /// Adds a future. Returns those that have gone, for the caller to drop outside of the lock. The
    /// search for them runs whenever the list is full, and leaves it half empty at least.
    #[must_use]
    pub(crate) fn add(&mut self, joiner: Joiner) -> Vec<Joiner> {
        if self.first.as_ref().is_none_or(Joiner::is_closed) {
            return self.first.replace(joiner).into_iter().collect();
        }
        let mut gone = Vec::new();
        if self.more.len() == self.more.capacity() {
            gone.extend(self.more.extract_if(.., |joiner| joiner.is_closed()));
            self.more.reserve(self.more.len().max(4));
        }
        self.more.push(joiner);
        gone
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Tells each future that its actor has ended.
    pub(crate) fn tell(self, reason: &ExitReason) {
        for joiner in self.first.into_iter().chain(self.more) {
            tell(joiner, reason);
        }
    }
}

/// Tells a future, unless it has been dropped.
fn tell(joiner: Joiner, reason: &ExitReason) {
    contain(|| drop(joiner.send(reason.clone())));
}

/// The witnesses of one actor.
#[derive(Default)]
pub(crate) struct Witnesses {
    all: Vec<Witness>,
    /// The places of the watching actors in `all`. Made by the first of them.
    places: Option<HashMap<ActorId, usize>>,
    /// The number of witnesses at which those that have gone are looked for.
    bound: usize,
}

impl Witnesses {
    /// Adds a witness, instead of an earlier one of the same actor: a restarted actor has forgotten
    /// its watch. Returns the witnesses that have gone, for the caller to drop outside of the lock.
    /// The search for them runs whenever the number has doubled, so that a long life with many
    /// short watches does not grow.
    #[must_use]
    pub(crate) fn add(&mut self, witness: Witness) -> Vec<Witness> {
        let mut gone = Vec::new();
        if self.all.len() >= self.bound.max(8) {
            gone.extend(self.all.extract_if(.., |witness| witness.is_gone()));
            self.bound = self.all.len() * 2;
            if let Some(places) = &mut self.places {
                places.clear();
                // A map is cleared in the time of the most that it ever had.
                places.shrink_to(self.bound);
                let actors = self.all.iter().enumerate();
                places.extend(actors.filter_map(|(at, witness)| Some((witness.actor()?, at))));
            }
        }
        let Some(by) = witness.actor() else {
            self.all.push(witness);
            return gone;
        };
        match self.places.get_or_insert_default().entry(by) {
            Entry::Occupied(place) => {
                gone.push(std::mem::replace(&mut self.all[*place.get()], witness));
            }
            Entry::Vacant(place) => {
                place.insert(self.all.len());
                self.all.push(witness);
            }
        }
        gone
    }

    #[must_use]
    pub(crate) fn remove(&mut self, by: ActorId) -> Option<Witness> {
        let places = self.places.as_mut()?;
        let at = places.remove(&by)?;
        let witness = self.all.swap_remove(at);
        if let Some(moved) = self.all.get(at).and_then(Witness::actor) {
            places.insert(moved, at);
        }
        Some(witness)
    }

    pub(crate) fn take(&mut self) -> Vec<Witness> {
        self.places = None;
        std::mem::take(&mut self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kin::peer::Far;

    /// A search through all witnesses for each that leaves would take minutes.
    #[test]
    fn a_watching_actor_is_found_among_many() {
        let mut witnesses = Witnesses::default();
        let far: Peer = Arc::new(Far(false));
        let actors: Vec<_> = (0..200_000).map(|_| ActorId::fresh()).collect();
        for &actor in &actors {
            assert!(witnesses.add(Witness::Actor(actor, far.clone())).is_empty());
        }
        // One that watches anew takes its own place.
        let again = witnesses.add(Witness::Actor(actors[7], far.clone()));
        assert!(matches!(&again[..], [Witness::Actor(by, _)] if *by == actors[7]));
        let (leaving, staying) = actors.split_at(actors.len() / 2);
        for &actor in leaving.iter().rev() {
            let witness = witnesses.remove(actor);
            assert!(matches!(witness, Some(Witness::Actor(by, _)) if by == actor));
            assert!(witnesses.remove(actor).is_none());
        }
        let mut left: Vec<_> = witnesses.take().iter().filter_map(Witness::actor).collect();
        left.sort_unstable();
        assert_eq!(left, staying);
    }

    #[test]
    fn watching_actors_that_have_gone_make_room() {
        let (mut witnesses, mut kept) = (Witnesses::default(), Vec::new());
        for n in 0..10_000 {
            let (by, is_gone) = (ActorId::fresh(), n % 1_000 != 0);
            drop(witnesses.add(Witness::Actor(by, Arc::new(Far(is_gone)))));
            if !is_gone {
                kept.push(by);
            }
        }
        assert!(witnesses.all.len() < 64, "{}", witnesses.all.len());
        for by in kept {
            let witness = witnesses.remove(by);
            assert!(matches!(witness, Some(Witness::Actor(actor, _)) if actor == by));
        }
    }

    #[test]
    fn futures_that_have_gone_make_room() {
        let (mut joiners, mut kept) = (Joiners::default(), Vec::new());
        for n in 0..10_000 {
            let (joiner, receiver) = oneshot::channel();
            drop(joiners.add(joiner));
            if n % 1_000 == 0 {
                kept.push(receiver);
            }
        }
        assert!(joiners.more.len() < 64, "{}", joiners.more.len());
        joiners.tell(&ExitReason::Normal);
        for receiver in &mut kept {
            assert!(matches!(receiver.close(), Some(ExitReason::Normal)));
        }
    }
}
