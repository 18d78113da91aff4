//! What can go wrong between nodes.

use crate::node::NodeId;
use crate::node::frame::VERSION;
use std::error::Error;
use std::fmt;

/// Why another node does not belong to the job.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// Its frames are of another version.
    Version {
        /// Of which.
        says: u8,
    },
    /// It takes itself for another node.
    Number {
        /// For which.
        says: NodeId,
    },
    /// It knows of another number of nodes.
    Nodes {
        /// Of how many.
        says: u32,
    },
    /// It belongs to another job.
    Job {
        /// To which.
        says: Box<str>,
    },
    /// It calls itself as another node does.
    SameName {
        /// How.
        name: Box<str>,
        /// Which node has the name.
        other: NodeId,
    },
    /// Its first message does not say who it is.
    Silent,
    /// It has said what it cannot say now.
    OutOfTurn,
    /// It has opened more watches and links than it was told that there may be.
    TooManyTies {
        /// How many that is.
        most: usize,
    },
    /// It sends, and takes nothing of what this sends it.
    Backlog {
        /// Bytes that wait for it.
        bytes: usize,
    },
    /// It sends to actors whose mailboxes are full, and was told to hold.
    Parked {
        /// Bytes that wait for room in mailboxes.
        bytes: usize,
    },
    /// It has shut this node out.
    Refuses {
        /// In its words.
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
            Self::Number { says } => write!(f, "it takes itself for node {says}"),
            Self::Nodes { says } => write!(f, "it knows of {says} nodes"),
            Self::Job { says } => write!(f, "it belongs to the job `{says}`"),
            Self::SameName { name, other } => {
                write!(f, "node {other} is called `{name}` already: give each node its own name")
            }
            Self::Silent => f.write_str("its first message does not say who it is"),
            Self::OutOfTurn => f.write_str("it has said what it cannot say now"),
            Self::TooManyTies { most } => write!(
                f,
                "it has opened more than {most} watches and links, of which it was told that it is the limit"
            ),
            Self::Backlog { bytes } => {
                write!(f, "it goes on sending while {bytes} bytes wait for it, more than may")
            }
            Self::Parked { bytes } => write!(
                f,
                "it goes on sending while {bytes} bytes of it wait for room in mailboxes, more than may: raise the limit if its messages or its transport are large"
            ),
            Self::Refuses { why } => write!(f, "it has shut this node out: {why}"),
        }
    }
}

/// Why a node has not started.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// There is no runtime here.
    NoRuntime,
    /// The name of the job or of the node is too long, or is empty.
    Name {
        /// Of what.
        of: &'static str,
        /// How many bytes it may have.
        most: usize,
    },
    /// The host was to be a [task](super::Hosting::Task) of a runtime with several workers, which
    /// would pass it from thread to thread.
    Workers {
        /// How many the runtime has.
        workers: usize,
    },
    /// The longest message that the [packing](crate::node::policy::Packing) or the transport allows
    /// is shorter than what nodes say to each other.
    ShortMessages {
        /// How many bytes it may have.
        longest: usize,
        /// How many it has to be allowed.
        least: usize,
    },
    /// The [packing](crate::node::policy::Packing::waiting) lets half as much wait for a node as a
    /// node may [park](super::Limits::parked), or more: with such limits this one could be shut out
    /// before it has heard that it is to hold messages.
    Waiting {
        /// How many bytes may wait.
        waiting: usize,
        /// How many may be parked.
        parked: usize,
    },
    /// The transport has not started.
    Transport(Box<dyn Error + Send + Sync>),
    /// The system refuses a thread.
    Thread(std::io::Error),
    /// What starts the transport has panicked, or the runtime has ended meanwhile.
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
            Self::ShortMessages { longest, least } => write!(
                f,
                "messages of at most {longest} bytes are too short for what nodes say to each other: allow at least {least}"
            ),
            Self::Waiting { waiting, parked } => write!(
                f,
                "{waiting} bytes may wait to be sent, half or more of the {parked} that may be parked: let fewer wait, or raise Limits::parked on all nodes"
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

/// Why no actor was started on another node, or found there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteError {
    /// There is no such node in the job.
    NoSuchNode {
        /// Which.
        node: NodeId,
    },
    /// The node is down, or this one is about to leave.
    NodeDown {
        /// Which.
        node: NodeId,
    },
    /// The node has registered no script of this name.
    NoSuchScript {
        /// Which node.
        node: NodeId,
        /// The name that was asked for.
        name: Box<str>,
    },
    /// The script takes other arguments, or reading them has panicked.
    Arguments {
        /// In the node's words.
        why: String,
    },
    /// The actor takes messages of another type.
    OtherMessages {
        /// In the node's words.
        why: String,
    },
    /// No actor of the node has this name.
    NoSuchName {
        /// Which node.
        node: NodeId,
        /// The name that was asked for.
        name: Box<str>,
    },
    /// The script has panicked.
    Panicked,
    /// The node has as many actors that were made known for this one as
    /// [it may have](super::Limits::actors).
    TooManyActors {
        /// Which.
        node: NodeId,
    },
    /// There are as many questions to the node without an answer as there may be.
    TooManyCalls {
        /// Which.
        node: NodeId,
    },
    /// The name or the arguments are too long or cannot be written.
    Unwritable {
        /// In words.
        why: String,
    },
    /// The node's answer makes no sense.
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
                "node {node} has as many actors that were made known for this one as it may have: raise its limit, or stop some"
            ),
            Self::TooManyCalls { node } => write!(
                f,
                "there are as many questions to node {node} without an answer as there may be: wait for some, or raise the limit"
            ),
            Self::Unwritable { why } => write!(f, "the request cannot be sent: {why}"),
            Self::Answer => f.write_str("the node's answer makes no sense"),
        }
    }
}

impl Error for RemoteError {}

/// A node is gone, so what all nodes were to do together is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeLost {
    /// Which, as far as this node knows.
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
