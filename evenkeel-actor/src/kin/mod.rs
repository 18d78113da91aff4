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

pub(crate) mod control;
pub(crate) mod order;
pub(crate) mod peer;
pub(crate) mod post;
pub(crate) mod stopped;
pub(crate) mod witness;

use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use control::AnyActor;
use peer::{Alarm, OwnPeer, Peer};
use post::Post;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::task::Waker;
use witness::Witnesses;

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

impl std::fmt::Debug for Kin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kin").finish_non_exhaustive()
    }
}
