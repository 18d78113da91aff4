//! The interface of transports, which move frames to other nodes.
//!
//! A transport moves *frames*: bytes, of which it knows only the length. One host, a thread or a
//! task of its own, drives it. It calls [`Transport::send`] and [`Transport::poll`], which do not
//! block, and [`Transport::wait`] when there is nothing to do. So a transport needs no locks, and
//! one that is bound to a thread, such as MPI with `MPI_THREAD_FUNNELED`, needs no `Send`.
//!
//! A transport promises that frames from one node to another arrive whole, unchanged, and in the
//! order of sending, or that an [`Event::Down`] says that no more will come. It promises no order
//! between different pairs of nodes, and no well-formed frames: readers check them.
//!
//! Nodes may come late ([`Event::Up`]), and go. A node that has gone does not come back under its
//! number: all knowledge of its actors, and all waits for them, ended with it, and other nodes
//! could not tell the actors of a restarted process from the old ones. So a host ignores a node
//! that is up after it was down. A transport with a fixed set of nodes, such as MPI, reports all of
//! them at its first polls.

use super::NodeId;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// An event of a transport.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A node can be sent to. Comes once for each node. A transport that authenticates its peers
    /// does so before.
    Up {
        /// The node.
        node: NodeId,
    },
    /// A frame has arrived.
    Received {
        /// The sender: the node that the transport has authenticated, whatever the frame says.
        from: NodeId,
        /// Its bytes: untrusted.
        frame: Vec<u8>,
    },
    /// The transport returns the buffer of a sent frame for reuse, at most once for each frame. A
    /// transport that gives a frame's memory to its receiver returns nothing.
    Sent {
        /// The buffer, with any contents.
        buffer: Vec<u8>,
    },
    /// Nothing more comes from a node or gets to it. Comes once for each node that was up, after
    /// the last frame from it.
    Down {
        /// The node.
        node: NodeId,
        /// The reason.
        reason: DownReason,
    },
}

/// Why a node is down.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DownReason {
    /// The node has announced its end.
    Left,
    /// The transport has lost the node, for the reason that it gives.
    Lost(String),
}

impl fmt::Display for DownReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Left => f.write_str("the node has left"),
            Self::Lost(how) => write!(f, "the node is lost: {how}"),
        }
    }
}

/// A frame that was not sent, and why.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    /// The frame, unchanged.
    pub frame: Vec<u8>,
    /// The reason.
    pub why: Refusal,
}

/// Why a frame was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The transport has its greatest number of frames under way: poll, and try again.
    Full,
    /// There is no such node, or it is not up yet.
    Unknown,
    /// The node is down.
    Down,
    /// The frame is longer than [`Transport::longest_frame`].
    TooLong,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the transport has its greatest number of frames under way",
            Self::Unknown => "there is no such node, or it is not up yet",
            Self::Down => "the node is down",
            Self::TooLong => "the frame is longer than the transport takes",
        })
    }
}

/// Ends a [`Transport::wait`], from any thread.
///
/// A call before the wait is remembered, and ends the wait at once.
pub type TransportWaker = Arc<dyn Fn() + Send + Sync>;

