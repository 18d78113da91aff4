//! The messages inside frames.
//!
//! A message borrows from its frame; reading copies and allocates nothing. Names of actors are
//! [`Slot`]s: a slot `to` belongs to the receiving node, a slot `from` to the sending one.
//!
//! | kind | says | answered by |
//! |---|---|---|
//! | `Tell` | a value for an actor | |
//! | `Ask` | a value for an actor, to which I await an answer | `Answer` or `Failed` |
//! | `Hand` | a value for an actor, with places for answers to questions of other nodes in it; perhaps I await an answer too | `Failed` to each of these nodes, if it is not delivered |
//! | `Moved` | another node answers your question | |
//! | `Spawn` | start a script | `Located` or `Failed` |
//! | `Locate` | where is the actor with this name | `Located` or `Failed` |
//! | `Release` | I give back this number of references to your actor, which that node has given me | |
//! | `Lent` | I have given that node this number of references to your actor | `Counted` |
//! | `Counted` | I have counted the references that you have `Lent` | |
//! | `Monitor`, `Link` | tell me when your actor ends; with `Link`, I also tell you | `Exit`, at once if there is no such actor, or `Untie` |
//! | `Untie` | the watch or link is over | |
//! | `Stop` | end your actor | |
//! | `Cast` | a value for actors on many nodes, to be passed on | |
//! | `Barrier`, `Termination` | steps of [`barrier`](super::barrier) and [`termination`](super::termination) | |
//! | `Hold` | send no values to me, or to all here | `Resume` when there is room |
//! | `Hello` | the first message of a node | |
//! | `Refuse` | I shut you out | |
//!
//! # What is reserved
//! No node sends these: `Abandon` and `Leave`, the limit of an `Ask`, the parent of a `Spawn`.
//! Nodes read them and do nothing about them. No node sends the failures `Late` and `Leaving`
//! either, which an asker takes for no answer and for the loss of the node. That a node leaves is
//! an event of the [transport](super::Event::Down).

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
pub(super) use read::read_plain_tell;
pub use references::{MOST_REFERENCES, References, ReferencesBuf};
pub use write::{write_answer, write_tell};

use super::{NodeId, Slot};
use std::num::NonZeroU64;

/// The longest name of a script, an actor or a job, in bytes. A choice: names are for people.
pub const LONGEST_NAME: usize = 255;

/// The longest text of an error, in bytes. A choice: a panic's message and its place, no backtrace.
pub const LONGEST_DETAIL: usize = 1_024;

/// A message with its cause and its references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The cause of the message, for traces; takes no byte if there is none.
    pub cause: Option<NonZeroU64>,
    /// The references to actors in the message's value, if it has one, at most
    /// [`MOST_REFERENCES`]; takes no byte if there are none. The receiver of the record counts
    /// them, whether the value is read or not.
    pub references: References<'a>,
    /// The message.
    pub message: Message<'a>,
}

/// Without a cause or references.
impl<'a> From<Message<'a>> for Envelope<'a> {
    fn from(message: Message<'a>) -> Self {
        Self { cause: None, references: References::default(), message }
    }
}

/// How an actor has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End<'a> {
    /// Whether the actor ended with another to which it was linked: then the other fields are about
    /// the first actor of that chain.
    pub by: EndBy,
    /// The kind of its end.
    pub kind: EndKind,
    /// The node of the end, if the kind [has one](EndKind::has_node); otherwise it is not written.
    pub node: NodeId,
    /// Details for people; may be empty.
    pub detail: &'a str,
}

/// A step of the detection of the end of all work, explained in
/// [`termination`](super::termination).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The token.
    Token {
        /// How often the token has been sent round.
        round: u64,
        /// Messages sent less messages received, by the nodes that the token has visited.
        count: i64,
        /// Whether one of those nodes has received a message since the token's last visit.
        black: bool,
    },
    /// All work is done.
    Done {
        /// The round that showed it.
        round: u64,
    },
    /// The detection has failed: a node is lost.
    Failed {
        /// The lost node.
        node: NodeId,
    },
}

