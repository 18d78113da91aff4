//! What happens to nodes, told to those who listen.

use super::error::Mismatch;
use crate::node::{DownReason, FrameError, NodeId};
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};

/// Events that wait for a listener; later ones are counted. An estimate: a few for each of some hundred nodes.
const MOST: usize = 1_024;

/// Something that has happened to another node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeEvent {
    /// It has said who it is, and belongs to the job.
    Up {
        /// Which.
        node: NodeId,
        /// What it calls itself.
        name: Arc<str>,
    },
    /// It is down: nothing more comes from it, nothing more gets to it. Its actors are gone for this node.
    Down {
        /// Which.
        node: NodeId,
        /// Why.
        reason: DownReason,
        /// Messages that were on their way to it, as far as this node knows.
        lost: u64,
    },
    /// It does not belong to the job, and is shut out, or it has [shut this node out](Mismatch::Refuses): as if it were down.
    Refused {
        /// Which.
        node: NodeId,
        /// Why.
        why: Mismatch,
    },
    /// It has sent what is no frame, and is shut out: as if it were down.
    Malformed {
        /// Which.
        node: NodeId,
        /// What is wrong.
        error: FrameError,
    },
    /// So many events were not kept for this listener.
    Missed(u64),
}

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<NodeEvent>,
    missed: u64,
    waker: Option<Waker>,
    is_over: bool,
}

type Shared = Mutex<Queue>;

fn lock(queue: &Shared) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

fn push(queue: &Shared, event: NodeEvent) {
    let waker = {
        let mut queue = lock(queue);
        if queue.events.len() < MOST {
            queue.events.push_back(event);
        } else {
            queue.missed += 1;
        }
        queue.waker.take()
    };
    waker.into_iter().for_each(Waker::wake);
}

/// Those who listen to a node's events.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<All>);

#[derive(Default)]
struct All {
    queues: Vec<Weak<Shared>>,
    /// The last event of each node, for those who come later.
    last: Vec<(NodeId, NodeEvent)>,
    is_over: bool,
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tell(&self, event: &NodeEvent) {
        let mut all = self.lock();
        if let Some(node) = event.node() {
            all.last.retain(|last| last.0 != node);
            all.last.push((node, event.clone()));
        }
        all.queues.retain(|queue| match queue.upgrade() {
            Some(queue) => {
                push(&queue, event.clone());
                true
            }
            None => false,
        });
    }

    pub(crate) fn listen(&self) -> Events {
        let mut all = self.lock();
        let events = all.last.iter().map(|last| last.1.clone()).collect();
        let queue = Queue { events, is_over: all.is_over, ..Queue::default() };
        let queue = Arc::new(Mutex::new(queue));
        all.queues.push(Arc::downgrade(&queue));
        Events(queue)
    }

    /// There will be no more events.
    pub(crate) fn end(&self) {
        let mut all = self.lock();
        all.is_over = true;
        for queue in std::mem::take(&mut all.queues).iter().filter_map(Weak::upgrade) {
            let waker = {
                let mut queue = lock(&queue);
                queue.is_over = true;
                queue.waker.take()
            };
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl NodeEvent {
    /// Which node it is about.
    #[must_use]
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Self::Up { node, .. }
            | Self::Down { node, .. }
            | Self::Refused { node, .. }
            | Self::Malformed { node, .. } => Some(*node),
            Self::Missed(_) => None,
        }
    }

    /// Whether the node is gone by it.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        matches!(self, Self::Down { .. } | Self::Refused { .. } | Self::Malformed { .. })
    }
}

/// The events of a node, in order; at first the last one of each other node.
pub struct Events(Arc<Shared>);

impl Events {
    /// Waits for the next event. `None` once this node has left.
    ///
    /// # Cancel safety
    /// A future that is dropped before it is ready has taken nothing.
    pub async fn next(&mut self) -> Option<NodeEvent> {
        poll_fn(|context| {
            let mut queue = lock(&self.0);
            if let Some(event) = queue.events.pop_front() {
                return Poll::Ready(Some(event));
            }
            if queue.missed > 0 {
                return Poll::Ready(Some(NodeEvent::Missed(std::mem::take(&mut queue.missed))));
            }
            if queue.is_over {
                return Poll::Ready(None);
            }
            queue.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("waiting", &lock(&self.0).events.len()).finish()
    }
}