/// Moves frames to other nodes; the module lists its promises.
///
/// # Examples
/// A transport for two nodes, over channels:
/// ```
/// use evenkeel_node::{DownReason, Event, NodeId, Refusal, Refused, Transport, TransportWaker};
/// use std::collections::VecDeque;
/// use std::sync::Arc;
/// use std::sync::mpsc::{Receiver, Sender, channel};
/// use std::time::Duration;
///
/// struct Pair {
///     local: NodeId,
///     events: VecDeque<Event>,
///     /// `None` only ends a wait.
///     inbox: Receiver<Option<Event>>,
///     own: Sender<Option<Event>>,
///     other: Sender<Option<Event>>,
///     /// What the other node is told when this end is dropped.
///     reason: DownReason,
/// }
///
/// fn pair() -> [Pair; 2] {
///     let ((own, inbox), (other, other_inbox)) = (channel(), channel());
///     let end = |local, inbox, own: &Sender<_>, other: &Sender<_>| Pair {
///         local: NodeId::new(local),
///         events: VecDeque::from([Event::Up { node: NodeId::new(1 - local) }]),
///         inbox,
///         own: own.clone(),
///         other: other.clone(),
///         reason: DownReason::Lost("it has ended without leaving".to_owned()),
///     };
///     [end(0, inbox, &own, &other), end(1, other_inbox, &other, &own)]
/// }
///
/// impl Transport for Pair {
///     fn local(&self) -> NodeId {
///         self.local
///     }
///
///     fn nodes(&self) -> u32 {
///         2
///     }
///
///     fn longest_frame(&self) -> usize {
///         1 << 24
///     }
///
///     fn send(&mut self, to: NodeId, frame: Vec<u8>) -> Result<(), Refused> {
///         if to == self.local || to.number() > 1 {
///             return Err(Refused { frame, why: Refusal::Unknown });
///         }
///         if frame.len() > self.longest_frame() {
///             return Err(Refused { frame, why: Refusal::TooLong });
///         }
///         let event = Event::Received { from: self.local, frame };
///         self.other.send(Some(event)).map_err(|unsent| match unsent.0 {
///             Some(Event::Received { frame, .. }) => Refused { frame, why: Refusal::Down },
///             _ => unreachable!("the frame comes back"),
///         })
///     }
///
///     fn poll(&mut self) -> Option<Event> {
///         self.events.pop_front().or_else(|| self.inbox.try_iter().flatten().next())
///     }
///
///     fn wait(&mut self, most: Duration) {
///         if self.events.is_empty()
///             && let Ok(Some(event)) = self.inbox.recv_timeout(most)
///         {
///             self.events.push_back(event);
///         }
///     }
///
///     fn waker(&self) -> TransportWaker {
///         let own = self.own.clone();
///         Arc::new(move || drop(own.send(None)))
///     }
///
///     fn is_sending(&self) -> bool {
///         false
///     }
///
///     fn leave(&mut self) {
///         self.reason = DownReason::Left;
///     }
/// }
///
/// impl Drop for Pair {
///     fn drop(&mut self) {
///         // Behind all frames, since a channel keeps the order.
///         let down = Event::Down { node: self.local, reason: self.reason.clone() };
///         let _ = self.other.send(Some(down));
///     }
/// }
///
/// let [mut a, mut b] = pair();
/// assert_eq!(a.poll(), Some(Event::Up { node: b.local() }));
/// a.send(b.local(), b"ahoy".to_vec()).unwrap();
/// a.leave();
/// assert!(a.ended());
/// let node = a.local();
/// drop(a);
///
/// assert_eq!(b.poll(), Some(Event::Up { node }));
/// b.wait(Duration::from_secs(60));
/// assert_eq!(b.poll(), Some(Event::Received { from: node, frame: b"ahoy".to_vec() }));
/// assert_eq!(b.poll(), Some(Event::Down { node, reason: DownReason::Left }));
/// assert_eq!(b.poll(), None);
/// assert_eq!(b.send(node, vec![7]), Err(Refused { frame: vec![7], why: Refusal::Down }));
///
/// // A call before the wait ends it at once.
/// b.waker()();
/// b.wait(Duration::from_secs(60));
/// ```
pub trait Transport {
    /// Returns the number of this node.
    fn local(&self) -> NodeId;

    /// Returns how many nodes there are at the start, including this one. Their numbers are all
    /// below this.
    fn nodes(&self) -> u32;

    /// Returns the most bytes that a frame may have. The same on all nodes of a job: receivers
    /// refuse longer frames.
    fn longest_frame(&self) -> usize;

    /// Begins to send a frame. Does not block; the buffer may come back by [`Event::Sent`].
    ///
    /// # Errors
    /// [`Refused`], which returns the frame.
    fn send(&mut self, to: NodeId, frame: Vec<u8>) -> Result<(), Refused>;

    /// Returns the next event, if there is one. Does not block; also makes progress with frames
    /// under way.
    ///
    /// However much is sent, arrived frames come out in time: returned buffers are bounded, and a
    /// frame waits only for the events before it.
    fn poll(&mut self) -> Option<Event>;

    /// Blocks the thread until there may be an event, the [waker](Self::waker) is called, or `most`
    /// has passed; may return early.
    fn wait(&mut self, most: Duration);

    /// Returns a waker that ends a wait.
    fn waker(&self) -> TransportWaker;

    /// Registers the waker of a host that is a task, to be woken once when there may be an event.
    /// Returns the time after which the host looks again in any case: zero if there is an event
    /// already, and [`Duration::MAX`] if the waker is enough. The transport keeps the waker until
    /// it wakes it, or gets the next one.
    ///
    /// Returns `None` if nothing can wake a task, as with MPI: then the host looks again and again,
    /// ever more rarely.
    fn wakes(&mut self, waker: &Waker) -> Option<Duration> {
        let _ = waker;
        None
    }

    /// Takes a buffer that the host does not need, such as that of a frame that has been read. A
    /// transport that copies arriving frames reuses it.
    fn recycle(&mut self, buffer: Vec<u8>) {
        drop(buffer);
    }

    /// Returns whether frames that were sent here have not left yet.
    fn is_sending(&self) -> bool;

    /// Tells the other nodes that this node leaves, after the frames under way. The host goes on
    /// polling until [`is_sending`](Self::is_sending) is false, then calls [`ended`](Self::ended)
    /// until that is true, and then drops the transport.
    fn leave(&mut self);

    /// Advances the end, and returns whether it is complete. Does not block. The host calls it
    /// instead of polls, once nothing [is being sent](Self::is_sending) after
    /// [`leave`](Self::leave). Frames that still come are dropped.
    ///
    /// A transport that cannot end alone, such as MPI, waits for the other nodes here, because a
    /// host may be a task of a worker with other work. A transport that is dropped before this is
    /// true, or without this call, may block in its drop.
    fn ended(&mut self) -> bool {
        true
    }
}
