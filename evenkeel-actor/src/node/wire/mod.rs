//! What nodes say to each other: the messages inside frames.
//!
//! A message is read by borrowing from its frame; nothing is copied or allocated. Names of actors are [`Slot`]s: those called `to` are of the node
//! that receives, those called `from` of the node that sends.
//!
//! | kind | says | answered by |
//! |---|---|---|
//! | `Tell` | a value for an actor | |
//! | `Ask` | a value for an actor, whose answer is awaited | `Answer` or `Failed`, unless an `Abandon` is faster |
//! | `Spawn` | start a script | `Located` or `Failed` |
//! | `Locate` | where is the actor with this name | `Located` or `Failed` |
//! | `Link`, `Unlink` | end with me | `Exit` at the end of either |
//! | `Monitor`, `Demonitor` | tell me when you end | `Down`, at once if there is no such actor |
//! | `Stop` | end | |
//! | `Cast` | a value for actors on many nodes, to be passed on | |
//! | `Barrier`, `Termination` | steps of [`barrier`](super::barrier) and [`termination`](super::termination) | |
//! | `Hold` | send no values to me, or to all here | `Resume` when there is room |
//! | `Hello`, `Leave` | the first and the last of a node | |

mod cast;
mod codes;
mod kind;
mod read;
mod write;

pub use cast::{Member, Members, MembersBuf};
pub use codes::{BarrierStep, EndKind, Failure, StopHow};
pub use write::{write_answer, write_ask, write_tell};

use super::{NodeId, Slot};
use std::num::NonZeroU64;

/// The longest name of a script, an actor or a job, in bytes. A choice: names are for people.
pub const LONGEST_NAME: usize = 255;

/// The longest text that says what went wrong, in bytes. A choice: a panic's message and its place, no backtrace.
pub const LONGEST_DETAIL: usize = 1_024;

/// A message, and what it was sent because of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// What traces call the cause of the message; takes no byte where there is none.
    pub cause: Option<NonZeroU64>,
    /// The message.
    pub message: Message<'a>,
}

/// How an actor has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End<'a> {
    /// In which of the ways.
    pub kind: EndKind,
    /// More of it, for people; may be empty.
    pub detail: &'a str,
}

/// A step of the search for the end of all work; [`termination`](super::termination) says what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The token.
    Token {
        /// How often it has been sent round.
        round: u64,
        /// Messages sent less messages received, by the nodes that it has visited.
        count: i64,
        /// Whether one of them has received any since its last visit.
        black: bool,
    },
    /// All work is done.
    Done {
        /// In which round that was seen.
        round: u64,
    },
    /// It cannot be known: a node is gone.
    Failed {
        /// Which.
        node: NodeId,
    },
}

/// What a node says to another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Message<'a> {
    /// A value for an actor.
    Tell {
        /// The actor.
        to: Slot,
        /// The value.
        payload: &'a [u8],
    },
    /// A value for an actor, whose answer is awaited.
    Ask {
        /// The actor.
        to: Slot,
        /// Under which number the asker awaits the answer.
        call: u64,
        /// For how many microseconds the asker waits; zero if for ever. Whoever gets to the question later need not answer it.
        limit: u64,
        /// The value.
        payload: &'a [u8],
    },
    /// What an actor has answered.
    Answer {
        /// The number of the question.
        call: u64,
        /// The answer.
        payload: &'a [u8],
    },
    /// A question, spawn or search was in vain.
    Failed {
        /// Its number.
        call: u64,
        /// Why.
        failure: Failure,
        /// More of it, for people; may be empty.
        detail: &'a str,
    },
    /// The asker no longer waits.
    Abandon {
        /// The number of the question.
        call: u64,
    },
    /// Starts an actor.
    Spawn {
        /// The number under which its place is awaited.
        call: u64,
        /// The name under which the node has registered the script.
        script: &'a str,
        /// The actor that it is linked to from the beginning.
        parent: Option<Slot>,
        /// What the script gets.
        arguments: &'a [u8],
    },
    /// Looks an actor up in the node's registry.
    Locate {
        /// The number under which its place is awaited.
        call: u64,
        /// Its name there.
        name: &'a str,
    },
    /// The place of an actor that was spawned or looked up.
    Located {
        /// The number of the question.
        call: u64,
        /// The place, on the node that answers.
        at: Slot,
    },
    /// Two actors end together from now on.
    Link {
        /// The one that asks.
        from: Slot,
        /// The other.
        to: Slot,
    },
    /// They no longer do.
    Unlink {
        /// The one that asks.
        from: Slot,
        /// The other.
        to: Slot,
    },
    /// An actor has ended, and `to` was linked to it.
    Exit {
        /// Who has ended.
        from: Slot,
        /// Who is to know.
        to: Slot,
        /// How.
        end: End<'a>,
    },
    /// An actor wants to know of the end of another.
    Monitor {
        /// The number under which it will hear of it.
        watch: u64,
        /// Whose end.
        to: Slot,
    },
    /// It no longer wants to know.
    Demonitor {
        /// The number.
        watch: u64,
        /// Whose end.
        to: Slot,
    },
    /// A monitored actor has ended, or was not there.
    Down {
        /// The number of the watch.
        watch: u64,
        /// How.
        end: End<'a>,
    },
    /// Ends an actor.
    Stop {
        /// Which.
        to: Slot,
        /// How.
        how: StopHow,
    },
    /// A value for actors on many nodes. Each node delivers it to its own, the first member, and passes it on to others; [`tree`](super::tree) says to which.
    Cast {
        /// The nodes, and the actors on each.
        members: Members<'a>,
        /// The value.
        payload: &'a [u8],
    },
    /// A step of a barrier.
    Barrier {
        /// Which barrier.
        barrier: u64,
        /// For how many times it has been passed before.
        phase: u64,
        /// The step.
        step: BarrierStep,
    },
    /// A step of the search for the end of all work.
    Termination(Probe),
    /// The first message of a node to another: who it is.
    Hello {
        /// The node says that it has this number. The transport knows better.
        node: NodeId,
        /// How many nodes it thinks there are.
        nodes: u32,
        /// What tells this run of the node from others.
        incarnation: u64,
        /// The longest frame that it takes.
        longest_frame: u64,
        /// The name of the job.
        job: &'a str,
        /// The node's own name, which no other node of the job has.
        name: &'a str,
    },
    /// The last message of a node that ends as it should.
    Leave,
    /// Much waits for room in mailboxes: no values are to be sent until the node says so.
    Hold {
        /// To this actor, or to all of the node.
        to: Option<Slot>,
    },
    /// There is room again for what a [`Hold`](Self::Hold) of the same was for.
    Resume {
        /// In the mailbox of this actor, or in those of all.
        to: Option<Slot>,
    },
}