/// A message from one node to another.
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
    /// A value for an actor, to which the sender awaits an answer.
    Ask {
        /// The actor.
        to: Slot,
        /// The number under which the asker awaits the answer.
        call: u64,
        /// Reserved for how many microseconds the asker waits. Nodes send zero, and ignore what
        /// they read.
        limit: u64,
        /// The value.
        payload: &'a [u8],
    },
    /// A value for an actor, in which the sender hands on questions of other nodes.
    Hand {
        /// The actor.
        to: Slot,
        /// The number under which the sender awaits an answer itself; zero if it does not.
        call: u64,
        /// The handed-on places for answers, at most [`MOST_PLACES`]: a node that cannot deliver
        /// the value reports the failure there.
        places: Places<'a>,
        /// The value.
        payload: &'a [u8],
    },
    /// An actor's answer.
    Answer {
        /// The number of the question.
        call: u64,
        /// The answer.
        payload: &'a [u8],
    },
    /// A question, spawn or look-up has failed.
    Failed {
        /// The number of the question.
        call: u64,
        /// The reason.
        failure: Failure,
        /// Details for people; may be empty.
        detail: &'a str,
    },
    /// Reserved: the asker has stopped waiting. Nodes read this and do not send it: an unawaited
    /// answer is dropped where it arrives.
    Abandon {
        /// The number of the question.
        call: u64,
    },
    /// The place for the answer was handed on to another node.
    Moved {
        /// The number of the question, which the receiver has asked.
        call: u64,
        /// The node that has it, as far as the sender knows.
        to: NodeId,
    },
    /// Starts an actor.
    Spawn {
        /// The number under which the asker awaits the actor's place.
        call: u64,
        /// The name under which the node has registered the script.
        script: &'a str,
        /// Reserved for an actor to which it is linked from the beginning. Nodes send none, and
        /// ignore one that they read.
        parent: Option<Slot>,
        /// The arguments of the script.
        arguments: &'a [u8],
    },
    /// Looks an actor up in the node's registry.
    Locate {
        /// The number under which the asker awaits the actor's place.
        call: u64,
        /// The actor's name in the registry.
        name: &'a str,
        /// The asker's name of the type of the actor's messages.
        messages: &'a str,
    },
    /// The place of a spawned or looked-up actor.
    Located {
        /// The number of the question.
        call: u64,
        /// The place on the answering node.
        at: Slot,
    },
    /// The sender gives back references to an actor that were in a record, or were
    /// [located](Self::Located).
    Release {
        /// The actor, on the receiving node.
        to: Slot,
        /// The node that has given the references to the sender.
        from: NodeId,
        /// How many references there are.
        times: u64,
    },
    /// References to an actor were sent to a third node.
    Lent {
        /// The actor, on the receiving node.
        to: Slot,
        /// The third node.
        holder: NodeId,
        /// How many references there are.
        times: u64,
        /// The number of the loan, unique at the sender.
        loan: u64,
    },
    /// References that were [lent](Self::Lent) are counted.
    Counted {
        /// The number of the loan.
        loan: u64,
    },
    /// An actor watches for the end of another: opens a tie.
    Monitor {
        /// The number of the tie, unique at the sender.
        tie: u64,
        /// The watched actor.
        to: Slot,
    },
    /// Links two actors, so that they end together: opens a tie.
    Link {
        /// The number of the tie, unique at the sender.
        tie: u64,
        /// The actor that asks.
        from: Slot,
        /// The other actor.
        to: Slot,
    },
    /// A tie is closed without the end of an actor.
    Untie {
        /// The number of the tie.
        tie: u64,
        /// Whether the sender of this message has opened the tie; otherwise, the receiver has.
        opener: bool,
    },
    /// A tie is closed: the actor at the sender's end of it has ended, or did not exist.
    Exit {
        /// The number of the tie.
        tie: u64,
        /// Whether the sender of this message has opened the tie; otherwise, the receiver has.
        opener: bool,
        /// How.
        end: End<'a>,
    },
    /// Ends an actor.
    Stop {
        /// The actor.
        to: Slot,
        /// How.
        how: StopHow,
    },
    /// A value for actors on many nodes. Each node delivers it to its own actors, the first member,
    /// and passes it on along the [`tree`](super::tree).
    Cast {
        /// The nodes, and the actors on each.
        members: Members<'a>,
        /// The value.
        payload: &'a [u8],
    },
    /// A step of a barrier.
    Barrier {
        /// The number of the barrier.
        barrier: u64,
        /// How many times the barrier has been passed before.
        phase: u64,
        /// The step.
        step: BarrierStep,
    },
    /// A step of the detection of the end of all work.
    Termination(Probe),
    /// The first message of a node to another: it introduces itself.
    Hello {
        /// The node's number, as it claims; the number that the transport has authenticated counts.
        node: NodeId,
        /// The node's number of nodes.
        nodes: u32,
        /// Tells this run of the node from others. No receiver reads it: a node that was down [does
        /// not come back](crate::Transport), so there is one run.
        incarnation: u64,
        /// The longest frame that the node takes. No receiver acts on it: the transports of a job
        /// take frames of the same length, and a node that receives a longer frame shuts its sender
        /// out.
        longest_frame: u64,
        /// How many ties the node accepts from the other node at once.
        ties: u64,
        /// The name of the job.
        job: &'a str,
        /// The node's own name, which no other node of the job has.
        name: &'a str,
    },
    /// Reserved for the last message of a node that ends properly. Nodes read this and do not send
    /// it.
    Leave,
    /// The last message of a node to a node that it shuts out.
    Refuse {
        /// The reason, for people.
        detail: &'a str,
    },
    /// Too many messages wait for room in mailboxes: the receiver sends no values until a
    /// [`Resume`](Self::Resume).
    Hold {
        /// The actor for which it sends none, or all of the node.
        to: Option<Slot>,
    },
    /// Ends the [`Hold`](Self::Hold) of the same actors: there is room again.
    Resume {
        /// The actor with room in its mailbox, or all of the node.
        to: Option<Slot>,
    },
}
