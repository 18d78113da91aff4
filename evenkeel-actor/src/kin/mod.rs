//! An actor's relations to others: watches, links, parent and children.
//!
//! # Roles
//! A *watcher* is told when an actor that it watches ends. *Linked* actors are told of each other's
//! end. A *witness* is a receiver of the news of an end: a watcher, a future, or a pending report.
//!
//! # Where the state lies
//!
//! In a box of the mailbox, under the mailbox's lock, made when it is first needed: most actors
//! have none. It outlives the actor's value, so that witnesses are told however the actor ends.
//! Futures that wait for the end lie beside that box, and need none.
//!
//! # What keeps actors alive
//! A parent keeps its children alive. All other relations go by [peers](peer), which keep no actor
//! alive. A watcher, a watched actor, a linked actor or a parent stops when no other actor or task
//! has a reference to it.
//!
//! # Why no end is told twice, or late
//! If A watches B, both sides note it, A first. When B ends, it closes its mailbox and takes out
//! its witnesses to tell them. A witness that arrives meanwhile is still noted, and is told last.
//! One that arrives later is told at once. So B tells each noted witness once. A accepts word of B
//! only while A has B noted, and then removes the note. So after an `unwatch` or `unlink` nothing
//! arrives, even if B is about to tell A.
//!
//! # Locks
//! Each step holds one mailbox's lock, never two. A thread with a mailbox's lock may take two
//! others, and none under these: that of a peer's cell, to see whether a witness is gone, and that
//! of the graph of waits. A mailbox's lock may be taken under that of a system's names, that of a
//! supervisor's table, and those of the subscribers to dead letters and to the events of a node.

pub(crate) mod control;
pub(crate) mod order;
pub(crate) mod peer;
pub(crate) mod post;
pub(crate) mod stopped;
pub(crate) mod witness;

use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use control::AnyActor;
use evenkeel::internal::detect;
use peer::{Alarm, OwnPeer, Peer};
use post::Post;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::task::Waker;
use witness::Witnesses;

#[derive(Default)]
pub(crate) struct Kin {
    /// The actor's own address, if others have it.
    pub(crate) peer: Option<OwnPeer>,
    /// The actors that it watches. Made by the first watch: a child has relations with its parent
    /// alone, as a rule.
    pub(crate) watching: Option<HashSet<ActorId>>,
    /// The witnesses that are told when it ends.
    pub(crate) witnesses: Witnesses,
    /// The actors that it is linked to, in the order in which it tells them of its end.
    pub(crate) links: BTreeMap<ActorId, Peer>,
    /// Whether ends of linked actors are events for it.
    pub(crate) traps: bool,
    /// Its parent, and its own number among the parent's children.
    pub(crate) parent: Option<(Peer, u64)>,
    /// Its children in the order in which they were spawned.
    pub(crate) children: BTreeMap<u64, AnyActor>,
    pub(crate) next_child: u64,
    /// The number of the first child of its present incarnation.
    pub(crate) first_child: u64,
    /// Why it has been killed.
    pub(crate) verdict: Option<ExitReason>,
    /// Marks the waker of an actor that can be restarted, while the actor does not wait for orders.
    /// It is dropped before the waker.
    pub(crate) kept: Option<detect::Kept>,
    /// The waker of its task, while the task waits for orders alone, or can be restarted.
    pub(crate) waker: Option<Waker>,
    /// The orders of its supervisor.
    pub(crate) post: Option<Box<Post>>,
    /// The actors that it supervises, which outlive a restart of their supervisor.
    pub(crate) wards: BTreeMap<usize, AnyActor>,
    pub(crate) name: Option<Arc<str>>,
    /// The name under which it is registered, for traces.
    #[cfg(feature = "tracing")]
    pub(crate) registered: Option<Arc<str>>,
    /// It waits for its children to stop. The alarm limits that wait.
    pub(crate) stopping: bool,
    pub(crate) alarm: Option<Alarm>,
}

impl Kin {
    /// Kills the actor, or the present incarnation of a supervised one, for a reason: the first one
    /// counts. Returns whether it is supervised; if it is not, the caller aborts it. Returns a
    /// later reason, to be dropped without the lock.
    pub(crate) fn raze(&mut self, reason: Option<ExitReason>) -> (bool, Option<ExitReason>) {
        let late = match self.verdict {
            None => {
                self.verdict = reason;
                None
            }
            Some(_) => reason,
        };
        (self.post.as_mut().map(|post| post.raze = true).is_some(), late)
    }

    /// Removes an actor from those that this one watches. Returns whether it was one.
    pub(crate) fn forget(&mut self, watched: ActorId) -> bool {
        self.watching.as_mut().is_some_and(|watching| watching.remove(&watched))
    }

    /// Returns whether the actor's supervisor has ordered the present start to stop.
    pub(crate) fn is_to_cease(&self) -> bool {
        self.post.as_ref().is_some_and(|post| post.cease == Some(post.term))
    }
}

impl std::fmt::Debug for Kin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kin").finish_non_exhaustive()
    }
}
