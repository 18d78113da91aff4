//! The errors of nodes.

use crate::node::NodeId;
use crate::node::frame::VERSION;
use std::error::Error;
use std::fmt;

/// Why another node does not belong to the job.
///
/// # Examples
/// A node of another job is shut out:
/// ```
/// use evenkeel_actor::System;
/// use evenkeel_actor::node::NodeId;
/// use evenkeel_actor::node::in_process::{Faults, network};
/// use evenkeel_actor::remote::{Mismatch, Node, NodeEvent};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (_control, mut ends) = network(2, Faults::default());
/// let (end, other_end) = (ends.remove(0), ends.remove(0));
/// evenkeel::Runtime::new()?.block_on(async {
///     let builder = Node::builder().system(System::new()).job("weather");
///     let node = builder.start(|| Ok::<_, String>(end)).await?;
///     let builder = Node::builder().system(System::new()).job("tides");
///     let other = builder.start(|| Ok::<_, String>(other_end)).await?;
///
///     let why = Mismatch::Job { says: "tides".into() };
///     let refused = NodeEvent::Refused { node: NodeId::new(1), why };
///     assert_eq!(node.events().next().await, Some(refused));
///     node.leave().await;
///     other.leave().await;
///     Ok(())
/// })
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// Its frames have another version.
    Version {
        /// The version of its frames.
        says: u8,
    },
    /// It gives itself another number.
    Number {
        /// The number that it gives itself.
        says: NodeId,
    },
    /// It knows of another number of nodes.
    Nodes {
        /// The number of nodes that it knows of.
        says: u32,
    },
    /// It belongs to another job.
    Job {
        /// The name of its job.
        says: Box<str>,
    },
    /// It has the same name as another node.
    SameName {
        /// The name.
        name: Box<str>,
        /// The other node of that name.
        other: NodeId,
    },
    /// Its first message is not its introduction.
    Silent,
    /// It has sent a message that the protocol does not allow at this point.
    OutOfTurn,
    /// It has opened more watches and links than the limit that it was told.
    TooManyTies {
        /// The limit.
        most: usize,
    },
    /// It goes on sending, and does not take what this node sends to it.
    Backlog {
        /// The bytes that wait for it.
        bytes: usize,
    },
    /// It goes on sending to actors with full mailboxes, though it was told to hold.
    Parked {
        /// The bytes that wait for room in mailboxes.
        bytes: usize,
    },
    /// It goes on sending while its frames are not read, though it was told to hold.
    Unread {
        /// The bytes that wait to be read, with 128 more for each frame.
        bytes: usize,
    },
    /// It has shut this node out.
    Refuses {
        /// The reason, in its words.
        why: Box<str>,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { says } => write!(
                f,
                "its frames have version {says}, this node's have {VERSION}: run the same build on all nodes"
            ),
            Self::Number { says } => write!(f, "it introduces itself as node {says}"),
            Self::Nodes { says } => write!(f, "its job has {says} nodes"),
            Self::Job { says } => write!(f, "it belongs to the job `{says}`"),
            Self::SameName { name, other } => {
                write!(f, "node {other} is called `{name}` already: give each node its own name")
            }
            Self::Silent => f.write_str("its first message is not its introduction"),
            Self::OutOfTurn => f.write_str("it has sent a message out of turn"),
            Self::TooManyTies { most } => write!(
                f,
                "it has opened more than {most} watches and links, the limit that it was told"
            ),
            Self::Backlog { bytes } => {
                write!(f, "it goes on sending while {bytes} bytes wait for it, more than the limit")
            }
            Self::Parked { bytes } => write!(
                f,
                "it goes on sending while {bytes} bytes of it wait for room in mailboxes, more than the limit: raise the limit if its messages or its transport are large"
            ),
            Self::Unread { bytes } => write!(
                f,
                "it goes on sending while {bytes} bytes of it wait to be read, more than Limits::parked: raise the limit if its messages or its transport are large"
            ),
            Self::Refuses { why } => write!(f, "it has shut this node out: {why}"),
        }
    }
}

