//! How frames get to other nodes: the interface that every transport fills.
//!
//! A transport moves *frames*: bytes, of which it knows nothing but their length. One host drives
//! it, a thread or a task of its own, by calling [`Transport::send`] and [`Transport::poll`],
//! neither of which blocks, and [`Transport::wait`] when there is nothing to do. So a transport
//! needs no locks, and one that is bound to a thread, such as MPI with `MPI_THREAD_FUNNELED`, needs
//! no `Send`.
//!
//! What a transport promises: frames from one node to another arrive whole, unchanged, in the order
//! in which they were sent, or a [`Event::Down`] says that no more will come. It promises nothing
//! of the order between different pairs of nodes. What it does not promise: that a frame is well
//! formed. Whoever reads frames checks them.
//!
//! Nodes may come late ([`Event::Up`]), and go. One that has gone does not come back under its
//! number: what others knew of its actors, and waited for, ended with it, and nobody could tell the
//! actors of a process that was started again from those. So a host takes no notice of a node that
//! is up after it was down. A transport whose nodes are the same from beginning to end, such as
//! MPI, gives all of them at its first polls.

use super::NodeId;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// Something that has happened at a transport.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A node can be sent to. Comes once for each node. A transport that authenticates its peers
    /// has done so before it says this.
    Up {
        /// Which node.
        node: NodeId,
    },
    /// A frame has arrived.
    Received {
        /// Who has sent it: the node that the transport has authenticated, whatever the frame says.
        from: NodeId,
        /// Its bytes: untrusted.
        frame: Vec<u8>,
    },
    /// The bytes of a frame that was sent are no longer needed: the buffer comes back, to be used
    /// again. At most once for each frame: a transport that gives a frame's memory to its receiver
    /// has nothing to give back, and says nothing.
    Sent {
        /// The buffer, with whatever is in it.
        buffer: Vec<u8>,
    },
    /// Nothing more will come from a node, and nothing more gets to it. Comes once for each node
    /// that was up, after the last frame from it.
    Down {
        /// Which node.
        node: NodeId,
        /// Why.
        reason: DownReason,
    },
}

/// Why a node is down.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DownReason {
    /// It has said that it ends.
    Left,
    /// The transport has lost it; in the transport's words.
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
    /// Why.
    pub why: Refusal,
}

/// Why a frame was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// As many frames are under way as the transport keeps: poll, and try again.
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
            Self::Full => "the transport has as many frames under way as it keeps",
            Self::Unknown => "there is no such node, or it is not up yet",
            Self::Down => "the node is down",
            Self::TooLong => "the frame is longer than the transport takes",
        })
    }
}

/// Ends a [`Transport::wait`], from any thread.
///
/// Calls are remembered: one that comes before the wait ends it at once.
pub type TransportWaker = Arc<dyn Fn() + Send + Sync>;

/// A way for frames to get to other nodes; the module says what it promises.
pub trait Transport {
    /// The number of this node.
    fn local(&self) -> NodeId;

    /// How many nodes there are at the start, this one included: those with the numbers below it.
    fn nodes(&self) -> u32;

    /// The most bytes that a frame may have. The same on all nodes of a job: a longer frame is none
    /// to whoever gets it.
    fn longest_frame(&self) -> usize;

    /// Begins to send a frame. Does not block; the buffer may come back by [`Event::Sent`].
    ///
    /// # Errors
    /// [`Refused`], with the frame.
    fn send(&mut self, to: NodeId, frame: Vec<u8>) -> Result<(), Refused>;

    /// The next event, if there is one. Does not block; also moves on what is under way.
    ///
    /// However much is sent, what has come is given in time: buffers that come back are bounded,
    /// and a frame waits for those alone that were there before it.
    fn poll(&mut self) -> Option<Event>;

    /// Blocks the thread until there may be an event, the [waker](Self::waker) is called, or `most`
    /// has passed; may return early.
    fn wait(&mut self, most: Duration);

    /// What ends a wait.
    fn waker(&self) -> TransportWaker;

    /// Has a task woken when there may be an event, once: for a host that is one. Says after which
    /// time to look again all the same: zero if there is an event now, and [`Duration::MAX`] if
    /// only the waker has to be waited for. The waker is kept until it is woken, or the next one is
    /// left.
    ///
    /// `None` if nothing can wake a task here, as with MPI: then the host looks again and again,
    /// ever more rarely.
    fn wakes(&mut self, waker: &Waker) -> Option<Duration> {
        let _ = waker;
        None
    }

    /// A buffer that has room for a frame, used before or new. A transport that wants its own
    /// memory gives that.
    fn buffer(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes a buffer that the host does not need, as that of a frame that has been read: a
    /// transport that copies what comes has use for it.
    fn recycle(&mut self, buffer: Vec<u8>) {
        drop(buffer);
    }

    /// Whether frames are under way that were sent here and have not left yet.
    fn is_sending(&self) -> bool;

    /// Says to the others that this node leaves, after what is under way. Polls go on until
    /// [`is_sending`](Self::is_sending) is false, then calls of [`ended`](Self::ended) until that
    /// is true; then the transport is dropped.
    fn leave(&mut self);

    /// Moves the end on, and says whether nothing of it has to be waited for. Does not block; is
    /// called once nothing [is being sent](Self::is_sending) after [`leave`](Self::leave), from
    /// then on instead of polls. Whatever still comes is thrown away.
    ///
    /// A transport that cannot end alone, as MPI's, waits for the others here, because a host may
    /// be a task whose worker has more to do. A transport that is dropped before this is true, or
    /// without this, may block in its drop.
    fn ended(&mut self) -> bool {
        true
    }
}
