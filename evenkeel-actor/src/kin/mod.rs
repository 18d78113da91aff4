//! What an actor has to do with others: whom it watches, who watches it, links, parent and
//! children.
//!
//! # Where it lies
//! In a box of the mailbox, under the mailbox's lock, made when it is first needed: most actors
//! have none. It outlives the actor's value, so that others can be told however the actor ends.
//!
//! # Who keeps whom
//! A parent keeps its children. All else goes by [peers](peer), which keep nobody: who watches, is
//! watched, linked or a parent is not referenced by that, and stops when nobody else has a
//! reference to it.
//!
//! # Why nothing is told twice, or late
//! What A wants to hear of B is noted on both sides, first with A. When B ends it closes its
//! mailbox, after which nobody is noted there, and takes out whom it has to tell; who asks for the
//! end while they are told is noted after all, and told last, and who comes later is told at once.
//! So each noted one is told once. A takes word of B only if it has B noted still, and crosses it
//! out: so after an `unwatch` or `unlink` nothing comes, though B may be about to tell.
//!
//! # Locks
//! Each step holds one mailbox's lock, never two. Under it come locks that have none below them:
//! that of a peer's cell (who looks whether a witness is gone), and that of the graph of waits.
//! Above it are those of a system's names, and of a supervisor's table.

pub(crate) mod context;
pub(crate) mod peer;
mod stopped;
pub(crate) mod ties;

pub use stopped::Stopped;

use crate::alarm::Alarm;
use crate::control::AnyActor;
use crate::exit::ExitReason;
use crate::oneshot;
use crate::ward::Post;
use crate::words::id::ActorId;
use evenkeel::internal::contain;
use peer::{OwnPeer, Peer};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::task::Waker;

#[derive(Default)]
pub(crate) struct Kin {
    /// The actor's own address, if others have it.
    pub(crate) peer: Option<OwnPeer>,
    /// Whom the actor watches.
    pub(crate) watching: HashSet<ActorId>,
    /// Who is told when it ends.
    pub(crate) witnesses: Witnesses,
    /// Whom it is linked to.
    pub(crate) links: HashMap<ActorId, Peer>,
    /// Whether ends of linked actors are events for it.
    pub(crate) traps: bool,
    /// Its parent, and its own number among the parent's children.
    pub(crate) parent: Option<(Peer, u64)>,
    /// Its children in the order in which they were spawned.
    pub(crate) children: BTreeMap<u64, AnyActor>,
    pub(crate) next_child: u64,
    /// The first of those that its present incarnation has spawned.
    pub(crate) first_child: u64,
    /// Why it has been killed.
    pub(crate) verdict: Option<ExitReason>,
    /// Its task, while that waits for orders alone, or can be restarted.
    pub(crate) waker: Option<Waker>,
    /// What it is to its supervisor.
    pub(crate) post: Option<Box<Post>>,
    /// What it supervises: these outlive a restart of their supervisor.
    pub(crate) wards: BTreeMap<usize, AnyActor>,
    pub(crate) name: Option<Arc<str>>,
    /// The name under which it is registered, for traces.
    #[cfg(feature = "tracing")]
    pub(crate) registered: Option<Arc<str>>,
    /// It waits for its children to stop, until then at the latest.
    pub(crate) stopping: bool,
    pub(crate) alarm: Option<Alarm>,
}

impl Kin {
    /// Whether the actor's supervisor has the present start stopped.
    pub(crate) fn is_to_cease(&self) -> bool {
        self.post.as_ref().is_some_and(|post| post.cease == Some(post.term))
    }
}

/// The end of a supervisor of which something is left to say: this is shared by those below it.
pub(crate) trait Keeper: Send + Sync {
    /// Gives a share back. If it was the last, says what is left, and gives the shares that the
    /// supervisor itself had.
    fn release(self: Arc<Self>) -> Vec<Arc<dyn Keeper>>;
}

/// Who is told of an actor's end.
pub(crate) enum Witness {
    /// An actor, which watches.
    Actor(ActorId, Peer),
    /// A future.
    Future(oneshot::Sender<ExitReason>),
    /// Its supervisor, which has ended: what is left to say of that is said when the last of these
    /// is dropped.
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

    /// Whether it is an actor.
    pub(crate) fn is_actor(&self) -> bool {
        matches!(self, Self::Actor(..))
    }

    /// Tells of the end of an actor.
    pub(crate) fn tell(self, of: ActorId, reason: &ExitReason) {
        match self {
            Self::Actor(_, peer) => peer.down(of, reason),
            // Whoever has given up waiting is not told.
            Self::Future(sender) => drop(contain(|| sender.send(reason.clone()).is_ok())),
            Self::Keeper(last) => drop(last),
        }
    }
}

/// The witnesses of one actor.
#[derive(Default)]
pub(crate) struct Witnesses {
    all: Vec<Witness>,
    /// How many there may be before those that have gone are looked for.
    bound: usize,
}

impl Witnesses {
    /// One more. Gives those that have gone, and those that are there twice, as a watch is
    /// forgotten by an actor that is started anew: to be dropped outside of the lock. They are
    /// looked for whenever the number has doubled, so that a long life with many short watches does
    /// not grow.
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

impl std::fmt::Debug for Kin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kin").finish_non_exhaustive()
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