/// Why a node has not started.
///
/// # Examples
/// See [`NodeBuilder::start`](super::NodeBuilder::start).
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The caller is outside of a runtime.
    NoRuntime,
    /// The name of the job or of the node is empty or too long.
    Name {
        /// What the name is of.
        of: &'static str,
        /// The most bytes that it may have.
        most: usize,
    },
    /// The host was to be a [task](super::Hosting::Task) of a runtime with several workers, which
    /// would move it between threads.
    Workers {
        /// The number of workers of the runtime.
        workers: usize,
    },
    /// The host was to be a [task](super::Hosting::Task) of a runtime with reliefs, which may poll
    /// it on other threads.
    Reliefs {
        /// The most reliefs of the runtime.
        reliefs: usize,
    },
    /// The host was to be a [task](super::Hosting::Task) of a
    /// [current-thread](evenkeel::Builder::new_current_thread) runtime, which one thread after
    /// another may drive.
    CurrentThread,
    /// The longest message that the [packing](crate::node::policy::Packing) or the transport allows
    /// is shorter than the messages of nodes.
    ShortMessages {
        /// The longest message allowed, in bytes.
        longest: usize,
        /// The least that has to be allowed, in bytes.
        least: usize,
    },
    /// The [packing](crate::node::policy::Packing::waiting) lets half as much wait for a node as a
    /// node may [park](super::Limits::parked), or more. With such limits a peer could shut this
    /// node out before this node learns that it is to hold messages.
    Waiting {
        /// The bytes that may wait.
        waiting: usize,
        /// The bytes that may be parked.
        parked: usize,
    },
    /// The [packing](crate::node::policy::Packing::waiting) lets half as much wait for a node as
    /// the [backlog](super::Limits::backlog) may be, or more. With such limits this node could shut
    /// a peer out because of what its own senders have put in.
    Backlog {
        /// The bytes that may wait.
        waiting: usize,
        /// The bytes that the backlog may be.
        backlog: usize,
    },
    /// The transport has not started.
    Transport(Box<dyn Error + Send + Sync>),
    /// The system refuses to create a thread.
    Thread(std::io::Error),
    /// The function that starts the transport has panicked, or the runtime has ended meanwhile.
    Lost,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRuntime => f.write_str(
                "a node is started outside of a runtime: do it in a task or inside Runtime::block_on",
            ),
            Self::Name { of, most } => {
                write!(f, "the name of the {of} is empty, or longer than {most} bytes")
            }
            Self::Workers { workers } => write!(
                f,
                "a node whose host is a task needs a runtime with one worker, and this one has {workers}: take Hosting::Auto or Hosting::Thread"
            ),
            Self::Reliefs { reliefs } => write!(
                f,
                "a node whose host is a task needs a runtime without reliefs, and this one may have {reliefs}: build it with Builder::reliefs(0), or take Hosting::Auto or Hosting::Thread"
            ),
            Self::CurrentThread => f.write_str(
                "a node whose host is a task needs a runtime with a worker thread, and threads inside block_on drive this one: build it with Builder::workers(1), or take Hosting::Auto or Hosting::Thread",
            ),
            Self::ShortMessages { longest, least } => write!(
                f,
                "messages of at most {longest} bytes are too short for the messages of nodes: allow at least {least}"
            ),
            Self::Waiting { waiting, parked } => write!(
                f,
                "{waiting} bytes may wait to be sent, half or more of the {parked} that may be parked: let fewer wait, or raise Limits::parked on all nodes"
            ),
            Self::Backlog { waiting, backlog } => write!(
                f,
                "{waiting} bytes may wait to be sent, half or more of the {backlog} that the backlog may be: let fewer wait, or raise Limits::backlog"
            ),
            Self::Transport(error) => write!(f, "the transport has not started: {error}"),
            Self::Thread(error) => write!(f, "no thread for the node's host: {error}"),
            Self::Lost => f.write_str("the transport has panicked as it started, or the runtime has ended"),
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Transport(error) => Some(&**error),
            Self::Thread(error) => Some(error),
            _ => None,
        }
    }
}

/// Why no actor was started or found on another node.
///
/// # Examples
/// See [`Node::spawn_on`](super::Node::spawn_on).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteError {
    /// The job has no such node.
    NoSuchNode {
        /// The node's number.
        node: NodeId,
    },
    /// The node is down, or this node is about to leave.
    NodeDown {
        /// The node that is down.
        node: NodeId,
    },
    /// The node has registered no script of this name.
    NoSuchScript {
        /// The node that was asked.
        node: NodeId,
        /// The name of the script.
        name: Box<str>,
    },
    /// The script takes other arguments, or reading them has panicked.
    Arguments {
        /// The node's reason.
        why: String,
    },
    /// The actor takes messages of another type.
    OtherMessages {
        /// The node's reason.
        why: String,
    },
    /// No actor of the node has this name.
    NoSuchName {
        /// The node that was asked.
        node: NodeId,
        /// The name that was asked for.
        name: Box<str>,
    },
    /// The script has panicked.
    Panicked,
    /// The actors of the node that were made known to this one have reached [its
    /// limit](super::Limits::actors).
    TooManyActors {
        /// The node that refuses.
        node: NodeId,
    },
    /// The open questions to the node have reached the limit.
    TooManyCalls {
        /// The node that was asked.
        node: NodeId,
    },
    /// The name or the arguments are too long or cannot be written.
    Unwritable {
        /// The reason.
        why: String,
    },
    /// The node's answer is malformed.
    Answer,
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchNode { node } => write!(f, "there is no node {node} in the job"),
            Self::NodeDown { node } => write!(f, "node {node} is down"),
            Self::NoSuchScript { node, name } => write!(
                f,
                "node {node} has no script {name:?}: register it there first, with register_script or NodeBuilder::script"
            ),
            Self::Arguments { why } => write!(f, "the script does not take the arguments: {why}"),
            Self::OtherMessages { why } => {
                write!(f, "the actor takes messages of another type: {why}")
            }
            Self::NoSuchName { node, name } => {
                write!(f, "no actor of node {node} has the name {name:?}: publish one there first")
            }
            Self::Panicked => f.write_str("the script has panicked"),
            Self::TooManyActors { node } => write!(
                f,
                "node {node} has made as many actors known to this one as its limit allows: raise its limit, or stop some"
            ),
            Self::TooManyCalls { node } => write!(
                f,
                "the open questions to node {node} have reached the limit: wait for some answers, or raise the limit"
            ),
            Self::Unwritable { why } => write!(f, "the request cannot be sent: {why}"),
            Self::Answer => f.write_str("the node's answer is malformed"),
        }
    }
}

impl Error for RemoteError {}

/// A node is gone, so a collective operation cannot complete.
///
/// # Examples
/// See [`Node::barrier`](super::Node::barrier).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeLost {
    /// The lost node, if this node knows it.
    pub node: Option<NodeId>,
}

impl fmt::Display for NodeLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node {
            Some(node) => write!(f, "node {node} is gone"),
            None => f.write_str("a node is gone, or this one has left"),
        }
    }
}

impl Error for NodeLost {}
