//! Fields that are one of a few codes.

use super::super::FrameError;
use super::super::varint::Reader;

/// An enum whose variants are bytes.
macro_rules! code {
    ($(#[$meta:meta])* $name:ident, $what:literal: $($(#[$doc:meta])* $variant:ident = $code:literal,)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// Each of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The byte that stands for it in a frame.
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
    /// Why a question, a spawn or a search was in vain.
    Failure, "a failure":
    /// There is no such actor, or none any more.
    NoSuchActor = 1,
    /// Its mailbox is full, and its policy is not to wait.
    MailboxFull = 2,
    /// It has ended without an answer.
    Ended = 3,
    /// Its handler has panicked.
    Panicked = 4,
    /// The bytes are no value of the type that it takes.
    Unreadable = 5,
    /// The answer cannot be written or is too long.
    Unwritable = 6,
    /// No script has this name there.
    NoSuchScript = 7,
    /// The script does not take these arguments.
    BadArguments = 8,
    /// The registry has no actor of this name.
    NoSuchName = 9,
    /// The node is about to end and takes nothing new.
    Leaving = 10,
    /// The time that the asker waits was over before the question's turn came.
    Late = 11,
    /// The actor is there, and takes messages of another type.
    OtherMessages = 12,
    /// The node has as many actors that others know as it may have.
    TooManyActors = 13,
}

code! {
    /// The ways in which actors end.
    EndKind, "an end":
    /// By itself, as it should.
    Normal = 0,
    /// It was stopped.
    Stopped = 1,
    /// It was killed.
    Killed = 2,
    /// It has panicked.
    Panicked = 3,
    /// It has returned an error.
    Error = 4,
    /// There is no such actor, or none any more.
    NoSuchActor = 6,
    /// It was lost with its node.
    NodeDown = 7,
    /// It may be alive: a node keeps no more watches and links with its own.
    TooManyTies = 8,
}

impl EndKind {
    /// Whether it is said which node this is about.
    #[must_use]
    pub const fn has_node(self) -> bool {
        matches!(self, Self::NodeDown | Self::TooManyTies)
    }
}

code! {
    /// Whose end it was at first.
    EndBy, "whose end":
    /// The actor's own.
    Itself = 0,
    /// That of another actor, to which it was linked.
    Link = 1,
}

code! {
    /// The ways to end an actor.
    StopHow, "a way to stop":
    /// It handles what is in its mailbox, and ends.
    Drain = 0,
    /// It ends after the message that it handles now.
    Stop = 1,
    /// It ends at once, in the middle of a message.
    Kill = 2,
}

code! {
    /// The steps of a barrier.
    BarrierStep, "a step of a barrier":
    /// All nodes below the sender have come.
    Arrive = 0,
    /// All have come.
    Release = 1,
    /// A node is gone that has not come.
    Broken = 2,
}
