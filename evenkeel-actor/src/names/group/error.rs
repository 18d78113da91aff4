//! Errors of groups.

use crate::words::id::ActorId;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// The group of this name takes messages of another type.
///
/// # Examples
/// See [`System::group`](crate::System::group).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupTypeError {
    /// The name.
    pub name: Arc<str>,
    /// The type of the group's messages.
    pub has: &'static str,
}

impl fmt::Display for GroupTypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the group {:?} takes messages of type {}", self.name, self.has)
    }
}

impl Error for GroupTypeError {}

/// Why an actor did not join a group.
///
/// # Examples
/// See [`Group`](crate::Group).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinGroupError {
    /// The actor has stopped.
    Stopped {
        /// The actor.
        id: ActorId,
    },
    /// The actor belongs to another system than the group.
    OtherSystem {
        /// The actor.
        id: ActorId,
    },
    /// The actor is on another node.
    OtherNode {
        /// The actor.
        id: ActorId,
    },
}

impl fmt::Display for JoinGroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped { id } => {
                write!(f, "actor {id} has stopped and cannot join a group")
            }
            Self::OtherSystem { id } => {
                write!(f, "actor {id} belongs to another system than the group")
            }
            Self::OtherNode { id } => {
                write!(
                    f,
                    "actor {id} is on another node than the group: cast to actors of several nodes"
                )
            }
        }
    }
}

impl Error for JoinGroupError {}
