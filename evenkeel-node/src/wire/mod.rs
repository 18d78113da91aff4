//! What nodes say to each other: the messages inside frames.
//!
//! A message is read by borrowing from its frame; nothing is copied or allocated. Names of actors
//! are [`Slot`]s: those called `to` are of the node that receives, those called `from` of the node
//! that sends.
//!
//! | kind | says | answered by |
//! |---|---|---|
//! | `Tell` | a value for an actor | |
//! | `Ask` | a value for an actor, whose answer is awaited | `Answer` or `Failed`, unless an `Abandon` is faster |
//! | `Hand` | a value for an actor, with places for answers to questions of other nodes in it; perhaps its own answer is awaited | `Failed` to each of these nodes, if it is not delivered |
//! | `Moved` | somebody else answers your question | |
//! | `Spawn` | start a script | `Located` or `Failed` |
//! | `Locate` | where is the actor with this name | `Located` or `Failed` |
//! | `Release` | so many references to your actor are not needed any more, which that node has given me | |
//! | `Lent` | I have given that node so many references to your actor | `Counted` |
//! | `Counted` | I have counted what you have `Lent` | |
//! | `Monitor`, `Link` | tell me when you end; and I tell you | `Exit`, at once if there is no such actor, or `Untie` |
//! | `Untie` | that is over | |
//! | `Stop` | end | |
//! | `Cast` | a value for actors on many nodes, to be passed on | |
//! | `Barrier`, `Termination` | steps of [`barrier`](super::barrier) and [`termination`](super::termination) | |
//! | `Hold` | send no values to me, or to all here | `Resume` when there is room |
//! | `Hello`, `Leave` | the first and the last of a node | |
//! | `Refuse` | I have nothing to do with you any more | |

mod cast;
mod codes;
mod kind;
mod places;
mod read;
mod references;
mod write;

pub use cast::{Member, Members, MembersBuf};
pub use codes::{BarrierStep, EndBy, EndKind, Failure, StopHow};
pub use places::{MOST_PLACES, Places, PlacesBuf};
pub use references::{References, ReferencesBuf};
pub use write::{write_answer, write_ask, write_hand, write_tell};

use super::{NodeId, Slot};
use std::num::NonZeroU64;

/// The longest name of a script, an actor or a job, in bytes. A choice: names are for people.
pub const LONGEST_NAME: usize = 255;

/// The longest text that says what went wrong, in bytes. A choice: a panic's message and its place,
/// no backtrace.
pub const LONGEST_DETAIL: usize = 1_024;

/// A message, and what it was sent because of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// What traces call the cause of the message; takes no byte where there is none.
    pub cause: Option<NonZeroU64>,
    /// The references to actors that are in the message's value, if it has one; takes no byte where
    /// there is none. Whoever gets the record counts them, whether the value is read or not.
    pub references: References<'a>,
    /// The message.
    pub message: Message<'a>,
}

/// Of no cause, and without references.
impl<'a> From<Message<'a>> for Envelope<'a> {
    fn from(message: Message<'a>) -> Self {
        Self { cause: None, references: References::default(), message }
    }
}

/// How an actor has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End<'a> {
    /// Whether it ended with another to which it was linked: then the rest is about the first of
    /// that chain.
    pub by: EndBy,
    /// In which of the ways.
    pub kind: EndKind,
    /// The node that it is about, if the kind [says so](EndKind::has_node); otherwise it is not
    /// written.
    pub node: NodeId,
    /// More of it, for people; may be empty.
    pub detail: &'a str,
}

/// A step of the search for the end of all work; [`termination`](super::termination) says what it
/// means.
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
        /// For how many microseconds the asker waits; zero if for ever. Whoever gets to the
        /// question later need not answer it.
        limit: u64,
        /// The value.
        payload: &'a [u8],
    },
    /// A value for an actor, in which the sender hands on questions of others than itself.
    Hand {
        /// The actor.
        to: Slot,
        /// Under which number the sender awaits an answer itself; zero if it does not.
        call: u64,
        /// The places for answers that are handed on, at most [`MOST_PLACES`]: whoever cannot
        /// deliver the value says so there.
        places: Places<'a>,
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
    /// The asker no longer waits. Nodes read this and do not send it: an answer that nobody waits
    /// for is dropped where it arrives.
    Abandon {
        /// The number of the question.
        call: u64,
    },
    /// The place for the answer was handed on to another node.
    Moved {
        /// The number of the question, which the receiver has asked.
        call: u64,
        /// Who has it now, as far as the sender knows.
        to: NodeId,
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
        /// What the asker calls the type of its messages.
        messages: &'a str,
    },
    /// The place of an actor that was spawned or looked up.
    Located {
        /// The number of the question.
        call: u64,
        /// The place, on the node that answers.
        at: Slot,
    },
    /// References to an actor are not needed any more: such as were in a record, or were
    /// [located](Self::Located).
    Release {
        /// Which actor, of the receiver.
        to: Slot,
        /// The node that has given them to the sender.
        from: NodeId,
        /// How many there are.
        times: u64,
    },
    /// References to an actor were sent to a third node.
    Lent {
        /// Which actor, of the receiver.
        to: Slot,
        /// The third node.
        holder: NodeId,
        /// How many there are.
        times: u64,
        /// The number of the loan, which the sender has given no other.
        loan: u64,
    },
    /// References that were [lent](Self::Lent) are counted.
    Counted {
        /// The number of the loan.
        loan: u64,
    },
    /// An actor wants to know of the end of another: opens a tie.
    Monitor {
        /// The number of the tie, which the sender has given no other.
        tie: u64,
        /// Whose end.
        to: Slot,
    },
    /// Two actors end together from now on: opens a tie.
    Link {
        /// The number of the tie, which the sender has given no other.
        tie: u64,
        /// The one that asks.
        from: Slot,
        /// The other.
        to: Slot,
    },
    /// A tie is no more, and nobody has ended.
    Untie {
        /// Its number.
        tie: u64,
        /// Whether the sender of this has opened it; otherwise, the receiver.
        opener: bool,
    },
    /// A tie is no more: the actor at the sender's end of it has ended, or was not there.
    Exit {
        /// Its number.
        tie: u64,
        /// Whether the sender of this has opened it; otherwise, the receiver.
        opener: bool,
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
    /// A value for actors on many nodes. Each node delivers it to its own, the first member, and
    /// passes it on to others; [`tree`](super::tree) says to which.
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
        /// What tells this run of the node from others. Nobody asks yet: a node that was down [does
        /// not come back](crate::Transport), so there is one run.
        incarnation: u64,
        /// The longest frame that it takes. Nobody acts on it yet: the nodes of a job are started
        /// with transports that take the same, and a node that is sent a longer frame shuts its
        /// sender out.
        longest_frame: u64,
        /// How many ties it takes from the other node at once.
        ties: u64,
        /// The name of the job.
        job: &'a str,
        /// The node's own name, which no other node of the job has.
        name: &'a str,
    },
    /// The last message of a node that ends as it should.
    Leave,
    /// The last message of a node to one that it shuts out.
    Refuse {
        /// Why, for people.
        detail: &'a str,
    },
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
