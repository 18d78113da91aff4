//! Records of messages that no actor handles.

use crate::words::id::ActorId;
use std::fmt;

/// Why no actor has handled a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeadLetterKind {
    /// Its mailbox was full and has the policy [`DropNewest`](crate::DropNewest).
    DroppedNewest,
    /// Another message took its place, as the mailbox was full and has the policy
    /// [`DropOldest`](crate::DropOldest).
    DroppedOldest,
    /// It was in an actor's mailbox when the actor ended.
    LeftBehind,
    /// It is a reply to an asker that had given up.
    LateReply,
    /// Its actor had stopped or had a full mailbox, and there was no sender to return it to: it was
    /// published to a group, or it came from another node. Also a message from another node that
    /// cannot be read, or that waited for room when its node was lost.
    Undelivered,
}

impl DeadLetterKind {
    /// All kinds.
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
            Self::LateReply => "a reply to an asker that had given up",
            Self::Undelivered => "not delivered, and without a sender to return it to",
        })
    }
}

/// The record of a message that no actor has handled, or of several of one kind at once.
///
/// # Examples
/// See [`System::on_dead_letter`](crate::System::on_dead_letter).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The receiver. None for a reply, and for a message from another node that was not delivered.
    pub to: Option<ActorId>,
    /// The type of the message, as [`type_name`](std::any::type_name) has it. `[u8; 0]` if it came
    /// from another node and was not delivered.
    pub message: &'static str,
    /// Why no actor has handled it.
    pub kind: DeadLetterKind,
    /// The number of messages that this record stands for.
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
