//! Fields that are one of a few codes.

use super::super::FrameError;
use super::super::varint::Reader;

/// Defines an enum of variants that are bytes in a frame.
macro_rules! code {
    ($(#[$meta:meta])* $name:ident, $what:literal: $($(#[$doc:meta])* $variant:ident = $code:literal,)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// All variants.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the byte of the variant in a frame.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)* }
            }

            pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, FrameError> {
                let at = reader.at();
                match reader.byte()? {
                    $($code => Ok(Self::$variant),)*
                    code => Err(FrameError::UnknownCode { at, what: $what, code }),
                }
            }
        }
    };
}

code! {
    /// Why a question, a spawn or a look-up has failed.
    Failure, "a failure":
    /// There is no such actor, or it has ended.
    NoSuchActor = 1,
    /// The actor's mailbox is full, and its policy is not to wait.
    MailboxFull = 2,
    /// The actor has ended without an answer.
    Ended = 3,
    /// The actor's handler has panicked.
    Panicked = 4,
    /// The bytes are not a value of the actor's message type.
    Unreadable = 5,
    /// The answer cannot be written or is too long.
    Unwritable = 6,
    /// No script has this name there.
    NoSuchScript = 7,
    /// The script does not take these arguments.
    BadArguments = 8,
    /// The registry has no actor of this name.
    NoSuchName = 9,
    /// Reserved: the node is about to end and takes nothing new.
    Leaving = 10,
    /// Reserved: the asker's time was over before the question's turn came.
    Late = 11,
    /// The actor is there, and takes messages of another type.
    OtherMessages = 12,
    /// The node has reached its bound of actors that other nodes know.
    TooManyActors = 13,
}

code! {
    /// The ways in which actors end.
    EndKind, "an end":
    /// The actor has ended by itself, as it should.
    Normal = 0,
    /// The actor was stopped.
    Stopped = 1,
    /// The actor was killed.
    Killed = 2,
    /// The actor has panicked.
    Panicked = 3,
    /// The actor has returned an error.
    Error = 4,
    /// There is no such actor, or it has ended.
    NoSuchActor = 6,
    /// The actor was lost with its node.
    NodeDown = 7,
    /// The actor may be alive: its node accepts no more watches and links.
    TooManyTies = 8,
}

impl EndKind {
    /// Returns whether the end names a node.
    #[must_use]
    pub const fn has_node(self) -> bool {
        matches!(self, Self::NodeDown | Self::TooManyTies)
    }
}

code! {
    /// Which actor's end it was at first.
    EndBy, "whose end":
    /// The actor's own.
    Itself = 0,
    /// That of another actor, to which it was linked.
    Link = 1,
}

code! {
    /// The ways to end an actor.
    StopHow, "a way to stop":
    /// The actor handles the messages in its mailbox, and ends.
    Drain = 0,
    /// The actor ends after the message that it is handling.
    Stop = 1,
    /// The actor ends at once, in the middle of a message.
    Kill = 2,
}

code! {
    /// The steps of a barrier.
    BarrierStep, "a step of a barrier":
    /// The sender and all nodes below it have come.
    Arrive = 0,
    /// All nodes have come.
    Release = 1,
    /// A node is lost.
    Broken = 2,
}
