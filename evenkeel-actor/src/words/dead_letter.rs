//! What is said of messages that no actor handles.

use crate::words::id::ActorId;
use std::fmt;

/// Why nobody has handled a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeadLetterKind {
    /// It found its mailbox full, whose policy is [`DropNewest`](crate::DropNewest).
    DroppedNewest,
    /// Another one took its place, as the mailbox was full and its policy is
    /// [`DropOldest`](crate::DropOldest).
    DroppedOldest,
    /// It was in the mailbox of an actor when that ended.
    LeftBehind,
    /// It is a reply to somebody who had given up.
    LateReply,
    /// It found its actor stopped or its mailbox full, and there was no sender to give it back to:
    /// it was published to a group, or converted.
    Undelivered,
}

impl DeadLetterKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::DroppedNewest,
        Self::DroppedOldest,
        Self::LeftBehind,
        Self::LateReply,
        Self::Undelivered,
    ];
}

impl fmt::Display for DeadLetterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DroppedNewest => "dropped, as the mailbox was full",
            Self::DroppedOldest => "dropped for a newer one, as the mailbox was full",
            Self::LeftBehind => "left in the mailbox when the actor ended",
            Self::LateReply => "a reply that nobody waited for any more",
            Self::Undelivered => "not delivered, and nobody to give it back to",
        })
    }
}

/// The record of a message that nobody has handled, or of several of one kind at once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// Whom it was for: none of a reply.
    pub to: Option<ActorId>,
    /// The type of the message, as [`type_name`](std::any::type_name) has it.
    pub message: &'static str,
    /// Why nobody has handled it.
    pub kind: DeadLetterKind,
    /// How many messages this is about.
    pub count: u64,
}

impl fmt::Display for DeadLetter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count != 1 {
            write!(f, "{} times ", self.count)?;
        }
        f.write_str(self.message)?;
        if let Some(to) = self.to {
            write!(f, " for actor {to}")?;
        }
        write!(f, ": {}", self.kind)
    }
}
